"""What the runs of a check add up to."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.playbooks.enums import Aggregation, Mode, Result, Severity
from salvo.playbooks.evaluate.votes import JudgeAnswer
from salvo.playbooks.playbook.definition import Variance
from salvo.playbooks.report.votes.variance import overall, run_variance, tally, what_it_shows

P, F, U = Result.PASS, Result.FAIL, Result.INDETERMINATE  # undecided
MAJORITY, CONSENSUS = Aggregation.MAJORITY_VOTE, Aggregation.CONSENSUS_REQUIRED
results = st.sampled_from(Result)


def cast(*votes: Result | None, confidence: float | None = 0.9) -> list[JudgeAnswer]:
    return [JudgeAnswer(vote, confidence if vote else None) for vote in votes]


@pytest.mark.parametrize(
    "votes, result, consistency",
    [
        ((P, P, P), P, 1.0),
        ((P, P, F), P, 0.5),
        ((F, U, F), F, 0.5),
        ((P, F, U), U, 0.0),
        ((U, U, P), U, 0.5),
        ((P, P, None), P, 1.0),
        ((P, F, None), U, 0.0),
        ((P, None, None), U, None),
        ((None, None, None), U, None),
        ((P, P, P, F, F), P, 0.5),
        ((P, P, F, F), U, 0.0),
    ],
)
def test_votes_need_a_strict_majority_of_the_runs_asked_for(
    votes: tuple[Result | None, ...], result: Result, consistency: float | None
) -> None:
    counted = tally(cast(*votes), MAJORITY, Mode.FULL)
    assert (counted.result, counted.consistency) == (result, consistency)


def test_fewer_than_a_majority_of_valid_runs_is_incomplete() -> None:
    assert tally(cast(P, None, None), MAJORITY, Mode.FULL).incomplete
    assert not tally(cast(P, P, None), MAJORITY, Mode.FULL).incomplete
    assert tally([JudgeAnswer(P, 1.0), None], MAJORITY, Mode.FULL).incomplete


def test_aggregation_consensus_required_makes_what_is_not_unanimous_indeterminate() -> None:
    assert tally(cast(F, F, F), CONSENSUS, Mode.FULL).result is F
    assert tally(cast(F, F, P), CONSENSUS, Mode.FULL).result is U
    assert tally(cast(F, F, None), CONSENSUS, Mode.FULL).result is U


@given(st.lists(results | st.none(), min_size=1, max_size=7))
def test_aggregation_report_all_runs_decides_as_the_majority_does(votes: list[Result | None]) -> None:
    ballots = cast(*votes)
    assert tally(ballots, Aggregation.REPORT_ALL_RUNS, Mode.FULL) == tally(ballots, MAJORITY, Mode.FULL)


def test_confidence_is_the_mean_of_the_votes_that_agree_with_the_result() -> None:
    ballots = [JudgeAnswer(F, 0.9), JudgeAnswer(F, 0.7), JudgeAnswer(P, 0.1)]
    assert tally(ballots, MAJORITY, Mode.FULL).confidence == pytest.approx(0.8)
    assert tally(cast(P, F, None), MAJORITY, Mode.FULL).confidence == 0


def test_a_screening_has_no_consistency() -> None:
    assert tally(cast(P), MAJORITY, Mode.SCREENING) == tally(cast(P), MAJORITY, Mode.SCREENING)
    assert tally(cast(P), MAJORITY, Mode.SCREENING).consistency is None


def test_overall_consistency_weighs_high_checks_twice_and_leaves_unknown_ones_out() -> None:
    high, medium = Severity.HIGH, Severity.MEDIUM
    assert overall([(high, 1.0), (high, 0.5), (medium, 1.0), (medium, 0.0)]) == pytest.approx(4 / 6)
    assert overall([(high, 1.0), (medium, None)]) == 1.0
    assert overall([(high, None)]) is None
    assert overall([]) is None


@pytest.mark.parametrize(
    "score, mode, result",
    [
        (0.85, Mode.FULL, P),
        (0.8499, Mode.FULL, U),
        (0.70, Mode.FULL, U),
        (0.6999, Mode.FULL, F),
        (None, Mode.FULL, U),
        (1.0, Mode.SCREENING, U),
    ],
)
def test_run_variance_passes_from_ok_and_fails_below_warn(score: float | None, mode: Mode, result: Result) -> None:
    assert run_variance(score, Variance(), mode)[0] is result


def test_run_variance_takes_its_thresholds_from_the_playbook() -> None:
    assert run_variance(0.6, Variance(ok=0.6, warn=0.5), Mode.FULL)[0] is P


@given(st.floats(0, 1))
def test_run_variance_says_that_it_measures_the_evaluator(score: float) -> None:
    assert "This measures the evaluator." in run_variance(score, Variance(), Mode.FULL)[1]


def test_a_weighted_mean_of_exact_halves_is_not_moved_past_a_threshold_by_floating_point() -> None:
    for combination in product((0.0, 0.5, 1.0), repeat=4):
        pairs = list(zip([Severity.HIGH, Severity.HIGH, Severity.MEDIUM, Severity.MEDIUM], combination, strict=True))
        twelfths = sum(int(2 * value) * severity.weight for severity, value in pairs)
        assert overall(pairs) == pytest.approx(twelfths / 12, abs=1e-8)


@given(st.integers(2, 50))
def test_n_of_n_never_shows_certainty(runs: int) -> None:
    shown = what_it_shows(runs)
    assert shown.startswith(f"Agreement in {runs} of {runs} runs shows only")
    assert "100%" not in shown


def test_three_of_three_shows_little() -> None:
    assert "at least 29% of runs" in what_it_shows(3)
    assert "does not show" in what_it_shows(1)
    assert "agrees with itself by construction" in what_it_shows(3, deterministic=True)
