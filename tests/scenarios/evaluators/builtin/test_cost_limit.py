"""cost_limit: within, over, and unknown."""

from typing import Any

import pytest

from salvo.scenarios.result import Cause, RunMetrics
from tests.support.evaluation import evaluate, findings, run


@pytest.mark.parametrize("cost, passed", [(0.0, True), (0.049, True), (0.05, True), (0.051, False)])
async def test_a_cost_up_to_the_limit_passes_and_is_kept_to_be_averaged(cost: float, passed: bool) -> None:
    found = await evaluate({"type": "cost_limit", "max_usd": 0.05}, run(metrics=RunMetrics(cost=cost)))
    assert (found.passed, found.expected, found.actual) == (passed, 0.05, cost)
    assert found.message == ("" if passed else "the run cost $0.051, more than $0.05")


async def test_a_sum_of_prices_that_reaches_the_limit_on_paper_is_within_it() -> None:
    found = await evaluate({"type": "cost_limit", "max_usd": 0.3}, run(metrics=RunMetrics(cost=0.1 + 0.2)))
    assert found.passed


@pytest.mark.parametrize("cost", [None, float("nan")])
async def test_a_cost_that_is_not_known_neither_passes_nor_fails_and_says_what_to_do(cost: float | None) -> None:
    found = await evaluate({"type": "cost_limit", "max_usd": 1}, run(metrics=RunMetrics(cost=cost), model="my-model"))
    assert (found.passed, found.score, found.cause) == (None, None, Cause.PRICE_UNKNOWN)
    assert (
        found.error
        == found.message
        == (
            "The cost of this run is not known: there is no price for openai/my-model, or no count of its tokens. "
            "Set its price under [tool.salvo.prices] in pyproject.toml, use a model that `salvo models` lists, let the "
            "adapter set metrics.cost, or leave out cost_limit."
        )
    )


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"max_usd": -1}, "must be at least 0"),
        ({"max_usd": "0.05"}, "must be a number, not text"),
        ({"max_usd": True}, "must be a number, not true"),
        ({}, "is missing"),
    ],
)
def test_a_limit_that_is_not_an_amount_is_an_error(fields: dict[str, Any], message: str) -> None:
    assert findings({"type": "cost_limit", **fields}) == [(("assertions", 0, "max_usd"), message)]
