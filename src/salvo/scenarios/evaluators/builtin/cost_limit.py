"""`cost_limit`: what the run cost, without its judges. If the cost is unknown, the assertion is unjudged."""

from __future__ import annotations

import math

from pydantic import Field

from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType
from salvo.scenarios.evaluators.values import at_most
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult, full_model
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Assertion, Scenario


class CostLimitFields(FileModel):
    """What the run cost."""

    max_usd: float = Field(ge=0, allow_inf_nan=False, description="Dollars that one run may cost, without its judges.")


def _evaluate(_: Scenario, assertion: Assertion, result: AgentRunResult, __: EvalServices) -> EvalResult:
    limit = assertion.typed_fields(CostLimitFields).max_usd
    cost = result.metrics.cost
    if cost is None or math.isnan(cost):
        return _unknown_cost(result, limit)
    within = at_most(cost, limit)
    message = "" if within else f"the run cost ${cost:.6g}, more than ${limit:g}"
    return EvalResult.judged(within, message, expected=limit, actual=cost)


def _unknown_cost(result: AgentRunResult, limit: float) -> EvalResult:
    model = full_model(result.provider, result.model) or "this agent"
    unjudged = EvalResult.unjudged(
        f"The cost of this run is not known: there is no price for {model}, or no count of its tokens. "
        "Set its price under [tool.salvo.prices] in pyproject.toml, use a model that `salvo models` lists, let the "
        "adapter set metrics.cost, or leave out cost_limit.",
        Cause.PRICE_UNKNOWN,
    )
    unjudged.expected = limit
    return unjudged


TYPE = EvaluatorType("cost_limit", _evaluate, CostLimitFields)
