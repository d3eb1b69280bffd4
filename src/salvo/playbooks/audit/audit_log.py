"""The audit log: a chain of entries, each holding the hash of the one before it. Pure; the store appends.

An entry of an evaluation has the ten log fields of the specification. Two of them are kept by reference, so that the
chain holds no text and outlives a deletion: `raw_runs` is each run's result with the sha256 of the vote and of the
exchanges behind it as they are stored, and `byop_report` is the report's id, hash and status.

What the chain cannot show from inside is that its newest entries were cut off: for that, keep its head elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.audit.integrity import canonical
from salvo.playbooks.report.report import Report

START = "sha256:" + "0" * 64
"""What the first entry names as the one before it."""

EVALUATION = "evaluation"
BASELINE_SET = "baseline_set"
BASELINE_CLEARED = "baseline_cleared"
EXPORT = "export"
DELETION = "deletion"


@dataclass(frozen=True)
class AuditEntry:
    """As it is stored. Everything it says is in its text, and so under its hash."""

    sequence: int
    text: str
    hash: str

    @cached_property
    def content(self) -> dict[str, Any]:
        """Empty where the text is no JSON object any more."""
        try:
            found = json_codec.loads(self.text)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def intact(self) -> bool:
        """Whether its text still has its hash. That says nothing yet of its place in the chain."""
        return sha256(self.text.encode("utf-8", "surrogatepass")) == self.hash

    @property
    def action(self) -> str:
        return str(self.content.get("action", ""))

    @property
    def at(self) -> str:
        return str(self.content.get("at", ""))

    @property
    def report_id(self) -> str:
        report = self.content.get("byop_report")
        return str(report.get("report_id", "")) if isinstance(report, dict) else ""


@dataclass(frozen=True, slots=True)
class RawRunRecord:
    """A run as the chain knows it."""

    check_id: str
    run: int
    result: str
    valid: bool
    sha256: str
    """Of the vote's JSON text, as it is stored."""
    exchanges_sha256: str


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """The first entry at which the chain does not hold."""

    sequence: int
    message: str


def seal(content: Mapping[str, Any], before: AuditEntry | None) -> AuditEntry:
    """The next entry of the chain."""
    sequence = before.sequence + 1 if before else 1
    linked = {**content, "sequence": sequence, "previous_hash": before.hash if before else START}
    text = canonical(linked)
    return AuditEntry(sequence, text.decode("utf-8"), sha256(text))


def check(entries: Iterable[AuditEntry]) -> ChainBreak | None:
    """Where the chain is broken first, and how; `entries` in the order of their numbers."""
    before: AuditEntry | None = None
    for entry in entries:
        if said := _broken(entry, before):
            return ChainBreak(entry.sequence, said)
        before = entry
    return None


def _broken(entry: AuditEntry, before: AuditEntry | None) -> str | None:
    expected = before.sequence + 1 if before else 1
    if entry.sequence != expected:
        missing = (
            f"entry {expected}" if entry.sequence == expected + 1 else f"entries {expected} to {entry.sequence - 1}"
        )
        return f"The audit log has a gap: {missing} {'was' if ' to ' not in missing else 'were'} removed."
    if not entry.intact:
        return (
            f"Entry {entry.sequence} of the audit log was altered{_known(entry)}: it does not have its hash any more."
        )
    if entry.content.get("sequence") != entry.sequence:
        return f"Entry {entry.sequence} of the audit log was moved: it says that it is {entry.content.get('sequence')}."
    if entry.content.get("previous_hash") != (before.hash if before else START):
        whose = (
            f"Entry {before.sequence} of the audit log was replaced{_known(before)}" if before else "The start is gone"
        )
        return f"{whose}: entry {entry.sequence} was made after another one."
    return None


def _known(entry: AuditEntry) -> str:
    """What kind of entry it says it is, where it still says so."""
    about = f" of {entry.report_id}" if entry.report_id else ""
    return f" ({entry.action}{about}, {entry.at})" if entry.action else ""


def evaluation(report: Report, raw_runs: Iterable[RawRunRecord], *, at: str, stored: Report) -> dict[str, Any]:
    """`stored` is the report as it is kept: the same one, or the one without its texts."""
    runner, _, version = report.integrity.runner_fingerprint.partition("/")
    reference = _reference(report.report_id, report.integrity.report_hash, str(report.summary.overall_status))
    if stored is not report:
        reference["stored_without_texts"] = stored.integrity.report_hash
    return {
        "action": EVALUATION,
        "at": at,
        "playbook_id": report.playbook_id,
        "playbook_version": report.playbook_version,
        "playbook_logic_hash": report.integrity.playbook_logic_hash,
        "runner_name": runner,
        "runner_version": version,
        "timestamp": report.timestamp,
        "model_fingerprint": json.loads(json_codec.dumps(report.model_fingerprints)),
        "inputs_fingerprint": report.integrity.inputs_fingerprint,
        "raw_runs": [{part.name: getattr(run, part.name) for part in fields(run)} for run in raw_runs],
        "byop_report": reference,
    }


def baseline(
    action: str, report_id: str, report_hash: str, *, playbook_hash: str, subject: str, at: str
) -> dict[str, Any]:
    return {
        "action": action,
        "at": at,
        "playbook_logic_hash": playbook_hash,
        "subject": subject,
        "byop_report": _reference(report_id, report_hash),
    }


def export(report_id: str, report_hash: str, *, form: str, digest: str, at: str) -> dict[str, Any]:
    """`digest` is the sha256 of the file that was written."""
    return {
        "action": EXPORT,
        "at": at,
        "format": form,
        "file_sha256": digest,
        "byop_report": _reference(report_id, report_hash),
    }


def deletion(report_id: str, report_hash: str | None, *, at: str) -> dict[str, Any]:
    return {"action": DELETION, "at": at, "byop_report": _reference(report_id, report_hash)}


def _reference(report_id: str, report_hash: str | None, status: str | None = None) -> dict[str, Any]:
    return {"report_id": report_id, "report_hash": report_hash, **({"overall_status": status} if status else {})}
