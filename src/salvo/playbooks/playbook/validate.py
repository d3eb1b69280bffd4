"""Every problem of a playbook, and the playbook where there is no error.

The specification names more than an evaluation needs. What it cannot do without, or could not do as the document says,
is an error; what the specification asks for and an evaluation can do without is a warning. Fields that nobody knows are
kept: they are part of the document and of its hash.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from salvo.engine.text.unicode_escape import printable
from salvo.errors import PlaybookError
from salvo.playbooks.enums import Aggregation, Result, Severity
from salvo.playbooks.playbook.document import parse, uncanonical
from salvo.playbooks.playbook.parts import number_in
from salvo.playbooks.playbook.problems import PlaybookProblem
from salvo.playbooks.playbook.schema import Check, Playbook, Variance
from salvo.playbooks.playbook.semantic_checks import contradictions
from salvo.playbooks.playbook.specification import OK, PLAYBOOK, WARN

__all__ = ["PlaybookProblem", "examine", "playbook", "playbook_schema", "problems", "read"]


def read(content: bytes, name: str) -> Playbook:
    """The playbook of a file; PlaybookError with all its errors where it has any."""
    document, found = examine(content)
    return _without_errors(document, found, name)


def playbook(document: Any, name: str = "This") -> Playbook:
    """The playbook of a document that was read already; PlaybookError with all its errors where it has any."""
    return _without_errors(document, problems(document), name)


def examine(content: bytes) -> tuple[Any, list[PlaybookProblem]]:
    """The document of a file, None where it cannot be read, and every problem that it has."""
    document, unreadable = parse(content)
    if document is None and unreadable:
        return None, unreadable
    return document, [*unreadable, *problems(document)]


def problems(document: Any) -> list[PlaybookProblem]:
    """Every problem of a document: the errors first, each kind in the order of the specification."""
    found = [*uncanonical(document), *PLAYBOOK.problems(document, ()), *contradictions(document)]
    return sorted(dict.fromkeys(found), key=lambda problem: problem.level)


def playbook_schema() -> dict[str, Any]:
    """The JSON Schema of a playbook: every playbook without an error fits it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "BYOP playbook",
        "description": "A versioned set of checks on a frozen AI output. Fields that are not named here are kept.",
        **PLAYBOOK.schema(),
    }


def _without_errors(document: Any, found: list[PlaybookProblem], name: str) -> Playbook:
    if errors := [printable(str(problem), multiline=True) for problem in found if problem.level == "error"]:
        raise PlaybookError(printable(name, multiline=True), errors)
    metadata = document["metadata"]
    return Playbook(
        id=metadata["id"],
        version=metadata["version"],
        checks=tuple(map(_check, document["checks"])),
        variance=_variance(document.get("variance_handling", {})),
        document=document,
    )


def _check(document: Mapping[str, Any]) -> Check:
    method, evidence = document["detection_method"], document.get("evidence_requirements", {})
    required = evidence.get("require_citations", False)
    return Check(
        id=document["id"],
        severity=Severity(document["severity"]),
        question=document["question"],
        type=method["type"],
        instructions=method.get("instructions", ""),
        patterns=(*method.get("pattern_hints", ()), *method.get("patterns", ())),
        on_match=Result(method.get("on_match", Result.FAIL)),
        require_citations=required,
        min_citations_per_fail=int(evidence.get("min_citations_per_fail", 1)) if required else 0,
    )


def _variance(document: Mapping[str, Any]) -> Variance:
    standard, thresholds = Variance(), document.get("thresholds", {})
    ok, warn = number_in(thresholds, OK, "ok"), number_in(thresholds, WARN, "warn")
    return Variance(
        min_runs=int(document.get("min_runs", standard.min_runs)),
        aggregation=Aggregation(document.get("aggregation", standard.aggregation)),
        ok=standard.ok if ok is None else ok,
        warn=standard.warn if warn is None else warn,
    )
