"""Judge the same frozen text repeatedly, and measure how far the judge agrees with itself. Pure.

The text does not change, so all variation is the judge's.
"""

from __future__ import annotations

from collections.abc import Sequence

from salvo.engine.stats.voting import reliability
from salvo.engine.text.formatting import percent, pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.playbooks.enums import Result
from salvo.playbooks.report.report import Report
from salvo.records import record


@record
class Rejudged:
    """One check over all repetitions."""

    check_id: str
    stored: Result
    results: tuple[Result, ...]
    """The result of each repetition."""
    flip_rate: float
    """The share of repetitions with another result than the stored one."""
    agreement: float | None
    """The probability that two votes agree; None with fewer than two votes."""


@record
class RejudgeSummary:
    judgings: int
    votes_each: int
    checks: tuple[Rejudged, ...]
    alpha: float | None
    """Krippendorff's alpha over the votes on all checks; None if all votes are equal."""
    advice: str


def summarise(stored: Report, again: Sequence[Report]) -> RejudgeSummary:
    checks: list[Rejudged] = []
    all_votes: list[list[Result | None]] = []
    for check in stored.check_results:
        if check.decided_by != "evaluator":
            continue
        repeated = [other for report in again for other in report.check_results if other.check_id == check.check_id]
        results = tuple(other.result for other in repeated)
        votes = [run.result if run.counts else None for other in repeated for run in other.raw_runs]
        flip_rate = sum(result is not check.result for result in results) / len(results)
        checks.append(Rejudged(check.check_id, check.result, results, flip_rate, reliability([votes]).agreement))
        all_votes.append(votes)
    return RejudgeSummary(
        judgings=len(again),
        votes_each=stored.variance_summary.num_runs,
        checks=tuple(checks),
        alpha=reliability(all_votes).alpha,
        advice=_advice(checks),
    )


def lines(summary: RejudgeSummary) -> list[str]:
    names = [printable(check.check_id) for check in summary.checks]
    width = max(map(len, names), default=0)
    rows = [
        f"{name:<{width}}  stored {check.stored:<13}  flipped {percent(check.flip_rate):>4}  "
        f"votes agree {'unknown' if check.agreement is None else percent(check.agreement)}"
        for name, check in zip(names, summary.checks, strict=True)
    ]
    alpha = "not defined: all votes are equal" if summary.alpha is None else f"{summary.alpha:.2f}"
    repetitions = (
        f"Judged again {pluralize(summary.judgings, 'time')}, with {pluralize(summary.votes_each, 'vote')} per check."
    )
    return [repetitions, *rows, f"Krippendorff's alpha  {alpha}", summary.advice]


def _advice(checks: Sequence[Rejudged]) -> str:
    """The text is frozen, so only more votes can help."""
    flipped = [printable(check.check_id) for check in checks if check.flip_rate]
    split = [printable(check.check_id) for check in checks if check.agreement is not None and check.agreement < 1]
    if flipped:
        return f"All of this variation is the judge's. More votes (--runs) would stabilise: {', '.join(flipped)}."
    if split:
        return f"The results stayed the same although votes differ ({', '.join(split)}): the number of votes is enough."
    return "The judge gave the same answers every time: more votes would show nothing new."
