"""A named pipe in the place of a file never makes `salvo` wait, wherever its name comes from."""

import os

import pytest

from tests.support.project import UserProject

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")

REFUSED = "is a pipe, a socket or a device, so it is not read"
SCENARIO = """
scenario: hello
adapter: openai
model: gpt-5.4-mini
user_message: PLACE
assertions:
  - {type: jmespath, path: final_output, operator: exists}
"""


@pytest.mark.parametrize("name", ["prompt.md", "part.yaml"])
def test_an_include_of_a_pipe_is_a_problem_with_its_place(project: UserProject, name: str) -> None:
    project.write("scenarios/hello.yaml", SCENARIO.replace("PLACE", f"!include {name}"))
    os.mkfifo(project.folder / "scenarios" / name)
    ended = project.salvo("validate", "scenarios/hello.yaml")
    assert (
        ended.exit_code,
        f"scenarios/hello.yaml:4:15: user_message: !include {name}: {REFUSED}" in ended.output,
    ) == (2, True), ended.output


def test_a_pipe_among_the_scenarios_or_named_as_one_is_a_problem(project: UserProject) -> None:
    os.mkfifo(project.folder / "scenarios" / "pipe.yaml")
    for arguments in (("validate",), ("validate", "scenarios/pipe.yaml"), ("run",)):
        ended = project.salvo(*arguments)
        assert (ended.exit_code, f"scenarios/pipe.yaml:1:1: {REFUSED}" in ended.output) == (2, True), ended.output


def test_a_pipe_in_the_store_is_not_waited_for(project: UserProject) -> None:
    recording = project.store / "recordings" / "b-0001"
    for folder in (project.store / "runs", project.store / "batches", recording):
        folder.mkdir(parents=True)
    os.mkfifo(recording / "request.json")
    os.mkfifo(project.store / "batches" / "b.json")
    os.mkfifo(project.store / "history.jsonl")
    for arguments in (("replay", "b-0001"), ("replay", "b", "--re-eval"), ("judge", "b"), ("report",), ("report", "b")):
        ended = project.salvo(*arguments)
        assert ended.exit_code != 0, ended.output
    os.mkfifo(project.store / "baseline.json")
    ended = project.salvo("run", "--against-baseline")
    assert (ended.exit_code, "it is not a regular file" in ended.output) == (2, True), ended.output


def test_a_pipe_as_the_cache_of_the_store_is_not_waited_for(project: UserProject) -> None:
    project.write(".salvo/history.jsonl", "{}\n")
    project.salvo("report")
    databases = [path for path in (project.store / "cache").iterdir() if path.name != ".gitignore"]
    assert databases
    for path in databases:
        path.unlink()
        os.mkfifo(path)
    ended = project.salvo("report")
    assert ended.exit_code != 0
