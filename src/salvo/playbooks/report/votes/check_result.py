"""Turn the votes on one check into its result. An answer whose quotes are not in the text counts like no vote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from salvo.engine.chat.base import Usage
from salvo.engine.text.formatting import pluralize
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.patterns import Hit, Scan
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.votes import JudgeAnswer
from salvo.playbooks.playbook.definition import Check
from salvo.playbooks.report.evidence.citations import (
    OF_SEVERAL_RUNS,
    CitationFinder,
    location,
    why_unsupported,
    withhold_claims,
)
from salvo.playbooks.report.report import NOT_ASKED, CheckResult, Citation, Dissent, PatternHit, RawRun, Tokens
from salvo.playbooks.report.votes.decision import Decision, decide

EVIDENCE_NOT_MET = "Evidence requirement not met: there are not enough quotes that are in the text."
NO_MATCH_TO_QUOTE = "Evidence requirement not met: there is no passage to quote."


def from_votes(
    check: Check,
    answers: Mapping[int, JudgeAnswer],
    request: EvaluationRequest,
    finder: CitationFinder,
    hits: Sequence[Hit],
) -> CheckResult:
    """Return the result of the evaluator's votes; `answers` are by run number."""
    runs = range(1, request.runs + 1)
    raw_runs = tuple(_raw_run(check, run, answers.get(run), finder) for run in runs)
    decision = decide(raw_runs, check.min_citations_per_fail, request.playbook.variance.aggregation, request.mode)
    agreeing = {run: answers[run] for run in sorted(decision.agreeing)}
    unsupported = {run.run: answers[run.run] for run in raw_runs if run.unsupported}
    not_found = finder.citations(dict(sorted({**agreeing, **unsupported}.items())))
    return CheckResult(
        check_id=check.id,
        severity=check.severity,
        question=check.question,
        result=decision.result,
        raw_result=decision.raw_result,
        per_check_confidence=decision.confidence,
        per_check_consistency=decision.consistency,
        evidence_citations=tuple(quote for quote in finder.citations(agreeing) if quote.location is not None),
        rejected_citations=tuple(quote for quote in not_found if quote.location is None),
        notes=_notes(decision, answers, raw_runs),
        dissent=tuple(
            Dissent(run.run, run.result, run.notes, run.evidence_citations)
            for run in raw_runs
            if run.counts and run.run not in decision.agreeing
        ),
        pattern_hits=pattern_hits(hits, request.inputs),
        raw_runs=raw_runs,
        incomplete=decision.incomplete,
        abstained=decision.abstained,
    )


def from_patterns(check: Check, scan: Scan, inputs: Inputs, *, excludes_text: bool = False) -> CheckResult:
    """Return the result that the patterns decide, without a call. What addresses the evaluator may be excluded."""
    matches = pattern_hits(scan.hits, inputs)
    result, notes = _scan_outcome(check, scan, ", not counting text that addresses the evaluator" * excludes_text)
    # An absence cannot be quoted, so a result without a match cannot meet an evidence requirement.
    needed = {Result.FAIL: check.min_citations_per_fail, Result.PASS: int(check.needs_evidence_on_pass)}
    unproven = len(matches) < needed.get(result, 0)
    return replace(
        derived(check, result, f"{NO_MATCH_TO_QUOTE} {notes}" if unproven else notes),
        result=Result.INDETERMINATE if unproven else result,
        raw_result=result if unproven else None,
        evidence_citations=tuple(Citation(hit.span, hit.location) for hit in matches),
        decided_by="patterns",
        pattern_hits=matches,
    )


def _scan_outcome(check: Check, scan: Scan, exception: str) -> tuple[Result, str]:
    if scan.hits:
        occurrences = f"The check's patterns occur {pluralize(len(scan.hits), 'time')}{exception}."
        return check.on_match, " ".join((occurrences, *scan.notes))
    if not scan.complete:
        return Result.INDETERMINATE, " ".join(scan.notes)
    otherwise = Result.PASS if check.on_match is Result.FAIL else Result.FAIL
    return otherwise, f"None of the check's patterns occurs in the text{exception}."


def derived_confidence(result: Result) -> float:
    """Return the confidence of a result that was computed and not judged."""
    return 0.0 if result is Result.INDETERMINATE else 1.0


def derived(check: Check, result: Result, notes: str) -> CheckResult:
    return CheckResult(
        check_id=check.id,
        severity=check.severity,
        question=check.question,
        result=result,
        per_check_confidence=derived_confidence(result),
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


def _notes(decision: Decision, answers: Mapping[int, JudgeAnswer], raw_runs: Sequence[RawRun]) -> str:
    """Return the notes of the majority, each once; without a majority, the reason."""
    unproven = decision.lacks_support or decision.lacks_quotes
    agreeing = () if decision.lacks_support else (answers[run] for run in sorted(decision.agreeing))
    notes = " ".join(dict.fromkeys(withhold_claims(answer.notes) for answer in agreeing if answer.notes))
    if notes:
        return f"{EVIDENCE_NOT_MET} {notes}" if unproven else notes
    problems = dict.fromkeys(answer.problem for answer in answers.values() if answer.problem)
    votes = [run.result for run in raw_runs if run.counts]
    counts = ", ".join(f"{votes.count(result)} {result}" for result in Result if result in votes)
    unsupported = _unsupported_runs(raw_runs)
    which = "a vote that counts" if unsupported else "a vote"
    suffix = f" ({counts})" if counts else ""
    outcome = f"No verdict: {len(votes)} of {pluralize(len(raw_runs), 'run')} gave {which}{suffix}."
    return " ".join((*([EVIDENCE_NOT_MET] if unproven else []), outcome, *unsupported, *problems))


def _unsupported_runs(raw_runs: Sequence[RawRun]) -> list[str]:
    """Return a sentence for the runs that gave the same answer and do not count for the same reason."""
    groups: dict[tuple[Result, str], list[str]] = {}
    for run in raw_runs:
        if run.unsupported:
            groups.setdefault((run.result, run.unsupported), []).append(str(run.run))
    return [
        f"Run {numbers[0]} ({result}) not counted: {reason}"
        if len(numbers) == 1
        else f"Runs {', '.join(numbers)} ({result}) not counted: {OF_SEVERAL_RUNS[reason]}"
        for (result, reason), numbers in groups.items()
    ]


def token_counts(usage: Usage) -> Tokens:
    return Tokens(usage.input, usage.output, usage.cache_read, usage.cache_write)


def _raw_run(check: Check, run: int, answer: JudgeAnswer | None, finder: CitationFinder) -> RawRun:
    if answer is None:
        return RawRun(run, Result.INDETERMINATE, False, None, (), "", "", problem=NOT_ASKED)
    usage = answer.measured.usage
    citations = finder.citations({run: answer})
    return RawRun(
        run=run,
        result=answer.result or Result.INDETERMINATE,
        valid=answer.result is not None,
        confidence=answer.confidence,
        evidence_citations=citations,
        notes=withhold_claims(answer.notes or answer.problem),
        raw_answer=answer.raw,
        problem=answer.problem,
        rule=answer.rule,
        model=answer.measured.model,
        system_fingerprint=answer.measured.system_fingerprint,
        tokens=None if usage is None else token_counts(usage),
        cost_usd=answer.measured.cost_usd,
        seconds=answer.measured.seconds,
        abstained=answer.abstained,
        unsupported=why_unsupported(check, answer.result, citations),
    )
