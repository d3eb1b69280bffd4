"""The result of a comparison in a few sentences, which come before all numbers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from salvo.engine.stats.multiple_testing import BlockedTest
from salvo.engine.text.formatting import percent, pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.analysis.compare import Comparison, ComparisonFinding, ScenarioComparison

_MOST_NAMES = 3
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def headline(comparison: Comparison) -> str:
    return " ".join(f"{_capitalize(sentence)}." for sentence in _sentences(comparison))


def format_p(p_value: float) -> str:
    """Return a p-value with two digits. It is never rounded to 0."""
    if p_value < 0.001:
        return "p < 0.001"
    return f"p = {p_value:.3f}" if p_value < 0.01 else f"p = {p_value:.2f}"


def format_points(difference: float) -> str:
    return pluralize(round(abs(difference) * 100), "point")


def _sentences(comparison: Comparison) -> Iterator[str]:
    # First what else differs, because that may explain a number instead of what is compared.
    others = dict.fromkeys(printable(item.what) for scenario in comparison.scenarios for item in scenario.differs)
    if others:
        yield f"A and B differ in {_join(_shorten(list(others)))}"
    by_finding: dict[ComparisonFinding, list[ScenarioComparison]] = {finding: [] for finding in ComparisonFinding}
    for scenario in comparison.scenarios:
        by_finding[scenario.finding].append(scenario)
    clauses = [
        _changed(by_finding[finding], finding)
        for finding in (ComparisonFinding.WORSE, ComparisonFinding.BETTER)
        if by_finding[finding]
    ]
    if unseen := by_finding[ComparisonFinding.UNSEEN]:
        clauses.append(_unseen(unseen, alone=not clauses))
    if clauses:
        yield "; ".join(clauses)
    if comparison.overall is not None:
        yield _overall(comparison.overall, comparison.overall_finding)
    for scenario in by_finding[ComparisonFinding.NOT_COMPARED]:
        sides = [name for name, side in (("A", scenario.a), ("B", scenario.b)) if not side.completed]
        have = "has" if len(sides) == 1 else "have"
        yield f"{printable(scenario.scenario_id)} could not be compared: {' and '.join(sides)} {have} no completed run"


def _changed(scenarios: Sequence[ScenarioComparison], finding: ComparisonFinding) -> str:
    ordered = sorted(scenarios, key=lambda scenario: scenario.p_value or 0.0)
    return f"B is {finding} on {_join(_shorten([_with_rates(scenario) for scenario in ordered]))}"


def _with_rates(scenario: ScenarioComparison) -> str:
    rates = f"{percent(scenario.b.rate or 0.0)} against {percent(scenario.a.rate or 0.0)}"
    return f"{printable(scenario.scenario_id)} ({rates}, {format_p(scenario.p_value or 0.0)})"


def _unseen(scenarios: Sequence[ScenarioComparison], *, alone: bool) -> str:
    if not alone:
        where = "the other one" if len(scenarios) == 1 else f"the other {_number(len(scenarios))}"
    elif len(scenarios) == 1:
        where = printable(scenarios[0].scenario_id)
    else:
        where = f"any of the {_number(len(scenarios))} scenarios"
    return f"no difference was detected on {where}; with {_runs(scenarios)}, {_detectable(scenarios)}"


def _runs(scenarios: Sequence[ScenarioComparison]) -> str:
    numbers = {side.completed for scenario in scenarios for side in (scenario.a, scenario.b)}
    if len(numbers) == 1:
        return f"{pluralize(min(numbers), 'run')} each"
    return f"{min(numbers)} to {max(numbers)} runs each"


def _detectable(scenarios: Sequence[ScenarioComparison]) -> str:
    """Return which differences these runs could have shown."""
    differences = (scenario.smallest_visible_difference for scenario in scenarios)
    smallest = [difference for difference in differences if difference is not None]
    if not smallest:
        return "none would have been"
    low, high = format_points(min(smallest)), format_points(max(smallest))
    if low == high:
        text = f"only one of {low} or more would have been"
    else:
        text = (
            f"only one of {low.removesuffix(' points')} to {high} or more (depending on the scenario) would have been"
        )
    none = len(scenarios) - len(smallest)
    return f"{text}, and none on {_number(none)} of them" if none else text


def _overall(overall: BlockedTest, finding: ComparisonFinding) -> str:
    p_value = format_p(overall.p_value) + ("" if overall.exact else ", approximated")
    if finding is ComparisonFinding.UNSEEN:
        return f"across all scenarios, no difference was detected ({p_value})"
    often = "less" if overall.difference < 0 else "more"
    points = format_points(overall.difference)
    return f"across all scenarios, B is {finding}: it passes {points} {often} often ({p_value})"


def _shorten(items: Sequence[str]) -> list[str]:
    more = len(items) - _MOST_NAMES
    return [*items[:_MOST_NAMES], *([f"{_number(more)} more"] if more > 0 else [])]


def _join(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _number(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def _capitalize(text: str) -> str:
    """Capitalize a sentence, but not one that begins with the name of a scenario."""
    return text[0].upper() + text[1:] if text.startswith(("no ", "across ")) else text
