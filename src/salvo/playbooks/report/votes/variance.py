"""Combine the votes on a check, and measure how consistent they are. Pure. It measures the evaluator, not the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from salvo.engine.stats import voting
from salvo.engine.stats.pass_rates import clopper_pearson
from salvo.engine.text.formatting import at_least
from salvo.playbooks.enums import Aggregation, Mode, Result, Severity
from salvo.playbooks.evaluate.votes import JudgeAnswer
from salvo.playbooks.playbook.definition import Variance
from salvo.records import record

_DECIMALS = 9
"""Two shares that agree to this many decimals are equal: rounding errors must not decide at a threshold."""


@record
class VoteTally:
    result: Result
    confidence: float
    """The mean of the votes that agree with the result; 0 if there is none."""
    consistency: float | None
    """None if too few runs gave a vote, if there was only one run, or if the evaluator abstained."""
    incomplete: bool
    abstained: bool = False


def tally(answers: Sequence[JudgeAnswer | None], aggregation: Aggregation, mode: Mode) -> VoteTally:
    """Combine the answers, one per run; None, or an answer without a result, is not a vote."""
    votes = [answer.result if answer else None for answer in answers]
    result = voting.majority(votes) or Result.INDETERMINATE
    if aggregation is Aggregation.CONSENSUS_REQUIRED and len(set(votes)) > 1:
        result = Result.INDETERMINATE
    agreeing = [
        answer.confidence
        for answer in answers
        if answer is not None and answer.result is result and answer.confidence is not None
    ]
    abstained = bool(answers) and all(answer is not None and answer.abstained for answer in answers)
    return VoteTally(
        result=result,
        confidence=fmean(agreeing) if agreeing and not abstained else 0.0,
        consistency=voting.consistency(votes) if mode is Mode.FULL and not abstained else None,
        incomplete=2 * sum(vote is not None for vote in votes) <= len(votes),
        abstained=abstained,
    )


def overall(consistencies: Iterable[tuple[Severity, float | None]]) -> float | None:
    """Return the severity-weighted mean over the judged checks whose consistency is known, or None."""
    weighted = [(severity.weight, value) for severity, value in consistencies if value is not None]
    total = sum(weight for weight, _ in weighted)
    return round(sum(weight * value for weight, value in weighted) / total, _DECIMALS) if total else None


def run_variance(
    consistency: float | None, thresholds: Variance, mode: Mode, *, deterministic: bool = False
) -> tuple[Result, str]:
    """Return the result of the derived check on the evaluator's stability, and the reason."""
    if mode is Mode.SCREENING:
        return Result.INDETERMINATE, "A screening judges each check once, so variance cannot be measured."
    if consistency is None:
        return Result.INDETERMINATE, "No check has votes that can be compared."
    if deterministic:
        return Result.PASS, "The evaluator is deterministic: its answers do not vary. This is no evidence for them."
    score = f"The evaluator's votes have a consistency of {consistency:.2f}"
    if consistency >= thresholds.ok:
        return Result.PASS, f"{score}, at or above {thresholds.ok:g}. This measures the evaluator."
    if consistency < thresholds.warn:
        return Result.FAIL, (
            f"{score}, below {thresholds.warn:g}: unstable and not reliable for decisions. This measures the evaluator."
        )
    return Result.INDETERMINATE, (
        f"{score}, between {thresholds.warn:g} and {thresholds.ok:g}. This measures the evaluator."
    )


def what_it_shows(runs: int, *, deterministic: bool = False, measured: bool = True) -> str:
    """Return what an agreement of n of n runs can and cannot show. `measured`: some check has votes to compare."""
    if runs == 1:
        return "One run does not show how another run would vote."
    if not measured:
        return "No check has votes that can be compared: the consistency score of 0 is not a measurement."
    if deterministic:
        return "The evaluator is deterministic: it agrees with itself by construction, so its agreement is no evidence."
    # Rounded down, and exact: a claim must never be larger than what was shown.
    least = at_least(clopper_pearson(runs, runs).low)
    return (
        f"Agreement in {runs} of {runs} runs shows only that this evaluator gives the same vote in at least {least} "
        "of runs (exact 95% interval), not that the vote is right."
    )
