"""What a scenario needs from its project is checked without running anything."""

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from salvo.errors import UsageError
from salvo.scenarios.scenario_checks import check_scenario
from salvo.scenarios.spec.project import Project
from tests.support.evaluation import scenario


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.py").write_text("def search(): ...\n")
    (tmp_path / "agents.py").write_text("class Agent: ...\nNAME = 'x'\n")
    return Project(tmp_path, tmp_path)


def errors(project: Project, *assertions: dict[str, Any], only: bool = False, **fields: Any) -> list[tuple[Any, str]]:
    found = check_scenario(
        scenario(*assertions or [{"type": "latency_limit", "max_seconds": 1}], **fields),
        project.root / "s.yaml",
        project,
        assertions_only=only,
    )
    return [(error.path, error.message.replace(str(project.root), "ROOT")) for error in found]


def test_tools_adapter_and_assertions_are_checked(project: Project) -> None:
    assert errors(project, {"type": "cost_limit"}, tools=["search", "book", "search"], model="") == snapshot(
        [
            (
                ("tools", 1),
                "there is no tool 'book'; looked in the scenario, ROOT/tools.py, ROOT/tools/book.yaml",
            ),
            (("tools", 2), "the tool search is listed twice"),
            (("adapter",), "the adapter openai needs a model"),
            (("assertions", 0, "max_usd"), "is missing"),
        ]
    )


def test_only_the_assertions_are_checked_for_a_replay(project: Project) -> None:
    assert errors(project, {"type": "cost_limit"}, only=True, tools=["book"], model="") == snapshot(
        [(("assertions", 0, "max_usd"), "is missing")]
    )


@pytest.mark.parametrize(
    "adapter, message",
    [
        ("agents:Agent", snapshot("agents:Agent is not a class derived from salvo.BaseAdapter")),
        ("function:agents:NAME", snapshot("function:agents:NAME is not callable")),
        ("agents:Missing", snapshot('"agents:Missing": there is no "Missing" in agents.py.')),
    ],
)
def test_an_adapter_that_cannot_be_used_says_why(project: Project, adapter: str, message: str) -> None:
    assert errors(project, adapter=adapter) == [(("adapter",), message)]


def test_a_check_that_raises_is_an_error_of_the_whole_scenario(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise UsageError("The tools cannot be read.", hint="Mount them.")

    monkeypatch.setattr("salvo.scenarios.scenario_checks.check_tools", fail)
    assert errors(project, {"type": "cost_limit"}) == [
        ((), "The tools cannot be read. Mount them."),
        (("assertions", 0, "max_usd"), "is missing"),
    ]
