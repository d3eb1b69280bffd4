"""The result of a comparison in a few sentences, which come before all numbers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from salvo.engine.stats.clusters import ClusteredMean
from salvo.engine.stats.multiple_testing import BlockedTest
from salvo.engine.text.formatting import p_value, percent, pluralize, points, points_interval
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.analysis.compare import Comparison, ComparisonFinding, ScenarioComparison

_MOST_NAMES = 3
_AT_WORST = "if those of A had passed and those of B had failed, B would be worse"
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def headline(comparison: Comparison) -> str:
    return " ".join(f"{_capitalize(sentence)}." for sentence in _sentences(comparison))


def format_p(p: float, level: float) -> str:
    """Return a p-value that is never rounded to 0, nor to the level that decides."""
    text = p_value(p, level)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def format_points(difference: float) -> str:
    text = points(abs(difference)).lstrip("+")
    return f"{text} point" if text == "1" else f"{text} points"


def _sentences(comparison: Comparison) -> Iterator[str]:
    # First what else differs, because that may explain a number instead of what is compared.
    others = dict.fromkeys(printable(item.what) for scenario in comparison.scenarios for item in scenario.differs)
    if others:
        yield f"A and B differ in {_join(_shorten(list(others)))}"
    by_finding: dict[ComparisonFinding, list[ScenarioComparison]] = {finding: [] for finding in ComparisonFinding}
    for scenario in comparison.scenarios:
        by_finding[scenario.finding].append(scenario)
    clauses = [
        _changed(by_finding[finding], finding, comparison.level)
        for finding in (ComparisonFinding.WORSE, ComparisonFinding.BETTER)
        if by_finding[finding]
    ]
    if unseen := by_finding[ComparisonFinding.UNSEEN]:
        clauses.append(_unseen(unseen, alone=not clauses))
    if clauses:
        yield "; ".join(clauses)
    if comparison.overall is not None:
        yield _overall(comparison, comparison.overall)
    for scenario in by_finding[ComparisonFinding.NOT_COMPARED]:
        if scenario.a.completed and scenario.b.completed:
            yield f"{printable(scenario.scenario_id)} could not be compared: no two completed runs have the same seed"
            continue
        yield f"{printable(scenario.scenario_id)} could not be compared: {_without_evidence(scenario)}"
    yield from _errors(comparison)


def _without_evidence(scenario: ScenarioComparison) -> str:
    """Return which sides have nothing to compare, and why."""
    sides: dict[str, list[str]] = {}
    for name, side in (("A", scenario.a), ("B", scenario.b)):
        if not side.completed:
            lack = "no completed run but those answered from a cache" if side.cached else "no completed run"
            sides.setdefault(lack, []).append(name)
    return ", and ".join(
        f"{' and '.join(names)} {'has' if len(names) == 1 else 'have'} {lack}" for lack, names in sides.items()
    )


def _changed(scenarios: Sequence[ScenarioComparison], finding: ComparisonFinding, level: float) -> str:
    ordered = sorted(scenarios, key=lambda scenario: scenario.p_value or 0.0)
    return f"B is {finding} on {_join(_shorten([_with_rates(scenario, level) for scenario in ordered]))}"


def _with_rates(scenario: ScenarioComparison, level: float) -> str:
    rate_a, rate_b = scenario.a.rate or 0.0, scenario.b.rate or 0.0
    rates = f"{percent(rate_b, rate_a)} against {percent(rate_a, rate_b)}"
    return f"{printable(scenario.scenario_id)} ({rates}, {format_p(scenario.p_value or 0.0, level)})"


def _errors(comparison: Comparison) -> Iterator[str]:
    """Yield where the errors of a side could have changed the result, or are themselves more frequent in B."""
    for scenario in comparison.scenarios:
        name = printable(scenario.scenario_id)
        p = scenario.error_p_value
        if p is not None and p <= comparison.level:
            a, b = scenario.a, scenario.b
            rates = f"{b.errors} of {b.errors + b.completed} runs against {a.errors} of {a.errors + a.completed}"
            often = "more" if b.errors * (a.errors + a.completed) > a.errors * (b.errors + b.completed) else "fewer"
            yield f"B has {often} errors on {name}: {rates} ({format_p(p, comparison.level)})"
        if scenario.errors_could_decide:
            yield f"errors could decide on {name}: {_AT_WORST}"
    if comparison.overall_errors_could_decide and comparison.overall_finding is not ComparisonFinding.WORSE:
        yield f"across all scenarios, errors could decide: {_AT_WORST}"


def _unseen(scenarios: Sequence[ScenarioComparison], *, alone: bool) -> str:
    if not alone:
        where = "the other one" if len(scenarios) == 1 else f"the other {_number(len(scenarios))}"
    elif len(scenarios) == 1:
        where = printable(scenarios[0].scenario_id)
    else:
        where = f"any of the {_number(len(scenarios))} scenarios"
    pairs = [scenario.paired for scenario in scenarios if scenario.paired is not None]
    if pairs:
        differing = sum(item.only_a + item.only_b for item in pairs)
        total = pluralize(sum(item.pairs for item in pairs), "pair")
        return f"no difference was detected on {where}; of {total} of runs with the same seed, {differing} differ"
    return f"no difference was detected on {where}; with {_runs(scenarios)}, {_detectable(scenarios)}"


def _runs(scenarios: Sequence[ScenarioComparison]) -> str:
    numbers = {side.completed for scenario in scenarios for side in (scenario.a, scenario.b)}
    if len(numbers) == 1:
        return f"{pluralize(min(numbers), 'run')} each"
    return f"{min(numbers)} to {max(numbers)} runs each"


def _detectable(scenarios: Sequence[ScenarioComparison]) -> str:
    """Return which differences these runs would have shown, if A's pass rates are the observed ones."""
    drop = _visible("drop", [scenario.visible_drop for scenario in scenarios])
    rise = _visible("rise", [scenario.visible_rise for scenario in scenarios])
    if drop is None and rise is None:
        return "none would be seen in 8 of 10 cases"
    if drop is None or rise is None:
        return f"{drop or rise} would be seen in 8 of 10 cases, and no {'drop' if drop is None else 'rise'} would"
    return f"{drop} or {rise} would be seen in 8 of 10 cases"


def _visible(kind: str, visible: Sequence[float | None]) -> str | None:
    shares = [share for share in visible if share is not None]
    if not shares:
        return None
    low, high = format_points(min(shares)), format_points(max(shares))
    text = (
        f"a {kind} of {low}" if low == high else f"a {kind} of {low.split()[0]} to {high} (depending on the scenario)"
    )
    none = len(visible) - len(shares)
    return f"{text} (none on {_number(none)} of them)" if none else text


def _overall(comparison: Comparison, overall: BlockedTest) -> str:
    p = format_p(overall.p_value, comparison.level) + ("" if overall.exact else ", approximated")
    mean = comparison.mean_difference
    # Clustered by scenario: this says what to expect of other scenarios like these, and p is about these.
    by_scenario = "" if mean is None else f"; mean over scenarios {_mean(mean)}"
    finding = comparison.overall_finding
    if finding is ComparisonFinding.UNSEEN:
        return f"across all scenarios, no difference was detected ({p}{by_scenario})"
    often = "less" if overall.difference < 0 else "more"
    return (
        f"across all scenarios, B is {finding}: it passes {format_points(overall.difference)} {often} often "
        f"({p}{by_scenario})"
    )


def _mean(mean: ClusteredMean) -> str:
    return f"{points(mean.mean)}, 95% {points_interval(mean.interval.low, mean.interval.high)}"


def _shorten(items: Sequence[str]) -> list[str]:
    more = len(items) - _MOST_NAMES
    return [*items[:_MOST_NAMES], *([f"{_number(more)} more"] if more > 0 else [])]


def _join(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _number(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def _capitalize(text: str) -> str:
    """Capitalize a sentence, but not one that begins with the name of a scenario."""
    return text[0].upper() + text[1:] if text.startswith(("no ", "across ", "errors could decide")) else text
