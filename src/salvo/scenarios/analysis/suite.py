"""All scenarios of one command: one verdict, and the mean pass rate over them. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from salvo.engine.stats.clusters import Cluster, ClusteredMean, clustered_mean
from salvo.engine.stats.pass_rates import Interval
from salvo.records import record
from salvo.scenarios.analysis.summary import BatchSummary, BatchVerdict
from salvo.scenarios.result import CASE, Cause

_RATES = Interval(0.0, 1.0)


class SuiteVerdict(StrEnum):
    """By precedence: a failure tells more than what could not be judged, and that more than what passed."""

    FAILED = "failed"
    NOT_JUDGED = "not judged"
    """A scenario has errors or no verdict."""
    INCONCLUSIVE = "inconclusive"
    PASSED = "passed"


@record
class SuiteSummary:
    verdict: SuiteVerdict
    scenarios: int
    verdicts: dict[BatchVerdict, int]
    """The number of scenarios by verdict."""
    unit: str
    """What the mean is over: "scenario", "case" if all are cells of cases, or "scenario and case"."""
    units: int
    """The number of scenarios, in which the cells of one case count once."""
    units_with_rate: int
    """The number of those that have a pass rate: the mean is over them."""
    mean: ClusteredMean | None
    """The mean of their pass rates, each with the same weight, and its standard error clustered by them; null if fewer
    than two have a pass rate."""


def summarise_suite(summaries: Sequence[BatchSummary]) -> SuiteSummary:
    clusters = case_clusters(summaries)
    are_cells = {_is_cell(summary) for summary in summaries}
    return SuiteSummary(
        verdict=suite_verdict(summaries),
        scenarios=len(summaries),
        verdicts=dict(Counter(summary.verdict for summary in summaries)),
        unit="scenario and case" if len(are_cells) > 1 else "case" if True in are_cells else "scenario",
        units=len({_cluster_key(summary) for summary in summaries}),
        units_with_rate=len(clusters),
        mean=clustered_mean(clusters, _RATES),
    )


def suite_verdict(summaries: Sequence[BatchSummary]) -> SuiteVerdict:
    if any(summary.verdict is BatchVerdict.FAILED for summary in summaries) or _stopped_by_a_failure(summaries):
        return SuiteVerdict.FAILED
    if any(summary.verdict in (BatchVerdict.ERROR, BatchVerdict.OPEN) or summary.errors for summary in summaries):
        return SuiteVerdict.NOT_JUDGED
    if any(summary.verdict is BatchVerdict.INCONCLUSIVE for summary in summaries):
        return SuiteVerdict.INCONCLUSIVE
    return SuiteVerdict.PASSED


def _stopped_by_a_failure(summaries: Sequence[BatchSummary]) -> bool:
    """Whoever wants to stop at a failure has one, also where the runs not made could still make up for it."""
    stopped = any(group.cause is Cause.STOP_FIRST for summary in summaries for group in summary.not_made)
    return stopped and any(summary.failed for summary in summaries)


def case_clusters(summaries: Iterable[BatchSummary]) -> list[Cluster]:
    """Return the pass rate of each scenario; the cells of one case are one cluster, because they resemble each other.

    The interval of a mean of several rates is the square sum of their intervals (MOVER).
    """
    by_case: dict[tuple[str, str], list[Cluster]] = {}
    for summary in summaries:
        rate = cell_rate(summary)
        if rate is not None:
            by_case.setdefault(_cluster_key(summary), []).append(rate)
    return [_merged(rates) for rates in by_case.values()]


def _cluster_key(summary: BatchSummary) -> tuple[str, str]:
    return (summary.suite, summary.parameters.get(CASE, "")) if summary.suite else ("", summary.batch_id)


def _is_cell(summary: BatchSummary) -> bool:
    """Return whether the summary is a cell of a case. Without cases, the cells of a matrix are one scenario."""
    return bool(summary.suite) and CASE in summary.parameters


def cell_rate(summary: BatchSummary) -> Cluster | None:
    """Return the pass rate over the independent runs, corrected if they stopped early; None without any."""
    evidence = summary.evidence
    if evidence is not None and evidence.corrected_rate is not None:
        return Cluster(evidence.corrected_rate, summary.interval)
    if not summary.independent:
        return None
    return Cluster(summary.independent_passed / summary.independent, summary.interval)


def _merged(rates: Sequence[Cluster]) -> Cluster:
    count = len(rates)
    mean = math.fsum(rate.value for rate in rates) / count
    below = math.sqrt(math.fsum((rate.value - rate.interval.low) ** 2 for rate in rates)) / count
    above = math.sqrt(math.fsum((rate.interval.high - rate.value) ** 2 for rate in rates)) / count
    return Cluster(mean, Interval(mean - below, mean + above))
