"""From what the assertions came to, to what the run came to. Pure: the document's four steps, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from salvo.scenarios.result import Cause, EvalResult, Outcome

NEAR = 1e-9
"""Closer to the threshold than this is at the threshold: 0.7 + 0.1 must reach 0.8, two thirds and one third a half.
Exact fractions would mend the first sum but not the second, and nobody means a difference this small."""


class RunVerdict(NamedTuple):
    outcome: Outcome
    cause: Cause | None
    passed: bool
    weighted_score: float | None
    """None where the run could not be judged."""


def score(results: Sequence[EvalResult], threshold: float) -> RunVerdict:
    """A failed required assertion stands, whatever else could not be judged; else one of those makes an error."""
    if any(result.required and result.passed is False for result in results):
        return RunVerdict(Outcome.FAILED, Cause.ASSERTION, passed=False, weighted_score=0.0)
    unjudged = next((result for result in results if result.passed is None), None)
    if unjudged is not None or not results:
        cause = unjudged.cause if unjudged is not None else None
        return RunVerdict(Outcome.ERROR, cause or Cause.EVALUATOR, passed=False, weighted_score=None)
    reached = _at(threshold, _weighted(results))
    if reached >= threshold:
        return RunVerdict(Outcome.PASSED, None, passed=True, weighted_score=reached)
    return RunVerdict(Outcome.FAILED, Cause.ASSERTION, passed=False, weighted_score=reached)


def _weighted(results: Sequence[EvalResult]) -> float:
    heaviest = max(result.weight for result in results)
    if heaviest == 0:
        return 1.0
    # Scaled by a power of two, which changes no digit, because a sum of huge weights has no float.
    # fsum is exact to the last bit, so the order does not matter.
    _, exponent = math.frexp(heaviest)
    weights = [math.ldexp(result.weight, -exponent) for result in results]
    scores = [_points(result) for result in results]
    return math.fsum(map(float.__mul__, scores, weights)) / math.fsum(weights)


def _points(result: EvalResult) -> float:
    return float(bool(result.passed) if result.score is None else result.score)


def _at(threshold: float, reached: float) -> float:
    """Moved onto the threshold where it is near, so that what is stored obeys the rule to the letter."""
    return threshold if abs(reached - threshold) <= NEAR else reached
