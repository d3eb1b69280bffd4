"""How reliable judges are, from judging the same transcripts several times. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from salvo.engine.stats.judge_advice import Advice, judge_share_interval, more_runs_or_votes
from salvo.engine.stats.pass_rates import Interval
from salvo.engine.stats.voting import Components, Reliability, components, reliability
from salvo.engine.text.formatting import at_least, at_most, money, or_unknown, percent, pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.records import record
from salvo.scenarios.store.rejudge_store import JudgeVerdict, Rejudgement


@record
class JudgeSummary:
    """The judge of one assertion. `verdicts` are the majorities of `votes`."""

    label: str
    transcripts: int
    judgings: int
    no_verdict: int
    """Judgings without a verdict: too few votes, or no majority."""
    passed: int
    """Judgings that passed the assertion."""
    verdicts: Reliability
    votes: Reliability
    changed: int | None
    """Transcripts on which most judgings differ from the stored verdict; None if no verdict is stored."""
    components: Components | None
    """The variance of a verdict, by its source."""
    judge_share_interval: Interval | None
    """The 95 % interval of the judge's share, by resampling the transcripts."""
    advice: Advice | None
    cost: float | None
    batched: int
    """Judgings whose votes came through a provider's batch API."""

    @property
    def judge_share(self) -> float | None:
        return self.components.judge_share if self.components else None


def summarise(
    labels: Sequence[str],
    votes: Sequence[int],
    judgings: Sequence[Rejudgement],
    stored: Mapping[str, Sequence[bool | None]],
    run_cost: float | None,
) -> list[JudgeSummary]:
    """Return a summary per judge. `labels`, `votes` and the verdicts of each run in `stored` have the same order."""
    return [
        _summary(
            label,
            vote_count,
            [(judging.run_id, judging.verdicts[index]) for judging in judgings],
            {run_id: row[index] for run_id, row in stored.items() if index < len(row)},
            run_cost,
            sum(judging.batched for judging in judgings),
        )
        for index, (label, vote_count) in enumerate(zip(labels, votes, strict=True))
    ]


def _summary(
    label: str,
    vote_count: int,
    judgings: Sequence[tuple[str, JudgeVerdict]],
    stored: Mapping[str, bool | None],
    run_cost: float | None,
    batched: int,
) -> JudgeSummary:
    verdicts: dict[str, list[bool | None]] = {}
    votes: dict[str, list[bool | None]] = {}
    for run_id, verdict in judgings:
        verdicts.setdefault(run_id, []).append(verdict.passed)
        votes.setdefault(run_id, []).extend(verdict.votes)
    results = [verdict.passed for _, verdict in judgings]
    costs = [verdict.cost for _, verdict in judgings]
    cost = None if None in costs else sum(filter(None, costs))
    rows = [[passed for passed in row if passed is not None] for row in verdicts.values()]
    vote_rows = [[passed for passed in row if passed is not None] for row in votes.values()]
    vote_cost = None if cost is None or not results else cost / (len(results) * vote_count)
    return JudgeSummary(
        label=label,
        transcripts=len(verdicts),
        judgings=len(results),
        no_verdict=results.count(None),
        passed=results.count(True),
        verdicts=reliability(list(verdicts.values())),
        votes=reliability(list(votes.values())),
        changed=_changed(verdicts, stored),
        components=components(rows),
        judge_share_interval=judge_share_interval([(sum(row), len(row)) for row in rows if row]),
        advice=more_runs_or_votes(vote_rows, vote_count, run_cost, vote_cost),
        cost=cost,
        batched=batched,
    )


def _changed(verdicts: Mapping[str, list[bool | None]], stored: Mapping[str, bool | None]) -> int | None:
    compared = [
        (row, stored[run_id])
        for run_id, row in verdicts.items()
        if stored.get(run_id) is not None and any(passed is not None for passed in row)
    ]
    return sum(2 * row.count(not passed) > len(row) for row, passed in compared) if compared else None


def lines(summaries: Sequence[JudgeSummary], votes: Sequence[int]) -> list[str]:
    return [line for summary, count in zip(summaries, votes, strict=True) for line in ("", *_lines(summary, count))][1:]


def headline(summary: JudgeSummary) -> str:
    """Return the result in a sentence, which comes before the numbers."""
    if summary.verdicts.flip_rate is None:
        return f"{printable(summary.label)}: no transcript was judged twice, so nothing is known about the judge"
    flips = round(summary.verdicts.flip_rate * summary.verdicts.transcripts)
    how = (
        f"always gave the same verdict on each of {pluralize(summary.verdicts.transcripts, 'transcript')}"
        if not flips
        else f"contradicted itself on {flips} of {pluralize(summary.verdicts.transcripts, 'transcript')}"
    )
    return f"{printable(summary.label)}: the judge {how}{_source(summary)}"


def _source(summary: JudgeSummary) -> str:
    share = summary.judge_share
    if share is None:
        return "" if summary.components is None or summary.components.agent is None else "; nothing varied"
    bounds = summary.judge_share_interval
    interval = "" if bounds is None else f" (95% {at_least(bounds.low)} to {at_most(bounds.high)})"
    return (
        f"; {percent(share)}{interval} of the variation of the verdicts comes from the judge, the rest from the agent"
    )


def _lines(summary: JudgeSummary, vote_count: int) -> Iterator[str]:
    yield f"{headline(summary)}."
    if summary.verdicts.flip_rate is not None:
        yield (
            f"  flip rate  {percent(summary.verdicts.flip_rate)} of the verdicts ({vote_count} votes each), "
            f"{percent(summary.votes.flip_rate or 0.0)} of single votes"
        )
        verdicts, votes = (or_unknown(item.agreement, percent) for item in (summary.verdicts, summary.votes))
        alpha = "" if summary.votes.alpha is None else f"; Krippendorff's alpha {summary.votes.alpha:.2f}"
        yield f"  agreement  {verdicts} of the verdicts, {votes} of the votes{alpha}"
    none = (
        f", {pluralize(summary.no_verdict, 'judging')} without a verdict (errors, not failures)"
        if summary.no_verdict
        else ""
    )
    yield f"  verdicts   {summary.passed} of {summary.judgings - summary.no_verdict} passed{none}"
    if summary.changed is not None:
        yield f"  stored     {summary.changed} of {summary.transcripts} stored verdicts differ from most judgings"
    if (advice := _advice(summary.advice)) is not None:
        yield f"  next       {advice}"
    yield f"  cost       {or_unknown(summary.cost, money)}{_price_note(summary)}"


def _price_note(summary: JudgeSummary) -> str:
    if not summary.batched:
        return ""
    some = "" if summary.batched == summary.judgings else f"; {pluralize(summary.batched, 'judging')}"
    return f"{some} through the batch API, at half the price"


def _advice(advice: Advice | None) -> str | None:
    """Return whether more runs or more votes would help, with standard errors in points of the pass rate."""
    if advice is None:
        return None
    if not advice.error:
        return "nothing varied, so these judgings do not show how precise the pass rate is"
    words = {
        "runs": "more runs would make the pass rate more precise than more votes",
        "votes": "more votes would make the pass rate more precise than more runs",
        None: "these judgings do not show whether more runs or more votes would make the pass rate more precise",
    }
    errors = [f"the standard error is {_points(advice.error)} points"]
    if advice.error_with_votes is not None and advice.pass_rate_with_votes is not None:
        now, later = percent(advice.pass_rate), percent(advice.pass_rate_with_votes)
        moved = "" if now == later else f", with which the pass rate is about {later}, not {now}"
        errors.append(f"{_points(advice.error_with_votes)} with two more votes per run{moved}")
    if advice.error_with_runs is not None:
        errors.append(f"{_points(advice.error_with_runs)} with more runs for the same cost")
    return f"{words[advice.better]} ({'; '.join(errors)})"


def _points(share: float) -> str:
    return f"{share * 100:.1f}"


def document(summary: JudgeSummary) -> dict[str, Any]:
    return {
        "assertion": summary.label,
        "sentence": headline(summary),
        "transcripts": summary.transcripts,
        "judgings": summary.judgings,
        "no_verdict": summary.no_verdict,
        "passed": summary.passed,
        "stored_verdicts_changed": summary.changed,
        "verdicts": summary.verdicts._asdict(),
        "votes": summary.votes._asdict(),
        "variance": summary.components
        and {
            **summary.components._asdict(),
            "judge_share": summary.judge_share,
            "judge_share_interval": summary.judge_share_interval,
        },
        "advice": summary.advice and summary.advice._asdict(),
        "cost": summary.cost,
        "batched": summary.batched,
    }
