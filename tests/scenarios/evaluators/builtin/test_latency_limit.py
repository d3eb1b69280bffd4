"""latency_limit: within and over."""

import pytest

from salvo.scenarios.result import RunMetrics
from tests.support.evaluation import evaluate, findings, run


@pytest.mark.parametrize("latency, passed", [(14.9, True), (15.0, True), (15.5, False)])
async def test_a_latency_up_to_the_limit_passes_and_is_kept_to_be_averaged(latency: float, passed: bool) -> None:
    found = await evaluate({"type": "latency_limit", "max_seconds": 15}, run(metrics=RunMetrics(latency=latency)))
    assert (found.passed, found.expected, found.actual) == (passed, 15, latency)
    assert found.message == ("" if passed else "the run took 15.5 s, more than 15 s")


def test_a_limit_that_is_not_finite_is_an_error() -> None:
    [(path, message)] = findings({"type": "latency_limit", "max_seconds": float("inf")})
    assert path == ("assertions", 0, "max_seconds")
    assert "a finite number" in message
