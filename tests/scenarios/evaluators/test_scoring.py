"""The document's four steps, and every edge of them."""

import math
import random
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from salvo.scenarios.evaluators.evaluate import TOLERANCE, RunVerdict, score
from salvo.scenarios.result import Cause, EvalResult, Outcome

PASSED = Outcome.PASSED, None, True
FAILED = Outcome.FAILED, Cause.ASSERTION, False


def judged(points: float, weight: float = 1.0, *, required: bool = False) -> EvalResult:
    return EvalResult(passed=points == 1.0, score=points, weight=weight, required=required)


def unjudged(cause: Cause = Cause.JUDGE, *, required: bool = False) -> EvalResult:
    result = EvalResult.unjudged("no majority", cause)
    result.required = required
    return result


weights = st.floats(0, 1e300, allow_nan=False)
results = st.builds(judged, st.floats(0, 1), weights)
shares = st.floats(0, 1)


def test_the_documents_example_reaches_its_threshold_when_only_the_confirmation_fails() -> None:
    assertions = [judged(1, 2, required=True), judged(0), judged(1), judged(1)]
    assert score(assertions, 0.8) == RunVerdict(*PASSED, 0.8)


@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0])
def test_a_required_failure_scores_zero_and_fails_at_every_threshold(threshold: float) -> None:
    assertions = [judged(1, 100), judged(0, required=True), judged(1)]
    assert score(assertions, threshold) == RunVerdict(*FAILED, 0.0)


def test_a_required_assertion_fails_by_its_verdict_not_by_its_score() -> None:
    partly = EvalResult(passed=True, score=0.5, required=True)
    assert score([partly], 0.5) == RunVerdict(*PASSED, 0.5)
    assert score([EvalResult(passed=False, score=0.5, required=True)], 0.5) == RunVerdict(*FAILED, 0.0)


def test_a_required_failure_stands_although_another_could_not_be_judged() -> None:
    assert score([unjudged(), judged(0, required=True)], 0.5) == RunVerdict(*FAILED, 0.0)


@pytest.mark.parametrize("required", [True, False])
def test_one_unjudged_assertion_makes_the_run_an_error_with_its_cause(required: bool) -> None:
    assertions = [judged(1), judged(0), unjudged(Cause.PRICE_UNKNOWN, required=required), unjudged(Cause.JUDGE)]
    assert score(assertions, 0.0) == RunVerdict(Outcome.ERROR, Cause.PRICE_UNKNOWN, passed=False, weighted_score=None)


def test_no_assertion_at_all_is_no_pass() -> None:
    assert score([], 0.0) == RunVerdict(Outcome.ERROR, Cause.EVALUATOR, passed=False, weighted_score=None)


def test_all_weights_zero_scores_one_unless_something_required_failed() -> None:
    assert score([judged(0, 0), judged(0, 0)], 1.0) == RunVerdict(*PASSED, 1.0)
    assert score([judged(0, 0, required=True), judged(1, 0)], 1.0) == RunVerdict(*FAILED, 0.0)


def test_a_weight_of_zero_does_not_count() -> None:
    assert score([judged(0, 0), judged(1, 1)], 1.0) == RunVerdict(*PASSED, 1.0)


def test_threshold_zero_passes_whatever_is_not_required_and_one_only_full_marks() -> None:
    assert score([judged(0)], 0.0) == RunVerdict(*PASSED, 0.0)
    assert score([judged(1), judged(0.999)], 1.0).passed is False


def test_a_partial_score_counts_in_part() -> None:
    assert score([judged(0.25, 3), judged(1, 1)], 0.5) == RunVerdict(*FAILED, 0.4375)


def test_a_verdict_without_a_score_counts_whole() -> None:
    assert score([EvalResult(passed=True, score=None), EvalResult(passed=False, score=None)], 0.5) == RunVerdict(
        *PASSED, 0.5
    )


@pytest.mark.parametrize(
    "passing, failing, threshold",
    [
        ([0.1, 0.2], [0.7], 0.3),
        ([0.7, 0.1], [0.2], 0.8),
        ([0.1] * 8, [0.1] * 2, 0.8),
        ([1.1, 2.2], [6.7], 0.33),
        ([0.3], [0.1, 0.6], 0.3),
    ],
)
def test_a_sum_of_floats_that_reaches_the_threshold_on_paper_reaches_it(
    passing: list[float], failing: list[float], threshold: float
) -> None:
    both = [(1.0, weight) for weight in passing] + [(0.0, weight) for weight in failing]
    for order in [both, both[::-1], sorted(both), random.Random(1).sample(both, len(both))]:
        assert score([judged(*each) for each in order], threshold) == RunVerdict(*PASSED, threshold)


def test_thirds_reach_a_half() -> None:
    assert score([judged(2 / 3), judged(1 / 3)], 0.5) == RunVerdict(*PASSED, 0.5)


def test_what_misses_the_threshold_by_more_than_a_rounding_error_fails() -> None:
    assert score([judged(0.8 - 3 * TOLERANCE)], 0.8).passed is False


def test_weights_too_large_to_be_added_up_still_count_in_proportion() -> None:
    assert score([judged(1, 1.7e308), judged(1, 1.7e308), judged(0, 1.7e308)], 0.5).weighted_score == pytest.approx(
        2 / 3
    )


@given(st.lists(results, min_size=1), shares)
def test_a_score_lies_between_zero_and_one_and_decides_by_the_rule_as_written(
    assertions: list[EvalResult], threshold: float
) -> None:
    verdict = score(assertions, threshold)
    assert verdict.weighted_score is not None
    assert 0 <= verdict.weighted_score <= 1
    assert verdict.passed is (verdict.weighted_score >= threshold)
    assert verdict.outcome is (Outcome.PASSED if verdict.passed else Outcome.FAILED)


@given(st.lists(results, min_size=1), shares)
def test_a_score_is_what_exact_arithmetic_says(assertions: list[EvalResult], threshold: float) -> None:
    total = sum(Fraction(result.weight) for result in assertions)
    assume(total > 0)
    exact = sum(Fraction(result.score or 0) * Fraction(result.weight) for result in assertions) / total
    reached = score(assertions, threshold).weighted_score
    assert reached is not None
    assert math.isclose(reached, float(exact), abs_tol=2 * TOLERANCE)


@given(st.lists(results, min_size=1), shares, st.randoms())
def test_the_order_of_the_assertions_does_not_matter(
    assertions: list[EvalResult], threshold: float, chance: random.Random
) -> None:
    mixed = list(assertions)
    chance.shuffle(mixed)
    assert score(mixed, threshold) == score(assertions, threshold)


@given(st.lists(results, min_size=1), shares, st.data())
def test_a_better_assertion_never_makes_a_run_worse(
    assertions: list[EvalResult], threshold: float, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(assertions) - 1))
    chosen = assertions[place]
    better = judged(data.draw(st.floats(chosen.score or 0, 1)), chosen.weight)
    before, after = (
        score(assertions, threshold),
        score([*assertions[:place], better, *assertions[place + 1 :]], threshold),
    )
    assert (after.weighted_score or 0) >= (before.weighted_score or 0)
    assert after.passed >= before.passed


@given(st.lists(results, min_size=1), shares, shares)
def test_a_lower_threshold_never_fails_what_a_higher_one_passes(
    assertions: list[EvalResult], one: float, other: float
) -> None:
    assert score(assertions, min(one, other)).passed >= score(assertions, max(one, other)).passed
