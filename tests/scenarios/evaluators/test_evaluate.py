"""All assertions of a run, evaluated at once."""

import asyncio
from typing import Any

from salvo.engine.chat.base import OutputSchema
from salvo.engine.chat.judge import JudgeVote, Question
from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType
from salvo.scenarios.evaluators.evaluate import evaluate_all
from salvo.scenarios.evaluators.registry import Registry, builtin_registry
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult, RunMetrics
from salvo.scenarios.spec.judge_server import JudgeServer
from salvo.scenarios.spec.schema import Assertion, Scenario
from tests.support.evaluation import FakeServices, evaluate, run, scenario, vote


async def test_the_documents_assertions_are_evaluated_in_the_order_of_the_file_with_their_labels() -> None:
    asked = scenario(
        {"type": "tool_sequence", "expected": [], "required": True, "weight": 2},
        {"type": "jmespath", "path": "final_output.confirmation_id", "operator": "regex", "value": "^[A-Z]{6}$"},
        {"type": "cost_limit", "max_usd": 0.05, "name": "cheap"},
        {"type": "latency_limit", "max_seconds": 15, "weight": 0.5},
    )
    found = await evaluate_all(asked, run({"confirmation_id": "ABCDEF"}), builtin_registry(), lambda _: FakeServices())
    assert [(each.name, each.type, each.required, each.weight, each.passed) for each in found] == [
        ("tool_sequence", "tool_sequence", True, 2, True),
        ("confirmation_id", "jmespath", False, 1, True),
        ("cheap", "cost_limit", False, 1, True),
        ("latency_limit", "latency_limit", False, 0.5, True),
    ]


async def test_an_evaluator_that_breaks_loses_neither_the_others_nor_the_run() -> None:
    def broken(*_: Any) -> EvalResult:
        raise RuntimeError("oops")

    registry = builtin_registry()
    registry.register("broken", EvaluatorType("broken", broken))
    registry.register("wrong", EvaluatorType("wrong", lambda *_: "yes"))  # type: ignore[arg-type]
    asked = scenario(
        {"type": "broken", "required": True, "name": "b"},
        {"type": "no_such_type"},
        {"type": "cost_limit", "max_usd": "never checked"},
        {"type": "wrong"},
        {"type": "latency_limit", "max_seconds": 15},
    )
    found = await evaluate_all(asked, run("done"), registry, lambda _: FakeServices())
    assert [each.passed for each in found] == [None, None, None, None, True]
    assert {each.cause for each in found[:4]} == {Cause.EVALUATOR}
    assert (found[0].message, found[0].name, found[0].required) == (
        "broken could not be evaluated. RuntimeError: oops",
        "b",
        True,
    )
    assert found[1].message.startswith(
        'no_such_type could not be evaluated. There is no assertion type "no_such_type".'
    )


async def test_assertions_are_evaluated_at_once_each_with_its_own_services() -> None:
    barrier = asyncio.Barrier(3)

    class Services(FakeServices):
        def __init__(self, place: int) -> None:
            super().__init__(functions={"m.f": self.check})
            self.place = place

        async def check(self, *_: Any) -> EvalResult:
            await asyncio.wait_for(barrier.wait(), 60)
            return EvalResult.judged(True, str(self.place))

    asked = scenario(*[{"type": "custom", "function": "m.f"}] * 3)
    found = await evaluate_all(asked, run("done"), builtin_registry(), Services)
    assert [each.message for each in found] == ["0", "1", "2"]


async def test_what_judges_take_is_not_the_evaluator_s_time() -> None:
    class Slow(FakeServices):
        async def ask(
            self, model: str, question: Question, votes: int, server: JudgeServer | None = None
        ) -> list[JudgeVote]:
            await asyncio.sleep(1)
            return [vote(True)]

    async def ask_twice(_: Scenario, assertion: Assertion, __: AgentRunResult, services: EvalServices) -> EvalResult:
        question = Question("", "", OutputSchema("x", {}))
        await asyncio.gather(*(services.ask("openai/x", question, 1) for _ in range(2)))
        if assertion.fields["hang"]:
            await asyncio.Event().wait()
        return EvalResult.judged(True)

    registry = Registry()
    registry.register("asks", EvaluatorType("asks", ask_twice))
    assert (await evaluate({"type": "asks", "hang": False}, run(), Slow(), registry=registry, timeout=0.5)).passed
    found = await evaluate({"type": "asks", "hang": True}, run(), Slow(), registry=registry, timeout=0.5)
    assert found.error == "asks was stopped after 0.5 s, the scenario's timeout."


async def test_an_evaluator_does_not_have_to_be_async() -> None:
    registry = Registry()
    registry.register("always", EvaluatorType("always", lambda *_: EvalResult.judged(False)))
    assert (await evaluate({"type": "always"}, run(metrics=RunMetrics()), registry=registry)).passed is False
