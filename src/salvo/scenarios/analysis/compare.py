"""Compare two sides of runs, A and B. Pure: no clock, no disk.

Errors are not failures. Rates are over the completed runs. The numbers of errors are compared, too, and what they could
have changed is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field
from enum import StrEnum

from salvo.engine.stats.clusters import Cluster, ClusteredMean, clustered_mean
from salvo.engine.stats.exact_test import exact_p, mcnemar_interval, mcnemar_p
from salvo.engine.stats.multiple_testing import BlockedTest, benjamini_hochberg, blocked_test, needed_p_values
from salvo.engine.stats.pass_rates import Interval, Tally, newcombe
from salvo.engine.stats.power import visible_drop, visible_rise
from salvo.records import record
from salvo.scenarios.analysis.batch_stats import BatchStats, ConfigDifference, config_differences
from salvo.scenarios.analysis.divergence import Divergence
from salvo.scenarios.analysis.summary import AssertionSummary

ALPHA = 0.05
_DIFFERENCES = Interval(-1.0, 1.0)


class ComparisonFinding(StrEnum):
    """What B is, compared with A."""

    WORSE = "worse"
    BETTER = "better"
    UNSEEN = "no difference seen"
    NOT_COMPARED = "not compared"
    """A side has no completed run."""


_NOT_WORSE = (ComparisonFinding.UNSEEN, ComparisonFinding.BETTER)


def _finding(p_value: float | None, difference: float | None, level: float) -> ComparisonFinding:
    if p_value is None or difference is None:
        return ComparisonFinding.NOT_COMPARED
    if p_value > level:
        return ComparisonFinding.UNSEEN
    return ComparisonFinding.WORSE if difference < 0 else ComparisonFinding.BETTER


@record
class AssertionDifference:
    """How often an assertion failed on each side. No test is made: it shows where to look."""

    scenario_id: str
    label: str
    failed_a: int
    judged_a: int
    failed_b: int
    judged_b: int

    @property
    def difference(self) -> float:
        """B's failure rate less A's."""
        return self.failed_b / self.judged_b - self.failed_a / self.judged_a


@record
class PairedRuns:
    """Runs of A and B with the same seed, both completed. Where seeds couple the sides, chance affects both alike."""

    pairs: int
    only_a: int
    """Pairs in which A passes and B does not."""
    only_b: int
    only_a_at_worst: int
    """The same if errors on both sides had come out in A's favour."""

    @property
    def difference(self) -> float | None:
        return (self.only_b - self.only_a) / self.pairs if self.pairs else None


@record
class ComparedSides:
    """One scenario on both sides; `paired` if its runs are compared pair by pair."""

    a: BatchStats
    b: BatchStats
    paired: PairedRuns | None = None

    @property
    def p_value(self) -> float | None:
        if self.paired is None:
            return exact_p(self.a.tally, self.b.tally)
        return mcnemar_p(self.paired.only_a, self.paired.only_b) if self.paired.pairs else None

    @property
    def difference(self) -> float | None:
        if self.paired is not None:
            return self.paired.difference
        return None if self.a.rate is None or self.b.rate is None else self.b.rate - self.a.rate

    @property
    def interval(self) -> Interval | None:
        if self.paired is None:
            return newcombe(self.a.tally, self.b.tally)
        return mcnemar_interval(self.paired.only_a, self.paired.only_b, self.paired.pairs)

    @property
    def has_errors(self) -> bool:
        return self.a.errors + self.b.errors > 0

    @property
    def at_worst(self) -> tuple[Tally, Tally]:
        """Both sides if A's errors were passes and B's errors failures."""
        a, b = self.a, self.b
        return Tally(a.passed + a.errors, a.completed + a.errors), Tally(b.passed, b.completed + b.errors)

    def is_worse_at_worst(self, level: float) -> bool:
        """Return whether B would be worse if the errors had come out that way."""
        if not self.has_errors:
            return False
        if self.paired is not None:
            only_a, only_b = self.paired.only_a_at_worst, self.paired.only_b
            return only_a > only_b and mcnemar_p(only_a, only_b) <= level
        a, b = self.at_worst
        p_value = exact_p(a, b)
        return p_value is not None and p_value <= level and a.passes * b.runs > b.passes * a.runs


@record
class ScenarioComparison:
    scenario_id: str
    finding: ComparisonFinding
    differs: list[ConfigDifference]
    a: BatchStats
    b: BatchStats
    difference: float | None
    interval: Interval | None
    p_value: float | None
    """Corrected for the number of scenarios. This one decides."""
    uncorrected_p_value: float | None
    visible_drop: float | None
    """The smallest drop, rounded up to a percentage point, that would be seen in 8 of 10 cases, after correction, if
    A's pass rate is the observed one; null if none would be, or if runs are compared in pairs."""
    visible_rise: float | None
    error_p_value: float | None
    """Of "both sides have the same rate of errors"; null without errors."""
    errors_could_decide: bool
    """Whether B would be worse if A's errors were passes and its own failures. It is not, without them."""
    paired: PairedRuns | None


@record
class Comparison:
    scenarios: list[ScenarioComparison]
    overall: BlockedTest | None
    """Over all scenarios, each compared with itself; None if only one could be compared."""
    mean_difference: ClusteredMean | None
    """The mean of the scenarios' differences, with its error clustered by scenario; None if there is only one."""
    assertions: list[AssertionDifference]
    """Assertions whose failure rates differ, largest difference first."""
    level: float = ALPHA
    """The largest p-value that is a finding."""
    overall_errors_could_decide: bool = False

    @property
    def overall_finding(self) -> ComparisonFinding:
        if self.overall is None:
            return ComparisonFinding.NOT_COMPARED
        return _finding(self.overall.p_value, self.overall.difference, self.level)

    @property
    def worse(self) -> bool:
        """Whether B is significantly worse, on a scenario or over all of them."""
        return ComparisonFinding.WORSE in (self.overall_finding, *(scenario.finding for scenario in self.scenarios))

    @property
    def not_compared(self) -> bool:
        return any(scenario.finding is ComparisonFinding.NOT_COMPARED for scenario in self.scenarios)

    @property
    def errors_could_decide(self) -> bool:
        """Whether B is not worse, but errors could hide that it is."""
        return not self.worse and (
            self.overall_errors_could_decide or any(scenario.errors_could_decide for scenario in self.scenarios)
        )

    @property
    def verdict(self) -> ComparisonVerdict:
        if self.worse:
            return ComparisonVerdict.WORSE
        if self.not_compared or self.errors_could_decide:
            return ComparisonVerdict.NOT_JUDGED
        findings = [self.overall_finding, *(scenario.finding for scenario in self.scenarios)]
        return ComparisonVerdict.BETTER if ComparisonFinding.BETTER in findings else ComparisonVerdict.NO_DIFFERENCE


class ComparisonVerdict(StrEnum):
    """The one verdict on B, over all scenarios."""

    WORSE = "worse"
    BETTER = "better"
    NO_DIFFERENCE = "no difference seen"
    NOT_JUDGED = "not judged"
    """A side has nothing to compare, or errors could decide."""


@record
class ComparisonReport:
    """A comparison, with what is only in the run files."""

    comparison: Comparison
    divergences: dict[str, Divergence] = field(default_factory=dict)
    """By scenario: where failing and passing runs diverge."""
    notes: list[str] = field(default_factory=list)
    """What was left out, and why."""


def compare(sides: Sequence[ComparedSides], level: float = ALPHA) -> Comparison:
    """Compare the two sides of each scenario. A p-value up to `level` is a finding."""
    # A scenario with a side without completed runs has no test, so it does not count in the correction.
    tested = {index: p for index, item in enumerate(sides) if (p := item.p_value) is not None}
    p_values = list(tested.values())
    corrected = dict(zip(tested, benjamini_hochberg(p_values), strict=True))
    needed = dict(zip(tested, needed_p_values(p_values, level), strict=True))
    scenarios = [
        _scenario(item, tested.get(index), corrected.get(index), needed.get(index, level), level)
        for index, item in enumerate(sides)
    ]
    return Comparison(
        scenarios=scenarios,
        overall=_overall(sides) if len(tested) > 1 else None,
        mean_difference=_mean_difference(scenarios),
        assertions=sorted(_assertions(sides), key=lambda assertion: -abs(assertion.difference)),
        level=level,
        overall_errors_could_decide=len(tested) > 1 and _is_worse_at_worst(sides, level),
    )


def _scenario(
    sides: ComparedSides, uncorrected: float | None, corrected: float | None, needed: float, level: float
) -> ScenarioComparison:
    a, b = sides.a, sides.b
    finding = _finding(corrected, sides.difference, level)
    in_pairs = sides.paired is not None
    return ScenarioComparison(
        scenario_id=b.scenario_id,
        finding=finding,
        differs=config_differences(a, b),
        a=a,
        b=b,
        difference=sides.difference,
        interval=sides.interval,
        p_value=corrected,
        uncorrected_p_value=uncorrected,
        # How often pairs differ is not known beforehand, so neither is what they would show.
        visible_drop=None if in_pairs else visible_drop(a.tally, b.completed, needed),
        visible_rise=None if in_pairs else visible_rise(a.tally, b.completed, needed),
        error_p_value=_error_p(a, b) if sides.has_errors else None,
        errors_could_decide=finding in _NOT_WORSE and sides.is_worse_at_worst(needed),
        paired=sides.paired,
    )


def _error_p(a: BatchStats, b: BatchStats) -> float | None:
    return exact_p(Tally(a.errors, a.completed + a.errors), Tally(b.errors, b.completed + b.errors))


def _overall(sides: Sequence[ComparedSides]) -> BlockedTest | None:
    """Return one test over all scenarios; of pairs, all that differ are counted together."""
    paired = [item.paired for item in sides if item.paired is not None]
    if not paired:
        return blocked_test([(item.a.tally, item.b.tally) for item in sides])
    only_a, only_b, pairs = (sum(getattr(item, name) for item in paired) for name in ("only_a", "only_b", "pairs"))
    return BlockedTest(mcnemar_p(only_a, only_b), (only_b - only_a) / pairs, exact=True) if pairs else None


def _is_worse_at_worst(sides: Sequence[ComparedSides], level: float) -> bool:
    """Return whether B would be worse over all scenarios if the errors had come out in A's favour."""
    if not any(item.has_errors for item in sides):
        return False
    paired = [item.paired for item in sides if item.paired is not None]
    if paired:
        only_a, only_b = (sum(getattr(item, name) for item in paired) for name in ("only_a_at_worst", "only_b"))
        return only_a > only_b and mcnemar_p(only_a, only_b) <= level
    overall = blocked_test([item.at_worst for item in sides])
    return overall is not None and _finding(overall.p_value, overall.difference, level) is ComparisonFinding.WORSE


def _mean_difference(scenarios: Sequence[ScenarioComparison]) -> ClusteredMean | None:
    clusters = [
        Cluster(scenario.difference, scenario.interval)
        for scenario in scenarios
        if scenario.difference is not None and scenario.interval is not None
    ]
    return clustered_mean(clusters, _DIFFERENCES)


def _assertions(sides: Sequence[ComparedSides]) -> Iterator[AssertionDifference]:
    for item in sides:
        before = dict(_with_keys(item.a.assertions))
        for key, after in _with_keys(item.b.assertions):
            was = before.get(key)
            if was is None or not was.judged or not after.judged:
                continue
            change = AssertionDifference(
                scenario_id=item.b.scenario_id,
                label=after.label,
                failed_a=was.judged - was.passed,
                judged_a=was.judged,
                failed_b=after.judged - after.passed,
                judged_b=after.judged,
            )
            if change.difference:
                yield change


def _with_keys(assertions: Sequence[AssertionSummary]) -> Iterator[tuple[tuple[str, str, int], AssertionSummary]]:
    """Yield the assertions with unique keys: label, type, and which occurrence it is."""
    counts: Counter[tuple[str, str]] = Counter()
    for assertion in assertions:
        same = assertion.label, assertion.type
        yield (*same, counts[same]), assertion
        counts[same] += 1
