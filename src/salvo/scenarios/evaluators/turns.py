"""Assertions at a turn of a conversation: what they see of the run, and how the results of several turns are one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from salvo.engine.jsonio.pydantic_errors import FieldError
from salvo.engine.text.formatting import pluralize
from salvo.scenarios.result import AgentRunResult, Cause, ConversationTurn, EvalResult
from salvo.scenarios.spec.schema import END, EVERY_TURN, Scenario

_STORED = ("turn", "passed", "score", "message", "expected", "actual", "error", "details", "attachments")


def run_at_turn(result: AgentRunResult, turn: ConversationTurn) -> AgentRunResult:
    """Return the run as an assertion at this turn sees it.

    The output, tool calls, trace and metrics are those of the turn; `turns` has it and the ones before.
    """
    return result.model_copy(
        update={
            "final_output": turn.output,
            "final_text": turn.agent,
            "tool_calls": turn.tool_calls,
            "trace": turn.trace,
            "metrics": turn.metrics,
            "turns": [earlier for earlier in result.turns if earlier.number <= turn.number],
        }
    )


def not_reached(number: int, result: AgentRunResult) -> EvalResult:
    """Return the result of an assertion at a turn that did not happen. It says nothing about the agent."""
    error = f"The conversation ended after {pluralize(len(result.turns), 'turn')}, so turn {number} cannot be judged."
    return EvalResult.unjudged(error, Cause.EVALUATOR)


def every_turn(verdicts: Sequence[EvalResult]) -> EvalResult:
    """Return one result for all turns: it passes if it passes at each of them.

    A turn that failed decides. If none did, and one could not be judged, the whole cannot be judged.
    """
    if not verdicts:
        return EvalResult.unjudged("The conversation has no turns.", Cause.EVALUATOR)
    failed = [verdict for verdict in verdicts if verdict.passed is False]
    unjudged = [verdict for verdict in verdicts if verdict.passed is None]
    if failed:
        first = failed[0]
        which = f"{len(failed)} of {pluralize(len(verdicts), 'turn')} failed"
        result = first.model_copy(update={"message": f"{which}; turn {first.turn}: {first.message or 'failed'}"})
        result.score = min(verdict.score or 0.0 for verdict in failed)
    elif unjudged:
        first = unjudged[0]
        error = f"Turn {first.turn}: {first.error or first.message}"
        result = EvalResult.unjudged(error, first.cause or Cause.EVALUATOR)
        result.turn = first.turn
    else:
        scores = [1.0 if verdict.score is None else verdict.score for verdict in verdicts]
        result = verdicts[-1].model_copy(update={"score": min(scores), "turn": None, "actual": None})
    at_turns = [{name: getattr(verdict, name) for name in _STORED} for verdict in verdicts]
    return result.model_copy(update={"details": {"turns": at_turns}, "attachments": {}})


def check_turns(scenario: Scenario) -> Iterator[FieldError]:
    """Yield each assertion that names a turn that the scenario cannot have."""
    for number, turn in enumerate(scenario.turns):
        for index, assertion in enumerate(turn.assertions):
            if assertion.at is not None:
                inner = ("turns", number, "assertions", index, "at")
                yield FieldError(inner, "an assertion inside a turn is judged at that turn; leave this out")
    for index, assertion in enumerate(scenario.assertions):
        if assertion.at in (None, END):
            continue
        path = ("assertions", index, "at")
        if not scenario.is_conversation:
            yield FieldError(path, "only a scenario with `turns` or `user` has turns")
        elif assertion.at != EVERY_TURN and (assertion.turn or 0) > scenario.most_turns:
            yield FieldError(path, f"the conversation has at most {pluralize(scenario.most_turns, 'turn')}")
