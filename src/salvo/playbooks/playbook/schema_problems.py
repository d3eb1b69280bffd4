"""What the models of a playbook's file find in a document: fields that are invalid, misspelt or absent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, get_args

from salvo.engine.jsonio.pydantic_errors import JSON_WORDS, FieldPath, validate
from salvo.engine.sandbox.workers import time_budget
from salvo.engine.text.messages import nearest
from salvo.playbooks.playbook.document import MAX_CHECKS, PlaybookProblem, error, warning
from salvo.playbooks.playbook.schema import EXPECTED, ContractSection, FileCheck, FileSection, PlaybookFile

MAX_PATTERN_SECONDS = 10.0
"""For compiling the patterns of all checks together."""
_TYPO_CUTOFF = 0.8
"""How similar an unknown field must be to a known one to be taken for it: other fields are allowed."""
_MAX_UNKNOWN = 20
"""Unknown fields of one object that are compared with the known ones."""


def invalid_fields(document: Any) -> list[PlaybookProblem]:
    """Return an error for every field with a wrong value, and for every required one that is absent."""
    with time_budget(MAX_PATTERN_SECONDS):
        _, field_errors = validate(PlaybookFile, document, words=JSON_WORDS)
    return [error(field_error.path, field_error.message) for field_error in field_errors]


def absent_fields(document: Any) -> Iterator[PlaybookProblem]:
    """Warn of every field that is misspelt, or absent though the specification asks for it."""
    return _absent_fields(PlaybookFile, document, ())


def _absent_fields(section: type[FileSection], data: Any, path: FieldPath) -> Iterator[PlaybookProblem]:
    if not isinstance(data, dict):
        return
    required = data.get("required_fields") if issubclass(section, ContractSection) else None
    misspelt = _misspelt_fields(section, data)
    for name, field in section.model_fields.items():
        if name in data:
            yield from _absent_fields_inside(field.annotation, data[name], (*path, name))
        elif name in misspelt and not field.is_required():
            yield warning((*path, misspelt[name]), f'no such field; did you mean "{name}"?')
        elif EXPECTED in field.metadata and not (isinstance(required, list) and name in required):
            yield warning((*path, name), "is missing; the specification asks for it")


def _absent_fields_inside(annotation: Any, value: Any, path: FieldPath) -> Iterator[PlaybookProblem]:
    if isinstance(annotation, type) and issubclass(annotation, FileSection):
        yield from _absent_fields(annotation, value, path)
    elif get_args(annotation) == (FileCheck,) and isinstance(value, list):
        for index, check in enumerate(islice(value, MAX_CHECKS)):
            yield from _absent_fields(FileCheck, check, (*path, index))


def _misspelt_fields(section: type[FileSection], data: dict[Any, Any]) -> dict[str, str]:
    """Return, for each absent field, the unknown field that likely stands for it."""
    absent = [name for name in section.model_fields if name not in data]
    unknown = (name for name in data if isinstance(name, str) and name not in section.model_fields)
    misspelt = {nearest(name, absent, cutoff=_TYPO_CUTOFF): name for name in islice(unknown, _MAX_UNKNOWN)}
    misspelt.pop("", None)
    return misspelt
