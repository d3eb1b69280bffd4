"""The verdict on a run: its assertions evaluated, and their score."""

from __future__ import annotations

from collections.abc import Mapping

from salvo.scenarios.evaluators.evaluate import evaluate_all, score
from salvo.scenarios.evaluators.registry import Registry
from salvo.scenarios.result import CUSTOM, UNFINISHED, AgentRunResult, Cause, EvalResult, Outcome
from salvo.scenarios.run.environment import RunEnvironment

TOLERATED = "tolerated_fault"
"""The detail of a run that says why the last call of its program failed, if the program finished all the same."""


async def judge(
    result: AgentRunResult,
    environment: RunEnvironment,
    registry: Registry,
    known: Mapping[int, EvalResult] | None = None,
) -> None:
    """Evaluate and score the result. A run that did not finish has failed, or is an error, without evaluation.

    `known` are results of assertions, by position, that are not evaluated again.
    """
    if result.cause in UNFINISHED:
        result.weighted_score = 0.0 if result.outcome is Outcome.FAILED else None
        return
    scenario = environment.prepared.assertions_scenario()
    result.eval_results = await evaluate_all(scenario, result, registry, environment.services, known)
    verdict = score(result.eval_results, scenario.threshold)
    result.outcome, result.passed, result.weighted_score = verdict.outcome, verdict.passed, verdict.weighted_score
    # A refusal or a truncated answer explains a failure better than the assertion that noticed it.
    result.cause = result.cause if result.cause and verdict.outcome is Outcome.FAILED else verdict.cause
    result.error = next((item.error for item in result.eval_results if item.error), None)
    tolerated = environment.journal.tolerated_fault
    fault: object = tolerated
    if environment.prepared.batch.provider == CUSTOM and TOLERATED in result.details:
        fault = result.details[TOLERATED]  # also of a stored run, whose journal is gone
    if fault is not None and result.outcome is Outcome.FAILED:
        if tolerated is not None:
            environment.faults.append((tolerated, None))
        # It passes if it did well without the last answer. But what it lacked is not held against it.
        result.outcome, result.cause, result.error = Outcome.ERROR, Cause.PROVIDER, str(fault)
        result.weighted_score = None
    result.judge_cost = environment.judging.cost if environment.judging.model_calls else 0.0
    if judge_prices := environment.judging.known_prices():
        stored = result.details.get("prices")
        prices = {**(stored if isinstance(stored, dict) else {}), **judge_prices}
        result.details = {**result.details, "prices": prices}


def without_verdict(stored: AgentRunResult) -> AgentRunResult:
    """Return a stored run as it was before it was evaluated: what an evaluation found does not count any more."""
    is_agents = stored.cause in UNFINISHED | {Cause.REFUSAL, Cause.LENGTH}
    return stored.model_copy(update={"cause": stored.cause if is_agents else None})
