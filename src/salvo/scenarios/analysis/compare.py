"""Compare two sides of runs, A and B. Pure: no clock, no disk.

Errors are not failures. Rates are over the completed runs, and the number of errors is reported separately.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from salvo.engine.stats.exact_test import exact_p, smallest_visible_difference
from salvo.engine.stats.multiple_testing import BlockedTest, benjamini_hochberg, blocked_test, needed_p
from salvo.engine.stats.rates import Interval, newcombe
from salvo.scenarios.analysis.batch_stats import BatchStats, ConfigDifference, config_differences
from salvo.scenarios.analysis.divergence import Divergence
from salvo.scenarios.analysis.summary import AssertionSummary

ALPHA = 0.05


class ComparisonFinding(StrEnum):
    """What B is, compared with A."""

    WORSE = "worse"
    BETTER = "better"
    UNSEEN = "no difference seen"
    NOT_COMPARED = "not compared"
    """A side has no completed run."""


def _finding(p_value: float | None, difference: float | None) -> ComparisonFinding:
    if p_value is None or difference is None:
        return ComparisonFinding.NOT_COMPARED
    if p_value > ALPHA:
        return ComparisonFinding.UNSEEN
    return ComparisonFinding.WORSE if difference < 0 else ComparisonFinding.BETTER


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
    smallest_visible_difference: float | None
    """The smallest difference that these runs could have shown, after correction; null if they could show none."""


@dataclass(frozen=True, slots=True)
class Comparison:
    scenarios: list[ScenarioComparison]
    overall: BlockedTest | None
    """Over all scenarios, each compared with itself; None if only one could be compared."""
    assertions: list[AssertionDifference]
    """Assertions whose failure rates differ, largest difference first."""

    @property
    def overall_finding(self) -> ComparisonFinding:
        if self.overall is None:
            return ComparisonFinding.NOT_COMPARED
        return _finding(self.overall.p_value, self.overall.difference)

    @property
    def worse(self) -> bool:
        """Whether B is significantly worse, on a scenario or over all of them."""
        return ComparisonFinding.WORSE in (self.overall_finding, *(scenario.finding for scenario in self.scenarios))

    @property
    def not_compared(self) -> bool:
        return any(scenario.finding is ComparisonFinding.NOT_COMPARED for scenario in self.scenarios)


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """A comparison, with what is only in the run files."""

    comparison: Comparison
    divergences: dict[str, Divergence] = field(default_factory=dict)
    """By scenario: where failing and passing runs diverge."""
    notes: list[str] = field(default_factory=list)
    """What was left out, and why."""


def compare(pairs: Sequence[tuple[BatchStats, BatchStats]]) -> Comparison:
    """Compare pairs of the same scenario, side A first."""
    # A pair with a side without completed runs has no test, so it does not count in the correction.
    tested = [(index, p) for index, (a, b) in enumerate(pairs) if (p := exact_p(a.tally, b.tally)) is not None]
    p_values = [p for _, p in tested]
    corrected = dict(zip((index for index, _ in tested), benjamini_hochberg(p_values), strict=True))
    scenarios = []
    for index, (a, b) in enumerate(pairs):
        others = [p for other, p in tested if other != index]
        difference = None if a.rate is None or b.rate is None else b.rate - a.rate
        scenarios.append(
            ScenarioComparison(
                scenario_id=b.scenario_id,
                a=a,
                b=b,
                finding=_finding(corrected.get(index), difference),
                difference=difference,
                interval=newcombe(a.tally, b.tally),
                uncorrected_p_value=dict(tested).get(index),
                p_value=corrected.get(index),
                smallest_visible_difference=smallest_visible_difference(a.tally, b.completed, needed_p(others, ALPHA)),
                differs=config_differences(a, b),
            )
        )
    overall = blocked_test([(a.tally, b.tally) for a, b in pairs]) if len(tested) > 1 else None
    return Comparison(scenarios, overall, sorted(_assertions(pairs), key=lambda assertion: -abs(assertion.difference)))


def _assertions(pairs: Sequence[tuple[BatchStats, BatchStats]]) -> Iterator[AssertionDifference]:
    for a, b in pairs:
        before = dict(_with_keys(a.assertions))
        for key, after in _with_keys(b.assertions):
            was = before.get(key)
            if was is None or not was.judged or not after.judged:
                continue
            change = AssertionDifference(
                scenario_id=b.scenario_id,
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
