"""The reference is what the program says of itself now, and the map of the architecture is the tree."""

import re

from salvo.playbooks.report.report_document import json_schema
from tests.docs.documents import ROOT
from tests.docs.reference import HERE, SOURCE, pages


def test_the_reference_is_not_behind() -> None:
    written = {file.name: file.read_text(encoding="utf-8") for file in HERE.glob("*.md")}
    true = pages()
    behind = [name for name, text in true.items() if written.get(name) != text]
    assert not behind, "make docs writes it anew"
    assert set(written) == set(true)


def test_every_option_of_every_command_is_in_the_reference() -> None:
    """The generator might leave something out, so this does not ask the generator."""
    for program in ("salvo", "byop"):
        page = (HERE / f"{program}.md").read_text(encoding="utf-8")
        declared = {
            option
            for file in (SOURCE / "cli").rglob("*.py")
            if file.parent.name == program
            for option in re.findall(r'option\(\s*(?:"-\w", )?"(--[a-z-]+)', file.read_text(encoding="utf-8"))
        }
        assert declared
        assert not {option for option in declared if option not in page}


def test_every_field_and_value_of_a_report_is_explained() -> None:
    page = (HERE / "report-file.md").read_text(encoding="utf-8")
    assert not re.findall(r"^\|.*\|\s*\|$", page, re.MULTILINE), "a docstring below the field says what it means"
    assert not re.findall(r"^## .*\n\n(?:\||`)", page, re.MULTILINE), "a docstring of the class says what it is"
    schema = json_schema()
    for definition in (schema, *schema["$defs"].values()):
        for name in (*definition.get("properties", ()), *definition.get("enum", ())):
            assert f"\n| `{name}` |" in page


def test_every_module_says_what_it_is_for() -> None:
    page = (HERE / "modules.md").read_text(encoding="utf-8")
    assert not re.findall(r"^\| `[^`]+` \|\s*\|$", page, re.MULTILINE)


def test_the_map_of_the_architecture_has_every_package_and_nothing_else() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    mapped = {path.rstrip("/") for path in re.findall(r"^\| \[(src/salvo[^\]]*/)\]", page, re.MULTILINE)}
    packages = {file.parent for file in SOURCE.rglob("__init__.py")} - {SOURCE}
    assert mapped == {package.relative_to(ROOT).as_posix() for package in packages}
