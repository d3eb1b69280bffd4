"""/api/reports/…/share-links, /api/shared: links that show one report to whoever has their token, until they expire.

A request for a shared report has the token in a header, and gets that report only. It starts no session.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Header, Response
from pydantic import Field

from salvo.playbooks.report.export import render
from salvo.playbooks.review.build_section import review_section
from salvo.playbooks.store.share_links import DEFAULT_DAYS, MAX_DAYS, MAX_NOTE_LENGTH, ShareLink
from salvo.records import record
from salvo.web.request_models import RequestModel
from salvo.web.responses import JsonRoute, file_route
from salvo.web.routes.reports import (
    CONTENT_TYPES,
    ExportFormat,
    RequestedFormat,
    StoredReport,
    report_file,
    stored_report,
)
from salvo.web.routes.reviews.reviews import ReportReview, report_review
from salvo.web.services import ServicesDep, UserDep

router = APIRouter(prefix="/api", tags=["sharing"], route_class=JsonRoute)

Token = Annotated[
    str, Header(alias="X-Share-Token", max_length=100, description="What follows the # in the address of the link.")
]


class ShareLinkCreate(RequestModel, json_schema_extra={"examples": [{"days": 7, "note": "For outside counsel."}]}):
    days: int = Field(DEFAULT_DAYS, ge=1, le=MAX_DAYS, description="How long the link works.")
    note: str = Field("", max_length=MAX_NOTE_LENGTH, description="For the list of links; the link does not show it.")


@record
class ShareLinkCreated:
    link: ShareLink
    path: str
    """The address of the link on this server, with its token after the #. It is shown once: only a hash is stored."""


@router.post("/reports/{report_id}/share-links", status_code=201, operation_id="createShareLink")
def create(report_id: str, body: ShareLinkCreate, services: ServicesDep, user: UserDep) -> ShareLinkCreated:
    """Make a link with which anybody can read and export this report, and nothing else, until it expires."""
    stored, _ = services.load_with_report(report_id)
    created = services.store.share_links.create(stored.id, days=body.days, note=body.note, user=user.authenticated_name)
    return ShareLinkCreated(created.link, created.path)


@router.get("/reports/{report_id}/share-links", operation_id="listShareLinks")
def list_links(report_id: str, services: ServicesDep) -> list[ShareLink]:
    """Return the links to a report, also those that have ended, the newest first."""
    return services.store.share_links.of_report(services.store.find(report_id))


@router.delete("/reports/{report_id}/share-links/{link_id}", operation_id="revokeShareLink")
def revoke(report_id: str, link_id: str, services: ServicesDep, user: UserDep) -> ShareLink:
    """Let a link no longer work."""
    links = services.store.share_links
    return links.revoke(services.store.find(report_id), link_id, user=user.authenticated_name)


@record
class SharedReport:
    shared_by: str
    authenticated: bool
    """Whether somebody was logged in with that name."""
    expires_at: str
    report: StoredReport
    review: ReportReview


@router.get("/shared/report", operation_id="getSharedReport")
def shared_report(services: ServicesDep, token: Token) -> SharedReport:
    """Return the report of a share link, with its texts if they are stored, and its review."""
    link = services.store.share_links.open(token)
    stored, report = services.load_with_report(link.evaluation_id)
    # Nothing about other reports: neither the baseline that this one would replace, nor who reviewed others.
    shown = replace(stored_report(stored, report, None), resumable=False)
    review = report_review(report, services.store.review_events(stored.id), [])
    return SharedReport(link.created_by, link.authenticated, link.expires_at, shown, review)


@router.get(
    "/shared/export",
    operation_id="exportSharedReport",
    **file_route(*CONTENT_TYPES.values()),
)
def export_shared(
    services: ServicesDep,
    token: Token,
    export_format: RequestedFormat = ExportFormat.JSON,
) -> Response:
    """Return the report of a share link as a file. The audit log records every export with the file's hash."""
    link = services.store.share_links.open(token)
    stored, report = services.load_with_report(link.evaluation_id)
    review = review_section(report, services.store.review_events(stored.id), decides=False)
    content = render(Path(f"report.{export_format}"), report, stored.inputs, review=review)
    services.store.record_export(stored.id, export_format, content, share_link=link.id)
    return report_file(stored.id, export_format, content)
