"""/api/reports, /api/compare: show, export, delete and compare reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from salvo.engine.sandbox.outline.items import OutlineKind
from salvo.engine.text.formatting import NamedValue
from salvo.playbooks.enums import DISCLAIMERS, ShownStatus
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.report import check_labels, identity_labels, labels
from salvo.playbooks.report.claims import forbidden_claims
from salvo.playbooks.report.compare import ReportComparison, compare
from salvo.playbooks.report.export import render
from salvo.playbooks.report.report import CheckResult, Report
from salvo.playbooks.report.verdict_reasons import VerdictReason, check_title, next_steps, verdict_reasons
from salvo.playbooks.review.build_section import review_section
from salvo.playbooks.store.column_text import as_name
from salvo.playbooks.store.records import BaselineRecord, StoredEvaluation
from salvo.records import record
from salvo.web.request_models import Name, RequestModel
from salvo.web.responses import JsonRoute, file_response, file_route
from salvo.web.routes.audit import required_signing_key
from salvo.web.services import Services, ServicesDep, UserDep

router = APIRouter(prefix="/api", tags=["reports"], route_class=JsonRoute)


@record
class OutlinePart:
    """A part of the text that the page shows as what it is."""

    kind: OutlineKind
    start: int
    end: int
    level: int
    """Of a heading from 1, of a list item from 0; the number of a page."""
    label: str
    """The number or bullet before it, which is not part of the text."""
    table: int
    row: int
    column: int


@record
class ReportTexts:
    """The normalised texts that were evaluated. Locations count code points of `ai_output`."""

    ai_output: str
    source_document: str | None
    prompt: str | None
    system_instructions: str | None
    outline: list[OutlinePart]
    """The headings, list items, table cells and pages of the file that `ai_output` was read from."""


@record
class CheckLabels:
    title: str
    """The name of the check, in words."""
    votes: str
    facts: list[NamedValue]
    confidence: str
    shows_votes: bool
    """Whether the agreement of the votes means something: not that of one run, nor that of rules with themselves."""
    decided_by: str
    """Who decided the check; empty if the majority of an evaluator's votes did."""
    notices: tuple[str, ...]
    """That votes are missing, or that the evidence did not support the vote."""


@record
class ReportLabels:
    """Labels for the page, worded exactly as in the report's exports."""

    status: ShownStatus
    """The status as it is shown: INCOMPLETE while votes are missing."""
    identity: list[NamedValue]
    """Which document this is about, and who had it evaluated when."""
    title: str
    """What to call the report: the title of its document, else the name of its file, else a general name."""
    verdict: list[VerdictReason]
    """Why, in words: what failed, what is undecided, unstable or hidden."""
    next_steps: list[str]
    status_meaning: str
    status_reasons: list[str]
    mode: str
    texts_withheld: str
    injections: str
    """That the text addresses its evaluator or hides something; empty if it does not."""
    tally: str
    """How many checks failed, passed and are indeterminate."""
    checks: Mapping[str, CheckLabels]
    """By the id of the check."""
    rejected: str
    """What it means that a citation was rejected."""
    unverified: str
    revision_prompt: str
    variance: list[NamedValue]
    shows_consistency: bool
    """Whether the overall consistency was measured, and means something."""
    no_key_risks: str
    no_assumptions: str
    evaluator_variance: str
    drift: str
    drift_facts: list[NamedValue]
    unchecked_areas: tuple[str, ...]
    """In the order of the report."""
    integrity: list[NamedValue]
    evaluator: list[NamedValue]
    producer: list[NamedValue]
    spending: list[NamedValue]


@record
class StoredReport:
    report: Report
    document: dict[str, Any]
    """The report as its file has it: fields that earlier versions did not have are left out where they are empty."""
    labels: ReportLabels
    texts: ReportTexts | None
    """None if only hashes are stored."""
    baseline_since: str | None
    """When it was saved as a baseline, or None."""
    baseline_refused: str
    """Why it cannot be a baseline; empty if it can."""
    baseline_replaces: BaselineRecord | None
    """The baseline of the same subject and playbook that this report would replace."""
    resumable: bool
    """Whether it is incomplete and the evaluation with the same id can be resumed."""
    withheld: tuple[str, ...]
    """Texts of the judge that make a forbidden claim. Show `withheld_notice` instead of them."""
    withheld_notice: str


@router.get("/reports/{report_id}", operation_id="getReport")
def show(report_id: str, services: ServicesDep) -> StoredReport:
    """Return a report with its texts, and whether it is a baseline."""
    stored, report = services.load_with_report(report_id)
    return stored_report(stored, report, _replaced_baseline(stored, services))


def stored_report(stored: StoredEvaluation, report: Report, replaces: BaselineRecord | None) -> StoredReport:
    texts = None if stored.inputs is None else report_texts(stored.inputs)
    resumable = texts is not None and report.incomplete
    return StoredReport(
        report=report,
        document=report.document(),
        labels=report_labels(report),
        texts=texts,
        baseline_since=stored.baseline_since,
        baseline_refused=labels.baseline_refused(report),
        baseline_replaces=replaces,
        resumable=resumable,
        withheld=_withheld(report),
        withheld_notice=check_labels.WITHHELD,
    )


def report_texts(inputs: Inputs) -> ReportTexts:
    outline = [OutlinePart(**item._asdict()) for item in inputs.outline if item.kind != "paragraph"]
    return ReportTexts(**inputs.texts, outline=outline)  # type: ignore[arg-type]  # ai_output is never None


def _replaced_baseline(stored: StoredEvaluation, services: Services) -> BaselineRecord | None:
    series = (as_name(stored.subject), stored.playbook_hash)
    saved = (row for row in services.store.baselines() if (row.subject, row.playbook_hash) == series)
    return next((row for row in saved if row.evaluation_id != stored.id), None)


def report_labels(report: Report) -> ReportLabels:
    return ReportLabels(
        status=labels.status(report),
        identity=identity_labels.identity(report),
        title=identity_labels.title(report),
        verdict=verdict_reasons(report),
        next_steps=next_steps(report),
        status_meaning=labels.status_meaning(report),
        status_reasons=labels.status_reasons(report),
        mode=report.execution_mode.label,
        texts_withheld=labels.TEXTS_WITHHELD,
        injections=labels.injections(report),
        tally=labels.tally(report.check_results),
        checks={check.check_id: _check_labels(check) for check in report.check_results},
        rejected=check_labels.REJECTED,
        unverified=check_labels.UNVERIFIED,
        revision_prompt=labels.PROMPT,
        variance=labels.variance(report),
        shows_consistency=labels.shows_consistency(report),
        no_key_risks=labels.no_key_risks(report),
        no_assumptions=labels.no_assumptions(report),
        evaluator_variance=labels.EVALUATOR_VARIANCE,
        drift=labels.drift_kind(report.drift_summary),
        drift_facts=labels.drift(report),
        unchecked_areas=tuple(labels.stated_by(area) for area in report.unchecked_areas),
        integrity=labels.integrity(report),
        evaluator=labels.fingerprint(report.model_fingerprints.evaluator),
        producer=labels.fingerprint(report.model_fingerprints.producer),
        spending=labels.spending(report),
    )


def _check_labels(check: CheckResult) -> CheckLabels:
    return CheckLabels(
        title=check_title(check.check_id),
        votes=check_labels.votes(check),
        facts=check_labels.facts(check),
        confidence=check_labels.confidence(check),
        shows_votes=check_labels.shows_votes(check),
        decided_by=check_labels.decided_by(check),
        notices=tuple(check_labels.check_notices(check)),
    )


def _withheld(*reports: Report) -> tuple[str, ...]:
    texts = {text for report in reports for check in report.check_results for text in _judge_texts(check)}
    return tuple(sorted(text for text in texts if forbidden_claims(text)))


def _judge_texts(check: CheckResult) -> Iterator[str]:
    """Yield what the judge wrote, apart from quotes."""
    yield check.notes
    for run in check.raw_runs:
        yield from (run.notes, run.problem)
    yield from (dissent.notes for dissent in check.dissent)
    for citations in (
        check.evidence_citations,
        check.rejected_citations,
        *(run.evidence_citations for run in check.raw_runs),
        *(dissent.evidence_citations for dissent in check.dissent),
    ):
        yield from (citation.context for citation in citations)


@router.delete("/reports/{report_id}", status_code=204, operation_id="deleteReport")
def delete(report_id: str, services: ServicesDep, user: UserDep) -> Response:
    """Delete an evaluation: its texts, votes and report. The audit log stays and records the deletion."""
    by = user.authenticated_name
    services.store.delete(services.store.find(report_id), by=by, authenticated=user.authenticated)
    return Response(status_code=204)


class ExportFormat(StrEnum):
    JSON = "json"
    HTML = "html"
    MARKDOWN = "md"
    JUNIT = "xml"


RequestedFormat = Annotated[ExportFormat, Query(alias="format")]

CONTENT_TYPES = {
    ExportFormat.JSON: "application/json",
    ExportFormat.HTML: "text/html",
    ExportFormat.MARKDOWN: "text/markdown",
    ExportFormat.JUNIT: "application/xml",
}


@router.get(
    "/reports/{report_id}/export",
    operation_id="exportReport",
    **file_route(*CONTENT_TYPES.values()),
)
def export(
    report_id: str,
    services: ServicesDep,
    user: UserDep,
    export_format: RequestedFormat = ExportFormat.JSON,
    reviewed: Annotated[
        bool, Query(description="Let the reviewers' results count instead of the evaluator's.")
    ] = False,
    signed: Annotated[bool, Query(description="Sign the file with the key of this server.")] = False,
) -> Response:
    """Return the report as a file. The audit log records every export with the file's hash."""
    stored, report = services.load_with_report(report_id)
    review = review_section(report, services.store.review_events(stored.id), decides=reviewed)
    key = required_signing_key(services) if signed else None
    content = render(Path(f"report.{export_format}"), report, stored.inputs, key, review=review)
    services.store.record_export(stored.id, export_format, content, user=user.authenticated_name)
    return report_file(stored.id, export_format, content)


def report_file(report_id: str, export_format: ExportFormat, content: bytes) -> Response:
    return file_response(content, f"byop-report-{report_id}.{export_format}", CONTENT_TYPES[export_format])


class ReportPair(RequestModel, json_schema_extra={"examples": [{"a": "01j9", "b": "latest"}]}):
    a: Name
    b: Name


@record
class ReportComparisonDetail:
    disclaimers: tuple[str, ...]
    comparison: ReportComparison
    a: Report
    b: Report
    labels_a: ReportLabels
    labels_b: ReportLabels
    withheld: tuple[str, ...]
    withheld_notice: str
    text_a: str | None
    text_b: str | None
    """The normalised texts; None where only hashes are stored."""


@router.post("/compare", operation_id="compareReports")
def compare_reports(pair: ReportPair, services: ServicesDep) -> ReportComparisonDetail:
    """Compare two reports: what changed, and whether the text or the judge is different."""
    (stored_a, a), (stored_b, b) = (services.load_with_report(name) for name in (pair.a, pair.b))
    text_a, text_b = (stored.inputs.ai_output if stored.inputs else None for stored in (stored_a, stored_b))
    return ReportComparisonDetail(
        DISCLAIMERS,
        compare(a, b),
        a,
        b,
        report_labels(a),
        report_labels(b),
        _withheld(a, b),
        check_labels.WITHHELD,
        text_a,
        text_b,
    )
