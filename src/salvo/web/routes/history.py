"""/api/history, /api/timeline, /api/subjects, /api/baselines: what there is, and how it went over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict

from salvo.playbooks.enums import Mode, Status
from salvo.playbooks.evaluate.request import DEFAULT_SUBJECT
from salvo.playbooks.store.records import BaselineRecord, HistoryRow, TimelinePoint
from salvo.web.request_models import LONGEST_NAME, Name
from salvo.web.responses import Json
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api", tags=["history"])

Words = Annotated[str, Query(max_length=LONGEST_NAME)]


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """The newest first."""

    rows: tuple[HistoryRow, ...]
    offset: int
    limit: int
    more: bool
    """Whether there are older ones."""


@router.get("/history", operation_id="listHistory", response_model=HistoryPage)
def history(
    at: ServicesDep,
    subject: Annotated[str | None, Query(max_length=LONGEST_NAME, description="Only this subject.")] = None,
    status: Annotated[Status | None, Query(description="Only reports of this status.")] = None,
    mode: Annotated[Mode | None, Query(description="Only evaluations in this mode.")] = None,
    search: Annotated[
        str, Query(max_length=LONGEST_NAME, description="Looked for in ids, subjects, evaluators, statuses, playbooks.")
    ] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Json:
    """Every evaluation, also one that is under way or was interrupted."""
    rows = at.store.history(subject, status=status, mode=mode, search=search, limit=limit + 1, offset=offset)
    return Json(HistoryPage(tuple(rows[:limit]), offset, limit, len(rows) > limit))


@dataclass(frozen=True, slots=True)
class Subject:
    name: str
    reports: int


@router.get("/subjects", operation_id="listSubjects", response_model=list[Subject])
def subjects(at: ServicesDep) -> Json:
    """The series of which there are reports."""
    return Json([Subject(name, reports) for name, reports in at.store.subjects()])


@router.get("/timeline", operation_id="getTimeline", response_model=list[TimelinePoint])
def timeline(at: ServicesDep, subject: Words = DEFAULT_SUBJECT, playbook_hash: Words | None = None) -> Json:
    """Every report of a subject, the oldest first, with its status, consistency and outcomes."""
    return Json(at.store.timeline(subject, playbook_hash))


class NewBaseline(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"report_id": "latest"}]})

    report_id: Name


@router.get("/baselines", operation_id="listBaselines", response_model=list[BaselineRecord])
def baselines(at: ServicesDep) -> Json:
    """The newest saved first. Of a subject and a playbook, the newest is the one that is compared with."""
    return Json(at.store.baselines())


@router.post("/baselines", status_code=204, operation_id="saveBaseline")
def save(baseline: NewBaseline, at: ServicesDep) -> Response:
    """Saves a report as the baseline of its subject."""
    at.store.set_baseline(at.store.find(baseline.report_id))
    return Response(status_code=204)


@router.delete("/baselines/{report_id}", status_code=204, operation_id="clearBaseline")
def clear(report_id: str, at: ServicesDep) -> Response:
    """It is no baseline any more; the report stays."""
    at.store.clear_baseline(at.store.find(report_id))
    return Response(status_code=204)
