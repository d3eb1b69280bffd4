"""Convert values to the text of columns, and back."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic_core import to_jsonable_python

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import escape_surrogates
from salvo.engine.jsonio.type_adapters import type_adapter
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.report.report import Report
from salvo.playbooks.report.report_document import read_report

_MAX_LENGTH = 200
"""Characters of an indexed name. PostgreSQL's limit is about 2,700 bytes."""


def as_text(value: Any) -> str:
    """Return JSON in ASCII, so that NUL and lone surrogates survive in both databases."""
    return json.dumps(to_jsonable_python(value), separators=(",", ":"))


def as_name(name: str) -> str:
    """Return the name in a form that can be stored, indexed and looked up. A stored form stays as it is.

    NUL and lone surrogates are escaped, so that such names look like others. New evaluations do not have them
    (`new_request` refuses them), but those of earlier versions may.
    """
    storable = as_storable(name)
    if len(storable) <= _MAX_LENGTH:
        return storable
    digest = hashlib.sha256(storable.encode()).hexdigest()
    return f"{storable[: _MAX_LENGTH - 20]}…{digest[:16]}"


def as_storable(text: str) -> str:
    """Return the text with NUL and lone surrogates escaped, which databases refuse."""
    escaped: str = escape_surrogates(text).replace("\x00", "\\u0000")
    return escaped


def parse_report(text: str, name: str) -> Report:
    return read_report(f'{{"byop_report":{text}}}'.encode(), name).byop_report


def parse_vote(vote: str, exchanges: str) -> Vote:
    document: dict[str, Any] = json_codec.loads(vote)
    document["answer"] = document.pop("ballot")  # the stored name
    return type_adapter(Vote).validate_python({**document, "exchanges": json_codec.loads(exchanges)})
