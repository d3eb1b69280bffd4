"""Verify that what a report says follows from the votes. Pure.

It finds a report that was altered and hashed again, where nobody signed it and there is no log to compare it with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.errors import InputError, PlaybookError
from salvo.playbooks.audit.verification.finding import VerificationFinding, VerificationState
from salvo.playbooks.enums import Result
from salvo.playbooks.playbook import validate
from salvo.playbooks.playbook.definition import Playbook
from salvo.playbooks.report.recompute import recompute
from salvo.playbooks.report.report import RawRun, Report
from salvo.playbooks.store.column_text import as_name, parse_report
from salvo.playbooks.store.records import RawEvaluation, RawVote

PART = "results"
_MAX_CONTRADICTIONS = 5


def check_file(report: Report) -> VerificationFinding:
    """Compute the results of a report again from the votes that it lists itself."""
    try:
        recomputation = recompute(report)
    except (InputError, OverflowError) as error:
        return _not_recomputed(str(error))
    return _finding(report, recomputation.contradictions, recomputation.omissions, "the votes that the report lists")


def check_document() -> VerificationFinding:
    """Return the finding for HTML, Markdown and XML."""
    return _not_recomputed("this kind of file does not have the votes as data. The JSON of the report has them.")


def check_stored(evaluation: RawEvaluation, baseline: Report | None) -> VerificationFinding:
    """Compute the results of a stored report again from the stored votes."""
    try:
        report = parse_report(evaluation.report or "", "The report")
        recomputation = recompute(report, _playbook(evaluation.playbook), baseline)
    except (InputError, OverflowError) as error:
        return _not_recomputed(str(error))
    differences = list(_vote_differences(report, evaluation.votes))
    contradictions = [*differences, *recomputation.contradictions]
    return _finding(report, contradictions, recomputation.omissions, "the stored votes")


def _not_recomputed(reason: str) -> VerificationFinding:
    return VerificationFinding(PART, VerificationState.UNKNOWN, f"Not recomputed: {reason}")


def _finding(
    report: Report, contradictions: Sequence[str], omissions: Sequence[str], source: str
) -> VerificationFinding:
    if report.variance_summary.vote_rule == 1:
        source += ", counted as earlier versions did (also votes whose quotes are not in the text)"
    omitted = f" Not recomputed: {'; '.join(omissions)}." if omissions else ""
    if not contradictions:
        message = f"The results, their confidence and consistency, and the status follow from {source}.{omitted}"
        return VerificationFinding(PART, VerificationState.HOLDS, message)
    more = len(contradictions) - _MAX_CONTRADICTIONS
    lines = [*contradictions[:_MAX_CONTRADICTIONS], *([f"and {more} more"] if more > 0 else [])]
    message = f"The report does not follow from {source}: {'; '.join(lines)}.{omitted}"
    return VerificationFinding(PART, VerificationState.CONTRADICTED, message)


@lru_cache(maxsize=8)  # many evaluations have the same playbook, and validating it compiles its patterns
def _playbook(document: str) -> Playbook | None:
    try:
        return validate.stored_playbook(json_codec.loads(document))
    except (PlaybookError, ValueError, TypeError):  # it may have been altered or removed
        return None


def _vote_differences(report: Report, votes: Sequence[RawVote]) -> Iterator[str]:
    """Yield where the runs of the report are not the stored votes."""
    stored = {(vote.check_id, vote.run): _answer(vote) for vote in votes}
    for check in report.check_results:
        for run in check.raw_runs:
            answer = stored.get((as_name(check.check_id), run.run))
            yield from _run_differences(f"run {run.run} of {check.check_id}", run, answer)


def _run_differences(name: str, run: RawRun, answer: Mapping[str, Any] | None) -> Iterator[str]:
    if answer is None:
        if run.valid:
            yield f"{name} is {run.result}, and there is no such vote"
        return
    result = answer.get("result")
    if (run.valid, run.result) != (result is not None, result or Result.INDETERMINATE):
        yield f"{name} is {run.result if run.valid else 'no vote'}, its vote is {result or 'none'}"
    if run.confidence != answer.get("confidence"):
        yield f"the confidence of {name} is {run.confidence}, its vote has {answer.get('confidence')}"
    if run.abstained != bool(answer.get("abstained")):
        yield f"{name} is an abstention, its vote is none" if run.abstained else f"the vote of {name} is an abstention"


def _answer(vote: RawVote) -> Mapping[str, Any]:
    try:
        answer = json_codec.loads(vote.vote)["ballot"]
    except (ValueError, TypeError, KeyError):
        return {}
    return answer if isinstance(answer, dict) else {}
