"""/api/about, /api/examples: version and limits, and texts to try."""

from __future__ import annotations

import shlex
from functools import cache
from importlib.resources import files

from fastapi import APIRouter

from salvo import __version__
from salvo.engine.jsonio import json_codec
from salvo.playbooks.enums import DISCLAIMERS
from salvo.playbooks.evaluate.text_files import SUFFIXES
from salvo.playbooks.report.builder import RUNNER_FINGERPRINT
from salvo.records import record
from salvo.web.responses import JsonRoute
from salvo.web.security import MAX_DOCUMENT_BYTES, MAX_REQUEST_BYTES
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api", tags=["about"], route_class=JsonRoute)


@record
class About:
    version: str
    runner: str
    """As reports name it."""
    database: str
    """Where evaluations are stored."""
    scenarios: str
    """The folder of stored scenario runs. It may not exist yet."""
    store_option: str
    """What a command in the project needs to find these runs, such as "--store s3://bucket"; empty if nothing."""
    credit: str
    disclaimers: tuple[str, ...]
    evaluations_at_once: int
    largest_request: int
    """In bytes, of a request with texts."""
    largest_document: int
    """In bytes, of an uploaded file."""
    document_suffixes: tuple[str, ...]


@router.get("/about", operation_id="getAbout")
def about(services: ServicesDep) -> About:
    """Return the version, where data is stored, the credit, and the limits."""
    return About(
        version=__version__,
        runner=RUNNER_FINGERPRINT,
        database=services.store.place,
        scenarios=services.catalog.store.address,
        store_option="" if (address := services.settings.store_address) is None else f"--store {shlex.quote(address)}",
        credit="BYOP (Bring Your Own Playbook) is a specification by Vasile Tiple, published under CC BY 4.0.",
        disclaimers=DISCLAIMERS,
        evaluations_at_once=services.settings.max_evaluations,
        largest_request=MAX_REQUEST_BYTES,
        largest_document=MAX_DOCUMENT_BYTES,
        document_suffixes=SUFFIXES,
    )


@record
class Example:
    id: str
    title: str
    about: str
    ai_output: str
    source_document: str | None
    prompt: str | None
    subject: str


@router.get("/examples", operation_id="listExamples")
@cache
def examples() -> list[Example]:
    """Return texts to try, careful and careless ones."""
    content = files("salvo.web").joinpath("examples", "examples.json").read_bytes()
    return [Example(**example) for example in json_codec.loads(content)]
