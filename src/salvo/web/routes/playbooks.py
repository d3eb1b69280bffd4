"""/api/playbooks: the library, the playbooks of stored evaluations, and validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter, Request
from pydantic import Field

from salvo.engine.sandbox.workers import in_killable_thread
from salvo.errors import UnknownIdError
from salvo.playbooks.playbook import library
from salvo.playbooks.playbook.definition import Playbook
from salvo.playbooks.playbook.document import PlaybookProblem
from salvo.playbooks.playbook.validate import examine, problems, stored_playbook
from salvo.playbooks.playbook.validate import playbook as validated
from salvo.playbooks.store.records import UsedPlaybook
from salvo.web.disconnection import while_connected
from salvo.web.request_models import RequestModel, Text
from salvo.web.responses import JsonRoute
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api/playbooks", tags=["playbooks"], route_class=JsonRoute)

MAX_USED = 50
"""Playbooks of stored evaluations in the list."""


@dataclass(frozen=True, slots=True)
class PlaybookSummary:
    id: str
    version: str
    logic_hash: str
    checks: int
    judged: int
    """Checks that the evaluator answers; the others follow from patterns or votes."""
    min_runs: int
    title: str
    intended_use: tuple[str, ...]
    used_by: str | None = None
    """The newest evaluation that used it; None for a playbook of the library."""


@dataclass(frozen=True, slots=True)
class PlaybookDetail:
    listed: PlaybookSummary
    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlaybookFindings:
    valid: bool
    findings: list[PlaybookProblem]
    """Errors first."""
    playbook: PlaybookSummary | None
    """None if there are errors."""


class PlaybookInput(RequestModel, json_schema_extra={"examples": [{"playbook": {"metadata": {}}}]}):
    playbook: dict[str, Any] | Text = Field(description="The document, or the text of its file.")


@router.get("", operation_id="listPlaybooks")
def list_playbooks(services: ServicesDep) -> list[PlaybookSummary]:
    """Return the playbooks of the library, then others that stored evaluations used, the last used first."""
    own = [library.load(name) for name in library.names()]
    hashes = {playbook.logic_hash for playbook in own}
    others = [used for used in services.store.playbooks(limit=MAX_USED) if used.logic_hash not in hashes]
    return [*map(_summary, own), *filter(None, map(_used_summary, others))]


@router.get("/{playbook_id}", operation_id="getPlaybook")
def show(playbook_id: str, services: ServicesDep) -> PlaybookDetail:
    """Return a playbook of the library by its id, or one of an evaluation by its logic hash."""
    if playbook_id in library.names():
        playbook = library.load(playbook_id)
        return PlaybookDetail(_summary(playbook), dict(playbook.document))
    stored = services.store.playbook(playbook_id)
    if stored is None or (summary := _used_summary(stored)) is None:
        raise UnknownIdError(
            "Neither the library nor a stored evaluation has this playbook.",
            hint=f"The library has {', '.join(library.names())}.",
        )
    return PlaybookDetail(summary, dict(stored.document))


@router.post("/validate", operation_id="validatePlaybook")
async def validate(body: PlaybookInput, request: Request) -> PlaybookFindings:
    """Return every problem of a playbook with its path. No model is called, and nothing is stored."""
    return await while_connected(request, in_killable_thread(_findings, body))


def _findings(body: PlaybookInput) -> PlaybookFindings:
    if isinstance(body.playbook, str):
        document, findings = examine(body.playbook.encode("utf-8", "surrogatepass"))
    else:
        document, findings = body.playbook, problems(body.playbook)
    valid = not any(problem.level == "error" for problem in findings)
    return PlaybookFindings(valid, findings, _summary(validated(document)) if valid else None)


def _used_summary(stored: UsedPlaybook) -> PlaybookSummary | None:
    """Return None if another version stored the playbook and this version rejects it."""
    if any(problem.level == "error" for problem in problems(stored.document)):
        return None
    return replace(_summary(stored_playbook(stored.document)), used_by=stored.used_by)


def _summary(playbook: Playbook) -> PlaybookSummary:
    metadata = playbook.document["metadata"]
    uses = metadata.get("intended_use", [])
    return PlaybookSummary(
        id=playbook.id,
        version=playbook.version,
        logic_hash=playbook.logic_hash,
        checks=len(playbook.checks),
        judged=len(playbook.judged_checks),
        min_runs=playbook.variance.min_runs,
        title=str(metadata.get("title", playbook.id)),
        intended_use=tuple(map(str, uses)) if isinstance(uses, list) else (str(uses),),
    )
