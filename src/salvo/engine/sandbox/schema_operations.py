"""Validate values by JSON Schemas whose patterns or references may be slow. Runs in a worker process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from salvo.engine.jsonio.schema_library import valid_schema
from salvo.errors import InputError


def problems(arguments: Mapping[str, Any], _: bytes) -> Iterator[dict[str, Any]]:
    try:
        yield {"problems": valid_schema(arguments["schema"]).problems(arguments["value"])}
    except InputError as error:
        yield {"error": error.message, "hint": error.hint}


def check(arguments: Mapping[str, Any], _: bytes) -> Iterator[dict[str, Any]]:
    try:
        valid_schema(arguments["schema"])
    except InputError as error:
        yield {"error": error.message, "hint": error.hint}
    else:
        yield {"problems": []}


OPERATIONS = {"problems": problems, "check": check}
