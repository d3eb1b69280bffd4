"""Reports and votes without their texts: what a store keeps where only fingerprints and verdicts may be kept.

Everything that may repeat the text under evaluation, or what a judge wrote about it, gives way to its hash: quotes,
notes, raw answers, and the sentences that are made from them. Results, confidences, offsets and hashes stay. So
whoever has the text can still prove what was quoted, and nobody else learns it.
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
    """With a hash of its own: it is another report than the one with the texts, and says so."""
    if report.texts_withheld:
        return report
    return with_hash(
        replace(
            report,
            texts_withheld=True,
            summary=replace(
                report.summary,
                key_risks=_each(report.summary.key_risks),
                recommended_next_steps=_each(report.summary.recommended_next_steps),
                mending_prompt=report.summary.mending_prompt and withheld(report.summary.mending_prompt),
            ),
            check_results=tuple(map(_check, report.check_results)),
            artifact_findings=tuple(map(_finding, report.artifact_findings)),
            assumptions_extracted=tuple(
                replace(assumption, text=withheld(assumption.text)) for assumption in report.assumptions_extracted
            ),
            uncertainty=_each(report.uncertainty),
            unchecked_areas=tuple(map(_area, report.unchecked_areas)),
        )
    )


def vote_without_texts(vote: Vote) -> Vote:
    """No exchanges either: they hold the whole text, and without it there is nothing to replay."""
    return Vote(vote.check_id, vote.run, _ballot(vote.answer))


def withheld(text: str) -> str:
    """What stands in a text's place; nothing stays nothing."""
    return _MARK + sha256(text.encode("utf-8", "surrogatepass")) if text else ""


def is_withheld(text: str) -> bool:
    return text.startswith(f"{_MARK}sha256:")


def _each(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(withheld, texts))


def _check(check: CheckResult) -> CheckResult:
    return replace(
        check,
        evidence_citations=_citations(check.evidence_citations),
        rejected_citations=_citations(check.rejected_citations),
        # What follows from the other checks says nothing of the text.
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


def _ballot(ballot: JudgeAnswer) -> JudgeAnswer:
    return replace(
        ballot,
        citations=tuple(RawCitation(withheld(cited.span), withheld(cited.context)) for cited in ballot.citations),
        notes=withheld(ballot.notes),
        raw=withheld(ballot.raw),
        problem=withheld(ballot.problem),
    )
