"""/api/playbooks: the library, saved playbooks, those of stored evaluations, and validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeAlias

from fastapi import APIRouter, Request
from pydantic import Field

from salvo.engine.sandbox.workers import in_killable_thread
from salvo.errors import UnknownIdError
from salvo.playbooks.playbook import library
from salvo.playbooks.playbook.definition import Playbook
from salvo.playbooks.playbook.document import PlaybookProblem
from salvo.playbooks.playbook.saving import SavedVersion, saving_problems
from salvo.playbooks.playbook.validate import examine, problems, stored_playbook
from salvo.playbooks.store.records import UsedPlaybook
from salvo.playbooks.store.saved_playbooks import SavedPlaybook, SavedPlaybooks
from salvo.records import record
from salvo.web.disconnection import while_connected
from salvo.web.request_models import RequestModel, Text
from salvo.web.responses import JsonRoute
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api/playbooks", tags=["playbooks"], route_class=JsonRoute)

MAX_USED = 50
"""Playbooks of stored evaluations in the list."""


@record
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
    saved: SavedVersion | None = None
    """Who saved this version when; None for a playbook that was not saved here."""
    used_by: str | None = None
    """The newest evaluation that used it; None for a playbook of the library, and for a saved one."""


@record
class PlaybookDetail:
    listed: PlaybookSummary
    document: dict[str, Any]


@record
class PlaybookFindings:
    valid: bool
    findings: list[PlaybookProblem]
    """Errors first."""
    playbook: PlaybookSummary | None
    """None if there are errors."""
    newest_number: int | None = None
    """The number of the newest saved version with the same id; None if there is none, or there are errors."""


DocumentOrText: TypeAlias = dict[str, Any] | Text


class PlaybookInput(RequestModel, json_schema_extra={"examples": [{"playbook": {"metadata": {}}}]}):
    playbook: DocumentOrText = Field(description="The document, or the text of its file.")
    to_save: bool = Field(False, description="Also report what keeps it from being saved as a version of its id.")


@router.get("", operation_id="listPlaybooks")
def list_playbooks(services: ServicesDep) -> list[PlaybookSummary]:
    """Return the playbooks of the library, then saved ones, then others that evaluations used; the last ones first."""
    own = [library.load(name) for name in library.names()]
    saved = services.store.saved_playbooks
    hashes = {playbook.logic_hash for playbook in own} | saved.hashes()
    others = [used for used in services.store.playbooks(limit=MAX_USED) if used.logic_hash not in hashes]
    return [*map(summary, own), *saved_summaries(saved.newest()), *filter(None, map(_used_summary, others))]


def saved_summaries(saved: Iterable[SavedPlaybook]) -> list[PlaybookSummary]:
    return [replace(summary(stored_playbook(version.document)), saved=version.saved) for version in saved]


@router.get("/{playbook_id}", operation_id="getPlaybook")
def show(playbook_id: str, services: ServicesDep) -> PlaybookDetail:
    """Return a playbook of the library or the newest version of a saved one by its id, or any by its logic hash."""
    if playbook_id in library.names():
        playbook = library.load(playbook_id)
        return PlaybookDetail(summary(playbook), dict(playbook.document))
    saved = services.store.saved_playbooks
    if saved.versions(playbook_id):
        return saved_detail(saved.load(playbook_id))
    if (version := saved.with_hash(playbook_id)) is not None:
        return saved_detail(version)
    stored = services.store.playbook(playbook_id)
    if stored is None or (listed := _used_summary(stored)) is None:
        raise UnknownIdError(
            "There is no such playbook: not in the library, not saved, and not in a stored evaluation.",
            hint=f"The library has {', '.join(library.names())}.",
        )
    return PlaybookDetail(listed, dict(stored.document))


def saved_detail(version: SavedPlaybook) -> PlaybookDetail:
    [listed] = saved_summaries([version])
    return PlaybookDetail(listed, dict(version.document))


@router.post("/validate", operation_id="validatePlaybook")
async def validate(body: PlaybookInput, request: Request, services: ServicesDep) -> PlaybookFindings:
    """Return every problem of a playbook with its place. No model is called, and nothing is stored."""
    return await while_connected(request, in_killable_thread(_findings, body, services.store.saved_playbooks))


def _findings(body: PlaybookInput, saved: SavedPlaybooks) -> PlaybookFindings:
    document, findings = examine_input(body.playbook)
    if any(problem.level == "error" for problem in findings):
        return PlaybookFindings(False, findings, None)
    playbook = Playbook.from_document(document)
    versions = saved.versions(playbook.id)
    newest = versions[-1].number if versions else None
    in_the_way = saving_problems(playbook, versions) if body.to_save else []
    listed = None if in_the_way else summary(playbook)
    return PlaybookFindings(not in_the_way, [*in_the_way, *findings], listed, newest)


def examine_input(playbook: DocumentOrText) -> tuple[Any, list[PlaybookProblem]]:
    """Return the document, None if it cannot be read, and its problems. Blocks."""
    if isinstance(playbook, str):
        return examine(playbook.encode("utf-8", "surrogatepass"))
    return playbook, problems(playbook)


def _used_summary(stored: UsedPlaybook) -> PlaybookSummary | None:
    """Return None if another version stored the playbook and this version rejects it."""
    if any(problem.level == "error" for problem in problems(stored.document)):
        return None
    return replace(summary(stored_playbook(stored.document)), used_by=stored.used_by)


def summary(playbook: Playbook) -> PlaybookSummary:
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
