"""All scenarios of one command: one verdict, and the mean pass rate over them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from salvo.engine.stats.clusters import Cluster, ClusteredMean, clustered_mean
from salvo.engine.stats.rates import Interval
from salvo.scenarios.analysis.summary import BatchSummary, BatchVerdict
from salvo.scenarios.result import Cause

_RATES = Interval(0.0, 1.0)


class SuiteVerdict(StrEnum):
    """By precedence: a failure tells more than what could not be judged, and that more than what passed."""

    FAILED = "failed"
    NOT_JUDGED = "not judged"
    """A scenario has errors or no verdict."""
    INCONCLUSIVE = "inconclusive"
    PASSED = "passed"


@dataclass(frozen=True, slots=True)
class SuiteSummary:
    verdict: SuiteVerdict
    scenarios: int
    verdicts: dict[BatchVerdict, int]
    """The number of scenarios by verdict."""
    mean: ClusteredMean | None
    """The mean of the scenarios' pass rates, each with the same weight, and its standard error clustered by scenario;
    null if fewer than two have a completed run."""


def summarise_suite(summaries: Sequence[BatchSummary]) -> SuiteSummary:
    return SuiteSummary(
        verdict=suite_verdict(summaries),
        scenarios=len(summaries),
        verdicts=dict(Counter(summary.verdict for summary in summaries)),
        mean=clustered_mean(list(_clusters(summaries)), _RATES),
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


def _clusters(summaries: Sequence[BatchSummary]) -> Iterator[Cluster]:
    """Yield the pass rate of each scenario over its independent runs, corrected if they stopped early."""
    for summary in summaries:
        evidence = summary.evidence
        if evidence is not None and evidence.corrected_rate is not None:
            yield Cluster(evidence.corrected_rate, evidence.interval)
        elif summary.independent:
            yield Cluster(summary.independent_passed / summary.independent, summary.interval)
