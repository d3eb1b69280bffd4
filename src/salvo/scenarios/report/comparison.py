"""A comparison as lines for a terminal, as Markdown for a pull request, and as plain data. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from salvo.engine.stats import Interval
from salvo.engine.text.formatting import display_json, money, percent, pluralize, seconds, truncate
from salvo.engine.text.markdown import inline, markdown_table
from salvo.engine.text.terminal import Paint, table
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.analysis.batch_stats import BatchStats, ConfigDifference
from salvo.scenarios.analysis.compare import (
    AssertionDifference,
    Comparison,
    ComparisonFinding,
    ComparisonReport,
    ScenarioComparison,
)
from salvo.scenarios.analysis.divergence import Divergence
from salvo.scenarios.report import labels
from salvo.scenarios.report.headline import p_text, sentence

VERSION = 1
_ASSERTIONS = 5
_COLOURS = {ComparisonFinding.WORSE: "red", ComparisonFinding.BETTER: "green", ComparisonFinding.NOT_COMPARED: "yellow"}
_RATES = ("SCENARIO", "A", "B", "DIFFERENCE", "95%", "P", "VISIBLE", "FINDING")
_COSTS = ("SCENARIO", "COST A", "COST B", "CHANGE", "P50 A", "P50 B", "CHANGE", "P95 A", "P95 B")


@dataclass(frozen=True, slots=True)
class DiffersDocument:
    """Something that was not the same on both sides; the values where they can be told."""

    what: str
    a: Any
    b: Any


@dataclass(frozen=True, slots=True)
class OverallDocument:
    p_value: float
    difference: float
    exact: bool
    finding: ComparisonFinding


@dataclass(frozen=True, slots=True)
class ScenarioDocument:
    scenario_id: str
    finding: ComparisonFinding
    differs: list[DiffersDocument]
    a: BatchStats
    b: BatchStats
    difference: float | None
    interval: Interval | None
    p_value: float | None
    """Corrected for the number of scenarios: it decides."""
    uncorrected_p_value: float | None
    smallest_visible_difference: float | None
    """The smallest that these runs could have shown; None where none could."""
    parting: Divergence | None


@dataclass(frozen=True, slots=True)
class ComparisonDocument:
    salvo_comparison: int
    """The number changes when a field changes its meaning or goes away."""
    sentence: str
    worse: bool
    """Whether B is significantly worse, on a scenario or over all of them."""
    notes: list[str]
    scenarios: list[ScenarioDocument]
    overall: OverallDocument | None
    assertions: list[AssertionDifference]


def lines(report: ComparisonReport, *, colour: bool = False) -> list[str]:
    """The sentence, what was not the same, and only then the numbers."""
    paint = Paint(colour)
    comparison = report.comparison
    worse = "red" if comparison.worse else None
    colours = [_COLOURS.get(scenario.finding) if scenario.finding else None for scenario in comparison.scenarios]
    sections = [
        [paint(sentence(comparison), worse, bold=True), *(paint(note, "yellow") for note in report.notes)],
        list(_sides(comparison)),
        [paint(line, "yellow") for line in _not_the_same(comparison)],
        table(_RATES, [_rates(each) for each in comparison.scenarios], paint, colours),
        [paint(line, "yellow") for line in _left_out(comparison)],
        _assertion_lines(comparison.assertions),
        table(_COSTS, [_costs(each) for each in comparison.scenarios], paint),
        [line for scenario_id, found in report.divergences.items() for line in _parted(scenario_id, found)],
    ]
    first, *rest = [section for section in sections if section]
    return [*first, *(line for section in rest for line in ("", *section))]


def markdown(report: ComparisonReport) -> str:
    comparison = report.comparison
    parts = [
        f"**{inline(sentence(comparison))}**",
        *map(inline, report.notes),
        "\n".join(f"- {inline(line)}" for line in _sides(comparison)),
        "\n".join(
            inline(line) if number == 0 else f"- {inline(line)}" for number, line in enumerate(_lists(comparison))
        ),
        _md_table(_RATES, [_rates(each) for each in comparison.scenarios]),
        "\n".join(f"- {inline(line)}" for line in _left_out(comparison)),
        _md_list(_assertion_lines(comparison.assertions)),
        _md_table(_COSTS, [_costs(each) for each in comparison.scenarios]),
        *(
            inline(" ".join(line.strip() for line in _parted(scenario_id, found)))
            for scenario_id, found in report.divergences.items()
        ),
    ]
    return "\n\n".join(part for part in parts if part)


def document(report: ComparisonReport) -> ComparisonDocument:
    """For other programs. Shares are from 0 to 1, money in dollars, durations in seconds; null is not known."""
    comparison = report.comparison
    overall = comparison.overall
    return ComparisonDocument(
        salvo_comparison=VERSION,
        sentence=sentence(comparison),
        worse=comparison.worse,
        notes=report.notes,
        scenarios=[_scenario(each, report.divergences) for each in comparison.scenarios],
        overall=overall and OverallDocument(*overall, comparison.overall_finding),
        assertions=comparison.assertions,
    )


def _scenario(each: ScenarioComparison, divergences: dict[str, Divergence]) -> ScenarioDocument:
    return ScenarioDocument(
        scenario_id=each.scenario_id,
        finding=each.finding,
        differs=[DiffersDocument(*differs) for differs in each.differs],
        a=each.a,
        b=each.b,
        difference=each.difference,
        interval=each.interval,
        p_value=each.p_value,
        uncorrected_p_value=each.uncorrected,
        smallest_visible_difference=each.smallest,
        parting=divergences.get(each.scenario_id),
    )


def _sides(comparison: Comparison) -> Iterator[str]:
    for name, sides in (
        ("A", [each.a for each in comparison.scenarios]),
        ("B", [each.b for each in comparison.scenarios]),
    ):
        models = ", ".join(dict.fromkeys(printable(side.full_model) for side in sides))
        batches = ", ".join(dict.fromkeys(printable(side.batch_id) for side in sides))
        yield f"{name}  {models}  ({batches})"


def _not_the_same(comparison: Comparison) -> list[str]:
    """Grouped: what differs in the same way on several scenarios is told once."""
    groups: dict[str, list[str]] = {}
    for each in comparison.scenarios:
        for differs in each.differs:
            groups.setdefault(_differs(differs), []).append(printable(each.scenario_id))
    if not groups:
        return []
    whole = len(comparison.scenarios)
    places = {text: "" if len(where) == whole else f"  ({', '.join(where)})" for text, where in groups.items()}
    return [
        "Between A and B these are not the same, and may explain a difference:",
        *(f"  {text}{where}" for text, where in places.items()),
    ]


def _differs(of: ConfigDifference) -> str:
    if of.a is None and of.b is None:
        return printable(of.what)
    return f"{printable(of.what)}: {_told(of.a)} against {_told(of.b)}"


def _told(of: Any) -> str:
    return "none" if of is None else printable(of) if isinstance(of, str) else display_json(of)


def _lists(comparison: Comparison) -> list[str]:
    return [line.strip() for line in _not_the_same(comparison)]


def _rates(each: ScenarioComparison) -> tuple[str, ...]:
    interval = f"{_signed(each.interval.low)} to {_signed(each.interval.high)}" if each.interval else ""
    return (
        truncate(printable(each.scenario_id), 40),
        _rate(each.a),
        _rate(each.b),
        "" if each.difference is None else _signed(each.difference),
        interval,
        "" if each.p_value is None else p_text(each.p_value).removeprefix("p = ").removeprefix("p "),
        "none" if each.smallest is None else f"{round(each.smallest * 100)}",
        str(each.finding),
    )


def _rate(side: BatchStats) -> str:
    return "no run" if side.rate is None else f"{side.passed}/{side.completed} {percent(side.rate)}"


def _signed(difference: float) -> str:
    shown = round(difference * 100)
    return f"{'+' if shown > 0 else '−' if shown < 0 else ''}{abs(shown)}"


def _left_out(comparison: Comparison) -> Iterator[str]:
    """What is in no rate is said, and never dropped in silence."""
    for each in comparison.scenarios:
        for name, side in (("A", each.a), ("B", each.b)):
            missing = [f"{pluralize(side.errors, 'run')} could not be judged (errors, not failures)"] * bool(
                side.errors
            )
            missing += [f"{pluralize(side.unmade, 'run')} not made"] * bool(side.unmade)
            if missing:
                yield f"{printable(each.scenario_id)}, {name}: {' and '.join(missing)}, and in no rate above."


def _assertion_lines(assertions: Sequence[AssertionDifference]) -> list[str]:
    if not assertions:
        return []
    shown = [
        f"  {printable(of.scenario_id)}: {printable(of.label)} failed in {of.failed_b} of {of.judged_b} in B, "
        f"{of.failed_a} of {of.judged_a} in A ({_signed(of.difference)} points)"
        for of in assertions[:_ASSERTIONS]
    ]
    more = len(assertions) - _ASSERTIONS
    return [
        "The assertions whose failure rates differ most (not tested; where to look):",
        *shown,
        *([f"  … and {more} more"] if more > 0 else []),
    ]


def _costs(each: ScenarioComparison) -> tuple[str, ...]:
    a, b = each.a, each.b
    return (
        truncate(printable(each.scenario_id), 40),
        _money(a.average_cost),
        _money(b.average_cost),
        _change(a.average_cost, b.average_cost),
        _seconds(a.latency_p50),
        _seconds(b.latency_p50),
        _change(a.latency_p50, b.latency_p50),
        _seconds(a.latency_p95),
        _seconds(b.latency_p95),
    )


def _money(dollars: float | None) -> str:
    return "unknown" if dollars is None else money(dollars)


def _seconds(duration: float | None) -> str:
    return "unknown" if duration is None else seconds(duration)


def _change(before: float | None, after: float | None) -> str:
    if before is None or after is None or not before:
        return ""
    change = round((after / before - 1) * 100)
    return f"{'+' if change > 0 else '−' if change < 0 else ''}{abs(change)}%"


def _parted(scenario_id: str, found: Divergence) -> list[str]:
    sides = ((found.failing, "failing"), (found.passing, "passing"))
    return [
        f"{printable(scenario_id)}: {labels.divergence(found)}.",
        *(f"  {printable(labels.branch(of, kind))}  (salvo report {of.run_id})" for of, kind in sides),
    ]


def _md_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    names = [name.lower() if len(name) > 1 else name for name in header]
    return markdown_table(names, [[inline(cell) for cell in row] for row in rows])


def _md_list(listed: Sequence[str]) -> str:
    return "\n".join(inline(line) if number == 0 else f"- {inline(line.strip())}" for number, line in enumerate(listed))
