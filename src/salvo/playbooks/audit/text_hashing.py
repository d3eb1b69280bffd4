"""Replace the texts in reports and votes by their hashes, for stores that may keep only fingerprints and verdicts.

This covers everything that may repeat the text under evaluation or what an evaluator wrote about it: quotes, notes, raw
answers, and sentences made from them. Results, confidences, offsets and hashes stay. Someone who has the text can still
prove what was quoted; others learn nothing about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.audit.integrity import with_hash
from salvo.playbooks.evaluate.votes import JudgeAnswer, RawCitation, Vote
from salvo.playbooks.report.report import ArtifactFinding, CheckResult, Citation, Dissent, RawRun, Report, UncheckedArea

_MARK = "withheld:"


def without_texts(report: Report) -> Report:
    """Return the report without its texts. It differs from the original, so it has its own hash."""
    if report.texts_withheld:
        return report
    return with_hash(
        replace(
            report,
            texts_withheld=True,
            summary=replace(
                report.summary,
                key_risks=_withheld_all(report.summary.key_risks),
                recommended_next_steps=_withheld_all(report.summary.recommended_next_steps),
                mending_prompt=report.summary.mending_prompt and withheld(report.summary.mending_prompt),
            ),
            check_results=tuple(map(_check, report.check_results)),
            artifact_findings=tuple(map(_finding, report.artifact_findings)),
            assumptions_extracted=tuple(
                replace(assumption, text=withheld(assumption.text)) for assumption in report.assumptions_extracted
            ),
            uncertainty=_withheld_all(report.uncertainty),
            unchecked_areas=tuple(map(_area, report.unchecked_areas)),
        )
    )


def vote_without_texts(vote: Vote) -> Vote:
    """Return the vote without texts and exchanges: those contain the whole text, which a replay would need."""
    return Vote(vote.check_id, vote.run, _answer_without_texts(vote.answer))


def withheld(text: str) -> str:
    """Return the replacement for a text; an empty text stays empty."""
    return _MARK + sha256(text.encode("utf-8", "surrogatepass")) if text else ""


def is_withheld(text: str) -> bool:
    return text.startswith(f"{_MARK}sha256:")


def _withheld_all(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(withheld, texts))


def _check(check: CheckResult) -> CheckResult:
    return replace(
        check,
        evidence_citations=_citations(check.evidence_citations),
        rejected_citations=_citations(check.rejected_citations),
        # The notes of a derived check contain nothing of the text.
        notes=check.notes if check.decided_by == "derived" else withheld(check.notes),
        raw_runs=tuple(map(_raw_run, check.raw_runs)),
        dissent=tuple(map(_dissent, check.dissent)),
        pattern_hits=tuple(replace(hit, span=withheld(hit.span)) for hit in check.pattern_hits),
    )


def _raw_run(run: RawRun) -> RawRun:
    return replace(
        run,
        evidence_citations=_citations(run.evidence_citations),
        notes=withheld(run.notes),
        raw_answer=withheld(run.raw_answer),
        problem=withheld(run.problem),
    )


def _dissent(dissent: Dissent) -> Dissent:
    return replace(dissent, notes=withheld(dissent.notes), evidence_citations=_citations(dissent.evidence_citations))


def _citations(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    return tuple(
        replace(citation, span=withheld(citation.span), context=withheld(citation.context)) for citation in citations
    )


def _finding(finding: ArtifactFinding) -> ArtifactFinding:
    return replace(finding, message=withheld(finding.message), span=finding.span and withheld(finding.span))


def _area(area: UncheckedArea) -> UncheckedArea:
    return area if area.stated_by == "runner" else replace(area, area=withheld(area.area))


def _answer_without_texts(answer: JudgeAnswer) -> JudgeAnswer:
    return replace(
        answer,
        citations=tuple(RawCitation(withheld(cited.span), withheld(cited.context)) for cited in answer.citations),
        notes=withheld(answer.notes),
        raw=withheld(answer.raw),
        problem=withheld(answer.problem),
    )
