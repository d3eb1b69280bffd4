"""The cells of a suite side by side: which variant is best, and which cannot be told from it. Pure: no clock, no disk.

A variant is a combination of the matrix. It has one cell for each case, so two variants are compared case by case
(the exact Mantel-Haenszel test with a block per case), and hard and easy cases are never mixed. Where runs are missing,
only the cases that both have count. The best variant is chosen by looking at all of them, so a p-value is corrected for
the number of all pairs, not only for those that are compared with the best.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.engine.stats.clusters import ClusteredMean, clustered_mean
from salvo.engine.stats.multiple_testing import blocked_test
from salvo.engine.stats.pass_rates import Interval, Tally
from salvo.records import record
from salvo.scenarios.analysis.compare import ALPHA
from salvo.scenarios.analysis.suite import case_clusters, cell_rate
from salvo.scenarios.analysis.summary import WORST_FIRST, BatchSummary, BatchVerdict
from salvo.scenarios.result import CASE

_RATES = Interval(0.0, 1.0)
_ROUNDING = 1e-9


class Standing(StrEnum):
    """What a variant is, compared with the best one."""

    BEST = "best"
    NOT_TOLD_APART = "cannot be told from the best"
    WORSE = "worse than the best"
    NOT_COMPARED = "not compared"
    """It has no completed run in a case in which another has some, or no variant is best."""


@record
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


@record
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
    compared_cases: int
    """The cases in which it and the best one have runs; those of the best one are the fewest of its comparisons."""
    difference: float | None
    """Its pass rate less that of the best, the mean over these cases."""
    p_value: float | None
    """Corrected for the number of pairs of variants."""


@record
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
        return {verdict.value: counts[verdict] for verdict in WORST_FIRST if counts[verdict]}


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
    rates = {name: _rates_by_case(cells) for name, cells in by_variant.items()}
    best = _best(rates)
    # A variant without a completed run comes last, and the name decides between equal ones.
    ranked = sorted(by_variant, key=lambda name: (name != best, -_mean(rates[name].values(), -1.0), name))
    comparisons = _Comparisons(by_variant, rates, best, pairs)
    variants = [_variant(name, by_variant[name], comparisons.compare(name)) for name in ranked]
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
    return copy_fields(
        GridCell,
        summary,
        case=summary.parameters.get(CASE, ""),
        variant=variant_name(summary.parameters),
        pass_rate=summary.pass_rate if corrected is None else corrected,
    )


def _cell_order(cell: GridCell) -> tuple[int, float, str]:
    return WORST_FIRST.index(cell.verdict), cell.pass_rate if cell.pass_rate is not None else -1.0, cell.scenario_id


def _variant(name: str, cells: Sequence[BatchSummary], comparison: _Comparison) -> Variant:
    mean = clustered_mean(case_clusters(cells), _RATES)
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
        standing=comparison.standing,
        compared_cases=comparison.cases,
        difference=comparison.difference,
        p_value=comparison.p_value,
    )


def _standard_error(mean: ClusteredMean | None) -> float | None:
    return mean.standard_error if mean else None


def _rates_by_case(cells: Iterable[BatchSummary]) -> dict[str, float]:
    """Return the pass rate of each case in which there is evidence."""
    rates = {cell.parameters.get(CASE, ""): cell_rate(cell) for cell in cells}
    return {case: rate.value for case, rate in rates.items() if rate is not None}


def _difference(rates: Mapping[str, float], others: Mapping[str, float]) -> float | None:
    """Return the mean difference over the cases that both have; None if there is none."""
    differences = [rate - others[case] for case, rate in rates.items() if case in others]
    return math.fsum(differences) / len(differences) if differences else None


def _best(rates: Mapping[str, Mapping[str, float]]) -> str | None:
    """Return the variant that is behind no other one on the cases that both have; None if there is no such variant.

    Without missing runs, this is the one with the highest mean. Of equal ones, that with the most cases comes first.
    """
    known = {name: by_case for name, by_case in rates.items() if by_case}
    candidates = [
        name
        for name in known
        if len(known) > 1
        and all(
            (difference := _difference(known[name], known[other])) is not None and difference >= -_ROUNDING
            for other in known
            if other != name
        )
    ]
    order = sorted(candidates, key=lambda name: (-len(known[name]), -_mean(known[name].values()), name))
    return order[0] if order else None


class _Comparison(NamedTuple):
    """What a variant is beside the best one."""

    standing: Standing
    cases: int = 0
    difference: float | None = None
    p_value: float | None = None


@record
class _Comparisons:
    by_variant: Mapping[str, Sequence[BatchSummary]]
    rates: Mapping[str, Mapping[str, float]]
    best: str | None
    pairs: int

    def compare(self, name: str) -> _Comparison:
        """Compare a variant with the best one, case by case."""
        if self.best is None:
            return _Comparison(Standing.NOT_COMPARED)
        if name == self.best:
            return _Comparison(Standing.BEST, min(self._shared(other) for other in self.rates if self._shared(other)))
        best_cells = {cell.parameters.get(CASE): cell for cell in self.by_variant[self.best]}
        blocks = [
            (_tally(best_cells[case]), _tally(cell))
            for cell in self.by_variant[name]
            if (case := cell.parameters.get(CASE)) in best_cells
        ]
        test = blocked_test(blocks)
        difference = _difference(self.rates[name], self.rates[self.best])
        if test is None or difference is None:
            return _Comparison(Standing.NOT_COMPARED)
        p_value = min(1.0, test.p_value * self.pairs)
        is_worse = p_value <= ALPHA and test.difference < 0 and difference < 0
        standing = Standing.WORSE if is_worse else Standing.NOT_TOLD_APART
        return _Comparison(standing, self._shared(name), difference, p_value)

    def _shared(self, name: str) -> int:
        """Return the number of cases in which a variant and the best one have runs; 0 for the best one itself."""
        return 0 if self.best in (None, name) else len(self.rates[name].keys() & self.rates[str(self.best)].keys())


def _tally(summary: BatchSummary) -> Tally:
    """Return the runs that are evidence: not those that were answered from a cache."""
    return Tally(summary.independent_passed, summary.independent)


def _mean(values: Collection[float], default: float = 0.0) -> float:
    return math.fsum(values) / len(values) if values else default


def _mean_rate(summaries: Iterable[BatchSummary]) -> float | None:
    """Return the mean over cases of the mean pass rate of each case."""
    rates = [cluster.value for cluster in case_clusters(summaries)]
    return math.fsum(rates) / len(rates) if rates else None
