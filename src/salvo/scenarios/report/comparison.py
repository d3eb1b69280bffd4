"""A comparison as lines for a terminal, as Markdown for a pull request, and as data for other programs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose
from typing import Any

from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.engine.stats.clusters import ClusteredMean
from salvo.engine.stats.multiple_testing import BlockedTest
from salvo.engine.text.formatting import (
    display_json,
    first_lines,
    money,
    or_unknown,
    p_value,
    percent,
    pluralize,
    points,
    points_interval,
    seconds,
    truncate,
)
from salvo.engine.text.markdown import inline, markdown_table
from salvo.engine.text.terminal import Paint, table
from salvo.engine.text.unicode_escape import printable
from salvo.records import record
from salvo.scenarios.analysis.batch_stats import BatchStats, ConfigDifference
from salvo.scenarios.analysis.compare import (
    AssertionDifference,
    Comparison,
    ComparisonFinding,
    ComparisonReport,
    ComparisonVerdict,
    ScenarioComparison,
)
from salvo.scenarios.analysis.divergence import Divergence
from salvo.scenarios.analysis.summary import bounds_with
from salvo.scenarios.report import labels
from salvo.scenarios.report.headline import headline

VERSION = 2
_ASSERTIONS = 5
_COLOURS = {ComparisonFinding.WORSE: "red", ComparisonFinding.BETTER: "green", ComparisonFinding.NOT_COMPARED: "yellow"}
_RATES = ("SCENARIO", "A", "B", "DIFFERENCE", "95%", "P", "VISIBLE", "FINDING")
"""VISIBLE has the drop and the rise that would be seen in 8 of 10 cases."""
_COSTS = ("SCENARIO", "COST A", "COST B", "CHANGE", "P50 A", "P50 B", "CHANGE", "P95 A", "P95 B")


@record
class OverallLabels:
    """As in the terminal."""

    difference: str
    p_value: str
    mean: str
    """The mean difference over the scenarios, with its interval."""


@record
class OverallDocument:
    p_value: float
    difference: float
    exact: bool
    finding: ComparisonFinding
    labels: OverallLabels


@record
class ScenarioDocument(ScenarioComparison):
    labels: ScenarioLabels
    divergence: Divergence | None


@record
class ComparisonDocument:
    salvo_comparison: int
    """The number changes when a field changes its meaning or is removed."""
    sentence: str
    verdict: ComparisonVerdict
    worse: bool
    """Whether B is significantly worse, on a scenario or across all of them."""
    errors_could_decide: bool
    """Whether B is not worse, but would be if A's errors were passes and its own failures."""
    level: float
    """The largest p-value that is a finding."""
    notes: list[str]
    scenarios: list[ScenarioDocument]
    overall: OverallDocument | None
    mean_difference: ClusteredMean | None
    """The mean of the scenarios' differences, with its error clustered by scenario; null if there is only one."""
    assertions: list[AssertionDifference]


def lines(report: ComparisonReport, *, colour: bool = False) -> list[str]:
    """Return the headline, what else differs, and then the numbers."""
    paint = Paint(colour)
    comparison = report.comparison
    worse = "red" if comparison.worse else None
    colours = [_COLOURS.get(scenario.finding) if scenario.finding else None for scenario in comparison.scenarios]
    sections = [
        [paint(headline(comparison), worse, bold=True), *(paint(note, "yellow") for note in report.notes)],
        list(_sides(comparison)),
        [paint(line, "yellow") for line in _other_differences(comparison)],
        table(_RATES, [_rates(scenario, comparison.level) for scenario in comparison.scenarios], paint, colours),
        [paint(line, "yellow") for line in _not_counted(comparison)],
        _assertion_lines(comparison.assertions),
        table(_COSTS, [_costs(scenario) for scenario in comparison.scenarios], paint),
        [line for name, divergence in report.divergences.items() for line in _divergence(name, divergence)],
    ]
    return [line for section in sections if section for line in ("", *section)][1:]


def markdown(report: ComparisonReport) -> str:
    comparison = report.comparison
    parts = [
        f"**{inline(headline(comparison))}**",
        *map(inline, report.notes),
        "\n".join(f"- {inline(line)}" for line in _sides(comparison)),
        _md_list(_other_differences(comparison)),
        _md_table(_RATES, [_rates(scenario, comparison.level) for scenario in comparison.scenarios]),
        "\n".join(f"- {inline(line)}" for line in _not_counted(comparison)),
        _md_list(_assertion_lines(comparison.assertions)),
        _md_table(_COSTS, [_costs(scenario) for scenario in comparison.scenarios]),
        *(_md_list(_divergence(name, divergence)) for name, divergence in report.divergences.items()),
    ]
    return "\n\n".join(part for part in parts if part)


def document(report: ComparisonReport) -> ComparisonDocument:
    """Return the data. Shares are from 0 to 1, money is in dollars, durations are in seconds; null is unknown."""
    comparison = report.comparison
    overall = comparison.overall
    return ComparisonDocument(
        salvo_comparison=VERSION,
        sentence=headline(comparison),
        verdict=comparison.verdict,
        worse=comparison.worse,
        errors_could_decide=comparison.errors_could_decide,
        level=comparison.level,
        notes=report.notes,
        scenarios=[
            copy_fields(
                ScenarioDocument,
                scenario,
                labels=scenario_labels(scenario, comparison.level),
                divergence=report.divergences.get(scenario.scenario_id),
            )
            for scenario in comparison.scenarios
        ],
        overall=overall and OverallDocument(*overall, comparison.overall_finding, _overall_labels(comparison, overall)),
        mean_difference=comparison.mean_difference,
        assertions=comparison.assertions,
    )


def _overall_labels(comparison: Comparison, overall: BlockedTest) -> OverallLabels:
    mean = comparison.mean_difference
    return OverallLabels(
        points(overall.difference),
        p_value(overall.p_value, comparison.level),
        "" if mean is None else f"{points(mean.mean)}, 95% {points_interval(*mean.interval)}",
    )


def _sides(comparison: Comparison) -> Iterator[str]:
    for name, sides in (
        ("A", [scenario.a for scenario in comparison.scenarios]),
        ("B", [scenario.b for scenario in comparison.scenarios]),
    ):
        models = ", ".join(dict.fromkeys(printable(side.full_model) for side in sides))
        batches = ", ".join(dict.fromkeys(printable(side.batch_id) for side in sides))
        yield f"{name}  {models}  ({batches})"


def _other_differences(comparison: Comparison) -> list[str]:
    """Return what else differs between A and B. The same difference on several scenarios is listed once."""
    names: dict[str, list[str]] = {}
    for scenario in comparison.scenarios:
        for difference in scenario.differs:
            names.setdefault(_difference(difference), []).append(printable(scenario.scenario_id))
    if not names:
        return []
    total = len(comparison.scenarios)
    return [
        "A and B differ in the following, which may explain a result:",
        *(f"  {text}" + ("" if len(where) == total else f"  ({', '.join(where)})") for text, where in names.items()),
    ]


def _difference(difference: ConfigDifference) -> str:
    if difference.a is None and difference.b is None:
        return printable(difference.what)
    return f"{printable(difference.what)}: {_setting(difference.a)} against {_setting(difference.b)}"


def _setting(value: Any) -> str:
    return "none" if value is None else printable(value) if isinstance(value, str) else display_json(value)


def _rates(scenario: ScenarioComparison, level: float) -> tuple[str, ...]:
    texts = scenario_labels(scenario, level)
    return (
        truncate(printable(scenario.scenario_id), 40),
        _counts(scenario.a, texts.a),
        _counts(scenario.b, texts.b),
        texts.difference,
        texts.interval,
        texts.p_value,
        texts.visible,
        str(scenario.finding),
    )


@record
class ScenarioLabels:
    """The numbers of a scenario as text, rounded as in the terminal; empty if there is none."""

    a: str
    b: str
    difference: str
    interval: str
    p_value: str
    visible: str


def scenario_labels(scenario: ScenarioComparison, level: float) -> ScenarioLabels:
    drop, rise = scenario.visible_drop, scenario.visible_rise
    visible = [points(share) for share in (None if drop is None else -drop, rise) if share is not None]
    return ScenarioLabels(
        a=_rate(scenario.a, scenario.b),
        b=_rate(scenario.b, scenario.a),
        difference="" if scenario.difference is None else points(scenario.difference),
        interval=points_interval(*scenario.interval) if scenario.interval else "",
        p_value="" if scenario.p_value is None else p_value(scenario.p_value, level),
        visible="" if scenario.paired else " ".join(visible) or "none",
    )


def _rate(side: BatchStats, other: BatchStats) -> str:
    if side.rate is None:
        return "no run"
    return percent(side.rate, *(() if other.rate in (None, side.rate) else (other.rate,)))


def _counts(side: BatchStats, rate: str) -> str:
    return rate if side.rate is None else f"{side.passed}/{side.completed} {rate}"


def _not_counted(comparison: Comparison) -> Iterator[str]:
    """Yield the runs that no rate counts."""
    for scenario in comparison.scenarios:
        for name, side in (("A", scenario.a), ("B", scenario.b)):
            counts = []
            if side.errors:
                counts.append(f"{pluralize(side.errors, 'run')} could not be judged (errors, not failures)")
            if side.cached:
                counts.append(f"{pluralize(side.cached, 'run')} answered from a cache")
            if side.unmade:
                counts.append(f"{pluralize(side.unmade, 'run')} without a result")
            if side.pending:
                counts.append(f"{pluralize(side.pending, 'run')} waiting for judges (salvo collect)")
            bounds = bounds_with(side.simulator_errors, side.passed, side.completed)
            more = "" if bounds is None else f" Bounds: {labels.user_bounds(side.simulator_errors, bounds)}."
            if counts:
                text = f"{' and '.join(counts)}. No rate above counts them.{more}"
                yield f"{printable(scenario.scenario_id)}, {name}: {text}"


def _assertion_lines(assertions: Sequence[AssertionDifference]) -> list[str]:
    if not assertions:
        return []
    lines = [
        f"{printable(item.scenario_id)}: {printable(item.label)} failed in {item.failed_b} of {item.judged_b} in B, "
        f"{item.failed_a} of {item.judged_a} in A ({points(item.difference)} points)"
        for item in assertions
    ]
    return [
        "Assertions whose failure rates differ most (without a significance test):",
        *(f"  {line}" for line in first_lines(lines, _ASSERTIONS)),
    ]


def _costs(scenario: ScenarioComparison) -> tuple[str, ...]:
    a, b = scenario.a, scenario.b
    return (
        truncate(printable(scenario.scenario_id), 40),
        or_unknown(a.average_cost, money),
        or_unknown(b.average_cost, money),
        _change(a.average_cost, b.average_cost),
        or_unknown(a.latency_p50, seconds),
        or_unknown(b.latency_p50, seconds),
        _change(a.latency_p50, b.latency_p50),
        or_unknown(a.latency_p95, seconds),
        or_unknown(b.latency_p95, seconds),
    )


def _change(before: float | None, after: float | None) -> str:
    if before is None or after is None or not before:
        return ""
    # Averages of the same amounts may differ in their last bits.
    return f"{points(0.0 if isclose(before, after) else after / before - 1)}%"


def _divergence(scenario_id: str, divergence: Divergence) -> list[str]:
    branches = ((divergence.failing, "failing"), (divergence.passing, "passing"))
    return [
        f"{printable(scenario_id)}: {labels.divergence(divergence)}.",
        *(f"  {printable(labels.branch(branch, kind))}  (salvo report {branch.run_id})" for branch, kind in branches),
    ]


def _md_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    names = [name.lower() if len(name) > 1 else name for name in header]
    return markdown_table(names, [[inline(cell) for cell in row] for row in rows])


def _md_list(lines: Sequence[str]) -> str:
    """Return the first line as a paragraph and the others as a list.

    The empty line between them is needed by renderers that would otherwise join the list to the paragraph.
    """
    if not lines:
        return ""
    first, *others = lines
    return "\n".join([inline(first), "", *(f"- {inline(line.strip())}" for line in others)])
