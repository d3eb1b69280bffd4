"""/api/saved-playbooks: playbooks that people edit and save here, in versions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Field

from salvo.engine.jsonio import json_codec
from salvo.engine.sandbox.workers import in_killable_thread
from salvo.errors import UnknownIdError
from salvo.playbooks.playbook.changes import PlaybookChange, changes, effect
from salvo.playbooks.playbook.saving import SavedVersion
from salvo.playbooks.playbook.validate import playbook_without_errors
from salvo.playbooks.store.saved_playbooks import SavedPlaybooks
from salvo.records import record
from salvo.web.disconnection import while_connected
from salvo.web.request_models import Name, RequestModel
from salvo.web.responses import JsonRoute, file_response, file_route
from salvo.web.routes.playbooks.playbooks import (
    DocumentOrText,
    PlaybookDetail,
    PlaybookSummary,
    examine_input,
    saved_detail,
    saved_summaries,
)
from salvo.web.services import ServicesDep, UserDep

router = APIRouter(prefix="/api/saved-playbooks", tags=["playbooks"], route_class=JsonRoute)

_MAX_NUMBER = 2**31 - 1
Number = Annotated[int, Path(ge=1, le=_MAX_NUMBER)]
PersonName = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


class PlaybookSave(
    RequestModel, json_schema_extra={"examples": [{"playbook": {"metadata": {}}, "saved_by": "Dana Example"}]}
):
    """The next version of a playbook, which has its id in its metadata."""

    playbook: DocumentOrText = Field(description="The document, or the text of its file.")
    saved_by: PersonName = Field(description="Who saves it: a name as typed. A logged-in user's counts instead.")
    note: str = Field("", max_length=500, description="What was changed.")
    based_on: int | None = Field(
        None, ge=1, description="The number of the version that was edited; null for a new playbook."
    )


class ListingChange(RequestModel, json_schema_extra={"examples": [{"by": "Dana Example"}]}):
    by: PersonName = Field(description="Who does it: a name as typed. A logged-in user's counts instead.")


@record
class SavedVersionList:
    playbook_id: str
    versions: list[SavedVersion]
    """The newest first."""


@router.post("", status_code=201, operation_id="savePlaybook")
async def save(body: PlaybookSave, request: Request, services: ServicesDep, user: UserDep) -> PlaybookDetail:
    """Save a playbook without errors as the next version of its id. Earlier versions stay as they are."""
    body = body.model_copy(update={"saved_by": user.authenticated_name or body.saved_by})
    return await while_connected(request, in_killable_thread(_save, body, services.store.saved_playbooks))


def _save(body: PlaybookSave, saved: SavedPlaybooks) -> PlaybookDetail:
    document, findings = examine_input(body.playbook)
    playbook = playbook_without_errors(document, findings, "The playbook")
    version = saved.save(playbook, saved_by=body.saved_by.strip(), note=body.note.strip(), based_on=body.based_on)
    return saved_detail(saved.load(version.playbook_id, version.number))


@router.get("", operation_id="listSavedPlaybooks")
def list_saved(
    services: ServicesDep,
    withdrawn: Annotated[bool, Query(description="Those that were taken off the list, instead of the others.")] = False,
) -> list[PlaybookSummary]:
    """Return the newest version of each saved playbook, the last saved first."""
    return saved_summaries(services.store.saved_playbooks.newest(withdrawn=withdrawn))


@router.get("/{playbook_id}", operation_id="listPlaybookVersions")
def versions(playbook_id: Name, services: ServicesDep) -> SavedVersionList:
    """Return all versions of a playbook: who saved each when, and its logic hash."""
    saved = services.store.saved_playbooks.versions(playbook_id)
    if not saved:
        raise UnknownIdError("There is no saved playbook with this id.", hint="The list of playbooks has all of them.")
    return SavedVersionList(playbook_id, saved[::-1])


@router.get("/{playbook_id}/versions/{number}", operation_id="getPlaybookVersion")
def version(playbook_id: Name, number: Number, services: ServicesDep) -> PlaybookDetail:
    """Return a version with its document."""
    return saved_detail(services.store.saved_playbooks.load(playbook_id, number))


@record
class PlaybookDiff:
    before: SavedVersion
    after: SavedVersion
    changes: list[PlaybookChange]
    effect: str
    """What the changes mean for reports."""


@router.get("/{playbook_id}/diff", operation_id="diffPlaybookVersions")
def diff(
    playbook_id: Name,
    services: ServicesDep,
    before: Annotated[int, Query(ge=1, le=_MAX_NUMBER)],
    after: Annotated[int, Query(ge=1, le=_MAX_NUMBER)],
) -> PlaybookDiff:
    """Return what changed between two versions, in words."""
    earlier, later = (services.store.saved_playbooks.load(playbook_id, number) for number in (before, after))
    changes_made = changes(earlier.document, later.document)
    return PlaybookDiff(earlier.saved, later.saved, changes_made, effect(changes_made))


@router.get(
    "/{playbook_id}/versions/{number}/export",
    operation_id="exportPlaybook",
    **file_route("application/json"),
)
def export(playbook_id: Name, number: Number, services: ServicesDep) -> Response:
    """Return a version as a JSON file, which `byop run --playbook` and other runners accept."""
    saved = services.store.saved_playbooks.load(playbook_id, number)
    content = json_codec.dumps(saved.document, indent=2)
    return file_response(content, f"{saved.saved.playbook_id}-{number}.json", "application/json")


@router.post("/{playbook_id}/withdraw", status_code=204, operation_id="withdrawPlaybook")
def withdraw(playbook_id: Name, body: ListingChange, services: ServicesDep, user: UserDep) -> Response:
    """Take a playbook off the list. Its versions and the reports made with them stay."""
    services.store.saved_playbooks.withdraw(playbook_id, by=user.authenticated_name or body.by.strip())
    return Response(status_code=204)


@router.post("/{playbook_id}/restore", status_code=204, operation_id="restorePlaybook")
def restore(playbook_id: Name, body: ListingChange, services: ServicesDep, user: UserDep) -> Response:
    """Put a playbook that was withdrawn back on the list."""
    services.store.saved_playbooks.restore(playbook_id, by=user.authenticated_name or body.by.strip())
    return Response(status_code=204)
