"""What the documents point at is there: links, anchors, make's targets, tests that are named."""

import re
from functools import cache
from pathlib import Path

import click
import pytest

from tests.docs.documents import EVERY, ROOT, WRITTEN, anchors, code_spans, links, make_targets, name_of
from tests.docs.reference import HERE, SOURCE
from tests.docs.session import PROGRAMS


@pytest.mark.parametrize("document", EVERY, ids=name_of)
def test_every_link_inside_the_project_leads_somewhere(document: Path) -> None:
    lost = []
    for link in links(document):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert not lost


def test_every_link_out_of_the_project_is_https() -> None:
    assert not {link for document in EVERY for link in links(document) if re.match(r"(?!https:)[a-z]+:", link)}


def test_every_target_of_make_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = {target for document in EVERY for target in make_targets(document)}
    assert named
    assert not named - targets


@pytest.mark.parametrize("document", WRITTEN, ids=name_of)
def test_every_command_in_a_sentence_exists_with_its_options(document: Path) -> None:
    unknown = []
    for span in code_spans(document):
        program, *words = span.split()
        if program in PROGRAMS and words:
            command, options = _found(PROGRAMS[program], words)
            known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
            unknown += (
                [span] if {option.partition("=")[0] for option in options} - known - {"--help", "--version"} else []
            )
        elif program.startswith("--"):
            unknown += [span] if program not in _every_option() else []
    assert not unknown


def _found(command: click.Command, words: list[str]) -> tuple[click.Command, set[str]]:
    """The command that the words name, and the options that they give it."""
    context = click.Context(command)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        inner = command.get_command(context, words[0])
        if inner is None:
            assert command.invoke_without_command, f"there is no {words[0]}"
            break
        command, words = inner, words[1:]
    return command, {word for word in words if re.match(r"--?[a-z]", word)}


@cache
def _every_option() -> set[str]:
    reference = "".join((HERE / f"{program}.md").read_text(encoding="utf-8") for program in PROGRAMS)
    plugin = (SOURCE / "pytest_plugin.py").read_text(encoding="utf-8")
    return {*re.findall(r"--[a-z][a-z-]+", reference + plugin), "--junitxml", "--lf"}


def test_every_test_that_is_named_exists() -> None:
    for document in EVERY:
        for name, path in re.findall(r"\[(test_\w+)\]\(([^)]+)\)", document.read_text(encoding="utf-8")):
            assert f"def {name}(" in (document.parent / path).read_text(encoding="utf-8")


def test_every_document_can_be_found_from_the_readme() -> None:
    seen, left = set[Path](), [ROOT / "README.md"]
    while left:
        document = left.pop()
        seen.add(document)
        found = {(document.parent / link.partition("#")[0]).resolve() for link in links(document)}
        left += [each for each in found & set(EVERY) if each not in seen]
    assert set(EVERY) - seen <= {ROOT / "CHANGELOG.md"}
