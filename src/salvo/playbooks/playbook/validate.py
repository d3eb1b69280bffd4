"""Read a playbook and report every problem of its file.

The specification names more fields than an evaluation needs. A problem is an error if the evaluation could not be
done, or not as the document says. It is a warning if the specification asks for something that an evaluation can do
without, or if something is likely a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from salvo.engine.text.messages import excerpt, nearest
from salvo.engine.text.unicode_escape import printable
from salvo.errors import PlaybookError
from salvo.playbooks.enums import DERIVED, Result
from salvo.playbooks.playbook.definition import ARTIFACT_TYPES, INPUTS, UNSUPPORTED_INPUT, Playbook, Variance
from salvo.playbooks.playbook.document import (
    EXAMPLES,
    MAX_CHECKS,
    MAX_PROBLEMS,
    PlaybookProblem,
    error,
    parse,
    uncanonical,
    warning,
)

if TYPE_CHECKING:
    from salvo.engine.jsonio.pydantic_errors import FieldPath

__all__ = ["PlaybookProblem", "examine", "playbook", "problems", "read", "stored_playbook"]

_EXCERPT_LENGTH = 60
"""Characters of an invalid date or name in a message."""


def read(content: bytes, name: str) -> Playbook:
    """Return the playbook of a file; raise PlaybookError with all its errors if there are any."""
    return playbook_without_errors(*examine(content), name)


def playbook(document: Any, name: str = "This") -> Playbook:
    """Return the playbook of a parsed document; raise PlaybookError with all its errors if there are any."""
    return playbook_without_errors(document, problems(document), name)


def stored_playbook(document: Any) -> Playbook:
    """Return the playbook of a stored evaluation. What earlier versions accepted is not refused afterwards."""
    refused_later = set(_required_input_problems(document))
    remaining = [
        problem for problem in problems(document) if problem not in refused_later and not _about_examples(problem)
    ]
    return playbook_without_errors(document, remaining, "The stored playbook")


def _about_examples(problem: PlaybookProblem) -> bool:
    """Nothing of an evaluation depends on the examples of a check."""
    return f".{EXAMPLES}" in problem.path


def examine(content: bytes) -> tuple[Any, list[PlaybookProblem]]:
    """Return the document of a file, None if it cannot be read, and every problem of it."""
    document, unreadable = parse(content)
    if document is None and unreadable:
        return None, unreadable
    return document, [*unreadable, *problems(document)]


def problems(document: Any) -> list[PlaybookProblem]:
    """Return every problem of a document: errors first, each level in the order of the specification."""
    # Pydantic takes 0.1 s to import. Commands that only use valid playbooks do without it.
    from salvo.playbooks.playbook.schema_problems import absent_fields, invalid_fields

    without_form = list(islice(uncanonical(document), MAX_PROBLEMS))
    known_paths = {problem.path for problem in without_form}
    all_problems = [
        *without_form,
        *(problem for problem in invalid_fields(document) if problem.path not in known_paths),
        *absent_fields(document),
        *_contradictions(document),
    ]
    return sorted(dict.fromkeys(all_problems), key=lambda problem: problem.level)


def _contradictions(document: Any) -> Iterator[PlaybookProblem]:
    """Yield what no single field shows: parts that do not go together, or have no effect.

    Parts of the wrong type are skipped, because they are reported already.
    """
    metadata, contract = _object(document, "metadata"), _object(document, "input_contract")
    for name in ("created_at", "updated_at"):
        if (date := _text(metadata, name)) and not _is_date(date):
            yield warning(
                ("metadata", name), f"is not a date: {excerpt(date, _EXCERPT_LENGTH)}. Write it as in 2026-02-07"
            )
    if (artifact := _text(contract, "artifact_type")) and artifact not in ARTIFACT_TYPES:
        near = nearest(artifact, ARTIFACT_TYPES)
        suggestion = f'; did you mean "{near}"?' if near else ""
        yield warning(
            ("input_contract", "artifact_type"),
            f"is not one of the specification's {', '.join(ARTIFACT_TYPES)}{suggestion}",
        )
    yield from _required_input_problems(document)
    yield from _optional_input_problems(contract)
    if _value(document, "assumptions") == []:
        yield warning(("assumptions",), "must not be empty")
    if _object(document, "risk_posture").get("primary_risks") == []:
        yield warning(("risk_posture", "primary_risks"), "must not be empty")
    yield from _threshold_problems(_object(document, "variance_handling").get("thresholds"))
    yield from _checks_problems(document)


def _required_input_problems(document: Any) -> Iterator[PlaybookProblem]:
    """An evaluation cannot be done as the playbook says if it requires something that nobody can give."""
    for index, name in _names(_object(document, "input_contract"), "required_inputs"):
        if name == UNSUPPORTED_INPUT:
            message = "an evaluation has no tool trace, so it cannot be required; it can be an optional input"
            yield error(("input_contract", "required_inputs", index), message)
        elif name not in INPUTS:
            yield error(("input_contract", "required_inputs", index), _unknown_input(name))


def _optional_input_problems(contract: Mapping[str, Any]) -> Iterator[PlaybookProblem]:
    for index, name in _names(contract, "optional_inputs"):
        if name not in INPUTS and name != UNSUPPORTED_INPUT:
            yield warning(("input_contract", "optional_inputs", index), _unknown_input(name))


def _names(contract: Mapping[str, Any], field: str) -> Iterator[tuple[int, str]]:
    names = contract.get(field)
    for index, name in enumerate(islice(names, MAX_PROBLEMS) if isinstance(names, list) else ()):
        if isinstance(name, str) and name.strip():
            yield index, name


def _unknown_input(name: str) -> str:
    near = nearest(name, INPUTS)
    suggestion = f'; did you mean "{near}"?' if near else ""
    return f"is no input of an evaluation: {excerpt(name, _EXCERPT_LENGTH)}. There are {', '.join(INPUTS)}{suggestion}"


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
            yield error(("checks", index, "id"), f"is already the id of check {first[name] + 1}")
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
    if isinstance(method, dict) and "instructions" not in method and method.get("on_match") != "pass" and not derived:
        for section, place in ((check, path), (evidence, (*path, "evidence_requirements"))):
            if section.get("evidence_on_pass") == "required":
                message = "leaves no way to pass: this check passes if no pattern occurs, so there is nothing to quote"
                yield warning((*place, "evidence_on_pass"), message)


def _method_problems(method: Mapping[str, Any], path: FieldPath) -> Iterator[PlaybookProblem]:
    """A check with instructions is decided by the evaluator, whatever its type; one without by its patterns."""
    kind = method.get("type")
    has_patterns = any(method.get(name) for name in ("pattern_hints", "patterns"))
    if "instructions" in method:
        if kind == "pattern":
            hints = "; the patterns are hints to it" if has_patterns else ""
            message = f"is pattern, but there are instructions: an evaluator decides this check{hints}"
            yield warning((*path, "type"), message)
        if kind == "hybrid" and not has_patterns:
            yield warning((*path, "pattern_hints"), "is missing: a hybrid check without patterns is a semantic one")
        if "on_match" in method:
            message = "has no effect: there are instructions, so an evaluator decides this check"
            yield warning((*path, "on_match"), message)
    elif kind == "semantic":
        yield error((*path, "instructions"), "is missing: a semantic check must tell the evaluator how to decide")
    elif not has_patterns:
        yield error(path, "has neither instructions nor patterns: nothing can decide this check")
    else:
        if kind == "hybrid":
            yield warning((*path, "instructions"), "is missing: the patterns alone decide this check")
        if "on_match" not in method:
            yield warning((*path, "on_match"), "is missing: the check fails if a pattern occurs. Write fail or pass")


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


def playbook_without_errors(document: Any, problems: list[PlaybookProblem], name: str) -> Playbook:
    if errors := [printable(str(problem), multiline=True) for problem in problems if problem.level == "error"]:
        raise PlaybookError(printable(name, multiline=True), errors)
    return Playbook.from_document(document)
