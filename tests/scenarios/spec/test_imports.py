"""A user's Python code: how it is found, and that no two projects share modules."""

import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from inline_snapshot import snapshot

from salvo.errors import InputError
from salvo.scenarios.spec.project import Project


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, and a project's root."""
    monkeypatch.chdir(tmp_path)
    write("pyproject.toml", "")
    return tmp_path


def write(name: str, text: str) -> Path:
    file = Path.cwd() / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(dedent(text))
    return file


def refused(act: Callable[[], Any]) -> str:
    with pytest.raises(InputError) as raised:
        act()
    assert raised.value.__cause__ is None
    return str(raised.value).replace(str(Path.cwd()), "HERE")


@pytest.mark.parametrize(
    "path, value",
    [
        ("evals.check", "check"),
        ("evals:check", "check"),
        ("evals:Kind.method", "method"),
        ("evals.Kind.method", "method"),
        ("package.inner.deep.check", "deep"),
        ("package.inner:check", "inner"),
        ("plain_folder.module.check", "plain"),
        ("json.dumps", "dumps"),
    ],
)
def test_an_object_is_loaded_by_any_way_of_writing_its_path(path: str, value: str, folder: Path) -> None:
    write(
        "evals.py",
        """
        def check(): ...
        class Kind:
            def method(self): ...
        """,
    )
    write("package/__init__.py", "")
    write("package/inner/__init__.py", "def inner(): ...\ncheck = inner\n")
    write("package/inner/deep.py", "from . import inner\nfrom ..inner import check\ndef deep(): ...\ncheck = deep\n")
    write("plain_folder/module.py", "def plain(): ...\ncheck = plain\n")
    assert Project.find().load(path, folder / "x.yaml").__name__ == value


def test_folders_with_modules_of_one_name_do_not_shadow_each_other(folder: Path) -> None:
    for place in ("one", "two"):
        write(f"{place}/helpers.py", f"WHERE = '{place}'\n")
        write(
            f"{place}/tools.py",
            """
            import helpers
            from helpers import WHERE

            def now():
                return helpers.WHERE, WHERE

            def later():
                import helpers
                import late.module as module
                return helpers.WHERE, module.WHERE
            """,
        )
        write(f"{place}/late/module.py", f"WHERE = '{place}'\n")
    write("tools.py", "def now():\n    return 'root'\n")
    project = Project.find()
    loaded = {place: project.load_module(folder / place / "tools.py") for place in ("one", "two")}
    for place, module in loaded.items():
        assert module.now() == module.later() == (place, place)
        assert project.load("tools.now", folder / place / "x.yaml") is module.now
    assert project.load("tools.now", folder / "x.yaml")() == "root"


def test_importing_leaves_the_search_path_and_the_modules_of_others_alone(folder: Path) -> None:
    write("tools.py", "import sys, helpers\nsys.path.insert(0, '/nowhere')\ndef search(): ...\n")
    write("helpers.py", "")
    path, known = list(sys.path), set(sys.modules)
    Project.find().load("tools:search", folder / "x.yaml")
    assert sys.path == path
    assert not {"tools", "helpers"} & (set(sys.modules) - known)


def test_a_module_is_imported_once_for_all_scenarios_of_a_folder(folder: Path) -> None:
    write("tools.py", "def search(): ...\n")
    load = Project.find().load
    assert load("tools.search", folder / "a.yaml") is load("tools:search", folder / "b.yaml")


def test_what_the_process_has_imported_already_is_not_imported_a_second_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("an_agent.py", "class Agent: ...\n")
    monkeypatch.syspath_prepend(folder)
    import an_agent  # type: ignore[import-not-found]

    try:
        assert Project.find().load("an_agent.Agent", folder / "x.yaml") is an_agent.Agent
    finally:
        del sys.modules["an_agent"]


def test_a_folder_without_python_hides_no_installed_package_and_no_file_hides_salvo(folder: Path) -> None:
    write("yaml/notes.txt", "")
    write("salvo.py", "raise RuntimeError\n")
    write("mine.py", "import yaml\nfrom salvo.errors import InputError\nname = yaml.__name__, InputError.__name__\n")
    assert Project.find().load("mine.name", folder / "x.yaml") == ("yaml", "InputError")


@pytest.mark.parametrize(
    "path, said",
    [
        (
            "missing.name",
            snapshot(
                'There is no module "missing". Looked in scenarios, the current folder, and among the installed packages.'
            ),
        ),
        ("package.missing.name", snapshot('"package.missing.name": there is no "missing" in package/__init__.py.')),
        (
            "package.missing:name",
            snapshot(
                'There is no module "package.missing". Looked in scenarios, the current folder, and among the installed packages.'
            ),
        ),
        ("fine.serach", snapshot('"fine.serach": there is no "serach" in fine.py. Did you mean "search"?')),
        ("fine:Kind.methd", snapshot('"fine:Kind.methd": there is no "methd" in fine.py. Did you mean "method"?')),
        ("raising.name", snapshot('"raising.name" cannot be imported: raising.py, line 2, raised ValueError: boom.')),
        (
            "calling.name",
            snapshot(
                '"calling.name" cannot be imported: calling.py, line 2, raised JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1).'
            ),
        ),
        (
            "misspelt.name",
            snapshot('"misspelt.name" cannot be imported: misspelt.py, line 2, raised SyntaxError: invalid syntax.'),
        ),
        (
            "needy.name",
            snapshot(
                "\"needy.name\" cannot be imported: needy.py, line 1, raised ModuleNotFoundError: No module named 'package.missing_part'."
            ),
        ),
        ("leaving.name", snapshot('"leaving.name" cannot be imported: leaving.py, line 2, raised SystemExit: bye.')),
        ("unspeakable.name", snapshot('"unspeakable.name" cannot be imported: unspeakable.py, line 3, raised Odd.')),
        ("fine", snapshot('"fine" is not the path of a Python object. Write package.module.name or module:name.')),
        ("fine:", snapshot('"fine:" is not the path of a Python object. Write package.module.name or module:name.')),
        (
            "../fine.name",
            snapshot('"../fine.name" is not the path of a Python object. Write package.module.name or module:name.'),
        ),
    ],
)
def test_what_cannot_be_loaded_says_why_and_where(path: str, said: str, folder: Path) -> None:
    write("package/__init__.py", "")
    write("fine.py", "def search(): ...\nclass Kind:\n    def method(self): ...\n")
    write("raising.py", "x = 1\nraise ValueError('boom\\nand more')\n")
    write("calling.py", "import json\njson.loads('{')\n")
    write("misspelt.py", "x = 1\ndef broken(:\n")
    write("needy.py", "import package.missing_part\n")
    write("leaving.py", "import sys\nsys.exit('bye')\n")
    write("unspeakable.py", "class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd\n")
    assert refused(lambda: Project.find().load(path, folder / "scenarios" / "x.yaml")) == said


def test_a_file_that_python_would_not_reach_says_what_hides_it(folder: Path) -> None:
    write("tools/__init__.py", "")
    file = write("tools.py", "")
    assert refused(lambda: Project.find().load_module(file)) == snapshot(
        "tools.py is hidden by tools/__init__.py. Rename one of them."
    )


def test_no_compiled_file_stands_between_a_user_s_code_and_what_is_run(folder: Path) -> None:
    """A stale one is used for code that was changed within a second to the same length: replay would call it identical."""
    write("mine.py", "import helper\nANSWER = helper.VALUE\n")
    write("helper.py", "VALUE = 1\n")
    assert Project.find(folder).load("mine:ANSWER", folder / "s.yaml") == 1
    assert not (folder / "__pycache__").exists()
