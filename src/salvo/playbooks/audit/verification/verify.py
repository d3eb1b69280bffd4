"""Verify that a stored evaluation or a report file is unaltered. Pure.

Everything is checked against the hashes in the audit log. Without a log, a report is checked against its own hash and
its signature.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from salvo.engine.jsonio import json_codec, surrogates
from salvo.engine.jsonio.canonical import sha256
from salvo.engine.jsonio.json_diff import differences
from salvo.engine.text.formatting import pluralize
from salvo.errors import InputError
from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.integrity import canonical_report, report_hash
from salvo.playbooks.audit.text_hashing import is_withheld, withheld
from salvo.playbooks.audit.verification.finding import (
    VerificationFinding,
    altered,
    holds,
    join_first,
    unknown,
)
from salvo.playbooks.evaluate.inputs import NAMES, Inputs
from salvo.playbooks.playbook.definition import Playbook, Variance
from salvo.playbooks.report.evidence.quotes import is_same_passage
from salvo.playbooks.store.records import RawEvaluation, RawVote, State


def stored(report_id: str, evaluation: RawEvaluation | None, log: Sequence[AuditEntry]) -> list[VerificationFinding]:
    """Verify an evaluation in the database against the whole audit log."""
    entry = _find_entry(report_id, log)
    if evaluation is None:
        return [_check_deletion(report_id, log), chain(log)]
    if entry is None:
        return [_check_unlogged(evaluation), chain(log)]
    if not entry.intact:
        message = f"The audit log's entry for {report_id} was altered: the report cannot be checked against it."
        return [unknown("report", message), chain(log)]
    document = _parse_object(evaluation.report)
    inputs = _inputs(evaluation.inputs)
    return [
        _check_playbook(evaluation, entry),
        _check_inputs(evaluation, inputs, entry),
        _check_report(evaluation, document, entry),
        _check_votes(evaluation, entry),
        _check_history(evaluation, document),
        _check_evidence(document, inputs),
        chain(log),
    ]


def against_database(
    document: Mapping[str, Any], evaluation: RawEvaluation | None, log: Sequence[AuditEntry]
) -> list[VerificationFinding]:
    """Verify the report of a file against the database, if the database has the report."""
    entry = _find_entry(document["report_id"], log)
    if entry is None:
        return [not_in_database()]
    return [_check_against_log(document, evaluation, entry), chain(log)]


def not_in_database() -> VerificationFinding:
    return unknown("database", "This database does not have the report.")


def database_unavailable(reason: str) -> VerificationFinding:
    return unknown("database", f"The database could not be read. {reason}")


def chain(log: Sequence[AuditEntry], head: str | None = None) -> VerificationFinding:
    """Verify the audit log itself; `head` is the hash of an entry that was kept elsewhere."""
    if chain_break := audit_log.check(log):
        return altered("audit log", chain_break)
    if head is not None and head not in {entry.hash for entry in log}:
        return altered("audit log", f"The audit log was truncated or replaced: {head} is not in it.")
    if not log:
        return unknown("audit log", "The audit log is empty.")
    head_note = "" if head is None else " The hash that you kept is in it."
    entries = pluralize(len(log), "entry", "entries")
    return holds(
        "audit log", f"The audit log is consistent: {entries}, each with the hash of the previous one.{head_note}"
    )


def _find_entry(report_id: str, log: Sequence[AuditEntry]) -> AuditEntry | None:
    return next((entry for entry in log if entry.action == audit_log.EVALUATION and entry.report_id == report_id), None)


def _check_deletion(report_id: str, log: Sequence[AuditEntry]) -> VerificationFinding:
    for entry in log:
        if entry.action == audit_log.DELETION and entry.report_id == report_id:
            message = f"The evaluation {report_id} was deleted on {entry.at}, according to the audit log."
            return unknown("evaluation", message)
    return altered("evaluation", f"The evaluation {report_id} was removed, but the audit log records no deletion.")


def _check_unlogged(evaluation: RawEvaluation) -> VerificationFinding:
    if evaluation.state == State.DONE:
        return altered("report", f"The audit log has no entry for the report {evaluation.id}.")
    if evaluation.report is not None:
        return altered("report", f"The report {evaluation.id} was inserted: the audit log has no entry for it.")
    return unknown("report", f"The evaluation {evaluation.id} has no report yet: it is {evaluation.state}.")


def _check_playbook(evaluation: RawEvaluation, entry: AuditEntry) -> VerificationFinding:
    logged = entry.content.get("playbook_logic_hash")
    try:
        computed = Playbook("", "", (), Variance(), _parse_object(evaluation.playbook) or {}).logic_hash
    except (KeyError, AttributeError, InputError):
        return altered("playbook", "The playbook was altered after it was stored: it is no longer a playbook.")
    if computed != logged or evaluation.playbook_hash != logged:
        return altered(
            "playbook",
            f"The playbook was altered after it was stored: its hash is {computed}, the audit log says {logged}.",
        )
    return holds("playbook", f"The playbook is the one that was used: {computed}.")


def _check_inputs(evaluation: RawEvaluation, inputs: Inputs | None, entry: AuditEntry) -> VerificationFinding:
    logged = entry.content.get("inputs_fingerprint")
    if evaluation.inputs is None and not evaluation.stored_in_full:
        return unknown("inputs", f"The texts are not stored, only their fingerprint: {logged}.")
    if inputs is None:
        return altered("inputs", "The texts were removed or damaged after they were stored.")
    if inputs.fingerprint != logged:
        return altered(
            "inputs",
            f"The texts were altered after they were stored{_suspects(inputs)}: "
            f"their fingerprint is {inputs.fingerprint}, the audit log says {logged}.",
        )
    if evaluation.inputs_fingerprint != logged:
        return altered("inputs", f"The fingerprint of the texts was altered after it was stored: it was {logged}.")
    return holds("inputs", f"The texts are those that were evaluated: {logged}.")


def _suspects(inputs: Inputs) -> str:
    """Return which texts may be altered: those that differ from the original bytes."""
    raw_hashes = inputs.raw_hashes if isinstance(inputs.raw_hashes, dict) else {}
    differing = [
        NAMES[name]
        for name, text in inputs.texts.items()
        if isinstance(text, str) and raw_hashes.get(name) != sha256(text.encode("utf-8", "surrogatepass"))
    ]
    return f" ({' or '.join(differing)})" if differing else ""


def _check_report(
    evaluation: RawEvaluation, document: Mapping[str, Any] | None, entry: AuditEntry
) -> VerificationFinding:
    logged = _logged_hashes(entry)[-1]
    computed = _computed_hash(document)
    if computed is None:
        return altered("report", "The report was removed or damaged after it was stored.")
    if computed == logged and evaluation.report_hash == logged:
        return holds("report", f"The report is unchanged: {logged}.")
    parts = _known_differences(_normal(document or {}), evaluation.votes, entry)
    changes = join_first(parts) or f"its hash is {computed}, the audit log says {logged}. The changed part is unknown"
    return altered("report", f"The report was altered after it was stored: {changes}.")


def _computed_hash(document: Mapping[str, Any] | None) -> str | None:
    """Return the hash of a report; None if it is so damaged that it has none."""
    try:
        return report_hash(document or {})
    except (KeyError, TypeError, ValueError, InputError):
        return None


def _logged_hashes(entry: AuditEntry) -> list[str]:
    """Return the report's hash, and that of the stored report if it differs."""
    reference = entry.content.get("byop_report", {})
    return [reference[name] for name in ("report_hash", "stored_without_texts") if name in reference] or [""]


def _known_differences(document: Mapping[str, Any], votes: Sequence[RawVote], entry: AuditEntry) -> Iterator[str]:
    """Return the differences between the report and what the log and the votes record."""
    log = entry.content
    expected = {
        "playbook_id": log.get("playbook_id"),
        "playbook_version": log.get("playbook_version"),
        "timestamp": log.get("timestamp"),
        "summary.overall_status": _at(log, "byop_report.overall_status"),
        "integrity.playbook_logic_hash": log.get("playbook_logic_hash"),
        "integrity.inputs_fingerprint": log.get("inputs_fingerprint"),
    }
    for path, value in expected.items():
        if (actual := _at(document, path)) != value:
            yield f"{path} is {actual}, the audit log says {value}"
    for part in differences(log.get("model_fingerprint"), _at(document, "model_fingerprints"), "model_fingerprints"):
        yield part.text("the audit log says", "it is")
    logged = _logged_runs(entry)
    stored_votes = {(vote.check_id, vote.run): _parse_object(vote.vote) or {} for vote in votes}
    for check in _objects(document.get("check_results")):
        for run in _objects(check.get("raw_runs")):
            number = run.get("run")
            if not isinstance(number, int):
                yield f"a run of {check.get('check_id')} has no number"
                continue
            place = (str(check.get("check_id")), number)
            answer = stored_votes.get(place, {}).get("ballot")
            yield from _run_differences(place, run, logged.get(place), answer if isinstance(answer, dict) else {})


def _run_differences(
    place: tuple[str, int], run: Mapping[str, Any], logged: Mapping[str, Any] | None, answer: Mapping[str, Any]
) -> Iterator[str]:
    check, number = place
    for name in ("result", "valid"):
        if logged is not None and run.get(name) != logged.get(name):
            yield f"{name} of run {number} of {check} is {run.get(name)}, the audit log says {logged.get(name)}"
    for name, stored_name in (("confidence", "confidence"), ("raw_answer", "raw")):
        if stored_name in answer and run.get(name) != answer[stored_name]:
            yield f"{name} of run {number} of {check} differs from its vote"


def _check_votes(evaluation: RawEvaluation, entry: AuditEntry) -> VerificationFinding:
    logged = _logged_runs(entry)
    votes = {(vote.check_id, vote.run): vote for vote in evaluation.votes}
    changes = [
        *(f"{_run(place)} was removed" for place in logged if place not in votes),
        *(f"{_run(place)} was added" for place in votes if place not in logged),
        *filter(None, (_vote_change(vote, logged[place]) for place, vote in votes.items() if place in logged)),
    ]
    if changes:
        return altered("votes", f"Votes were altered after they were stored: {join_first(changes)}.")
    return holds("votes", f"All {len(votes)} votes and their recorded calls are unchanged.")


def _logged_runs(entry: AuditEntry) -> dict[tuple[str, int], Mapping[str, Any]]:
    return {(str(run.get("check_id")), run.get("run", 0)): run for run in _objects(entry.content.get("raw_runs"))}


def _vote_change(vote: RawVote, logged: Mapping[str, Any]) -> str | None:
    place = _run((vote.check_id, vote.run))
    if (vote.result, vote.valid) != (logged.get("result"), logged.get("valid")):
        return f"{place} is {vote.result}, the audit log says {logged.get('result')}"
    if sha256(vote.vote.encode()) != logged.get("sha256"):
        return f"{place} does not match its hash in the audit log"
    if sha256(vote.exchanges.encode()) != logged.get("exchanges_sha256"):
        return f"the recorded calls of {place} do not match their hash in the audit log"
    return None


def _run(place: tuple[str, int]) -> str:
    return f"run {place[1]} of {place[0]}"


def _check_history(evaluation: RawEvaluation, document: Mapping[str, Any] | None) -> VerificationFinding:
    """Verify the columns that history and drift read instead of the report."""
    report = document or {}
    expected = {
        "status": _at(report, "summary.overall_status"),
        "consistency": _at(report, "variance_summary.consistency_score") if _is_measured(report) else None,
        "incomplete": report.get("incomplete"),
        "outcomes": {
            str(check.get("check_id")): check.get("result") for check in _objects(report.get("check_results"))
        },
    }
    columns = {
        "status": evaluation.status,
        "consistency": evaluation.consistency,
        "incomplete": evaluation.incomplete,
        "outcomes": _parse_object(evaluation.outcomes),
    }
    changes = [part.text("the report says", "the history says") for part in differences(expected, columns)]
    if changes:
        return altered("history", f"The history differs from the report: {join_first(changes)}.")
    return holds("history", "The history agrees with the report.")


def _is_measured(report: Mapping[str, Any]) -> bool:
    """Return whether some check has votes to compare. A full report without them has the score 0, the history none."""
    return any(check.get("per_check_consistency") is not None for check in _objects(report.get("check_results")))


def _check_evidence(document: Mapping[str, Any] | None, inputs: Inputs | None) -> VerificationFinding:
    if inputs is None:
        return unknown("evidence", "The quotes cannot be checked: the text is not stored.")
    quotes = list(_quotes(document or {}))
    misplaced = [
        f"{path} is not at {start} to {end}"
        for path, span, start, end in quotes
        if not _matches(span, inputs.ai_output[start:end])
    ]
    misplaced += [
        f"{path} does not occur at {start} to {end}"
        for path, span, start, end in _other_places(document or {})
        if not is_withheld(span) and not is_same_passage(span, inputs.ai_output[start:end])
    ]
    if misplaced:
        return altered("evidence", f"Quotes are not in the text where the report says: {join_first(misplaced)}.")
    return holds("evidence", f"All {len(quotes)} located quotes are in the text where the report says.")


def _quotes(document: Any) -> Iterator[tuple[str, str, int, int]]:
    """Return every text with a location: in citations, runs, dissent, pattern hits and findings."""
    for path, part in _objects_with_paths(document):
        place = part.get("location")
        text = next((part[name] for name in ("span", "text", "area") if isinstance(part.get(name), str)), None)
        if isinstance(place, dict) and text is not None:
            start, end = place.get("start", 0), place.get("end", 0)
            is_span = isinstance(start, int) and isinstance(end, int)
            yield path, text, start if is_span else 0, end if is_span else 0


def _other_places(document: Any) -> Iterator[tuple[str, str, int, int]]:
    """Return every further place of a quote that occurs several times."""
    for path, part in _objects_with_paths(document):
        for place in part.get("other_locations", ()):
            yield path, part.get("span", ""), place.get("start", 0), place.get("end", 0)


def _objects_with_paths(part: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Return every object in a document, with its path."""
    if isinstance(part, dict):
        yield path, part
        for name, below in part.items():
            yield from _objects_with_paths(below, f"{path}.{name}" if path else name)
    elif isinstance(part, list):
        for number, below in enumerate(part):
            yield from _objects_with_paths(below, f"{path}[{number}]")


def _matches(span: str, text: str) -> bool:
    return span == (withheld(text) if is_withheld(span) else text)


def _check_against_log(
    document: Mapping[str, Any], evaluation: RawEvaluation | None, entry: AuditEntry
) -> VerificationFinding:
    computed = report_hash(document)
    if computed in _logged_hashes(entry):
        return holds("database", f"The audit log has had this report, with this hash, since {entry.at}.")
    original = _parse_object(evaluation.report) if evaluation is not None else None
    if original is not None and _computed_hash(original) == _logged_hashes(entry)[0]:
        parts: Iterator[str] = (
            part.text("the database has", "the file has")
            for part in differences(_normal(original), _normal(document))
            if part.path != "integrity.report_hash"
        )
    else:
        parts = _known_differences(_normal(document), (), entry)
    hashes = f"its hash is {computed}, the audit log says {_logged_hashes(entry)[0]}"
    changes = join_first(parts) or hashes
    return altered("database", f"The report in the file differs from the stored one: {changes}.")


def _normal(document: Mapping[str, Any]) -> Any:
    """Normalise numbers: 1.0 and 1 are the same in canonical JSON, and so for a hash."""
    normal = json.loads(canonical_report(document))
    return normal if _at(document, "integrity.report_hash_method") is None else surrogates.unescape_in(normal)


def _inputs(text: str | None) -> Inputs | None:
    document = _parse_object(text)
    if document is None or not isinstance(document.get("ai_output"), str):
        return None
    return Inputs.from_stored(document)


def _parse_object(text: str | None) -> dict[str, Any] | None:
    """Return the JSON object, or None if the text is not one."""
    try:
        document = json_codec.loads(text or "")
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _objects(values: Any) -> list[dict[str, Any]]:
    """Return the JSON objects of a list; none if it is no list, because altered content may be anything."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _at(document: Any, path: str) -> Any:
    for name in path.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document
