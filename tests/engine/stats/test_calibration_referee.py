"""The referee of calibration: judges with known errors, and labels drawn as `salvo label` draws them, simulated.

What a simulation may add to a share by chance is three standard errors.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest

from salvo.engine.stats import judge_agreement
from salvo.engine.stats.calibration import (
    CalibratedRate,
    Stratum,
    allocate,
    calibrated_rate,
    rate_verdict,
    with_run_sampling,
)
from salvo.engine.stats.judge_agreement import JudgedCell, agreement_drop, judge_quality

pytestmark = pytest.mark.referee

TIMES = 2_000


class JudgedSeries(NamedTuple):
    """The items that were passed, failed and split, and how often a person passes each kind."""

    sizes: tuple[int, ...]
    rates: tuple[float, ...]


SIZES = [(80, 15, 5), (160, 30, 10), (400, 80, 20), (50, 45, 5), (900, 90, 10), (90, 10, 0)]
JUDGES = [(0.97, 0.1, 0.5), (0.9, 0.2, 0.5), (0.8, 0.3, 0.5), (0.95, 0.5, 0.5), (0.92, 0.05, 0.7)]
SERIES = [JudgedSeries(sizes, rates) for sizes in SIZES for rates in JUDGES]


def labelled(truth: Sequence[int], sizes: Sequence[int], labels: int, random: np.random.Generator) -> list[Stratum]:
    strata = {index: Stratum(size) for index, size in enumerate(sizes)}
    counts = allocate(strata, labels)
    return [
        Stratum(size, counts[index], int(random.hypergeometric(truth[index], size - truth[index], counts[index])))
        if counts[index]
        else Stratum(size)
        for index, size in enumerate(sizes)
    ]


def corrected(strata: Sequence[Stratum]) -> CalibratedRate:
    result = calibrated_rate(strata)
    assert result is not None
    return result


class TestTheCorrectedRate:
    @pytest.mark.parametrize("labels", [20, 30, 50])
    def test_contains_the_true_rate_of_the_series_about_as_often_as_it_says(self, labels: int) -> None:
        random = np.random.default_rng(labels)
        coverage, too_high = [], []
        for series in SERIES:
            hits = above = 0
            for _ in range(TIMES):
                truth = [int(random.binomial(*item)) for item in zip(*series, strict=True)]
                low, high = corrected(labelled(truth, series.sizes, labels, random)).interval
                rate = sum(truth) / sum(series.sizes)
                hits += low - 1e-9 <= rate <= high + 1e-9
                above += rate < low - 1e-9
            coverage.append(hits / TIMES)
            too_high.append(above / TIMES)
        assert np.mean(coverage) >= 0.95
        assert min(coverage) >= 0.94 - 3 * math.sqrt(0.94 * 0.06 / TIMES)
        # The error that lets a bad agent pass: the lower bound lies above the truth.
        assert max(too_high) <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / TIMES)

    def test_of_the_agent_contains_the_rate_that_its_runs_are_a_sample_of(self) -> None:
        random = np.random.default_rng(7)
        for runs, labels in [(40, 20), (100, 40), (400, 50)]:
            for shares, rates in [((0.85, 0.1, 0.05), (0.95, 0.2, 0.5)), ((0.6, 0.35, 0.05), (0.9, 0.1, 0.5))]:
                truth = float(np.dot(shares, rates))
                hits = 0
                for _ in range(TIMES):
                    sizes = [int(size) for size in random.multinomial(runs, shares)]
                    passed = [int(random.binomial(*item)) for item in zip(sizes, rates, strict=True)]
                    result = corrected(labelled(passed, sizes, labels, random))
                    low, high = with_run_sampling(result, runs, 0.95).interval
                    hits += low <= truth <= high
                assert hits / TIMES >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / TIMES)

    def test_lets_few_bad_series_pass_even_if_labels_are_added_until_it_is_settled(self) -> None:
        """Twenty labels, and ten more at a time until the verdict is settled; the true rate is just below the bar."""
        random = np.random.default_rng(9)
        for sizes, truth in [((160, 30, 10), (145, 5, 5)), ((400, 80, 20), (352, 20, 10))]:
            bar = (sum(truth) + 1) / sum(sizes)
            wrong = 0
            for _ in range(TIMES):
                items = [
                    random.permutation([True] * passed + [False] * (size - passed))
                    for passed, size in zip(truth, sizes, strict=True)
                ]
                strata = {index: Stratum(size) for index, size in enumerate(sizes)}
                verdict, step = "inconclusive", 20
                while verdict == "inconclusive":
                    for index, count in allocate(strata, step).items():
                        number = strata[index].labelled + count
                        strata[index] = Stratum(sizes[index], number, int(items[index][:number].sum()))
                    verdict = rate_verdict(corrected(list(strata.values())).interval, bar)
                    step = 10
                wrong += verdict == "pass"
            assert wrong / TIMES <= 0.15


class TestTheJudgesQuality:
    @pytest.mark.parametrize("labels", [20, 50])
    def test_is_within_its_intervals(self, labels: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(judge_agreement, "DRAWS", 500)  # so that it takes seconds
        random = np.random.default_rng(labels)
        times = 200
        for sizes, rates in [((80, 20), (0.95, 0.2)), ((150, 150), (0.85, 0.1)), ((60, 40), (0.98, 0.05))]:
            hits = dict.fromkeys(["agreement", "kappa", "pass_recall", "fail_precision", "fail_recall"], 0)
            for _ in range(times):
                truth = [int(random.binomial(*item)) for item in zip(sizes, rates, strict=True)]
                strata = labelled(truth, sizes, labels, random)
                cells = [
                    JudgedCell(verdict, stratum.size, stratum.labelled, int(stratum.passed))
                    for verdict, stratum in zip((True, False), strata, strict=True)
                ]
                everything = [
                    cell._replace(labelled=cell.size, passed=count) for cell, count in zip(cells, truth, strict=True)
                ]
                estimated, true = judge_quality(cells), judge_quality(everything)
                for name in hits:
                    estimate, exact = getattr(estimated, name), getattr(true, name)
                    low, high = estimate.interval
                    hits[name] += exact is None or low - 1e-9 <= exact.value <= high + 1e-9
            assert min(hits.values()) / times >= 0.93 - 3 * math.sqrt(0.93 * 0.07 / times)


class TestADropInAgreement:
    @pytest.mark.parametrize("rate", [0.6, 0.8, 0.9, 0.97])
    def test_is_reported_of_a_steady_judge_at_most_as_often_as_it_says(self, rate: float) -> None:
        random = np.random.default_rng(3)
        reported = sum(agreement_drop(list(random.random(400) < rate)) is not None for _ in range(TIMES))
        assert reported / TIMES <= 0.05

    def test_is_found_if_it_is_large(self) -> None:
        random = np.random.default_rng(4)
        reported = sum(
            agreement_drop([*(random.random(60) < 0.95), *(random.random(40) < 0.6)]) is not None for _ in range(TIMES)
        )
        assert reported / TIMES >= 0.8
