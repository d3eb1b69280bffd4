"""Scenarios, runs and services for tests of evaluators, through the doors that the product uses."""

from collections.abc import Callable, Mapping
from typing import Any

from salvo.engine.chat.base import AssistantMessage, ChatReply, Stop, Usage
from salvo.engine.chat.judge import JudgeVote, Question
from salvo.errors import InputError
from salvo.scenarios.evaluators.evaluate import evaluate_all
from salvo.scenarios.evaluators.registry import Registry, builtin_registry
from salvo.scenarios.result import AgentRunResult, EvalResult, Outcome, RunMetrics, ToolCall
from salvo.scenarios.spec.judge_server import JudgeServer
from salvo.scenarios.spec.schema import Scenario


def scenario(*assertions: Mapping[str, Any], **fields: Any) -> Scenario:
    given = {"scenario": "s", "adapter": "openai", "model": "gpt-5.4-mini", "user_message": "Book it."} | fields
    return Scenario.model_validate(given | {"assertions": list(assertions) or [{"type": "latency_limit"}]})


def run(output: Any = None, *calls: ToolCall, **fields: Any) -> AgentRunResult:
    given: dict[str, Any] = {
        "run_id": "r-0001",
        "model": "gpt-5.4-mini",
        "timestamp": "2026-11-15T12:00:00Z",
        "metrics": RunMetrics(latency=1.0, cost=0.01),
    }
    return AgentRunResult(
        batch_id="r",
        scenario_id="s",
        number=1,
        provider="openai",
        seed=None,
        outcome=Outcome.PASSED,
        final_output=output,
        tool_calls=list(calls),
        **given | fields,
    )


class FakeServices:
    """Answers a judge's questions from a list, and loads what it was given."""

    def __init__(self, votes: list[JudgeVote] | None = None, functions: Mapping[str, Any] | None = None) -> None:
        self._votes = votes or []
        self._functions = functions or {}
        self.questions: list[tuple[str, Question, int]] = []

    async def ask(
        self, model: str, question: Question, votes: int, server: JudgeServer | None = None
    ) -> list[JudgeVote]:
        self.questions.append((model, question, votes))
        return self._votes

    def load(self, path: str) -> Any:
        if path not in self._functions:
            raise InputError(f"{path} cannot be found.")
        return self._functions[path]


def vote(passed: bool, reason: str = "because") -> JudgeVote:
    message = AssistantMessage(f'{{"passed": {str(passed).lower()}, "reason": "{reason}"}}')
    reply = ChatReply(message, Stop.END, Usage(100, 20), "gpt-5.4-mini-2026-03-01")
    return JudgeVote({"passed": passed, "reason": reason}, message.text, (reply,))


def no_vote(raw: str = "hm", problem: str = "The answer is not a JSON object.") -> JudgeVote:
    return JudgeVote(None, raw, (ChatReply(AssistantMessage(raw), Stop.END, None, "gpt-5.4-mini"),), problem=problem)


async def evaluate(
    assertion: Mapping[str, Any],
    result: AgentRunResult,
    services: FakeServices | None = None,
    *,
    registry: Registry | None = None,
    **fields: Any,
) -> EvalResult:
    """One assertion, as the runner has it evaluated."""
    ready = services or FakeServices()
    [found] = await evaluate_all(scenario(assertion, **fields), result, registry or builtin_registry(), lambda _: ready)
    return found


def findings(
    *assertions: Mapping[str, Any], load: Callable[[str], Any] | None = None, **fields: Any
) -> list[tuple[tuple[str | int, ...], str]]:
    errors = builtin_registry().check(scenario(*assertions, **fields), load or FakeServices().load)
    return [(error.path, error.message) for error in errors]
