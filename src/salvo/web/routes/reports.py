"""/api/reports, /api/compare: show, export, verify, delete and compare reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict

from salvo.playbooks.audit import verify as verification
from salvo.playbooks.enums import DISCLAIMERS
from salvo.playbooks.report.claims import forbidden_claims
from salvo.playbooks.report.compare import ReportComparison, compare
from salvo.playbooks.report.export import html, json, markdown
from salvo.playbooks.report.labels import WITHHELD
from salvo.playbooks.report.report import CheckResult, Report, ReportFile
from salvo.web.report_labels import ReportLabels, report_labels
from salvo.web.request_models import Name
from salvo.web.responses import JsonRoute
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api", tags=["reports"], route_class=JsonRoute)


@dataclass(frozen=True, slots=True)
class ReportTexts:
    """The normalised texts that were evaluated. Locations count code points of `ai_output`."""

    ai_output: str
    source_document: str | None
    prompt: str | None
    system_instructions: str | None


@dataclass(frozen=True, slots=True)
class StoredReport:
    report: Report
    labels: ReportLabels
    texts: ReportTexts | None
    """None if only hashes are stored."""
    baseline_since: str | None
    """When it was saved as a baseline, or None."""
    resumable: bool
    """Whether it is incomplete and the evaluation with the same id can be resumed."""
    withheld: tuple[str, ...]
    """Texts of the judge that make a forbidden claim. Show `withheld_notice` instead of them."""
    withheld_notice: str


@router.get("/reports/{report_id}", operation_id="getReport")
def show(report_id: str, services: ServicesDep) -> StoredReport:
    """Return a report with its texts, and whether it is a baseline."""
    stored, report = services.load_with_report(report_id)
    texts = None if stored.inputs is None else ReportTexts(**stored.inputs.texts)  # type: ignore[arg-type]  # ai_output is never None
    resumable = texts is not None and report.incomplete
    labels, withheld = report_labels(report), _withheld(report)
    return StoredReport(report, labels, texts, stored.baseline_since, resumable, withheld, WITHHELD)


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
def delete(report_id: str, services: ServicesDep) -> Response:
    """Delete an evaluation: its texts, votes and report. The audit log stays and records the deletion."""
    services.store.delete(services.store.find(report_id))
    return Response(status_code=204)


class ExportFormat(StrEnum):
    JSON = "json"
    HTML = "html"
    MARKDOWN = "md"


_CONTENT_TYPES = {
    ExportFormat.JSON: "application/json",
    ExportFormat.HTML: "text/html",
    ExportFormat.MARKDOWN: "text/markdown",
}


@router.get(
    "/reports/{report_id}/export",
    operation_id="exportReport",
    response_class=Response,
    responses={200: {"content": {name: {} for name in _CONTENT_TYPES.values()}, "description": "The file."}},
)
def export(
    report_id: str,
    services: ServicesDep,
    export_format: Annotated[ExportFormat, Query(alias="format")] = ExportFormat.JSON,
) -> Response:
    """Return the report as a file. The audit log records every export with the file's hash."""
    stored, report = services.load_with_report(report_id)
    file = ReportFile(report)
    if export_format is ExportFormat.HTML:
        text = html.render(file, stored.inputs)
    else:
        text = markdown.render(file) if export_format is ExportFormat.MARKDOWN else json.render(file)
    content = text.encode()
    services.store.record_export(stored.id, export_format, content)
    disposition = f'attachment; filename="byop-report-{stored.id}.{export_format}"'
    return Response(content, media_type=_CONTENT_TYPES[export_format], headers={"content-disposition": disposition})


@dataclass(frozen=True, slots=True)
class Verification:
    altered: int
    """The number of parts that were altered."""
    findings: tuple[verification.VerificationFinding, ...]


@router.get("/reports/{report_id}/verify", operation_id="verifyReport")
def verify(report_id: str, services: ServicesDep) -> Verification:
    """Hash everything that is stored of a report again, and compare it with the audit log."""
    store = services.store
    evaluation_id = store.find(report_id)
    findings = verification.stored(evaluation_id, store.load_raw(evaluation_id), store.audit_log())
    altered = sum(finding.standing is verification.VerificationState.ALTERED for finding in findings)
    return Verification(altered, tuple(findings))


class ReportPair(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"a": "01j9", "b": "latest"}]})

    a: Name
    b: Name


@dataclass(frozen=True, slots=True)
class ReportComparisonDetail:
    disclaimers: tuple[str, ...]
    comparison: ReportComparison
    a: Report
    b: Report
    labels_a: ReportLabels
    labels_b: ReportLabels
    withheld: tuple[str, ...]
    withheld_notice: str


@router.post("/compare", operation_id="compareReports")
def compare_reports(pair: ReportPair, services: ServicesDep) -> ReportComparisonDetail:
    """Compare two reports: what changed, and whether the text or the judge is different."""
    (_, a), (_, b) = (services.load_with_report(name) for name in (pair.a, pair.b))
    labels = report_labels(a), report_labels(b)
    return ReportComparisonDetail(DISCLAIMERS, compare(a, b), a, b, *labels, _withheld(a, b), WITHHELD)
