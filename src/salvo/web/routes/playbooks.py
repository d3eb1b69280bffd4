"""/api/playbooks: those of the library, those that evaluations were made with, and what is wrong with one's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from salvo.errors import UnknownIdError
from salvo.playbooks.playbook import library
from salvo.playbooks.playbook.document import Level
from salvo.playbooks.playbook.schema import Playbook
from salvo.playbooks.playbook.validate import examine, problems
from salvo.playbooks.playbook.validate import playbook as validated
from salvo.playbooks.store.records import UsedPlaybook
from salvo.web.request_models import Text
from salvo.web.responses import Json
from salvo.web.services import ServicesDep

MOST_USED = 50
"""Playbooks that are listed beside those of the library."""

router = APIRouter(prefix="/api/playbooks", tags=["playbooks"])


@dataclass(frozen=True, slots=True)
class PlaybookListed:
    id: str
    version: str
    logic_hash: str
    checks: int
    judged: int
    """Checks that an evaluator is asked; the others follow from patterns or from the votes."""
    min_runs: int
    title: str
    intended_use: tuple[str, ...]
    used_by: str | None = None
    """The newest evaluation it is stored with; None for one of the library, which is named by its id."""


@dataclass(frozen=True, slots=True)
class PlaybookShown:
    listed: PlaybookListed
    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlaybookFinding:
    path: str
    """In JSONPath: $.checks[2].detection_method.type"""
    level: Level
    """An error keeps the playbook from being used."""
    message: str


@dataclass(frozen=True, slots=True)
class PlaybookFindings:
    valid: bool
    findings: tuple[PlaybookFinding, ...]
    """The errors first."""
    playbook: PlaybookListed | None
    """None where there are errors."""


class Candidate(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"playbook": {"metadata": {}}}]})

    playbook: dict[str, Any] | Text = Field(description="The document, or the text of its file.")


@router.get("", operation_id="listPlaybooks", response_model=list[PlaybookListed])
def listed(at: ServicesDep) -> Json:
    """The playbooks of the library; then others that stored evaluations were made with, the last used first."""
    ours = [library.load(name) for name in library.names()]
    known = {playbook.logic_hash for playbook in ours}
    used = [used for used in at.store.playbooks(limit=MOST_USED) if used.logic_hash not in known]
    return Json([*map(_listed, ours), *filter(None, map(_used, used))])


@router.get("/{playbook_id}", operation_id="getPlaybook", response_model=PlaybookShown)
def show(playbook_id: str, at: ServicesDep) -> Json:
    """One of the library by its id, or one of an evaluation by its logic hash, with its whole document."""
    if playbook_id in library.names():
        found = library.load(playbook_id)
        return Json(PlaybookShown(_listed(found), dict(found.document)))
    stored = at.store.playbook(playbook_id)
    if stored is None or (listed := _used(stored)) is None:
        raise UnknownIdError(
            "There is no such playbook in the library or with an evaluation.",
            hint=f"The library has: {', '.join(library.names())}.",
        )
    return Json(PlaybookShown(listed, dict(stored.document)))


@router.post("/validate", operation_id="validatePlaybook", response_model=PlaybookFindings)
def validate(candidate: Candidate, _at: ServicesDep) -> Json:
    """Every problem of a playbook, with the place where it is. No call is made, and nothing is stored."""
    given = candidate.playbook
    if isinstance(given, str):
        document, found = examine(given.encode("utf-8", "surrogatepass"))
    else:
        document, found = given, problems(given)
    valid = not any(problem.level == "error" for problem in found)
    findings = tuple(PlaybookFinding(problem.path, problem.level, problem.message) for problem in found)
    return Json(PlaybookFindings(valid, findings, _listed(validated(document)) if valid else None))


def _used(stored: UsedPlaybook) -> PlaybookListed | None:
    """None for one that another version stored and this one refuses: it could not be used again."""
    if any(problem.level == "error" for problem in problems(stored.document)):
        return None
    return replace(_listed(validated(stored.document)), used_by=stored.used_by)


def _listed(playbook: Playbook) -> PlaybookListed:
    metadata = playbook.document["metadata"]
    uses = metadata.get("intended_use", [])
    return PlaybookListed(
        id=playbook.id,
        version=playbook.version,
        logic_hash=playbook.logic_hash,
        checks=len(playbook.checks),
        judged=len(playbook.judged),
        min_runs=playbook.variance.min_runs,
        title=str(metadata.get("title", playbook.id)),
        intended_use=tuple(map(str, uses)) if isinstance(uses, list) else (str(uses),),
    )
