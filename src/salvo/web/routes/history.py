"""/api/history, /api/timeline, /api/subjects, /api/baselines: stored evaluations over time."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.errors import PlaybookError
from salvo.playbooks.enums import Mode, ShownStatus
from salvo.playbooks.evaluate.request import DEFAULT_SUBJECT
from salvo.playbooks.playbook import validate
from salvo.playbooks.playbook.definition import Variance
from salvo.playbooks.store.damage import damaged_evaluation
from salvo.playbooks.store.history import HistoryFilters, HistorySort
from salvo.playbooks.store.records import BaselineRecord, DamagedEvaluation, HistoryRow, TimelinePoint
from salvo.records import record
from salvo.web.request_models import MAX_NAME_LENGTH, Limit, Name, NameQuery, Offset, RequestModel
from salvo.web.responses import JsonRoute
from salvo.web.services import Services, ServicesDep, UserDep

router = APIRouter(prefix="/api", tags=["history"], route_class=JsonRoute)


@record
class HistoryPage:
    rows: tuple[HistoryRow, ...]
    damaged: tuple[DamagedEvaluation, ...]
    """Those that cannot be listed, because their rows have values that Salvo did not write."""
    offset: int
    limit: int
    more: bool
    """Whether there are more rows after these."""
    total: int
    """How many match, on all pages together."""
    unindexed: int
    """Evaluations whose texts this search had to read, because their words are still being indexed: it takes longer."""


@router.get("/history", operation_id="listHistory")
def history(
    services: ServicesDep,
    subject: Annotated[str | None, Query(max_length=MAX_NAME_LENGTH, description="Only this subject.")] = None,
    status: Annotated[ShownStatus | None, Query(description="Only reports that are shown with this status.")] = None,
    mode: Annotated[Mode | None, Query(description="Only evaluations in this mode.")] = None,
    search: Annotated[
        str,
        Query(
            max_length=MAX_NAME_LENGTH,
            description="Searches ids, titles, subjects, evaluators, statuses and playbooks.",
        ),
    ] = "",
    in_texts: Annotated[
        bool, Query(description="Also find evaluations whose texts have all words of the search, whole or in part.")
    ] = False,
    sort: Annotated[HistorySort, Query(description="What the rows are sorted by.")] = HistorySort.DATE,
    descending: Annotated[bool, Query(description="The newest, last or most severe first.")] = True,
    limit: Limit = 50,
    offset: Offset = 0,
) -> HistoryPage:
    """Return the evaluations, by default the newest first, including running and interrupted ones."""
    page = services.store.history(
        HistoryFilters(subject, status, mode, search, in_texts=in_texts),
        sort=sort,
        descending=descending,
        limit=limit,
        offset=offset,
    )
    return HistoryPage(tuple(page.rows), tuple(page.damaged), offset, limit, page.more, page.total, page.unindexed)


@record
class Subject:
    name: str
    reports: int


@router.get("/subjects", operation_id="listSubjects")
def subjects(services: ServicesDep) -> list[Subject]:
    """Return the subjects that have reports."""
    return [Subject(name, reports) for name, reports in services.store.subjects()]


@record
class TimelineReport(TimelinePoint):
    """A report of the timeline, with the consistency thresholds of its playbook."""

    threshold_ok: float
    threshold_warn: float


@router.get("/timeline", operation_id="getTimeline")
def timeline(
    services: ServicesDep, subject: NameQuery = DEFAULT_SUBJECT, playbook_hash: NameQuery | None = None
) -> list[TimelineReport]:
    """Return the reports of a subject, oldest first, with status, consistency and outcomes."""
    points = services.store.timeline(subject, playbook_hash)
    thresholds: dict[str, Variance] = {}
    for logic_hash, evaluation_id in {point.playbook_hash: point.id for point in points}.items():
        thresholds[logic_hash] = _variance(services, logic_hash, evaluation_id)
    return [
        copy_fields(
            TimelineReport,
            point,
            threshold_ok=thresholds[point.playbook_hash].ok,
            threshold_warn=thresholds[point.playbook_hash].warn,
        )
        for point in points
    ]


def _variance(services: Services, logic_hash: str, evaluation_id: str) -> Variance:
    used = services.store.playbook(logic_hash)
    if used is None:
        raise damaged_evaluation(evaluation_id, "its playbook is missing")
    try:
        return validate.stored_playbook(used.document).variance
    except PlaybookError as error:
        raise damaged_evaluation(evaluation_id, f"its playbook cannot be used: {error.message}") from error


class BaselineCreate(RequestModel, json_schema_extra={"examples": [{"report_id": "latest"}]}):
    report_id: Name
    reason: Annotated[str, Field(max_length=2000, description="Why, for the audit log.")] = ""


@router.get("/baselines", operation_id="listBaselines")
def baselines(services: ServicesDep) -> list[BaselineRecord]:
    """Return the saved baselines, newest first. Reports are compared with the newest of their subject and playbook."""
    return services.store.baselines()


@router.post("/baselines", status_code=204, operation_id="saveBaseline")
def save(body: BaselineCreate, services: ServicesDep, user: UserDep) -> Response:
    """Save a report as the baseline of its subject."""
    services.store.set_baseline(services.store.find(body.report_id), body.reason.strip(), user=user.authenticated_name)
    return Response(status_code=204)


@router.delete("/baselines/{report_id}", status_code=204, operation_id="clearBaseline")
def clear(report_id: str, services: ServicesDep, user: UserDep) -> Response:
    """Clear a baseline. The report stays."""
    services.store.clear_baseline(services.store.find(report_id), user=user.authenticated_name)
    return Response(status_code=204)
