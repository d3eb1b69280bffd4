"""/api/reports: what is stored of an evaluation, exported, verified, deleted, compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Response
from fastapi import Query as InQuery
from pydantic import BaseModel, ConfigDict

from salvo.playbooks.audit import verify as check
from salvo.playbooks.enums import DISCLAIMERS
from salvo.playbooks.report.claims import forbidden_claims
from salvo.playbooks.report.compare import ReportComparison, compare
from salvo.playbooks.report.export import html, json, markdown
from salvo.playbooks.report.labels import WITHHELD
from salvo.playbooks.report.report import CheckResult, Report, ReportFile
from salvo.web.request_models import Name
from salvo.web.responses import Json
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api", tags=["reports"])


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts as they were evaluated: normalised. Locations are code points of `ai_output`."""

    ai_output: str
    source_document: str | None
    prompt: str | None
    system_instructions: str | None


@dataclass(frozen=True, slots=True)
class StoredReport:
    report: Report
    texts: Texts | None
    """None where only hashes were stored."""
    baseline_since: str | None
    """When it was saved as a baseline; None where it was not."""
    resumable: bool
    """It is incomplete, and what is missing can be asked for: resume the evaluation of the same id."""
    withheld: tuple[str, ...]
    """Words of the judge that claim what a report must not claim: not to be shown, `withheld_notice` in their place."""
    withheld_notice: str


@router.get("/reports/{report_id}", operation_id="getReport", response_model=StoredReport)
def show(report_id: str, at: ServicesDep) -> Json:
    """A report with the texts that it is about, and whether it is a baseline."""
    stored = at.with_report(report_id)
    assert stored.report is not None  # noqa: S101 - asked for just now
    texts = None if stored.inputs is None else Texts(**stored.inputs.texts)  # type: ignore[arg-type]  # ai_output is there
    resumable = texts is not None and stored.report.incomplete
    report = stored.report
    return Json(StoredReport(report, texts, stored.baseline_since, resumable, _withheld(report), WITHHELD))


def _withheld(*reports: Report) -> tuple[str, ...]:
    told = {text for report in reports for check in report.check_results for text in _words(check)}
    return tuple(sorted(text for text in told if forbidden_claims(text)))


def _words(of: CheckResult) -> Iterator[str]:
    """What a judge wrote, apart from its quotes."""
    yield of.notes
    for run in of.raw_runs:
        yield from (run.notes, run.problem)
    yield from (dissent.notes for dissent in of.dissent)
    for citations in (
        of.evidence_citations,
        of.rejected_citations,
        *(run.evidence_citations for run in of.raw_runs),
        *(dissent.evidence_citations for dissent in of.dissent),
    ):
        yield from (citation.context for citation in citations)


@router.delete("/reports/{report_id}", status_code=204, operation_id="deleteReport")
def delete(report_id: str, at: ServicesDep) -> Response:
    """Removes an evaluation: its texts, votes and report. The audit log stays, and says that it was removed."""
    at.store.delete(at.store.find(report_id))
    return Response(status_code=204)


class Form(StrEnum):
    JSON = "json"
    HTML = "html"
    MARKDOWN = "md"


_TYPES = {Form.JSON: "application/json", Form.HTML: "text/html", Form.MARKDOWN: "text/markdown"}


@router.get(
    "/reports/{report_id}/export",
    operation_id="exportReport",
    response_class=Response,
    responses={200: {"content": {kind: {} for kind in _TYPES.values()}, "description": "The file."}},
)
def export(report_id: str, at: ServicesDep, form: Annotated[Form, InQuery(alias="format")] = Form.JSON) -> Response:
    """The report as a file. Each export is noted in the audit log, with the file's hash."""
    stored = at.with_report(report_id)
    assert stored.report is not None  # noqa: S101 - asked for just now
    file = ReportFile(stored.report)
    if form is Form.HTML:
        content = html.render(file, stored.inputs)
    else:
        content = markdown.render(file) if form is Form.MARKDOWN else json.render(file)
    made = content.encode()
    at.store.record_export(stored.id, form, made)
    named = f'attachment; filename="byop-report-{stored.id}.{form}"'
    return Response(made, media_type=_TYPES[form], headers={"content-disposition": named})


@dataclass(frozen=True, slots=True)
class Verification:
    altered: int
    """How many parts are not what they were."""
    findings: tuple[check.VerificationFinding, ...]


@router.get("/reports/{report_id}/verify", operation_id="verifyReport", response_model=Verification)
def verify(report_id: str, at: ServicesDep) -> Json:
    """Hashes again everything that is stored of a report, and compares it with the audit log."""
    found = at.store.find(report_id)
    findings = check.stored(found, at.store.as_stored(found), at.store.audit_log())
    altered = sum(finding.standing is check.VerificationState.ALTERED for finding in findings)
    return Json(Verification(altered, tuple(findings)))


class Pair(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"a": "01j9", "b": "latest"}]})

    a: Name
    b: Name


@dataclass(frozen=True, slots=True)
class ComparedReports:
    disclaimers: tuple[str, ...]
    comparison: ReportComparison
    a: Report
    b: Report
    withheld: tuple[str, ...]
    withheld_notice: str


@router.post("/compare", operation_id="compareReports", response_model=ComparedReports)
def compared(pair: Pair, at: ServicesDep) -> Json:
    """Two reports side by side: what changed, and whether the text or the judge changed with it."""
    a, b = (at.with_report(named).report for named in (pair.a, pair.b))
    assert a is not None and b is not None  # noqa: S101, PT018 - asked for just now
    return Json(ComparedReports(DISCLAIMERS, compare(a, b), a, b, _withheld(a, b), WITHHELD))
