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
from salvo.engine.stats.power import visible_drop, visible_rise
from salvo.engine.stats.rates import Interval, Tally, chances_of_k, clopper_pearson, newcombe
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


class Stopped(NamedTuple):
    verdict: str | None
    runs: int
    observed: float
    estimate: CorrectedRate


def until_sure(plan: SequentialPlan, rate: float, times: int, round_size: int = 10) -> list[Stopped]:
    """Agents with this rate, run in rounds until the verdict is settled."""
    rounds = plan.max_runs // round_size
    passes = np.random.default_rng(61).binomial(round_size, rate, size=(times, rounds)).cumsum(axis=1)
    verdict, estimate = cache(plan.verdict), cache(plan.estimate)
    results = []
    for row in passes:
        for index, passed in enumerate(row.tolist()):
            runs = (index + 1) * round_size
            settled = verdict(passed, runs)
            if settled is not None or index == rounds - 1:
                found = estimate(passed, tuple(range(round_size, runs + 1, round_size)))
                assert found is not None
                if settled is None:  # after the last round the interval decides
                    low, high = found.interval
                    settled = "pass" if low >= plan.min_pass_rate else "fail" if high < plan.min_pass_rate else None
                results.append(Stopped(settled, runs, passed / runs, found))
                break
    return results


class TestUntilSure:
    TIMES = 1_500

    @pytest.mark.parametrize("one_sided", [False, True])
    @pytest.mark.parametrize("rate, wrong", [(0.9 - 1e-9, "pass"), (0.9, "fail")])
    def test_at_the_minimum_itself_it_errs_at_most_as_often_as_it_says(
        self, rate: float, wrong: str, one_sided: bool
    ) -> None:
        plan = SequentialPlan(0.9, 0.95, 100, one_sided)
        errors = sum(result.verdict == wrong for result in until_sure(plan, rate, self.TIMES))
        assert errors / self.TIMES <= plan.tail + noise(plan.tail, self.TIMES)

    @pytest.mark.parametrize("rate", [0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
    def test_after_stopping_the_interval_contains_the_rate_and_the_estimate_is_in_the_middle(self, rate: float) -> None:
        results = until_sure(SequentialPlan(0.9, 0.95, 100), rate, self.TIMES)
        covered = sum(low <= rate <= high for low, high in (result.estimate.interval for result in results))
        assert covered / self.TIMES >= 0.95 - noise(0.05, self.TIMES)
        above = sum(result.estimate.rate > rate for result in results) / self.TIMES
        assert 0.3 < above < 0.7, "as far as so few possible results allow"

    def test_the_observed_rate_is_biased_and_the_corrected_one_less(self) -> None:
        results = until_sure(SequentialPlan(0.9, 0.95, 100), 0.7, self.TIMES, round_size=2)
        observed = float(np.mean([result.observed for result in results]))
        corrected = [result.estimate.rate for result in results]
        assert observed < 0.64
        assert abs(float(np.mean(corrected)) - 0.7) < 0.7 * abs(observed - 0.7)
        assert float(np.median(corrected)) == pytest.approx(0.7, abs=0.06), "half of the estimates are below"

    def test_thresholds_for_the_most_runs_save_runs(self) -> None:
        calibrated = until_sure(SequentialPlan(0.9, 0.95, 200), 0.98, self.TIMES, round_size=5)
        unlimited = until_sure(SequentialPlan(0.9, 0.95, 2_001)._replace(max_runs=2_005), 0.98, 300, round_size=5)
        assert np.mean([result.runs for result in calibrated]) < 0.95 * np.mean([result.runs for result in unlimited])


@cache
def is_worse(passes_a: int, passes_b: int, runs: int, level: float) -> bool:
    p_value = exact_p(Tally(passes_a, runs), Tally(passes_b, runs))
    return p_value is not None and p_value <= level and passes_b < passes_a


class TestComparisons:
    @pytest.mark.parametrize("rate, runs", [(0.95, 20), (0.9, 40), (0.5, 40), (1.0, 40)])
    def test_a_visible_drop_and_a_visible_rise_are_seen_in_eight_of_ten_cases(self, rate: float, runs: int) -> None:
        chance, times = np.random.default_rng(62), 2_000
        tally = Tally(round(rate * runs), runs)
        before = chance.binomial(runs, tally.passes / runs, times)
        for change, sign in ((visible_drop(tally, runs, 0.05), -1), (visible_rise(tally, runs, 0.05), 1)):
            if change is None:
                continue
            after = chance.binomial(runs, min(1.0, max(0.0, tally.passes / runs + sign * change)), times)
            better, worse = (before, after) if sign < 0 else (after, before)
            seen = sum(is_worse(int(a), int(b), runs, 0.05) for a, b in zip(better, worse, strict=True)) / times
            assert 0.8 - noise(0.8, times) <= seen < 0.93, "not fewer, and not many more than it says"

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
        chance = np.random.default_rng(68)
        for qualities, good in self.QUALITIES:
            rate = good * majority(qualities[0]) + (1 - good) * majority(qualities[1])
            errors = []
            for _ in range(30):
                quality = chance.choice(qualities, p=[good, 1 - good], size=(self.TRANSCRIPTS, 1))
                votes = (chance.random((self.TRANSCRIPTS, 3)) < quality).tolist()
                advice = more_runs_or_votes(votes, 3, None, None)
                assert advice is not None
                errors.append(advice.error)
            assert np.mean(errors) == pytest.approx(math.sqrt(rate * (1 - rate) / self.TRANSCRIPTS), rel=0.12)

    def test_the_judges_share_is_in_its_interval(self) -> None:
        chance, times = np.random.default_rng(69), 12
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
        assert covered / (times * len(self.QUALITIES)) >= 0.9
