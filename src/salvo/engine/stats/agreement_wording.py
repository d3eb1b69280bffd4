"""How well judges and people agree, in words. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from salvo.engine.stats.judge_agreement import AgreementDrop, IntervalEstimate, JudgeQuality, ReviewerAgreement
from salvo.engine.stats.pass_rates import Interval
from salvo.engine.text.formatting import NamedValue, at_least, at_most, percent, pluralize
from salvo.engine.text.unicode_escape import printable


def quality_rows(quality: JudgeQuality) -> Iterator[NamedValue]:
    """Yield the measures of a judge, each with its interval."""
    if quality.agreement is None:
        yield NamedValue("agreement with people", "not known until each kind of verdict has a clear label")
        return
    yield NamedValue("agreement with people", estimate(quality.agreement))
    yield NamedValue("Cohen's kappa", estimate(quality.kappa, as_share=False))
    yield NamedValue("of what it passed, people pass", estimate(quality.pass_precision))
    yield NamedValue("of what people pass, it passed", estimate(quality.pass_recall))
    yield NamedValue("of what it failed, people fail", estimate(quality.fail_precision))
    yield NamedValue("of what people fail, it failed", estimate(quality.fail_recall))


def estimate(value: IntervalEstimate | None, *, as_share: bool = True) -> str:
    if value is None:
        return "not known"
    if as_share:
        return f"{percent(value.value)}, 95% interval {bounds_text(value.interval)}"
    low, high = value.interval
    return f"{value.value:.2f}, 95% interval {low:.2f} to {high:.2f}"


def drop_sentence(drop: AgreementDrop, verdict: str, items: str = "runs") -> str:
    """Return a notice that people agree less often with a judge than before."""
    return (
        f"People agreed with {drop.agreed} of {drop.block} {items} judged {verdict}, and before that with "
        f"{drop.agreed_before} of {drop.before}: the judge may have changed (p = {drop.p:.2g}, tested at "
        f"{drop.level:.2g})."
    )


def pair_sentence(names: tuple[str, str], agreement: ReviewerAgreement) -> str:
    first, second = map(printable, names)
    kappa = estimate(agreement.kappa, as_share=False)
    return f"{first} and {second} agree on {agreement.agreed} of {agreement.items}; Cohen's kappa {kappa}"


def bounds_text(interval: Interval, *apart: float) -> str:
    """Return the ends of an interval, rounded outward."""
    return f"{at_least(interval.low, *apart)} to {at_most(interval.high, *apart)}"


def further_labels(numbers: Mapping[str, int], noun: str) -> str:
    """Return how many more labels of which kinds: "9 more labels of runs judged failed"."""
    total = sum(numbers.values())
    kinds = [f"{number} of {kind}" for kind, number in numbers.items()]
    # Without other kinds, the total is the number of that kind.
    kinds_text = kinds[0].removeprefix(f"{total} ") if len(kinds) == 1 else f"({', '.join(kinds)})"
    return f"{pluralize(total, f'more {noun}')} {kinds_text}"
