"""`latency_limit`: how long the agent took, without the waits that Salvo caused."""

from __future__ import annotations

from pydantic import Field

from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType
from salvo.scenarios.evaluators.values import at_most
from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Assertion, Scenario


class LatencyLimitFields(FileModel):
    """How long the agent took."""

    max_seconds: float = Field(
        ge=0,
        allow_inf_nan=False,
        description="Seconds that one run may take, without waits between retries and in Salvo's own queue.",
    )


def _evaluate(_: Scenario, assertion: Assertion, result: AgentRunResult, __: EvalServices) -> EvalResult:
    limit = assertion.typed_fields(LatencyLimitFields).max_seconds
    latency = result.metrics.latency
    within = at_most(latency, limit)
    message = "" if within else f"the run took {latency:.3g} s, more than {limit:g} s"
    return EvalResult.judged(within, message, expected=limit, actual=latency)


TYPE = EvaluatorType("latency_limit", _evaluate, LatencyLimitFields)
