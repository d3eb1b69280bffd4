"""Turn the votes on one check into its result. A quote counts only if it is found in the text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from salvo.engine.chat.base import Usage
from salvo.engine.text.formatting import pluralize
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate.inputs import Inputs, Span
from salvo.playbooks.evaluate.patterns import Hit, Scan
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.votes import JudgeAnswer
from salvo.playbooks.playbook.definition import Check
from salvo.playbooks.report import claims
from salvo.playbooks.report.evidence import Locator
from salvo.playbooks.report.report import CheckResult, Citation, Dissent, Location, PatternHit, RawRun, Tokens
from salvo.playbooks.report.variance import tally

EVIDENCE_NOT_MET = "Evidence requirement not met: not enough evidence of the failure was found in the text."
NOT_ASKED = "This run was not made."


def from_votes(
    check: Check, answers: Mapping[int, JudgeAnswer], request: EvaluationRequest, locator: Locator, hits: Sequence[Hit]
) -> CheckResult:
    """Return the result of the evaluator's votes; `answers` are by run number."""
    runs = range(1, request.runs + 1)
    raw_runs = tuple(_raw_run(run, answers.get(run), request.inputs, locator) for run in runs)
    voted = tally([answers.get(run) for run in runs], request.playbook.variance.aggregation, request.mode)
    supporting = {run: answer for run, answer in sorted(answers.items()) if answer.result is voted.result}
    quotes = _citations(supporting, request.inputs, locator)
    located = tuple(quote for quote in quotes if quote.location is not None)
    unproven = voted.result is Result.FAIL and len(located) < check.min_citations_per_fail
    return CheckResult(
        check_id=check.id,
        severity=check.severity,
        question=check.question,
        result=Result.INDETERMINATE if unproven else voted.result,
        raw_result=voted.result if unproven else None,
        per_check_confidence=voted.confidence,
        per_check_consistency=voted.consistency,
        evidence_citations=located,
        rejected_citations=tuple(quote for quote in quotes if quote.location is None),
        notes=_notes(supporting.values(), answers, request.runs, unproven=unproven),
        dissent=tuple(
            Dissent(run.run, run.result, run.notes, run.evidence_citations)
            for run in raw_runs
            if run.valid and run.result is not voted.result
        ),
        pattern_hits=pattern_hits(hits, request.inputs),
        raw_runs=raw_runs,
        incomplete=voted.incomplete,
    )


def from_patterns(check: Check, scan: Scan, inputs: Inputs) -> CheckResult:
    """Return the result that the patterns decide, without a call."""
    matches = pattern_hits(scan.hits, inputs)
    result, notes = _scan_outcome(check, scan)
    # An absence cannot be quoted, so a FAIL without a match cannot meet an evidence requirement.
    unproven = result is Result.FAIL and len(matches) < check.min_citations_per_fail
    return replace(
        derived(check, result, EVIDENCE_NOT_MET if unproven else notes),
        result=Result.INDETERMINATE if unproven else result,
        raw_result=result if unproven else None,
        evidence_citations=tuple(Citation(hit.span, hit.location) for hit in matches),
        decided_by="patterns",
        pattern_hits=matches,
    )


def _scan_outcome(check: Check, scan: Scan) -> tuple[Result, str]:
    if scan.hits:
        occurrences = f"The check's patterns occur {pluralize(len(scan.hits), 'time')}."
        return check.on_match, " ".join((occurrences, *scan.notes))
    if not scan.complete:
        return Result.INDETERMINATE, " ".join(scan.notes)
    otherwise = Result.PASS if check.on_match is Result.FAIL else Result.FAIL
    return otherwise, "None of the check's patterns occurs in the text."


def derived(check: Check, result: Result, notes: str) -> CheckResult:
    return CheckResult(
        check_id=check.id,
        severity=check.severity,
        question=check.question,
        result=result,
        per_check_confidence=None if result is Result.INDETERMINATE else 1.0,
        per_check_consistency=None,
        evidence_citations=(),
        notes=notes,
        decided_by="derived",
    )


def pattern_hits(hits: Iterable[Hit], inputs: Inputs) -> tuple[PatternHit, ...]:
    return tuple(
        PatternHit(hit.pattern, inputs.ai_output[hit.span.start : hit.span.end], location(hit.span, inputs))
        for hit in hits
    )


def location(span: Span, inputs: Inputs) -> Location:
    return Location(span.start, span.end, inputs.line_number(span.start))


def withhold_claims(note: str) -> str:
    """Return the note, or a notice if it makes a forbidden claim. The raw answer keeps the note."""
    forbidden = claims.forbidden_claims(note)
    if not forbidden:
        return note
    quoted = ", ".join(f"“{claim}”" for claim in forbidden)
    return f"[This note by the evaluator is withheld: it asserts {quoted}, which a report must not claim.]"


def _citations(answers: Mapping[int, JudgeAnswer], inputs: Inputs, locator: Locator) -> tuple[Citation, ...]:
    """Return each quote once, in the order of the text, with the runs that gave it; unlocated quotes come last."""
    quotes: dict[Span | str, tuple[list[int], str]] = {}
    for run, answer in answers.items():
        for cited in answer.citations:
            runs, _ = quotes.setdefault(locator.find(cited.span) or cited.span, ([], withhold_claims(cited.context)))
            if run not in runs:
                runs.append(run)
    located = {place: quote for place, quote in quotes.items() if isinstance(place, Span)}
    text = inputs.ai_output
    return (
        *(
            Citation(text[place.start : place.end], location(place, inputs), context, tuple(runs))
            for place, (runs, context) in sorted(located.items(), key=lambda item: item[0])
        ),
        *(
            Citation(place, None, context, tuple(runs))
            for place, (runs, context) in quotes.items()
            if isinstance(place, str)
        ),
    )


def _notes(supporting: Iterable[JudgeAnswer], answers: Mapping[int, JudgeAnswer], runs: int, *, unproven: bool) -> str:
    """Return the notes of the majority, each once; without a majority, the reason."""
    notes = " ".join(dict.fromkeys(withhold_claims(answer.notes) for answer in supporting if answer.notes))
    if unproven:
        return f"{EVIDENCE_NOT_MET} {notes}".rstrip()
    if notes:
        return notes
    problems = dict.fromkeys(answer.problem for answer in answers.values() if answer.problem)
    votes = [answer.result for answer in answers.values() if answer.result is not None]
    counts = ", ".join(f"{votes.count(result)} {result}" for result in Result if result in votes) or "none"
    return f"No verdict: {len(votes)} of {pluralize(runs, 'run')} gave a vote ({counts}). {' '.join(problems)}".rstrip()


def token_counts(usage: Usage) -> Tokens:
    return Tokens(usage.input, usage.output, usage.cache_read, usage.cache_write)


def _raw_run(run: int, answer: JudgeAnswer | None, inputs: Inputs, locator: Locator) -> RawRun:
    if answer is None:
        return RawRun(run, Result.INDETERMINATE, False, None, (), "", "", problem=NOT_ASKED)
    usage = answer.measured.usage
    return RawRun(
        run=run,
        result=answer.result or Result.INDETERMINATE,
        valid=answer.result is not None,
        confidence=answer.confidence,
        evidence_citations=_citations({run: answer}, inputs, locator),
        notes=withhold_claims(answer.notes),
        raw_answer=answer.raw,
        problem=answer.problem,
        rule=answer.rule,
        model=answer.measured.model,
        system_fingerprint=answer.measured.system_fingerprint,
        tokens=None if usage is None else token_counts(usage),
        cost_usd=answer.measured.cost_usd,
        seconds=answer.measured.seconds,
    )
