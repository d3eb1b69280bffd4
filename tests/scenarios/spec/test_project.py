"""A project on disk: its root, its scenarios and its Python folders."""

from pathlib import Path
from textwrap import dedent

import pytest
from inline_snapshot import snapshot

from salvo.errors import UsageError
from salvo.scenarios.spec.project import Project

SCENARIO = "scenario: one\nadapter: openai\n"


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


@pytest.mark.parametrize("sign", [".salvo/", ".git/", "pyproject.toml"])
def test_the_root_is_the_nearest_folder_upward_that_says_so(sign: str, tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    for place in (tmp_path, tmp_path / "outer"):
        (place / sign).mkdir() if sign.endswith("/") else (place / sign).touch()
    project = Project.find(inner)
    assert (project.root, project.cwd) == (tmp_path / "outer", inner)
    assert project.store == tmp_path / "outer" / ".salvo"


def test_without_any_sign_the_root_is_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salvo.scenarios.spec.project._ROOT_MARKERS", ("no such sign",))
    monkeypatch.chdir(tmp_path)
    assert Project.find().root == tmp_path


def test_a_folder_means_every_scenario_below_it(folder: Path) -> None:
    for name in ("b.yaml", "a.yml", "more/deep/c.yaml"):
        write(f"scenarios/{name}", SCENARIO)
    write("scenarios/json_like.yaml", '# a comment\n---\n"scenario": x\n')
    write("scenarios/indented.yaml", "\n  scenario: as the document has it\n  adapter: openai\n")
    write("scenarios/broken.yaml", "scenario: x\n\tbroken")
    for other in ("shared/assertions.yaml", ".hidden/x.yaml", ".venv/x.yaml", "env/x.yaml", "node_modules/x.yaml"):
        write(f"scenarios/{other}", SCENARIO if "shared" not in other else "- type: custom\n")
    write("scenarios/env/pyvenv.cfg", "")
    write("scenarios/tools/search.yaml", SCENARIO)
    write("scenarios/ci.yaml", "matrix:\n  scenario: [1, 2]\n")
    write("scenarios/empty.yaml", "# nothing\n")
    write("scenarios/notes.md", SCENARIO)
    (folder / "scenarios/dangling.yaml").symlink_to("nowhere")
    found = Project.find().scenario_files([Path("scenarios")])
    assert [file.relative_to(folder / "scenarios").as_posix() for file in found] == [
        "a.yml",
        "b.yaml",
        "broken.yaml",
        "dangling.yaml",
        "indented.yaml",
        "json_like.yaml",
        "more/deep/c.yaml",
    ]


def test_without_a_path_it_is_the_folder_scenarios_and_else_the_current_one(folder: Path) -> None:
    here = write("here.yaml", SCENARIO)
    assert Project.find().scenario_files() == [here]
    there = write("scenarios/there.yaml", SCENARIO)
    assert Project.find().scenario_files() == [there]


def test_a_file_means_itself_whatever_is_in_it(folder: Path) -> None:
    file = write("odd.txt", "")
    assert Project.find().scenario_files([Path("odd.txt")]) == [file]


@pytest.mark.parametrize(
    "path, said",
    [
        ("gone.yaml", snapshot("There is no gone.yaml. Name a scenario file, or a folder of them.")),
        (
            "empty",
            snapshot(
                "There is no scenario in empty: no .yaml file with a top-level `scenario:`. `salvo init` creates an example."
            ),
        ),
        (
            None,
            snapshot(
                "There is no scenario in the current folder: no .yaml file with a top-level `scenario:`. `salvo init` creates an example."
            ),
        ),
    ],
)
def test_where_nothing_is_the_error_says_so(path: str | None, said: str, folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(UsageError) as raised:
        Project.find().scenario_files([Path(path)] if path else [])
    assert str(raised.value) == said


def test_python_is_looked_for_from_the_scenarios_folder_up_to_the_root_and_in_the_current_folder(folder: Path) -> None:
    file = write("scenarios/flights/book.yaml", SCENARIO)
    elsewhere = folder / "elsewhere"
    project = Project(folder, elsewhere)
    assert project.folders_above(file) == [folder / "scenarios/flights", folder / "scenarios", folder]
    assert project.import_folders(file) == [*project.folders_above(file), elsewhere]
    assert Project.find().import_folders(file) == project.folders_above(file)


def test_a_file_outside_the_root_has_the_root_of_its_own_project(folder: Path) -> None:
    write("other/pyproject.toml", "")
    file = write("other/scenarios/x.yaml", SCENARIO)
    inside = folder / "inside"
    project = Project(inside, inside)
    assert project.import_folders(file) == [folder / "other/scenarios", folder / "other", inside]
    assert project.relative(file) == str(file)
    assert Project.find().relative(file) == "other/scenarios/x.yaml"
