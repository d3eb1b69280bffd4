"""Score a run by the results of its assertions. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from salvo.scenarios.result import Cause, EvalResult, Outcome

TOLERANCE = 1e-9
"""A score this close to the threshold reaches it: 0.7 + 0.1 must reach 0.8, and the mean of two thirds and one third
must reach a half. Exact fractions would fix the first sum but not the second."""


class RunVerdict(NamedTuple):
    outcome: Outcome
    cause: Cause | None
    passed: bool
    weighted_score: float | None
    """None if the run could not be judged."""


def score(results: Sequence[EvalResult], threshold: float) -> RunVerdict:
    """Return the verdict on a run.

    A required assertion that failed fails the run, even if others could not be judged. Otherwise, one that could not
    be judged makes the run an error.
    """
    if any(result.required and result.passed is False for result in results):
        return RunVerdict(Outcome.FAILED, Cause.ASSERTION, passed=False, weighted_score=0.0)
    unjudged = next((result for result in results if result.passed is None), None)
    if unjudged is not None or not results:
        cause = unjudged.cause if unjudged is not None else None
        return RunVerdict(Outcome.ERROR, cause or Cause.EVALUATOR, passed=False, weighted_score=None)
    weighted = _weighted_score(results)
    if abs(weighted - threshold) <= TOLERANCE:
        weighted = threshold  # so that the stored score is not below the threshold of a run that passed
    if weighted >= threshold:
        return RunVerdict(Outcome.PASSED, None, passed=True, weighted_score=weighted)
    return RunVerdict(Outcome.FAILED, Cause.ASSERTION, passed=False, weighted_score=weighted)


def _weighted_score(results: Sequence[EvalResult]) -> float:
    max_weight = max(result.weight for result in results)
    if max_weight == 0:
        return 1.0
    # Scaling by a power of two changes no digit, and keeps a sum of huge weights from overflowing.
    # fsum is exact to the last bit, so the order does not matter.
    _, exponent = math.frexp(max_weight)
    weights = [math.ldexp(result.weight, -exponent) for result in results]
    scores = [float(bool(result.passed) if result.score is None else result.score) for result in results]
    return math.fsum(map(float.__mul__, scores, weights)) / math.fsum(weights)
