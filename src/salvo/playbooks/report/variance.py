"""What the runs of a check add up to, and how stable all of them are. Pure. It measures the evaluator, not the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from salvo.engine.stats import voting, wilson
from salvo.engine.text.formatting import percent
from salvo.playbooks.enums import Aggregation, Mode, Result, Severity
from salvo.playbooks.evaluate.votes import JudgeAnswer
from salvo.playbooks.playbook.schema import Variance

_EXACT = 9
"""Decimals beyond which two shares are the same: floating point must not decide at a threshold."""


@dataclass(frozen=True, slots=True)
class VoteTally:
    result: Result
    confidence: float | None
    consistency: float | None
    """None where too few runs gave a vote, or there was only one to give."""
    incomplete: bool


def tally(ballots: Sequence[JudgeAnswer | None], aggregation: Aggregation, mode: Mode) -> VoteTally:
    """One ballot for each run that was asked for; None, or a ballot without a result, is no vote for anything."""
    cast = [ballot.result if ballot else None for ballot in ballots]
    decided = _unanimous(cast) if aggregation is Aggregation.CONSENSUS_REQUIRED else voting.majority(cast)
    result = decided or Result.INDETERMINATE
    agreeing = [
        ballot.confidence
        for ballot in ballots
        if ballot is not None and ballot.result is result and ballot.confidence is not None
    ]
    return VoteTally(
        result=result,
        confidence=fmean(agreeing) if agreeing else None,
        consistency=voting.consistency(cast) if mode is Mode.FULL else None,
        incomplete=2 * sum(vote is not None for vote in cast) <= len(cast),
    )


def _unanimous(cast: Sequence[Result | None]) -> Result | None:
    return cast[0] if cast and len(set(cast)) == 1 else None


def overall(consistencies: Iterable[tuple[Severity, float | None]]) -> float | None:
    """The severity-weighted mean over the judged checks whose consistency is known; None where none is."""
    known = [(severity.weight, value) for severity, value in consistencies if value is not None]
    whole = sum(weight for weight, _ in known)
    return round(sum(weight * value for weight, value in known) / whole, _EXACT) if whole else None


def run_variance(consistency: float | None, thresholds: Variance, mode: Mode) -> tuple[Result, str]:
    """The derived check on the evaluator's own stability, and why it came out so."""
    if mode is Mode.SCREENING:
        return Result.INDETERMINATE, "A screening judges each check once, so nothing can be said about variance."
    if consistency is None:
        return Result.INDETERMINATE, "Too few runs gave a vote, so they cannot be compared."
    said = f"The evaluator's votes have a consistency of {consistency:.2f}"
    if consistency >= thresholds.ok:
        return Result.PASS, f"{said}, at or above {thresholds.ok:g}. It is a measure of the evaluator."
    if consistency < thresholds.warn:
        return Result.FAIL, (
            f"{said}, below {thresholds.warn:g}: unstable, and not reliable for decisions. "
            "It is a measure of the evaluator."
        )
    return Result.INDETERMINATE, (
        f"{said}, between {thresholds.warn:g} and {thresholds.ok:g}. It is a measure of the evaluator."
    )


def what_it_shows(runs: int, *, deterministic: bool = False) -> str:
    """What n of n proves: far less than it seems."""
    if runs == 1:
        return "One run shows nothing of how the next one would vote."
    if deterministic:
        return (
            f"{runs} of {runs} shows nothing here: an evaluator that works by rules agrees with itself by construction."
        )
    least = percent(wilson(runs, runs).low)
    return (
        f"{runs} of {runs} shows only that this evaluator votes so in at least {least} of runs (95% interval), "
        "not that it is right."
    )
