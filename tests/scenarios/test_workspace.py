"""A project's scenarios, read with everything that they need from the project."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from salvo.errors import InputError, ScenarioFileError, UsageError
from salvo.scenarios.overrides import ScenarioOverrides
from salvo.scenarios.spec.project import Project
from salvo.scenarios.workspace import Calls, Workspace
from tests.support.scenario_files import write

SCENARIO = """\
scenario: least
adapter: openai
model: gpt-5.4-mini
user_message: Hello
assertions:
  - type: cost_limit
    max_usd: 1
"""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.chdir(tmp_path)
    write("pyproject.toml", "")
    return Workspace(Project.find(), environ={})


def test_all_files_are_checked_whatever_is_wrong_with_some(workspace: Workspace) -> None:
    write("a.yaml", SCENARIO)
    write("b.yaml", SCENARIO.replace("adapter", "adaptor").replace("max_usd", "max_eur"))
    write("c.yaml", SCENARIO.replace("least", "other"))
    write("d.yaml", f"# again\n{SCENARIO}")
    with pytest.raises(ScenarioFileError) as caught:
        workspace.read_all()
    assert str(caught.value) == snapshot("""\
b.yaml:2:1: adaptor: no such field; did you mean "adapter"?
b.yaml:7:5: assertions[0].max_eur: no such field; did you mean "max_usd"?
d.yaml:2:1: scenario: "least" is also the name of a.yaml\
""")
    scenarios, _ = workspace.validate_all(workspace.project.scenario_files())
    assert [(file.name, scenario.scenario) for file, scenario in scenarios] == [
        ("a.yaml", "least"),
        ("c.yaml", "other"),
    ]


def test_a_replay_needs_neither_tools_nor_variables(workspace: Workspace) -> None:
    file = write("s.yaml", f"{SCENARIO}tools: [gone]\nadapter_options: {{base_url: '${{GONE}}'}}\n")
    assert workspace.read(file, ScenarioOverrides(), calls=Calls.NONE).tools == ["gone"]
    with pytest.raises(ScenarioFileError) as caught:
        workspace.read(file, ScenarioOverrides())
    assert [problem.field for problem in caught.value.problems] == ["tools[0]", "adapter_options.base_url"]


def test_a_scenario_in_python_cannot_be_read_as_a_file(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match=r"is written in Python, in test_x\.py"):
        workspace.read(Path("test_x.py"), ScenarioOverrides())


def test_a_scenario_in_python_is_checked_as_a_file_is(workspace: Workspace) -> None:
    fields = {"scenario": "s", "adapter": len, "user_message": "Hello"}
    known, scenario = workspace.with_python_scenario(
        fields | {"assertions": [lambda *_: True]}, Path("test_x.py"), ScenarioOverrides(runs=3)
    )
    assert scenario.runs == 3
    assert known.project.load(scenario.adapter.removeprefix("function:"), Path("test_x.py")) is len
    with pytest.raises(InputError) as caught:
        workspace.with_python_scenario(
            fields | {"assertions": [{"type": "cost_limit"}]}, Path("test_x.py"), ScenarioOverrides()
        )
    assert str(caught.value) == snapshot("The scenario s cannot be used: assertions[0].max_usd: is missing.")


def test_overrides_replace_what_the_file_says(workspace: Workspace) -> None:
    file = write("s.yaml", SCENARIO)
    overrides = ScenarioOverrides(runs=7, threshold=0.5)
    assert overrides.values == {"runs": 7, "threshold": 0.5}
    scenario = workspace.read(file, overrides)
    assert (scenario.runs, scenario.threshold, scenario.model) == (7, 0.5, "gpt-5.4-mini")


@pytest.mark.parametrize(
    "overrides, message",
    [
        (
            ScenarioOverrides(threshold=2),
            snapshot("--threshold must be at most 1. Nothing was run, and nothing was spent."),
        ),
        (
            ScenarioOverrides(confidence=0.95),
            snapshot(
                "least: --confidence cannot be used, because no number of runs can show a min_pass_rate of 1.0; use a lower one, such as 0.95. Set min_pass_rate in the scenario, or --min-pass-rate. Nothing was run, and nothing was spent."
            ),
        ),
    ],
)
def test_an_override_that_cannot_be_says_which(
    workspace: Workspace, overrides: ScenarioOverrides, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        workspace.read(write("s.yaml", SCENARIO), overrides)
    assert str(caught.value) == message
