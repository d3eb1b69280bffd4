"""Read a playbook and report every problem of its file.

The specification names more fields than an evaluation needs. A problem is an error if the evaluation could not be
done, or not as the document says. It is a warning if the specification asks for something that an evaluation can do
without, or if something is likely a mistake.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, get_args

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from salvo.engine.jsonio.pydantic_errors import JSON_WORDS, FieldPath
from salvo.engine.jsonio.pydantic_errors import validate as validate_model
from salvo.engine.text.messages import nearest
from salvo.engine.text.unicode_escape import printable
from salvo.errors import PlaybookError
from salvo.playbooks.enums import Aggregation, Result, Severity
from salvo.playbooks.playbook.definition import Check, Playbook, Variance
from salvo.playbooks.playbook.document import MAX_PROBLEMS, PlaybookProblem, error, parse, uncanonical, warning
from salvo.playbooks.playbook.schema import (
    EXPECTED,
    MAX_CHECKS,
    ContractSection,
    FileCheck,
    FileSection,
    PlaybookFile,
    VarianceHandling,
)
from salvo.playbooks.playbook.semantic_checks import contradictions

__all__ = ["PlaybookProblem", "examine", "playbook", "playbook_schema", "problems", "read"]

_TYPO_CUTOFF = 0.8
"""How similar an unknown field must be to a known one to be taken for it: other fields are allowed."""
_MAX_UNKNOWN = 20
"""Unknown fields of one object that are compared with the known ones."""


def read(content: bytes, name: str) -> Playbook:
    """Return the playbook of a file; raise PlaybookError with all its errors if there are any."""
    return _without_errors(*examine(content), name)


def playbook(document: Any, name: str = "This") -> Playbook:
    """Return the playbook of a parsed document; raise PlaybookError with all its errors if there are any."""
    return _without_errors(document, problems(document), name)


def examine(content: bytes) -> tuple[Any, list[PlaybookProblem]]:
    """Return the document of a file, None if it cannot be read, and every problem of it."""
    document, unreadable = parse(content)
    if document is None and unreadable:
        return None, unreadable
    return document, [*unreadable, *problems(document)]


def problems(document: Any) -> list[PlaybookProblem]:
    """Return every problem of a document: errors first, each level in the order of the specification."""
    without_form = list(islice(uncanonical(document), MAX_PROBLEMS))
    known_paths = {problem.path for problem in without_form}
    _, field_errors = validate_model(PlaybookFile, document, words=JSON_WORDS)
    invalid = [error(field_error.path, field_error.message) for field_error in field_errors]
    all_problems = [
        *without_form,
        *(problem for problem in invalid if problem.path not in known_paths),
        *_absent_fields(PlaybookFile, document, ()),
        *contradictions(document),
    ]
    return sorted(dict.fromkeys(all_problems), key=lambda problem: problem.level)


def _absent_fields(section: type[FileSection], data: Any, path: FieldPath) -> Iterator[PlaybookProblem]:
    """Warn of every field that is misspelt, or absent though the specification asks for it."""
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


class _WithoutDefaults(GenerateJsonSchema):
    """A default only stands for an absent field: the schema would not accept most of them."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def playbook_schema() -> dict[str, Any]:
    """Return the JSON Schema of a playbook: every playbook without an error fits it."""
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        **PlaybookFile.model_json_schema(schema_generator=_WithoutDefaults),
        "title": "BYOP playbook",
    }


def _without_errors(document: Any, problems: list[PlaybookProblem], name: str) -> Playbook:
    if errors := [printable(str(problem), multiline=True) for problem in problems if problem.level == "error"]:
        raise PlaybookError(printable(name, multiline=True), errors)
    file = PlaybookFile.model_validate(document, strict=True)
    return Playbook(
        id=file.metadata.id,
        version=file.metadata.version,
        checks=tuple(map(_check, file.checks)),
        variance=_variance(file.variance_handling),
        document=document,
    )


def _check(check: FileCheck) -> Check:
    method, evidence = check.detection_method, check.evidence_requirements
    return Check(
        id=check.id,
        severity=Severity(check.severity),
        question=check.question,
        type=method.type,
        instructions=method.instructions,
        patterns=(*method.pattern_hints, *method.patterns),
        on_match=Result(method.on_match),
        require_citations=evidence.require_citations,
        min_citations_per_fail=evidence.min_citations_per_fail if evidence.require_citations else 0,
    )


def _variance(handling: VarianceHandling) -> Variance:
    thresholds = handling.thresholds
    return Variance(
        min_runs=handling.min_runs,
        aggregation=Aggregation(handling.aggregation),
        ok=thresholds.ok if "ok" in thresholds.model_fields_set else thresholds.consistency_score_min_ok,
        warn=thresholds.warn if "warn" in thresholds.model_fields_set else thresholds.consistency_score_warn,
    )
