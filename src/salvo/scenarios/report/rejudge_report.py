"""Judgings of the same transcripts -> how far the judges can be relied on. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from salvo.engine.stats import Advice, Components, Reliability, components, more_runs_or_votes, reliability
from salvo.engine.text.formatting import money, percent, pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.store.rejudge_store import Rejudgement


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """Of one assertion. `verdicts` are the majorities, `votes` what they are made of."""

    label: str
    transcripts: int
    judgings: int
    no_verdict: int
    """Judgings that came to none: too few votes, or no majority."""
    passed: int
    """Judgings that passed it."""
    verdicts: Reliability
    votes: Reliability
    changed: int | None
    """Transcripts on which most judgings came to another verdict than the stored run; None where it has none."""
    components: Components | None
    advice: Advice | None
    cost: float | None

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
    """`labels` and `votes` are the judges', in order; `stored` has the verdicts of each run in the same order."""
    return [
        _summary(label, asked, place, judgings, stored, run_cost)
        for place, (label, asked) in enumerate(zip(labels, votes, strict=True))
    ]


def _summary(
    label: str,
    asked: int,
    place: int,
    judgings: Sequence[Rejudgement],
    stored: Mapping[str, Sequence[bool | None]],
    run_cost: float | None,
) -> JudgeSummary:
    verdicts: dict[str, list[bool | None]] = {}
    votes: dict[str, list[bool | None]] = {}
    costs: list[float | None] = []
    for of in judgings:
        said = of.verdicts[place]
        verdicts.setdefault(of.run_id, []).append(said.passed)
        votes.setdefault(of.run_id, []).extend(said.votes)
        costs.append(said.cost)
    cost = None if None in costs else sum(each for each in costs if each is not None)
    every = [verdict for row in verdicts.values() for verdict in row]
    found = components(list(votes.values()))
    vote_cost = None if cost is None or not every else cost / (len(every) * asked)
    return JudgeSummary(
        label=label,
        transcripts=len(verdicts),
        judgings=len(every),
        no_verdict=every.count(None),
        passed=every.count(True),
        verdicts=reliability(list(verdicts.values())),
        votes=reliability(list(votes.values())),
        changed=_changed(verdicts, {run_id: of[place] for run_id, of in stored.items() if place < len(of)}),
        components=found,
        advice=more_runs_or_votes(found, len(verdicts), asked, run_cost, vote_cost) if found else None,
        cost=cost,
    )


def _changed(verdicts: Mapping[str, Sequence[bool | None]], stored: Mapping[str, bool | None]) -> int | None:
    if not any(stored.get(run_id) is not None for run_id in verdicts):
        return None
    return sum(
        2 * list(row).count(not stored[run_id]) > len(row)
        for run_id, row in verdicts.items()
        if stored.get(run_id) is not None
    )


def lines(summaries: Sequence[JudgeSummary], votes: Sequence[int]) -> list[str]:
    return [line for of, asked in zip(summaries, votes, strict=True) for line in ("", *_lines(of, asked))][1:]


def sentence(of: JudgeSummary) -> str:
    """What it comes to, before the numbers."""
    if of.verdicts.flip_rate is None:
        return f"{printable(of.label)}: no transcript was judged twice, so nothing is known about the judge"
    flips = round(of.verdicts.flip_rate * of.verdicts.transcripts)
    how = (
        f"always came to the same verdict on each of {pluralize(of.verdicts.transcripts, 'transcript')}"
        if not flips
        else f"contradicted itself on {flips} of {pluralize(of.verdicts.transcripts, 'transcript')}"
    )
    return f"{printable(of.label)}: the judge {how}{_whose(of)}"


def _whose(of: JudgeSummary) -> str:
    share = of.judge_share
    if share is None:
        return "" if of.components is None or of.components.agent is None else "; nothing varied"
    return f"; {percent(share)} of the variation of a single vote is the judge's, {percent(1 - share)} the agent's"


def _lines(of: JudgeSummary, asked: int) -> Iterator[str]:
    yield f"{sentence(of)}."
    if of.verdicts.flip_rate is not None:
        yield (
            f"  flip rate  {percent(of.verdicts.flip_rate)} of the verdicts ({asked} votes each), "
            f"{percent(of.votes.flip_rate or 0.0)} of single votes"
        )
        agreement = f"{_share(of.verdicts.agreement)} of the verdicts, {_share(of.votes.agreement)} of the votes"
        yield f"  agreement  {agreement}{_alpha(of)}"
    none = f", {pluralize(of.no_verdict, 'judging')} without a verdict (errors, not failures)" if of.no_verdict else ""
    yield f"  verdicts   {of.passed} of {of.judgings - of.no_verdict} passed{none}"
    if of.changed is not None:
        yield f"  stored     {of.changed} of {of.transcripts} stored verdicts would most often be another"
    if (advice := _advice(of.advice)) is not None:
        yield f"  next       {advice}"
    yield f"  cost       {'unknown' if of.cost is None else money(of.cost)}"


def _share(share: float | None) -> str:
    return "unknown" if share is None else percent(share)


def _alpha(of: JudgeSummary) -> str:
    return "" if of.votes.alpha is None else f"; Krippendorff's alpha {of.votes.alpha:.2f}"


def _advice(advice: Advice | None) -> str | None:
    """In points of the pass rate: what the next money buys."""
    if advice is None:
        return None
    now = f"the standard error is {advice.error * 100:.1f} points"
    votes = f"{advice.error_with_votes * 100:.1f} with two more votes a run"
    if advice.error_with_runs is not None:
        votes += f", {advice.error_with_runs * 100:.1f} with more runs for the same money"
    words = {
        "runs": "more runs would help, more votes would help less",
        "votes": "more votes would help, more runs would help less",
        None: "which of more runs and more votes helps cannot be said" if advice.error else "nothing varied",
    }
    return f"{words[advice.better]} ({now}; {votes})"


def document(of: JudgeSummary) -> dict[str, Any]:
    return {
        "assertion": of.label,
        "sentence": sentence(of),
        "transcripts": of.transcripts,
        "judgings": of.judgings,
        "no_verdict": of.no_verdict,
        "passed": of.passed,
        "stored_verdicts_changed": of.changed,
        "verdicts": of.verdicts._asdict(),
        "votes": of.votes._asdict(),
        "variance": of.components and {**of.components._asdict(), "judge_share": of.judge_share},
        "advice": of.advice and of.advice._asdict(),
        "cost": of.cost,
    }
