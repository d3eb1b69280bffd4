"""Problems that no single field shows: parts of a playbook that do not go together, or have no effect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.engine.text.messages import excerpt, nearest
from salvo.playbooks.enums import DERIVED, Result
from salvo.playbooks.playbook.definition import Variance
from salvo.playbooks.playbook.document import PlaybookProblem, error, json_path, warning
from salvo.playbooks.playbook.schema import ARTIFACT_TYPES, MAX_CHECKS

_DATE_LENGTH = 60
"""Characters of an invalid date in a message."""


def contradictions(document: Any) -> Iterator[PlaybookProblem]:
    """Yield every problem. Parts of the wrong type are skipped, because they are reported already."""
    metadata, contract = _object(document, "metadata"), _object(document, "input_contract")
    for name in ("created_at", "updated_at"):
        if (date := _text(metadata, name)) and not _is_date(date):
            yield warning(
                ("metadata", name), f"is not a date: {excerpt(date, _DATE_LENGTH)}. Write it as in 2026-02-07"
            )
    if (artifact := _text(contract, "artifact_type")) and artifact not in ARTIFACT_TYPES:
        near = nearest(artifact, ARTIFACT_TYPES)
        suggestion = f'; did you mean "{near}"?' if near else ""
        yield warning(
            ("input_contract", "artifact_type"),
            f"is not one of the specification's {', '.join(ARTIFACT_TYPES)}{suggestion}",
        )
    if _value(document, "assumptions") == []:
        yield warning(("assumptions",), "must not be empty")
    if _object(document, "risk_posture").get("primary_risks") == []:
        yield warning(("risk_posture", "primary_risks"), "must not be empty")
    yield from _threshold_problems(_object(document, "variance_handling").get("thresholds"))
    yield from _checks_problems(document)


def _threshold_problems(thresholds: Any) -> Iterator[PlaybookProblem]:
    if not isinstance(thresholds, dict):
        return
    path: FieldPath = ("variance_handling", "thresholds")
    default = Variance()
    ok_name, warn_name = "consistency_score_min_ok", "consistency_score_warn"
    for name, short, value in ((ok_name, "ok", default.ok), (warn_name, "warn", default.warn)):
        if name in thresholds and short in thresholds:
            yield error((*path, short), f"is the same as {name}: give one of the two")
        elif name not in thresholds and short not in thresholds:
            yield warning((*path, name), f"is missing; {value:g} is used")
    ok, warn = _number(thresholds, ok_name, "ok"), _number(thresholds, warn_name, "warn")
    ok, warn = default.ok if ok is None else ok, default.warn if warn is None else warn
    if ok < warn <= 1:
        yield error(path, f"the warning threshold, {warn:g}, is above the threshold for stable findings, {ok:g}")


def _checks_problems(document: Any) -> Iterator[PlaybookProblem]:
    checks = document.get("checks") if isinstance(document, dict) else None
    if not isinstance(checks, list):
        return
    first: dict[str, int] = {}
    for index, check in enumerate(islice(checks, MAX_CHECKS)):
        name = _text(check, "id")
        if name and first.setdefault(name, index) != index:
            yield error(("checks", index, "id"), f"is already the id of {json_path(('checks', first[name]))}")
        if isinstance(check, dict):
            yield from _check_problems(check, ("checks", index), derived=name in DERIVED)
    if first and DERIVED.issuperset(first):
        yield error(("checks",), "leaves nothing to evaluate: every check in it is derived from the results of others")


def _check_problems(check: Mapping[str, Any], path: FieldPath, *, derived: bool) -> Iterator[PlaybookProblem]:
    method = check.get("detection_method")
    if isinstance(method, dict) and not derived:
        yield from _method_problems(method, (*path, "detection_method"))
    states = check.get("result_states")
    absent = [result for result in Result if isinstance(states, list) and result not in states]
    if 0 < len(absent) < len(Result):
        yield warning((*path, "result_states"), f"lacks {' and '.join(absent)}, which can be the result all the same")
    evidence = _object(check, "evidence_requirements")
    if (citation_type := _text(evidence, "citation_type")) and citation_type != "output_spans":
        yield warning(
            (*path, "evidence_requirements", "citation_type"),
            "only output_spans is supported: quotes are looked up in the AI output only",
        )
    if evidence.get("require_citations") is False and _number(evidence, "min_citations_per_fail"):
        yield warning(
            (*path, "evidence_requirements", "min_citations_per_fail"), "has no effect with require_citations: false"
        )


def _method_problems(method: Mapping[str, Any], path: FieldPath) -> Iterator[PlaybookProblem]:
    """A check with instructions is decided by the evaluator, whatever its type; one without by its patterns."""
    kind, has_instructions = method.get("type"), "instructions" in method
    has_patterns = any(method.get(name) for name in ("pattern_hints", "patterns"))
    if not has_instructions and kind == "semantic":
        yield error((*path, "instructions"), "is missing: a semantic check must tell the evaluator how to decide")
    elif not has_instructions and not has_patterns:
        yield error(path, "has neither instructions nor patterns: nothing can decide this check")
    elif not has_instructions:
        if kind == "hybrid":
            yield warning((*path, "instructions"), "is missing: the patterns alone decide this check")
        if "on_match" not in method:
            yield warning((*path, "on_match"), "is missing: the check fails if a pattern occurs. Write fail or pass")
    else:
        yield from _unused_fields(method, path, has_patterns=has_patterns)


def _unused_fields(method: Mapping[str, Any], path: FieldPath, *, has_patterns: bool) -> Iterator[PlaybookProblem]:
    if method.get("type") == "pattern":
        hints = "; the patterns are hints to it" if has_patterns else ""
        yield warning(
            (*path, "type"), f"is pattern, but there are instructions: an evaluator decides this check{hints}"
        )
    if method.get("type") == "hybrid" and not has_patterns:
        yield warning((*path, "pattern_hints"), "is missing: a hybrid check without patterns is a semantic one")
    if "on_match" in method:
        yield warning((*path, "on_match"), "has no effect: there are instructions, so an evaluator decides this check")


def _is_date(text: str) -> bool:
    """Return whether the text is a date, with or without a time."""
    if not re.match(r"\d{4}-\d{2}-\d{2}(?:[T ]|\Z)", text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _value(document: Any, name: str) -> Any:
    return document.get(name) if isinstance(document, dict) else None


def _object(document: Any, name: str) -> Mapping[str, Any]:
    value = _value(document, name)
    return value if isinstance(value, dict) else {}


def _text(document: Any, name: str) -> str:
    value = _value(document, name)
    return value if isinstance(value, str) else ""


def _number(document: Mapping[str, Any], *names: str) -> float | None:
    """Return the number of the first of these fields that has one."""
    values = (document.get(name) for name in names)
    return next((value for value in values if isinstance(value, int | float) and not isinstance(value, bool)), None)
