"""What a comparison comes to, in a sentence: it stands before every number. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from salvo.engine.stats import BlockedTest
from salvo.engine.text.formatting import percent
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.analysis.compare import Comparison, ComparisonFinding, ScenarioComparison

_NAMED = 3
_IN_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def sentence(comparison: Comparison) -> str:
    return " ".join(f"{_capital(part)}." for part in _parts(comparison))


def p_text(p_value: float) -> str:
    """Two digits, and never a 0 that it is not."""
    if p_value < 0.001:
        return "p < 0.001"
    return f"p = {p_value:.3f}" if p_value < 0.01 else f"p = {p_value:.2f}"


def points(difference: float) -> str:
    return f"{round(abs(difference) * 100)} point" + ("" if round(abs(difference) * 100) == 1 else "s")


def _parts(comparison: Comparison) -> Iterator[str]:
    differs = list(dict.fromkeys(printable(of.what) for each in comparison.scenarios for of in each.differs))
    if differs:  # whoever reads on must know that another reason than the one compared may be behind a number
        more = [f"{_number(len(differs) - _NAMED)} more"] if len(differs) > _NAMED else []
        yield f"not the same on both sides: {_listed([*differs[:_NAMED], *more])}"
    by = {finding: [each for each in comparison.scenarios if each.finding is finding] for finding in ComparisonFinding}
    clauses = [
        _found(by[finding], finding) for finding in (ComparisonFinding.WORSE, ComparisonFinding.BETTER) if by[finding]
    ]
    if by[ComparisonFinding.UNSEEN]:
        clauses.append(_unseen(by[ComparisonFinding.UNSEEN], alone=not clauses))
    if clauses:
        yield "; ".join(clauses)
    if comparison.overall is not None:
        yield _overall(comparison.overall, comparison.overall_finding)
    for each in by[ComparisonFinding.NOT_COMPARED]:
        sides = [name for name, side in (("A", each.a), ("B", each.b)) if not side.completed]
        have = "has" if len(sides) == 1 else "have"
        yield f"{printable(each.scenario_id)} could not be compared: {' and '.join(sides)} {have} no completed run"


def _found(scenarios: Sequence[ScenarioComparison], finding: ComparisonFinding) -> str:
    ordered = sorted(scenarios, key=lambda each: each.p_value or 0.0)
    named = [_named(each) for each in ordered[:_NAMED]]
    if more := len(ordered) - _NAMED if len(ordered) > _NAMED else 0:
        named.append(f"{_number(more)} more")
    return f"B is {finding} on {_listed(named)}"


def _named(each: ScenarioComparison) -> str:
    rates = f"{percent(each.b.rate or 0.0)} against {percent(each.a.rate or 0.0)}"
    return f"{printable(each.scenario_id)} ({rates}, {p_text(each.p_value or 0.0)})"


def _unseen(scenarios: Sequence[ScenarioComparison], *, alone: bool) -> str:
    if not alone:
        where = "the other one" if len(scenarios) == 1 else f"the other {_number(len(scenarios))}"
    elif len(scenarios) == 1:
        where = printable(scenarios[0].scenario_id)
    else:
        where = f"any of the {_number(len(scenarios))} scenarios"
    seen = f"no difference could be seen on {where}" if alone else f"on {where} no difference could be seen"
    return f"{seen}, and with {_runs(scenarios)} {_visible(scenarios)}"


def _runs(scenarios: Sequence[ScenarioComparison]) -> str:
    numbers = {side.completed for each in scenarios for side in (each.a, each.b)}
    if len(numbers) == 1:
        return f"{min(numbers)} run{'' if numbers == {1} else 's'} each"
    return f"{min(numbers)} to {max(numbers)} runs each"


def _visible(scenarios: Sequence[ScenarioComparison]) -> str:
    smallest = [each.smallest for each in scenarios if each.smallest is not None]
    if not smallest:
        return "none could have been"
    low, high = points(min(smallest)), points(max(smallest))
    reach = low if low == high else f"{low.removesuffix(' points')} to {high}"
    seen = f"only one of {reach} or more{'' if low == high else ', by scenario,'} would have been"
    none = len(scenarios) - len(smallest)
    return f"{seen}, on {_number(none)} of them none" if none else seen


def _overall(overall: BlockedTest, finding: ComparisonFinding) -> str:
    how = p_text(overall.p_value) + ("" if overall.exact else ", approximated")
    if finding is ComparisonFinding.UNSEEN:
        return f"over all of them together no difference could be seen ({how})"
    often = "less" if overall.difference < 0 else "more"
    return f"over all of them together B is {finding}: it passes {points(overall.difference)} {often} often ({how})"


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _number(number: int) -> str:
    return _IN_WORDS[number] if number < len(_IN_WORDS) else str(number)


def _capital(text: str) -> str:
    """Scenario names stay as they are."""
    return text[0].upper() + text[1:] if text.startswith(("no ", "not ", "over ")) else text
