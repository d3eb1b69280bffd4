"""What an evaluation works with: keys, judge, wire."""

import asyncio
from typing import Any

import pytest

from salvo.engine.wire.http import HttpWire
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.judges.base import Case
from salvo.playbooks.evaluate.request import new_request
from salvo.playbooks.evaluate.runner import EvaluationProgress, Event, evaluate
from salvo.playbooks.evaluate.session import EvaluatorConfig
from salvo.playbooks.playbook import library
from tests.support.playbooks import a_playbook, some_inputs


@pytest.fixture
def opened_wires(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    opened: list[Any] = []
    initialize = HttpWire.__init__

    def remember(self: HttpWire, *arguments: Any, **options: Any) -> None:
        opened.append(self)
        initialize(self, *arguments, **options)

    monkeypatch.setattr(HttpWire, "__init__", remember)
    return opened


async def test_the_rules_open_no_wire_and_record_no_exchange(opened_wires: list[Any]) -> None:
    events: list[Event] = []
    async with EvaluatorConfig("rules", environ={}).session(on_event=events.append) as context:
        assert context.wire is None
        await evaluate(new_request("id-0001", library.find(library.STARTER), some_inputs(), "rules"), context)
    votes = [event.vote for event in events if isinstance(event, EvaluationProgress) and event.vote]
    assert len(votes) == 12
    assert not any(vote.exchanges for vote in votes)
    assert opened_wires == []


async def test_a_model_judge_gets_a_wire(opened_wires: list[Any]) -> None:
    config = EvaluatorConfig("anthropic/claude-sonnet-4-6", environ={"ANTHROPIC_API_KEY": "k"})
    async with config.session() as context:
        assert context.wire is opened_wires[0]


async def test_an_evaluation_by_the_rules_that_was_stopped_leaves_nothing_running() -> None:
    """Otherwise a server that is stopped would go on to use threads that are gone."""
    check, long_text = a_playbook().judged_checks[0], Inputs("The clause is compliant. " * 2000)
    async with EvaluatorConfig("rules").session() as context:
        asked = asyncio.create_task(context.judge.judge(Case(check, long_text, 1, (), ()), None))
        await asyncio.sleep(0)
        asked.cancel()
        await asyncio.wait([asked])
    assert asyncio.all_tasks() == {asyncio.current_task()}
