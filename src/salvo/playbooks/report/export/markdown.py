"""The report as Markdown for a pull request or a wiki. Foreign text cannot become markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from salvo.engine.text.formatting import NamedValue
from salvo.engine.text.markdown import code, fenced, inline, markdown_table
from salvo.playbooks.enums import Mode
from salvo.playbooks.report import check_labels, labels
from salvo.playbooks.report.report import CheckResult, Citation, Location, Report
from salvo.playbooks.review import wording
from salvo.playbooks.review.build_section import deciding_report, shown_result
from salvo.playbooks.review.section import ReviewSection

_QUOTES = 50
_HITS = 100


def render(report: Report, *, signed_by: str | None = None, review: ReviewSection | None = None) -> str:
    """Return the report. `signed_by` is the public key that the file will be signed with."""
    return "\n\n".join(block for block in _blocks(report, signed_by, review) if block) + "\n"


def _blocks(report: Report, signed_by: str | None, review: ReviewSection | None) -> Iterator[str]:
    summary = report.summary
    yield "\n".join(f"> **{inline(line)}**  " for line in labels.disclaimers(report)).rstrip()
    yield f"# {labels.TITLE}: {shown_result(report, review)}"
    yield "" if review is None else f"**{inline(review.headline)}**"
    deciding = deciding_report(report, review)
    yield f"{labels.status_meaning(deciding)} {report.execution_mode.label}."
    yield _list(labels.status_reasons(deciding), "")
    for notice in labels.notices(report):
        yield f"> **{notice}**"
    yield _rows("Evaluation", labels.header(report))
    yield from _review(review)
    if report.artifact_findings:
        yield from _section(labels.FINDINGS_TITLE, *_findings(report))
    if report.input_notices:
        yield from _section(labels.FILES_TITLE, _list(report.input_notices, ""))
    yield from _section("Key risks", _list(summary.key_risks, labels.no_key_risks(report)))
    yield from _section("Recommended next steps", _list(summary.recommended_next_steps, "None."))
    yield from _section("Checks at a glance", labels.tally(report.check_results) + ".", _glance(report))
    yield "## Checks"
    for number, check in enumerate(report.check_results, 1):
        yield from _check(number, check, review)
    if report.execution_mode is not Mode.SCREENING:
        yield from _section("Variance", *_variance(report))
    yield from _section("Drift", *_drift(report))
    if not report.artifact_findings:
        yield from _section(labels.FINDINGS_TITLE, "None.")
    assumptions = (f"{inline(stated.text)}{_at(stated.location)}" for stated in report.assumptions_extracted)
    yield from _section("Assumptions stated in the text", _bullets(assumptions, labels.no_assumptions(report)))
    yield from _section("Uncertainty", _list(report.uncertainty, "None recorded."))
    areas = (f"{inline(area.area)}{_at(area.location)} – {labels.stated_by(area)}" for area in report.unchecked_areas)
    yield from _section("Areas not checked", _bullets(areas, "None recorded."))
    yield from _section("Limitations", _list(report.limitations, "None recorded."))
    models = report.model_fingerprints
    yield "## Models"
    yield _rows("Evaluator (measured)", labels.fingerprint(models.evaluator))
    yield _rows("Producer (as declared)", labels.fingerprint(models.producer))
    yield from _section("Tokens and cost", _rows("Spending", labels.spending(report)))
    runs = [[inline(cell) for cell in row] for row in labels.run_rows(report)]
    yield from _section("Integrity", _rows("Integrity", labels.integrity(report)), _signed(signed_by))
    yield from _section("Raw runs", markdown_table(labels.RUN_COLUMNS, runs))
    yield from _review_history(review)
    if summary.mending_prompt is not None:
        yield from _section(labels.PROMPT_TITLE, labels.PROMPT, fenced(summary.mending_prompt))
    yield "---"
    yield f"{labels.CREDIT} {inline(report.integrity.runner_fingerprint)}"


def _review(review: ReviewSection | None) -> Iterator[str]:
    if review is None:
        return
    signed = [sign_off.sentence for sign_off in review.sign_offs] or [wording.NOT_SIGNED_OFF]
    changed = review.reviewed_status is not review.evaluator_status
    reasons = [f"{wording.REVIEWED_REASONS} {reason}" for reason in review.reviewed_status_reasons if changed]
    yield from _section(wording.TITLE, _list([*signed, *review.lines, *reasons], ""))


def _review_history(review: ReviewSection | None) -> Iterator[str]:
    if review is not None:
        yield from _section(wording.HISTORY_TITLE, _list(review.history, "Nothing yet."))


def _section(title: str, *content: str) -> Iterator[str]:
    yield f"## {title}"
    yield from content


def _list(items: Sequence[str], none: str) -> str:
    return _bullets(map(inline, items), none)


def _bullets(lines: Iterable[str], none: str) -> str:
    return "\n".join(f"- {line}" for line in lines) or none


def _rows(heading: str, rows: Sequence[NamedValue]) -> str:
    cells = [(inline(row.name), code(row.value) if row.code else inline(row.value)) for row in rows]
    return markdown_table((heading, ""), cells)


def _glance(report: Report) -> str:
    rows = [
        (code(check.check_id), check.severity, f"**{check.result.upper()}**", *check_labels.measures(report, check))
        for check in report.check_results
    ]
    return markdown_table(("Check", "Severity", "Result", *check_labels.measure_names(report)), rows)


def _check(number: int, check: CheckResult, review: ReviewSection | None) -> Iterator[str]:
    yield f"### {number}. {code(check.check_id)}: {check.result.upper()}"
    if review is not None:
        yield _bullets((f"**{inline(line)}**" for line in review.check_lines(check.check_id)), "")
    yield f"> {inline(check.question)}"
    yield " · ".join(f"{row.name} **{row.value}**" for row in check_labels.facts(check))
    yield inline(check_labels.decided_by(check))
    yield from (f"**{sentence}**" for sentence in check_labels.check_notices(check))
    yield inline(check_labels.visible_note(check.notes))
    if check_labels.shows_votes(check):
        yield "\n".join(f"- Run {run.run}: {inline(check_labels.vote(run))}" for run in check.raw_runs)
    yield from _quotes("Evidence", check, check.evidence_citations)
    for dissent in check.dissent:
        yield f"**Dissent, run {dissent.run} ({dissent.result}):** {inline(check_labels.visible_note(dissent.notes))}"
        yield from _quotes("Evidence of the dissent", check, dissent.evidence_citations)
    if check.rejected_citations:
        yield f"**Rejected quotes.** {check_labels.REJECTED}"
        yield "\n".join(f"- ~~{inline(quote.span)}~~" for quote in check.rejected_citations[:_QUOTES])
        yield check_labels.more_passages(check.rejected_citations, _QUOTES)
    if check.pattern_hits:
        yield "**Pattern hits**"
        yield "\n".join(_hits(check))


def _quotes(name: str, check: CheckResult, citations: Sequence[Citation]) -> Iterator[str]:
    for citation in citations[:_QUOTES]:
        context = inline(check_labels.visible_note(citation.context))
        yield f"**{name}** ({inline(', '.join(check_labels.sources(check, citation)))})" + (
            f": {context}" if context else ""
        )
        yield fenced(citation.span)
    yield check_labels.more_passages(citations, _QUOTES)


def _hits(check: CheckResult) -> Iterator[str]:
    for pattern, hits in check_labels.hits(check).items():
        places = ", ".join(f"{code(hit.span)} ({inline(check_labels.where(hit.location))})" for hit in hits[:_HITS])
        more = f" and {len(hits) - _HITS:,} more" if len(hits) > _HITS else ""
        yield f"- {code(pattern)}: {places}{more}"


def _variance(report: Report) -> Iterator[str]:
    summary = report.variance_summary
    yield _rows("Variance", labels.variance(report))
    yield inline(summary.note)
    yield labels.EVALUATOR_VARIANCE
    if labels.shows_consistency(report):
        yield "Divergent findings:"
        yield _list(summary.divergent_findings, "None.")


def _drift(report: Report) -> Iterator[str]:
    summary = report.drift_summary
    yield labels.drift_kind(summary)
    if rows := labels.drift(report):
        yield _rows("Drift", rows)
    if summary.changed_checks:
        changed = [
            (
                code(check.check_id),
                check.severity,
                check.before.upper(),
                check.now.upper(),
                "worse" if check.worse else "not worse",
            )
            for check in summary.changed_checks
        ]
        yield markdown_table(("Changed check", "Severity", "Before", "Now", ""), changed)
    yield _list(summary.notes, "")


def _findings(report: Report) -> Iterator[str]:
    for finding in report.artifact_findings:
        times = check_labels.times(finding.count)
        yield f"- {code(finding.kind)}: {inline(finding.message)}{times}{_at(finding.location)}"
        if finding.span is not None:
            yield fenced(finding.span)


def _at(location: Location | None) -> str:
    return f" ({inline(check_labels.where(location))})" if location else ""


def _signed(public_key: str | None) -> str:
    if public_key is None:
        return "Not signed."
    return f"Signed with ed25519, public key {code(public_key)}. {labels.SIGNED_AT_END}"
