"""/api/about, /api/examples: what this is, and something to try it on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter

from salvo import __version__
from salvo.engine.jsonio import json_codec
from salvo.playbooks.enums import DISCLAIMERS
from salvo.playbooks.report.builder import RUNNER_FINGERPRINT
from salvo.web.documents.reader import LARGEST_DOCUMENT, SUFFIXES
from salvo.web.responses import Json
from salvo.web.security import LARGEST_REQUEST
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api", tags=["about"])

CREDIT = "BYOP (Bring Your Own Playbook) is a specification by Vasile Tiple, published under CC BY 4.0."


@dataclass(frozen=True, slots=True)
class About:
    version: str
    runner: str
    """As it stands in reports."""
    database: str
    """Where evaluations are stored."""
    scenarios: str
    """The folder in which runs of scenarios are stored, whether or not it is there yet."""
    credit: str
    disclaimers: tuple[str, ...]
    evaluations_at_once: int
    largest_request: int
    """Bytes of a request with texts in it."""
    largest_document: int
    """Bytes of a file."""
    document_suffixes: tuple[str, ...]


@router.get("/about", operation_id="getAbout", response_model=About)
def about(at: ServicesDep) -> Json:
    """The version, where things are stored, whose idea this is, and how much it takes."""
    return Json(
        About(
            version=__version__,
            runner=RUNNER_FINGERPRINT,
            database=at.store.place,
            scenarios=str(at.shelf.store.folder),
            credit=CREDIT,
            disclaimers=DISCLAIMERS,
            evaluations_at_once=at.settings.at_once,
            largest_request=LARGEST_REQUEST,
            largest_document=LARGEST_DOCUMENT,
            document_suffixes=SUFFIXES,
        )
    )


@dataclass(frozen=True, slots=True)
class Example:
    id: str
    title: str
    about: str
    ai_output: str
    source_document: str | None
    prompt: str | None
    subject: str


@router.get("/examples", operation_id="listExamples", response_model=list[Example])
def examples(_at: ServicesDep) -> Json:
    """Texts to try it on: careful ones and careless ones."""
    return Json(_examples())


@cache
def _examples() -> Any:
    return json_codec.loads(files("salvo.web").joinpath("examples", "examples.json").read_bytes())
