"""The gate: what it says, how often it errs, and what would settle it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom  # type: ignore[import-untyped]  # scipy ships no types

from salvo.engine.stats.gating import MAX_MORE_RUNS, Gate, fewest_runs_to_pass, fixed_runs_needed, gate
from salvo.engine.stats.pass_rates import clopper_pearson

counts = st.integers(1, 300).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))
bars = st.sampled_from([0.1, 0.5, 0.8, 0.9, 0.95])


def test_thirty_six_faultless_runs_show_nine_in_ten_and_thirty_five_do_not() -> None:
    assert gate(36, 36, 0.9) == Gate("pass", clopper_pearson(36, 36), None)
    assert gate(35, 35, 0.9) == Gate("inconclusive", clopper_pearson(35, 35), 1)


def test_a_rate_whose_upper_bound_is_below_fails() -> None:
    assert gate(3, 10, 0.9) == Gate("fail", clopper_pearson(3, 10), None)


def test_before_the_first_run_nothing_is_settled() -> None:
    assert gate(0, 0, 0.9) == Gate("inconclusive", clopper_pearson(0, 0), 36)


def test_any_rate_reaches_nought() -> None:
    assert gate(0, 5, 0.0).verdict == "pass"


@given(counts, bars, st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_that_is_shown_decides(count: tuple[int, int], bar: float, confidence: float) -> None:
    found = gate(*count, bar, confidence)
    assert found.interval == clopper_pearson(*count, confidence)
    assert (found.verdict == "pass") == (found.interval.low >= bar)
    assert (found.verdict == "fail") == (found.interval.high < bar)


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("passes, runs", [(0, 0), (9, 10), (10, 10), (28, 30), (110, 120)])
def test_so_many_more_passing_runs_settle_it_and_one_fewer_does_not(one_sided: bool, passes: int, runs: int) -> None:
    more = gate(passes, runs, 0.9, 0.95, one_sided=one_sided).more
    assert more is not None
    assert gate(passes + more, runs + more, 0.9, 0.95, one_sided=one_sided).verdict == "pass"
    assert gate(passes + more - 1, runs + more - 1, 0.9, 0.95, one_sided=one_sided).verdict == "inconclusive"


def test_one_sided_bounds_need_fewer_runs() -> None:
    assert gate(29, 29, 0.9, one_sided=True).verdict == "pass"
    assert gate(28, 28, 0.9, one_sided=True).verdict == "inconclusive"


@given(bars, st.sampled_from([0.6, 0.95, 0.99]), st.booleans())
def test_with_one_run_fewer_than_needed_no_result_is_a_pass(bar: float, confidence: float, one_sided: bool) -> None:
    runs = fewest_runs_to_pass(bar, confidence, one_sided=one_sided)
    assert gate(runs, runs, bar, confidence, one_sided=one_sided).verdict == "pass"
    assert gate(runs - 1, runs - 1, bar, confidence, one_sided=one_sided).verdict == "inconclusive"


def test_more_runs_than_anyone_would_make_are_no_advice() -> None:
    assert gate(3, 3, 0.9999) == Gate("inconclusive", clopper_pearson(3, 3), None)
    nearly = math.ceil(math.log(0.025) / math.log(0.9997))  # faultless runs that 0.9997 needs: beyond the limit
    assert nearly > MAX_MORE_RUNS
    assert gate(3, 3, 0.9997).more is None
    assert gate(nearly - MAX_MORE_RUNS, nearly - MAX_MORE_RUNS, 0.9997).more == MAX_MORE_RUNS


@pytest.mark.parametrize("bar", [1.0, 1.5, -0.1, math.nan])
def test_a_rate_that_no_runs_can_show_is_refused(bar: float) -> None:
    with pytest.raises(ValueError, match="no number of runs can show"):
        gate(5, 5, bar)
    with pytest.raises(ValueError, match="no number of runs can show"):
        fixed_runs_needed(bar, 0.9)


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("bar", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("runs", [3, 10, 40])
def test_the_gate_errs_at_most_as_often_as_it_says(runs: int, bar: float, confidence: float, one_sided: bool) -> None:
    counts = range(runs + 1)
    verdicts = np.array([gate(passes, runs, bar, confidence, one_sided=one_sided).verdict for passes in counts])
    one_side = (1 - confidence) / (1 if one_sided else 2)
    for rate in np.linspace(0, 1, 201):
        chances = binom.pmf(np.arange(runs + 1), runs, rate)
        wrong = "pass" if rate < bar else "fail"
        assert chances[verdicts == wrong].sum() <= one_side + 1e-12


def test_the_false_alarms_of_the_gate_in_a_simulation() -> None:
    chance = np.random.default_rng(6)
    results = chance.binomial(60, 0.9, size=4_000)
    verdicts = {int(passes): gate(int(passes), 60, 0.9).verdict for passes in np.unique(results)}
    alarms = sum(verdicts[int(passes)] == "fail" for passes in results)
    assert 0 < alarms / len(results) <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / len(results))


@pytest.mark.parametrize("bar, rate, runs", [(0.9, 1.0, 36), (0.9, 0.99, 70), (0.9, 0.6, 21), (0.8, 0.95, 48)])
def test_the_fixed_number_is_the_first_that_settles_nine_times_in_ten(bar: float, rate: float, runs: int) -> None:
    def power(n: int) -> float:
        intervals = [clopper_pearson(passes, n) for passes in range(n + 1)]
        settles = [low >= bar if rate > bar else high < bar for low, high in intervals]
        return float(binom.pmf(np.arange(n + 1), n, rate)[settles].sum())

    assert fixed_runs_needed(bar, rate) == runs
    assert power(runs) >= 0.9
    assert all(power(n) < 0.9 for n in range(runs - 3, runs))


def test_no_fixed_number_tells_a_rate_from_itself_or_within_reason_from_its_neighbour() -> None:
    assert fixed_runs_needed(0.9, 0.9) is None
    assert fixed_runs_needed(0.9, 0.97, limit=126) is None
    assert fixed_runs_needed(0.9, 0.97, limit=127) == 127


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_any_rate_reaches_nought_with_the_first_run(rate: float) -> None:
    assert fixed_runs_needed(0.0, rate) == 1
