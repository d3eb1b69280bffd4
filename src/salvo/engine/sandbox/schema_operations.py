"""Validate values by JSON Schemas whose patterns or references may be slow. Runs in a worker process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from salvo.engine.jsonio import schema_library
from salvo.errors import InputError


def problems(arguments: Mapping[str, Any], _: bytes) -> Iterator[dict[str, Any]]:
    try:
        yield {"problems": schema_library.problems(arguments["schema"], arguments["value"])}
    except InputError as error:
        yield {"error": error.message, "hint": error.hint}


def check(arguments: Mapping[str, Any], _: bytes) -> Iterator[dict[str, Any]]:
    try:
        schema_library.validator(arguments["schema"])
    except InputError as error:
        yield {"error": error.message, "hint": error.hint}
    else:
        yield {"problems": []}


OPERATIONS = {"problems": problems, "check": check}
