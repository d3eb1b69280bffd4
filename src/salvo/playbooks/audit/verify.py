"""Is what is stored, or what stands in a file, still what was made? Pure: takes what was read, gives sentences.

The audit log is the measure: it says which hashes everything had. A report's own hash and signature are the measure
where there is no log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import sha256
from salvo.engine.jsonio.json_diff import differences
from salvo.engine.text.formatting import pluralize
from salvo.errors import InputError
from salvo.playbooks.audit import audit_log, signing
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.integrity import canonical, report_hash
from salvo.playbooks.audit.text_hashing import is_withheld, withheld
from salvo.playbooks.evaluate.inputs import NAMES, Inputs
from salvo.playbooks.playbook.definition import Playbook, Variance
from salvo.playbooks.report.report import Signature, read_report
from salvo.playbooks.store.records import RawEvaluation, RawVote, State

_SHOWN = 5
"""Differences that a sentence names."""


class VerificationState(StrEnum):
    HOLDS = "holds"
    ALTERED = "altered"
    UNKNOWN = "unknown"
    """It cannot be told: what it takes is not there."""


@dataclass(frozen=True, slots=True)
class VerificationFinding:
    part: str
    standing: VerificationState
    message: str


def stored(report_id: str, found: RawEvaluation | None, log: Sequence[AuditEntry]) -> list[VerificationFinding]:
    """An evaluation in the database, against the whole audit log."""
    entry = _entry_of(report_id, log)
    if found is None:
        return [_gone(report_id, log), chain(log)]
    if entry is None:
        return [_unlogged(found), chain(log)]
    if not entry.intact:
        said = f"The audit log's own entry for {report_id} was altered: there is nothing to measure the report by."
        return [VerificationFinding("report", VerificationState.UNKNOWN, said), chain(log)]
    document = _object(found.report)
    inputs = _inputs(found.inputs)
    return [
        _playbook(found, entry),
        _texts(found, inputs, entry),
        _report(found, document, entry),
        _votes(found, entry),
        _listed(found, document),
        _evidence(document, inputs),
        chain(log),
    ]


def file(content: bytes, name: str, *, public_key: str | None = None) -> list[VerificationFinding]:
    """A report's file by itself, without any database. InputError where it is no report."""
    signature = read_report(content, name).signature
    document = json_codec.loads(content)["byop_report"]
    return [_own_hash(document), _signature(document, signature, public_key)]


def against_database(
    content: bytes, found: RawEvaluation | None, log: Sequence[AuditEntry]
) -> list[VerificationFinding]:
    """The same file, against the database if that knows the report."""
    document = json_codec.loads(content)["byop_report"]
    entry = _entry_of(document["report_id"], log)
    if entry is None:
        return [
            VerificationFinding("database", VerificationState.UNKNOWN, "The database here does not know this report.")
        ]
    return [_against_log(document, found, entry), chain(log)]


def not_asked(why: str) -> VerificationFinding:
    return VerificationFinding("database", VerificationState.UNKNOWN, f"The database could not be asked. {why}")


def chain(log: Sequence[AuditEntry], head: str | None = None) -> VerificationFinding:
    """The audit log by itself; `head` is the hash that somebody kept elsewhere."""
    broken = audit_log.check(log)
    if broken:
        return _altered("audit log", broken.message)
    if head is not None and head not in {entry.hash for entry in log}:
        return _altered("audit log", f"The audit log was cut off or made anew: {head} is not in it.")
    if not log:
        return VerificationFinding("audit log", VerificationState.UNKNOWN, "The audit log is empty.")
    kept = "" if head is None else " The hash that you kept is in it."
    entries = pluralize(len(log), "entry", "entries")
    return _holds("audit log", f"The audit log is whole: {entries}, each with the hash of the one before.{kept}")


def report_id_of(content: bytes, name: str) -> str:
    """Whose report a file says that it is."""
    return read_report(content, name).byop_report.report_id


def _entry_of(report_id: str, log: Sequence[AuditEntry]) -> AuditEntry | None:
    return next((entry for entry in log if entry.action == audit_log.EVALUATION and entry.report_id == report_id), None)


def _gone(report_id: str, log: Sequence[AuditEntry]) -> VerificationFinding:
    for entry in log:
        if entry.action == audit_log.DELETION and entry.report_id == report_id:
            said = f"The evaluation {report_id} was deleted on {entry.at}, as the audit log says. Its texts are gone."
            return VerificationFinding("evaluation", VerificationState.UNKNOWN, said)
    return _altered("evaluation", f"The evaluation {report_id} was removed, and the audit log has no deletion of it.")


def _unlogged(found: RawEvaluation) -> VerificationFinding:
    if found.state == State.DONE:
        return _altered("report", f"The audit log has no entry for the report {found.id}, which every report gets.")
    said = f"The evaluation {found.id} has no report: it is {found.state}. Its votes are in the audit log when it has."
    return VerificationFinding("report", VerificationState.UNKNOWN, said)


def _playbook(found: RawEvaluation, entry: AuditEntry) -> VerificationFinding:
    said = entry.content.get("playbook_logic_hash")
    try:
        computed = Playbook("", "", (), Variance(), _object(found.playbook) or {}).logic_hash
    except (KeyError, AttributeError, InputError):
        return _altered("playbook", "The playbook was altered after it was stored: it is no playbook any more.")
    if computed != said or found.playbook_hash != said:
        return _altered(
            "playbook",
            f"The playbook was altered after it was stored: its hash is {computed}, the audit log says {said}.",
        )
    return _holds("playbook", f"The playbook is the one that was used: {computed}.")


def _texts(found: RawEvaluation, inputs: Inputs | None, entry: AuditEntry) -> VerificationFinding:
    said = entry.content.get("inputs_fingerprint")
    if found.inputs is None and not found.stored_in_full:
        return VerificationFinding(
            "inputs", VerificationState.UNKNOWN, f"The texts are not stored, only their fingerprint: {said}."
        )
    if inputs is None:
        return _altered("inputs", "The texts were removed or damaged after they were stored.")
    if inputs.fingerprint != said:
        return _altered(
            "inputs",
            f"The texts were altered after they were stored{_suspects(inputs)}: "
            f"their fingerprint is {inputs.fingerprint}, the audit log says {said}.",
        )
    if found.inputs_fingerprint != said:
        return _altered("inputs", f"The fingerprint of the texts was altered after it was stored: it was {said}.")
    return _holds("inputs", f"The texts are those that were evaluated: {said}.")


def _suspects(inputs: Inputs) -> str:
    """Which they may be: those that are not byte by byte what came in."""
    kept = inputs.raw_hashes or {}
    differing = [
        NAMES[name]
        for name, text in inputs.texts.items()
        if text is not None and kept.get(name) != sha256(text.encode("utf-8", "surrogatepass"))
    ]
    return f" ({' or '.join(differing)})" if differing else ""


def _report(found: RawEvaluation, document: Mapping[str, Any] | None, entry: AuditEntry) -> VerificationFinding:
    said = _hashes(entry)[-1]
    try:
        computed = report_hash(document or {})
    except (KeyError, TypeError, InputError):
        return _altered("report", "The report was removed or damaged after it was stored.")
    if computed == said and found.report_hash == said:
        return _holds("report", f"The report is as it was stored: {said}.")
    parts = list(islice(_known_differences(_normal(document or {}), found.votes, entry), _SHOWN))
    told = "; ".join(parts) or f"its hash is {computed}, the audit log says {said}. Which part cannot be told"
    return _altered("report", f"The report was altered after it was stored: {told}.")


def _hashes(entry: AuditEntry) -> list[str]:
    """The report's hash as it was made, and as it is stored where that differs."""
    reference = entry.content.get("byop_report", {})
    return [reference[name] for name in ("report_hash", "stored_without_texts") if name in reference]


def _known_differences(document: Mapping[str, Any], votes: Sequence[RawVote], entry: AuditEntry) -> Iterator[str]:
    """What the log and the votes have to say about single parts."""
    log = entry.content
    known = {
        "playbook_id": log.get("playbook_id"),
        "playbook_version": log.get("playbook_version"),
        "timestamp": log.get("timestamp"),
        "summary.overall_status": _at(log, "byop_report.overall_status"),
        "integrity.playbook_logic_hash": log.get("playbook_logic_hash"),
        "integrity.inputs_fingerprint": log.get("inputs_fingerprint"),
    }
    for path, value in known.items():
        if (is_now := _at(document, path)) != value:
            yield f"{path} is {is_now}, the audit log says {value}"
    for part in differences(log.get("model_fingerprint"), _at(document, "model_fingerprints"), "model_fingerprints"):
        yield part.text("the audit log says", "it is")
    logged = _logged_runs(entry)
    cast = {(vote.check_id, vote.run): _object(vote.vote) or {} for vote in votes}
    for check in document.get("check_results", ()):
        for run in check.get("raw_runs", ()):
            place = (check["check_id"], run["run"])
            yield from _run_differences(place, run, logged.get(place), cast.get(place, {}).get("ballot", {}))


def _run_differences(
    place: tuple[str, int], run: Mapping[str, Any], logged: Mapping[str, Any] | None, ballot: Mapping[str, Any]
) -> Iterator[str]:
    check, number = place
    for name in ("result", "valid"):
        if logged is not None and run.get(name) != logged[name]:
            yield f"{name} of run {number} of {check} is {run.get(name)}, the audit log says {logged[name]}"
    for name, as_cast in (("confidence", "confidence"), ("raw_answer", "raw")):
        if as_cast in ballot and run.get(name) != ballot[as_cast]:
            yield f"{name} of run {number} of {check} is not that of its vote"


def _votes(found: RawEvaluation, entry: AuditEntry) -> VerificationFinding:
    logged = _logged_runs(entry)
    cast = {(vote.check_id, vote.run): vote for vote in found.votes}
    wrong = [
        *(f"{_run(place)} was removed" for place in logged if place not in cast),
        *(f"{_run(place)} was added" for place in cast if place not in logged),
        *(said for place, vote in cast.items() if place in logged and (said := _altered_vote(vote, logged[place]))),
    ]
    if wrong:
        return _altered("votes", f"Votes were altered after they were stored: {'; '.join(wrong[:_SHOWN])}.")
    return _holds("votes", f"All {len(cast)} votes and the calls behind them are as they were stored.")


def _logged_runs(entry: AuditEntry) -> dict[tuple[str, int], Mapping[str, Any]]:
    return {(run["check_id"], run["run"]): run for run in entry.content.get("raw_runs", ())}


def _altered_vote(vote: RawVote, logged: Mapping[str, Any]) -> str | None:
    place = _run((vote.check_id, vote.run))
    if (vote.result, vote.valid) != (logged["result"], logged["valid"]):
        return f"{place} is {vote.result}, the audit log says {logged['result']}"
    if sha256(vote.vote.encode()) != logged["sha256"]:
        return f"{place} is not the one whose hash the audit log has"
    if sha256(vote.exchanges.encode()) != logged["exchanges_sha256"]:
        return f"the recorded calls of {place} are not those whose hash the audit log has"
    return None


def _run(place: tuple[str, int]) -> str:
    return f"run {place[1]} of {place[0]}"


def _listed(found: RawEvaluation, document: Mapping[str, Any] | None) -> VerificationFinding:
    """What history and drift read instead of the report."""
    report = document or {}
    expected = {
        "status": _at(report, "summary.overall_status"),
        "consistency": _at(report, "variance_summary.consistency_score"),
        "incomplete": report.get("incomplete"),
        "outcomes": {check.get("check_id"): check.get("result") for check in report.get("check_results", ())},
    }
    listed = {
        "status": found.status,
        "consistency": found.consistency,
        "incomplete": found.incomplete,
        "outcomes": _object(found.outcomes),
    }
    wrong = [part.text("the report says", "it is listed as") for part in differences(expected, listed)]
    if wrong:
        return _altered("history", f"What the history lists is not what the report says: {'; '.join(wrong[:_SHOWN])}.")
    return _holds("history", "The history lists what the report says.")


def _evidence(document: Mapping[str, Any] | None, inputs: Inputs | None) -> VerificationFinding:
    if inputs is None:
        return VerificationFinding(
            "evidence", VerificationState.UNKNOWN, "The quotes cannot be looked up: the text is not stored."
        )
    quotes = list(_quotes(document or {}))
    wrong = [
        f"{path} does not stand at {start} to {end}"
        for path, span, start, end in quotes
        if not _stands(span, inputs.ai_output[start:end])
    ]
    if wrong:
        return _altered("evidence", f"Quotes do not stand where the report says: {'; '.join(wrong[:_SHOWN])}.")
    return _holds("evidence", f"All {len(quotes)} located quotes stand in the text where the report says.")


def _quotes(part: Any, path: str = "") -> Iterator[tuple[str, str, int, int]]:
    """Wherever there is a text with a location: in citations, runs, dissent, pattern hits and findings."""
    if isinstance(part, dict):
        place = part.get("location")
        text = next((part[name] for name in ("span", "text", "area") if isinstance(part.get(name), str)), None)
        if isinstance(place, dict) and text is not None:
            yield path, text, place.get("start", 0), place.get("end", 0)
        for name, below in part.items():
            yield from _quotes(below, f"{path}.{name}" if path else name)
    elif isinstance(part, list):
        for number, below in enumerate(part):
            yield from _quotes(below, f"{path}[{number}]")


def _stands(span: str, text: str) -> bool:
    return span == (withheld(text) if is_withheld(span) else text)


def _own_hash(document: Mapping[str, Any]) -> VerificationFinding:
    computed, said = report_hash(document), document["integrity"].get("report_hash")
    if computed != said:
        return _altered("report", f"The report was altered: its hash is {computed}, and it says that it is {said}.")
    return _holds("report", f"The report has the hash that it names: {said}.")


def _signature(document: Mapping[str, Any], signature: Signature | None, public_key: str | None) -> VerificationFinding:
    if signature is None and public_key is None:
        said = "The report is not signed: whoever altered it could have made its hash again."
        return VerificationFinding("signature", VerificationState.UNKNOWN, said)
    if signature is None:
        return _altered("signature", "The report is not signed, by the key that you named or by any other.")
    if not signing.is_valid(document, signature):
        said = f"The signature does not fit: the report was altered after the key {signature.public_key} signed it."
        return _altered("signature", said)
    if public_key is None:
        return _holds(
            "signature",
            f"The signature is valid for the key {signature.public_key}. Who owns that key is not known: "
            "name the one you expect with --public-key.",
        )
    if signature.public_key != public_key:
        return _altered("signature", f"The report was signed by another key: {signature.public_key}, not {public_key}.")
    return _holds("signature", f"The report was signed by the key that you named: {public_key}.")


def _against_log(document: Mapping[str, Any], found: RawEvaluation | None, entry: AuditEntry) -> VerificationFinding:
    computed = report_hash(document)
    if computed in _hashes(entry):
        return _holds("database", f"The audit log has this report, with this hash, since {entry.at}.")
    original = _object(found.report) if found is not None else None
    if original is not None and report_hash(original) == _hashes(entry)[0]:
        parts: Iterator[str] = (
            part.text("it was stored as", "the file has")
            for part in differences(_normal(original), _normal(document))
            if part.path != "integrity.report_hash"
        )
    else:
        parts = _known_differences(_normal(document), (), entry)
    told = "; ".join(islice(parts, _SHOWN)) or f"its hash is {computed}, the audit log says {_hashes(entry)[0]}"
    return _altered("database", f"The report in the file is not the one that was stored: {told}.")


def _normal(document: Mapping[str, Any]) -> Any:
    """1.0 and 1 are the same number in canonical JSON, and so for a hash."""
    return json.loads(canonical(document))


def _inputs(text: str | None) -> Inputs | None:
    document = _object(text)
    if document is None or not isinstance(document.get("ai_output"), str):
        return None
    return Inputs.from_stored(document)


def _object(text: str | None) -> dict[str, Any] | None:
    """None where it is no JSON object, or none any more."""
    try:
        found = json_codec.loads(text or "")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _at(document: Any, path: str) -> Any:
    for name in path.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def _holds(part: str, message: str) -> VerificationFinding:
    return VerificationFinding(part, VerificationState.HOLDS, message)


def _altered(part: str, message: str) -> VerificationFinding:
    return VerificationFinding(part, VerificationState.ALTERED, message)
