"""`latency_limit`: how long the agent took, without the waits that were ours."""

from __future__ import annotations

from pydantic import Field

from salvo.scenarios.evaluators.base import EvalServices, Evaluate, EvaluatorType
from salvo.scenarios.evaluators.values import at_most
from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.spec.schema import Assertion, FileModel, Scenario


class LatencyLimitFields(FileModel):
    """How long the agent took."""

    max_seconds: float = Field(
        ge=0,
        allow_inf_nan=False,
        description="Seconds that one run may take; waits between retries and our own queue are left out.",
    )


def _evaluator(_: EvalServices) -> Evaluate:
    def evaluate(_: Scenario, assertion: Assertion, result: AgentRunResult) -> EvalResult:
        limit = LatencyLimitFields.model_validate(assertion.fields).max_seconds
        took = result.metrics.latency
        within = at_most(took, limit)
        message = "" if within else f"the run took {took:.3g} s, more than {limit:g} s"
        return EvalResult.judged(within, message, expected=limit, actual=took)

    return evaluate


TYPE = EvaluatorType("latency_limit", _evaluator, LatencyLimitFields)
