"""Values as columns hold them, and back."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic_core import to_jsonable_python

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import escape_surrogates
from salvo.engine.jsonio.type_adapters import type_adapter
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.report.report import Report, read_report

_LONGEST = 200
"""Characters of a name that is indexed: PostgreSQL takes some 2,700 bytes."""


def as_text(value: Any) -> str:
    """JSON in ASCII: NUL and lone surrogates come back as they were, from both databases."""
    return json.dumps(to_jsonable_python(value), separators=(",", ":"))


def as_name(name: str) -> str:
    """A name as it can be stored, indexed and looked up; the same for the same name."""
    storable: str = escape_surrogates(name).replace("\x00", "\\u0000")
    if len(storable) <= _LONGEST:
        return storable
    digest = hashlib.sha256(storable.encode()).hexdigest()
    return f"{storable[: _LONGEST - 20]}…{digest[:16]}"


def inputs_text(inputs: Inputs) -> str:
    return as_text({**inputs.texts, "raw_hashes": inputs.raw_hashes})


def inputs_of(text: str) -> Inputs:
    return Inputs.from_stored(json_codec.loads(text))


def report_of(text: str, name: str) -> Report:
    return read_report(f'{{"byop_report":{text}}}'.encode(), name).byop_report


def vote_of(vote: str, exchanges: str) -> Vote:
    document: dict[str, Any] = json_codec.loads(vote)
    document["answer"] = document.pop("ballot")  # the stored name
    return type_adapter(Vote).validate_python({**document, "exchanges": json_codec.loads(exchanges)})
