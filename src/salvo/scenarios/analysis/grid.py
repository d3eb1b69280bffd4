"""The cells of a suite side by side: which variant is best, and which cannot be told from it. Pure: no clock, no disk.

A variant is a combination of the matrix. It has one cell for each case, so two variants are compared case by case
(the exact Mantel-Haenszel test with a block per case), and hard and easy cases are never mixed. The best variant is
chosen by looking at all of them, so a p-value is corrected for the number of all pairs, not only for those that are
compared with the best.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from salvo.engine.stats.clusters import ClusteredMean, clustered_mean
from salvo.engine.stats.multiple_testing import blocked_test
from salvo.engine.stats.rates import Interval, Tally
from salvo.scenarios.analysis.compare import ALPHA
from salvo.scenarios.analysis.suite import case_clusters
from salvo.scenarios.analysis.summary import BatchSummary, BatchVerdict
from salvo.scenarios.result import CASE

_RATES = Interval(0.0, 1.0)
_ORDER = (
    BatchVerdict.FAILED,
    BatchVerdict.ERROR,
    BatchVerdict.OPEN,
    BatchVerdict.INCONCLUSIVE,
    BatchVerdict.PASSED,
)
"""Verdicts in the order of a report: first what somebody has to look at."""


class Standing(StrEnum):
    """What a variant is, compared with the best one."""

    BEST = "best"
    NOT_TOLD_APART = "cannot be told from the best"
    WORSE = "worse than the best"
    NOT_COMPARED = "not compared"
    """It has no completed run in a case in which the best one has some."""


@dataclass(frozen=True, slots=True)
class GridCell:
    batch_id: str
    scenario_id: str
    case: str
    variant: str
    verdict: BatchVerdict
    passed: int
    completed: int
    runs: int
    errors: int
    pass_rate: float | None
    """The observed one; corrected, as in the means, if the runs stopped early."""
    interval: Interval


@dataclass(frozen=True, slots=True)
class Variant:
    """A combination of the matrix over all cases."""

    name: str
    parameters: dict[str, str]
    cells: int
    cells_passed: int
    passed: int
    completed: int
    errors: int
    pass_rate: float | None
    """The mean over the cases, each with the same weight."""
    standard_error: float | None
    """Of the mean, clustered by case; null with fewer than two cases."""
    interval: Interval | None
    """The 95 % interval of the mean; null with fewer than two cases."""
    standing: Standing
    difference: float | None
    """Its pass rate less that of the best, over the cases that both have."""
    p_value: float | None
    """Corrected for the number of pairs of variants."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of one suite in one command."""

    suite: str
    cases: list[str]
    variants: list[Variant]
    """The best one first."""
    cells: list[GridCell]
    """Sorted by verdict, failures first."""
    pass_rate: float | None
    """The mean over the cases."""
    standard_error: float | None
    interval: Interval | None
    pairs: int
    """The number of pairs of variants, for which p-values are corrected."""

    @property
    def verdicts(self) -> dict[str, int]:
        """Return how many cells have each verdict, in the order of a report."""
        counts = Counter(cell.verdict for cell in self.cells)
        return {verdict.value: counts[verdict] for verdict in _ORDER if counts[verdict]}


def build_grids(summaries: Iterable[BatchSummary]) -> list[Grid]:
    """Return a grid for each suite with more than one cell. Of two batches of a cell, the later one counts."""
    by_suite: dict[str, dict[str, BatchSummary]] = {}
    for summary in summaries:
        if summary.suite:
            by_suite.setdefault(summary.suite, {})[summary.scenario_id] = summary
    return [_grid(suite, list(cells.values())) for suite, cells in by_suite.items() if len(cells) > 1]


def _grid(suite: str, summaries: Sequence[BatchSummary]) -> Grid:
    by_variant: dict[str, list[BatchSummary]] = {}
    for summary in summaries:
        by_variant.setdefault(variant_name(summary.parameters), []).append(summary)
    pairs = len(by_variant) * (len(by_variant) - 1) // 2
    # A variant without a completed run comes last, and the name decides between equal ones.
    rates = {name: rate for name, cells in by_variant.items() if (rate := _mean_rate(cells)) is not None}
    ranked = sorted(by_variant, key=lambda name: (-rates.get(name, -1.0), name))
    best = by_variant[ranked[0]]
    variants = [_variant(name, by_variant[name], best, pairs) for name in ranked]
    suite_mean = clustered_mean(case_clusters(summaries), _RATES)
    return Grid(
        suite=suite,
        cases=list(dict.fromkeys(summary.parameters.get(CASE, "") for summary in summaries)),
        variants=variants,
        cells=sorted(map(_cell, summaries), key=_cell_order),
        pass_rate=_mean_rate(summaries),
        standard_error=suite_mean.standard_error if suite_mean else None,
        interval=suite_mean.interval if suite_mean else None,
        pairs=pairs,
    )


def variant_name(parameters: Mapping[str, str]) -> str:
    """Return the name of a combination of the matrix; empty if there is only one."""
    return "-".join(value for name, value in parameters.items() if name != CASE)


def _cell(summary: BatchSummary) -> GridCell:
    corrected = summary.evidence.corrected_rate if summary.evidence else None
    return GridCell(
        batch_id=summary.batch_id,
        scenario_id=summary.scenario_id,
        case=summary.parameters.get(CASE, ""),
        variant=variant_name(summary.parameters),
        verdict=summary.verdict,
        passed=summary.passed,
        completed=summary.completed,
        runs=summary.runs,
        errors=summary.errors,
        pass_rate=summary.pass_rate if corrected is None else corrected,
        interval=summary.interval,
    )


def _cell_order(cell: GridCell) -> tuple[int, float, str]:
    return _ORDER.index(cell.verdict), cell.pass_rate if cell.pass_rate is not None else -1.0, cell.scenario_id


def _variant(name: str, cells: Sequence[BatchSummary], best: Sequence[BatchSummary], pairs: int) -> Variant:
    mean = clustered_mean(case_clusters(cells), _RATES)
    standing, difference, p_value = _compare(cells, best, pairs)
    return Variant(
        name=name,
        parameters={key: value for key, value in cells[0].parameters.items() if key != CASE},
        cells=len(cells),
        cells_passed=sum(cell.verdict is BatchVerdict.PASSED for cell in cells),
        passed=sum(cell.passed for cell in cells),
        completed=sum(cell.completed for cell in cells),
        errors=sum(cell.errors for cell in cells),
        pass_rate=_mean_rate(cells),
        standard_error=_standard_error(mean),
        interval=mean.interval if mean else None,
        standing=standing,
        difference=difference,
        p_value=p_value,
    )


def _standard_error(mean: ClusteredMean | None) -> float | None:
    return mean.standard_error if mean else None


def _compare(
    cells: Sequence[BatchSummary], best: Sequence[BatchSummary], pairs: int
) -> tuple[Standing, float | None, float | None]:
    """Compare a variant with the best one, case by case."""
    if cells is best:
        return (Standing.BEST if _mean_rate(cells) is not None else Standing.NOT_COMPARED), None, None
    best_cells = {summary.parameters.get(CASE): summary for summary in best}
    blocks = [
        (_tally(best_cells[case]), _tally(cell)) for cell in cells if (case := cell.parameters.get(CASE)) in best_cells
    ]
    test = blocked_test(blocks)
    if test is None:
        return Standing.NOT_COMPARED, None, None
    p_value = min(1.0, test.p_value * pairs)
    is_worse = p_value <= ALPHA and test.difference < 0
    return (Standing.WORSE if is_worse else Standing.NOT_TOLD_APART), test.difference, p_value


def _tally(summary: BatchSummary) -> Tally:
    """Return the runs that are evidence: not those that were answered from a cache."""
    return Tally(summary.independent_passed, summary.independent)


def _mean_rate(summaries: Iterable[BatchSummary]) -> float | None:
    """Return the mean over cases of the mean pass rate of each case."""
    rates = [cluster.value for cluster in case_clusters(summaries)]
    return math.fsum(rates) / len(rates) if rates else None
