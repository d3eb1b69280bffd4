"""The referee: the documented procedures, simulated end to end with known truth. They keep their size, power and coverage.

`pytest -m referee` runs only these. What a simulation may add to a share by chance is three standard errors.
"""

import math
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binom  # type: ignore[import-untyped]  # scipy ships no types

from salvo.engine.stats.clusters import Cluster, clustered_mean
from salvo.engine.stats.exact_test import exact_p, mcnemar_p
from salvo.engine.stats.gating import gate
from salvo.engine.stats.judge_advice import judge_share_interval, more_runs_or_votes
from salvo.engine.stats.pass_rates import Interval, Tally, chances_of_k, clopper_pearson, newcombe
from salvo.engine.stats.power import visible_drop, visible_rise
from salvo.engine.stats.sequential import CorrectedRate, SequentialPlan

pytestmark = pytest.mark.referee


def noise(share: float, times: int) -> float:
    return 3 * math.sqrt(share * (1 - share) / times)


class TestPassRates:
    """Summed up over all results, so nothing is left to chance."""

    @pytest.mark.parametrize("runs", [3, 10, 40])
    def test_the_interval_contains_the_rate_and_that_of_pass_hat_k_the_chance_of_k(self, runs: int) -> None:
        bounds = [clopper_pearson(passes, runs) for passes in range(runs + 1)]
        k = max(1, runs // 2)
        chances = [chances_of_k(Tally(passes, runs), k, bounds[passes]) for passes in range(runs + 1)]
        for rate in np.linspace(0.01, 0.99, 99):
            weights = binom.pmf(np.arange(runs + 1), runs, rate)
            covered = [low <= rate <= high for low, high in bounds]
            assert weights[covered].sum() >= 0.95
            all_pass = [low - 1e-12 <= rate**k <= high + 1e-12 for low, high in (c.all_pass_interval for c in chances)]
            any_passes = [
                low - 1e-12 <= 1 - (1 - rate) ** k <= high + 1e-12
                for low, high in (c.any_passes_interval for c in chances)
            ]
            assert weights[all_pass].sum() >= 0.95
            assert weights[any_passes].sum() >= 0.95

    @pytest.mark.parametrize("one_sided", [False, True])
    @pytest.mark.parametrize("runs", [30, 60])
    def test_the_gate_errs_at_most_as_often_as_it_says_and_settles_what_is_far_away(
        self, runs: int, one_sided: bool
    ) -> None:
        verdicts = np.array([gate(passes, runs, 0.8, one_sided=one_sided).verdict for passes in range(runs + 1)])
        limit = 0.05 if one_sided else 0.025

        def share(verdict: str, rate: float) -> float:
            return float(binom.pmf(np.arange(runs + 1), runs, rate)[verdicts == verdict].sum())

        assert share("pass", 0.8 - 1e-9) <= limit
        assert share("fail", 0.8) <= limit
        assert share("pass", 0.99) > 0.9
        assert share("fail", 0.45) > 0.9


class Ending(NamedTuple):
    """A way in which runs until a verdict can end, with its probability."""

    probability: float
    passes: int
    looks: tuple[int, ...]
    settled: str | None

    @property
    def observed(self) -> float:
        return self.passes / self.looks[-1]


def endings(plan: SequentialPlan, rate: float, round_size: int = 10) -> list[Ending]:
    """Every ending for agents with this rate, run in rounds. Computed by scipy's binomials, not by our own code."""
    alive = np.array([1.0])
    found = []
    looks: tuple[int, ...] = ()
    while alive.sum() > 1e-12 and (not looks or looks[-1] < plan.max_runs):
        runs = (looks[-1] if looks else 0) + round_size
        looks = (*looks, runs)
        alive = np.convolve(alive, binom.pmf(np.arange(round_size + 1), round_size, rate))
        for passes, probability in enumerate(alive.tolist()):
            settled = plan.verdict(passes, runs)
            if probability and (settled is not None or runs == plan.max_runs):
                found.append(Ending(probability, passes, looks, settled))
                alive[passes] = 0.0
    return found


def estimate(plan: SequentialPlan, ending: Ending) -> CorrectedRate:
    corrected = plan.estimate(ending.passes, ending.looks)
    assert corrected is not None
    return corrected


class TestUntilSure:
    """Summed up over all endings, so nothing is left to chance, and no bound is chosen by what was seen."""

    @pytest.mark.parametrize("one_sided", [False, True])
    @pytest.mark.parametrize("rate, wrong", [(0.9 - 1e-9, "pass"), (0.9, "fail")])
    def test_at_the_minimum_itself_it_errs_at_most_as_often_as_it_says(
        self, rate: float, wrong: str, one_sided: bool
    ) -> None:
        plan = SequentialPlan(0.9, 0.95, 100, one_sided)
        errors = 0.0
        for ending in endings(plan, rate):
            low, high = estimate(plan, ending).interval
            # After the last round the interval decides.
            by_interval = "pass" if low >= plan.min_pass_rate else "fail" if high < plan.min_pass_rate else None
            errors += ending.probability * ((ending.settled or by_interval) == wrong)
        assert errors <= plan.tail + 1e-9

    @pytest.mark.parametrize("rate", [0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
    def test_after_stopping_the_interval_contains_the_rate_and_the_estimate_is_in_the_middle(self, rate: float) -> None:
        """The estimate is the middle of the two rates at which half of the results are at least, or at most, as high.

        So at most half of the estimates are above the rate, and at most half below, but for the one result that the
        median of the results falls on: it may be on either side, with its whole probability.
        """
        plan = SequentialPlan(0.9, 0.95, 100)
        estimates = sorted(
            (estimate(plan, ending).rate, estimate(plan, ending).interval, ending.probability)
            for ending in endings(plan, rate)
        )
        assert sum(chance for _, (low, high), chance in estimates if low <= rate <= high) >= 0.95
        cumulative = np.cumsum([chance for _, _, chance in estimates])
        at_the_median = estimates[int(np.searchsorted(cumulative, 0.5))][2]
        for is_beyond in (float.__gt__, float.__lt__):
            beyond = sum(chance for value, _, chance in estimates if is_beyond(value, rate))
            assert beyond <= 0.5 + at_the_median + 1e-9

    def test_the_observed_rate_is_biased_and_the_mean_of_the_corrected_one_too_but_less(self) -> None:
        """The figures are those of docs/evidence.md. Median-unbiased does not mean unbiased in the mean."""
        plan = SequentialPlan(0.9, 0.95, 100)
        ways = endings(plan, 0.7, round_size=2)
        observed = sum(ending.probability * ending.observed for ending in ways)
        corrected = sum(ending.probability * estimate(plan, ending).rate for ending in ways)
        assert (round(observed, 2), round(corrected, 2)) == (0.58, 0.63)

    def test_thresholds_for_the_most_runs_save_five_percent_of_the_runs_or_more(self) -> None:
        calibrated, unlimited = (
            sum(ending.probability * ending.looks[-1] for ending in endings(plan, 0.98, round_size=5))
            for plan in (SequentialPlan(0.9, 0.95, 200), SequentialPlan(0.9, 0.95, 2_005))
        )
        assert calibrated < 0.95 * unlimited


@cache
def is_worse(passes_a: int, passes_b: int, runs: int, level: float) -> bool:
    p_value = exact_p(Tally(passes_a, runs), Tally(passes_b, runs))
    return p_value is not None and p_value <= level and passes_b < passes_a


class TestComparisons:
    @pytest.mark.parametrize("rate, runs", [(0.95, 20), (0.9, 40), (0.5, 40), (1.0, 40)])
    def test_a_visible_drop_and_a_visible_rise_are_the_smallest_seen_in_eight_of_ten_cases(
        self, rate: float, runs: int
    ) -> None:
        """Summed up over all pairs of results, with scipy's binomials."""
        tally = Tally(round(rate * runs), runs)
        before = tally.passes / runs
        passes = np.arange(runs + 1)

        def seen(change: float) -> float:
            after = min(1.0, max(0.0, before + change))
            weights = np.outer(binom.pmf(passes, runs, before), binom.pmf(passes, runs, after))
            detected = [
                [is_worse(a, b, runs, 0.05) if change < 0 else is_worse(b, a, runs, 0.05) for b in passes.tolist()]
                for a in passes.tolist()
            ]
            return float(weights[np.array(detected)].sum())

        for change, sign in ((visible_drop(tally, runs, 0.05), -1), (visible_rise(tally, runs, 0.05), 1)):
            if change is not None:
                assert seen(sign * change) >= 0.8 - 1e-5  # the least probable results of A are not summed up
                assert seen(sign * (change - 0.01)) < 0.8, "it is given in whole points"

    @pytest.mark.parametrize("rate, runs", [(0.8, 20), (0.8, 40), (0.9, 40), (0.95, 100)])
    def test_a_baseline_gate_keeps_its_false_alarms_over_twenty_commits(self, rate: float, runs: int) -> None:
        chance, times = np.random.default_rng(63), 2_000
        baselines = chance.binomial(runs, rate, times)
        commits = chance.binomial(runs, rate, (times, 20))

        def alarms(level: float) -> float:
            pairs = zip(baselines.tolist(), commits.tolist(), strict=True)
            return sum(any(is_worse(a, b, runs, level) for b in set(row)) for a, row in pairs) / times

        assert alarms(0.05) > 0.1, "without the correction"
        assert alarms(2 * 0.05 / 20) <= 0.05

    def test_paired_runs_are_called_different_at_most_as_often_as_it_says(self) -> None:
        chance, times = np.random.default_rng(64), 4_000
        worlds = chance.random((times, 40))  # the seed decides most of what happens
        a, b = (np.where(chance.random((times, 40)) < 0.2, chance.random((times, 40)), worlds) < 0.8 for _ in "ab")
        p_value = cache(mcnemar_p)
        only_a, only_b = (a & ~b).sum(axis=1).tolist(), (b & ~a).sum(axis=1).tolist()
        alarms = sum(p_value(x, y) <= 0.05 for x, y in zip(only_a, only_b, strict=True))
        assert alarms / times <= 0.05


class TestSuites:
    @pytest.mark.parametrize("scenarios, runs", [(6, 10), (20, 10), (20, 3), (60, 10)])
    def test_the_mean_over_scenarios_is_in_its_interval(self, scenarios: int, runs: int) -> None:
        chance, times, covered = np.random.default_rng(65), 600, 0
        exact = cache(clopper_pearson)
        for _ in range(times):
            passes = chance.binomial(runs, chance.beta(4, 1.5, scenarios))
            mean = clustered_mean(
                [Cluster(passed / runs, exact(passed, runs)) for passed in passes.tolist()], Interval(0.0, 1.0)
            )
            assert mean is not None
            covered += mean.interval.low <= 4 / 5.5 <= mean.interval.high
        assert covered / times >= 0.95 - noise(0.05, times)

    @pytest.mark.parametrize("scenarios, spread", [(6, 0.0), (20, 0.0), (20, 0.15)])
    def test_the_mean_difference_by_scenario_is_in_its_interval(self, scenarios: int, spread: float) -> None:
        """The scenarios differ in how hard they are, and in how much the change affects them."""
        chance, times, covered, runs = np.random.default_rng(66), 600, 0, 12
        around = cache(newcombe)
        for _ in range(times):
            rates = chance.uniform(0.3, 0.7, scenarios)
            after = rates - 0.1 + chance.uniform(-spread, spread, scenarios)
            pairs = zip(chance.binomial(runs, rates).tolist(), chance.binomial(runs, after).tolist(), strict=True)
            clusters = [
                Cluster((b - a) / runs, interval)
                for a, b in pairs
                if (interval := around(Tally(a, runs), Tally(b, runs))) is not None
            ]
            mean = clustered_mean(clusters, Interval(-1.0, 1.0))
            assert mean is not None
            covered += mean.interval.low <= -0.1 <= mean.interval.high
        assert covered / times >= 0.95 - noise(0.05, times)


def majority(quality: float) -> float:
    """The chance that two or three of three votes pass."""
    return quality**2 * (3 - 2 * quality)


def majority_of_five(quality: float) -> float:
    return float(binom.sf(2, 5, quality))


class TestJudges:
    """18 settings: what the judge thinks of good and of bad transcripts, how many are good, and what a run costs."""

    QUALITIES = (
        ((0.95, 0.05), 0.7),
        ((0.8, 0.2), 0.7),
        ((0.8, 0.8), 0.5),
        ((0.65, 0.35), 0.5),
        ((0.9, 0.3), 0.5),
        ((0.6, 0.6), 0.5),
    )
    VOTE_COST = 0.002
    TIMES, TRANSCRIPTS = 6, 20

    def test_the_worse_choice_is_not_advised(self) -> None:
        chance = np.random.default_rng(67)
        wrong = advised = total = 0
        for (qualities, good), run_cost in product(self.QUALITIES, (0.001, 0.02, 0.2)):
            now, later = (
                good * chance_of(qualities[0]) + (1 - good) * chance_of(qualities[1])
                for chance_of in (majority, majority_of_five)
            )
            factor = (run_cost + 5 * self.VOTE_COST) / (run_cost + 3 * self.VOTE_COST)
            right = "votes" if later * (1 - later) < now * (1 - now) / factor else "runs"
            for _ in range(self.TIMES):
                quality = chance.choice(qualities, p=[good, 1 - good], size=(self.TRANSCRIPTS, 1))
                votes = (chance.random((self.TRANSCRIPTS, 9)) < quality).tolist()
                advice = more_runs_or_votes(votes, 3, run_cost, self.VOTE_COST)
                assert advice is not None
                total += 1
                advised += advice.better is not None
                wrong += advice.better not in (None, right)
        assert wrong / total <= 0.05
        assert advised > total / 2, "it is not enough to say nothing"

    def test_the_standard_error_is_that_of_the_pass_rate(self) -> None:
        chance, times = np.random.default_rng(68), 30
        for qualities, good in self.QUALITIES:
            rate = good * majority(qualities[0]) + (1 - good) * majority(qualities[1])
            # What 20 verdicts give on average: less than the true error, because a root is concave.
            passes = np.arange(self.TRANSCRIPTS + 1)
            weights = binom.pmf(passes, self.TRANSCRIPTS, rate)
            possible = np.sqrt(passes / self.TRANSCRIPTS * (1 - passes / self.TRANSCRIPTS) / self.TRANSCRIPTS)
            expected = float(weights @ possible)
            spread = math.sqrt(float(weights @ (possible - expected) ** 2))
            errors = []
            for _ in range(times):
                quality = chance.choice(qualities, p=[good, 1 - good], size=(self.TRANSCRIPTS, 1))
                votes = (chance.random((self.TRANSCRIPTS, 3)) < quality).tolist()
                advice = more_runs_or_votes(votes, 3, None, None)
                assert advice is not None
                errors.append(advice.error)
            assert np.mean(errors) == pytest.approx(expected, abs=3 * spread / math.sqrt(times))
            assert 0.85 < expected / math.sqrt(rate * (1 - rate) / self.TRANSCRIPTS) < 1, "by theory alone"

    def test_the_judges_share_is_in_its_interval(self) -> None:
        chance, times = np.random.default_rng(69), 25
        covered = 0
        for qualities, good in self.QUALITIES:
            verdicts = [majority(quality) for quality in qualities]
            weights = (good, 1 - good)
            judge = sum(weight * p * (1 - p) for weight, p in zip(weights, verdicts, strict=True))
            rate = sum(weight * p for weight, p in zip(weights, verdicts, strict=True))
            share = judge / (rate * (1 - rate))
            for _ in range(times):
                quality = chance.choice(verdicts, p=weights, size=self.TRANSCRIPTS)
                counts = [(passed, 3) for passed in chance.binomial(3, quality).tolist()]
                interval = judge_share_interval(counts)
                assert interval is not None
                covered += interval.low - 1e-9 <= share <= interval.high + 1e-9
        total = times * len(self.QUALITIES)
        assert covered / total >= 0.95 - noise(0.05, total)
