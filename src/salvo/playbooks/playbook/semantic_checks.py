"""What each part of a playbook may say, but not beside what another part says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from salvo.engine.text.messages import nearest, shown
from salvo.playbooks.enums import DERIVED
from salvo.playbooks.playbook.parts import number_in, object_in, text_in
from salvo.playbooks.playbook.problems import PlaybookProblem, Steps, error, json_path, warning
from salvo.playbooks.playbook.schema import Variance
from salvo.playbooks.playbook.specification import ARTIFACT_TYPES, CHECKS, OK, RESULTS, WARN


def contradictions(document: Any) -> Iterator[PlaybookProblem]:
    """Parts that do not fit by themselves are passed over: that was said of them already."""
    metadata, contract = object_in(document, "metadata"), object_in(document, "input_contract")
    for name in ("created_at", "updated_at"):
        if text_in(metadata, name) and not _is_date(metadata[name]):
            yield warning(("metadata", name), f"is no date: {shown(metadata[name], 60)}. Write it as in 2026-02-07")
    if (artifact := text_in(contract, "artifact_type")) and artifact not in ARTIFACT_TYPES:
        near = nearest(artifact, ARTIFACT_TYPES)
        meant = f'; did you mean "{near}"?' if near else ""
        yield warning(
            ("input_contract", "artifact_type"),
            f"is not one of the specification's {', '.join(ARTIFACT_TYPES)}{meant}",
        )
    yield from _threshold_problems(object_in(document, "variance_handling").get("thresholds"))
    yield from _checks_problems(document)


def _threshold_problems(thresholds: Any) -> Iterator[PlaybookProblem]:
    if not isinstance(thresholds, dict):
        return
    at: Steps = ("variance_handling", "thresholds")
    for name, short in ((OK, "ok"), (WARN, "warn")):
        if name in thresholds and short in thresholds:
            yield error((*at, short), f"is the same as {name}: give one of the two")
        elif name not in thresholds and short not in thresholds:
            yield warning((*at, name), f"is missing; {getattr(Variance(), short):g} is taken")
    ok, warn = number_in(thresholds, OK, "ok"), number_in(thresholds, WARN, "warn")
    ok, warn = Variance().ok if ok is None else ok, Variance().warn if warn is None else warn
    if ok < warn <= 1:
        yield error(at, f"the consistency below which to warn, {warn:g}, is above the one that is well, {ok:g}")


def _checks_problems(document: Any) -> Iterator[PlaybookProblem]:
    checks = document.get("checks") if isinstance(document, dict) else None
    if not isinstance(checks, list):
        return
    first: dict[str, int] = {}
    for place, check in enumerate(islice(checks, CHECKS)):
        name = text_in(check, "id")
        if name and first.setdefault(name, place) != place:
            yield error(("checks", place, "id"), f"is the id of {json_path(('checks', first[name]))} already")
        if isinstance(check, dict):
            yield from _check_problems(check, ("checks", place), derived=name in DERIVED)
    if first and DERIVED.issuperset(first):
        yield error(("checks",), "leaves nothing to evaluate: every check in it is derived from the results of others")


def _check_problems(check: Mapping[str, Any], at: Steps, *, derived: bool) -> Iterator[PlaybookProblem]:
    method = check.get("detection_method")
    if isinstance(method, dict) and not derived:
        yield from _method_problems(method, (*at, "detection_method"))
    states = check.get("result_states")
    absent = [result for result in RESULTS if isinstance(states, list) and result not in states]
    if 0 < len(absent) < len(RESULTS):
        yield warning((*at, "result_states"), f"lacks {' and '.join(absent)}, which can be the result all the same")
    evidence = object_in(check, "evidence_requirements")
    if (quoted := text_in(evidence, "citation_type")) and quoted != "output_spans":
        yield warning(
            (*at, "evidence_requirements", "citation_type"),
            "only output_spans are known: quotes are looked up in the AI output and nowhere else",
        )
    if evidence.get("require_citations") is False and number_in(evidence, "min_citations_per_fail"):
        yield warning(
            (*at, "evidence_requirements", "min_citations_per_fail"),
            "has no effect beside require_citations: false",
        )


def _method_problems(method: Mapping[str, Any], at: Steps) -> Iterator[PlaybookProblem]:
    """A check with instructions is put to the evaluator, whatever its type; one without is decided by its patterns."""
    kind, instructed = method.get("type"), "instructions" in method
    hinted = any(method.get(name) for name in ("pattern_hints", "patterns"))
    if not instructed and kind == "semantic":
        yield error((*at, "instructions"), "is missing: the evaluator must be told how to decide a semantic check")
    elif not instructed and not hinted:
        yield error(at, "has neither instructions nor patterns: nothing can decide this check")
    elif not instructed:
        if kind == "hybrid":
            yield warning((*at, "instructions"), "is missing: the patterns alone decide this check")
        if "on_match" not in method:
            yield warning((*at, "on_match"), "is missing: where a pattern occurs, the check fails. Say fail or pass")
    else:
        yield from _superfluous(method, at, hinted=hinted)


def _superfluous(method: Mapping[str, Any], at: Steps, *, hinted: bool) -> Iterator[PlaybookProblem]:
    if method.get("type") == "pattern":
        hints = "; the patterns are hints to it" if hinted else ""
        yield warning((*at, "type"), f"is pattern, but there are instructions: an evaluator decides this check{hints}")
    if method.get("type") == "hybrid" and not hinted:
        yield warning((*at, "pattern_hints"), "is missing: a hybrid check without patterns is a semantic one")
    if "on_match" in method:
        yield warning((*at, "on_match"), "has no effect: there are instructions, so an evaluator decides this check")


def _is_date(text: str) -> bool:
    """A day, or a moment of one."""
    if not re.match(r"\d{4}-\d{2}-\d{2}(?:[T ]|\Z)", text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
