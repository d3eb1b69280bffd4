"""Decide one check from its runs: the result, the confidence and the consistency. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from salvo.playbooks.enums import Aggregation, Mode, Result
from salvo.playbooks.evaluate.votes import JudgeAnswer
from salvo.playbooks.report.report import RawRun
from salvo.playbooks.report.votes.variance import tally
from salvo.records import record


@record
class Decision:
    result: Result
    raw_result: Result | None
    """The original verdict, if there is too little evidence for it and the result became indeterminate."""
    confidence: float
    consistency: float | None
    incomplete: bool
    """Calls failed, so that fewer than a majority of the runs gave an answer."""
    agreeing: frozenset[int] = frozenset()
    """The runs that voted for the result, before its quotes were counted."""
    lacks_support: bool = False
    """The text does not support enough of the votes for a majority."""
    lacks_quotes: bool = False
    """There are fewer quotes than a FAIL needs."""
    abstained: bool = False
    """The evaluator does not know the check."""


def decide(runs: Sequence[RawRun], needed: int, aggregation: Aggregation, mode: Mode) -> Decision:
    """Combine the runs of a check. A FAIL needs at least `needed` quotes that are in the text.

    An answer that the text does not support is no vote. Reports of earlier versions mark none as unsupported.
    """
    valid = tally([_answer(run, counts=run.valid) for run in runs], aggregation, mode)
    voted = tally([_answer(run, counts=run.counts) for run in runs], aggregation, mode)
    agreeing = [run for run in runs if run.counts and run.result is voted.result]
    places = {
        (citation.location.start, citation.location.end)
        for run in agreeing
        for citation in run.evidence_citations
        if citation.location is not None
    }
    too_few = voted.result is Result.FAIL and len(places) < needed
    has_majority = 2 * len(agreeing) > len(runs)
    # With missing votes the result is indeterminate whatever the text supports.
    lacks_support = not has_majority and not valid.incomplete and any(run.unsupported for run in runs)
    raw_result = voted.result if too_few else valid.result if lacks_support else None
    return Decision(
        result=Result.INDETERMINATE if too_few else voted.result,
        raw_result=None if raw_result is Result.INDETERMINATE else raw_result,
        confidence=voted.confidence,
        consistency=voted.consistency,
        incomplete=valid.incomplete,
        agreeing=frozenset(run.run for run in agreeing),
        lacks_support=lacks_support,
        lacks_quotes=too_few,
        abstained=voted.abstained,
    )


def _answer(run: RawRun, *, counts: bool) -> JudgeAnswer:
    return JudgeAnswer(run.result if counts else None, run.confidence, abstained=run.abstained)
