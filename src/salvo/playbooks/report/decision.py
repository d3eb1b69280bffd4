"""Decide one check from its runs: the result, the confidence and the consistency. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from salvo.playbooks.enums import Aggregation, Mode, Result
from salvo.playbooks.evaluate.votes import JudgeAnswer
from salvo.playbooks.report.report import RawRun
from salvo.playbooks.report.variance import tally


@dataclass(frozen=True, slots=True)
class Decision:
    result: Result
    raw_result: Result | None
    """The original verdict, if there is too little evidence for it and the result became indeterminate."""
    confidence: float | None
    consistency: float | None
    incomplete: bool


def decide(runs: Sequence[RawRun], needed: int, aggregation: Aggregation, mode: Mode) -> Decision:
    """Combine the runs of a check. A FAIL needs at least `needed` quotes that are in the text."""
    answers = [JudgeAnswer(run.result if run.valid else None, run.confidence) for run in runs]
    voted = tally(answers, aggregation, mode)
    places = {
        (citation.location.start, citation.location.end)
        for run in runs
        if run.valid and run.result is voted.result
        for citation in run.evidence_citations
        if citation.location is not None
    }
    too_few = voted.result is Result.FAIL and len(places) < needed
    return Decision(
        result=Result.INDETERMINATE if too_few else voted.result,
        raw_result=voted.result if too_few else None,
        confidence=voted.confidence,
        consistency=voted.consistency,
        incomplete=voted.incomplete,
    )
