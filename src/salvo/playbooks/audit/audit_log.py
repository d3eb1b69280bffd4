"""The audit log: a chain of entries, each with the hash of the previous one. Pure; the store appends.

An entry for an evaluation has the ten log fields of the specification. Two of them are references, so that the chain
contains no text and survives a deletion: `raw_runs` has each run's result with the sha256 of the stored vote and of its
exchanges, and `byop_report` has the report's id, hash and status.

The chain alone cannot show that its newest entries were removed: for that, keep the hash of the last entry elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from salvo.engine.jsonio import json_codec, surrogates
from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.audit.integrity import canonical
from salvo.playbooks.report.report import Report

START = "sha256:" + "0" * 64
"""The previous hash in the first entry."""

FORMAT = 3
"""The format of new entries. In format 2 a lone surrogate and its escaped form are written alike. Entries of still
earlier versions have no format, and say less about the rows of the tables."""

CREATED = "created"
EVALUATION = "evaluation"
"""The evaluation was finished, with a report."""
FAILED = "failed"
CANCELLED = "cancelled"
INTERRUPTED = "interrupted"
RESUMED = "resumed"
BATCHED = "batched"
"""The questions are asked, or are about to be asked, through a provider's batch API."""
LATE_VOTES = "late_votes"
"""Votes that arrived after the evaluation had ended without a report."""
BASELINE_SET = "baseline_set"
BASELINE_CLEARED = "baseline_cleared"
REVIEW = "review"
"""Somebody decided, said or signed something about the report."""
EXPORT = "export"
ERASURE = "erasure"
DELETION = "deletion"
"""An erasure, as earlier versions recorded it: without the name of who did it."""
PLAYBOOK_SAVED = "playbook_saved"
PLAYBOOK_WITHDRAWN = "playbook_withdrawn"
"""A saved playbook was taken off the list. Its versions stay."""
PLAYBOOK_RESTORED = "playbook_restored"
DOCUMENT_BATCH = "document_batch"
"""Documents were given together, or one more of their files could not be read."""
DOCUMENT_BATCH_DELETED = "document_batch_deleted"
SHARE_LINK_CREATED = "share_link_created"
SHARE_LINK_OPENED = "share_link_opened"
"""A link to a report was opened for the first time."""
SHARE_LINK_REVOKED = "share_link_revoked"
KEY_ROTATED = "key_rotated"
KEY_REVOKED = "key_revoked"
USER_ADDED = "user_added"
USER_ROLE_CHANGED = "user_role_changed"
USER_DISABLED = "user_disabled"
USER_ENABLED = "user_enabled"
USER_PASSWORD_SET = "user_password_set"  # noqa: S105 - the name of an action
USER_LINKED = "user_linked"
"""A user can log in with an OIDC provider from now on."""
USER_UNLINKED = "user_unlinked"
USER_LOGGED_IN = "user_logged_in"
LOGIN_REFUSED = "login_refused"
"""An OIDC provider vouched for somebody who may not log in."""


@dataclass(frozen=True)
class AuditEntry:
    """A stored entry. Its hash covers its text, which has all of its content."""

    sequence: int
    text: str
    hash: str
    evaluation_id: str | None = None
    """The column of this name, by which entries are looked up; None if it was not read."""

    @cached_property
    def content(self) -> dict[str, Any]:
        """The parsed text; empty if it is not a JSON object."""
        try:
            content = json_codec.loads(self.text)
        except ValueError:
            return {}
        if not isinstance(content, dict):
            return {}
        entry_format = content.get("entry_format")
        is_reversible = isinstance(entry_format, int) and entry_format >= FORMAT
        return surrogates.unescape_in(content) if is_reversible else content

    @property
    def intact(self) -> bool:
        """Whether the text still matches the hash. Its place in the chain is not checked."""
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


def seal(content: Mapping[str, Any], previous: AuditEntry | None) -> AuditEntry:
    """Return the next entry of the chain."""
    sequence = previous.sequence + 1 if previous else 1
    place = {"entry_format": FORMAT, "sequence": sequence, "previous_hash": previous.hash if previous else START}
    text = canonical({**content, **place})
    return AuditEntry(sequence, text.decode("utf-8"), sha256(text))


def check(entries: Sequence[AuditEntry]) -> str | None:
    """Return a sentence on the first break in the chain, or None; `entries` are in the order of their numbers."""
    messages = map(break_message, entries, (None, *entries))
    return next(filter(None, messages), None)


def break_message(entry: AuditEntry, previous: AuditEntry | None) -> str | None:
    """Return a sentence on what is wrong with an entry that should follow the previous one, or None."""
    expected = previous.sequence + 1 if previous else 1
    if entry.sequence != expected:
        if entry.sequence == expected + 1:
            return f"The audit log has a gap: entry {expected} was removed."
        return f"The audit log has a gap: entries {expected} to {entry.sequence - 1} were removed."
    if not entry.intact:
        return (
            f"Entry {entry.sequence} of the audit log was altered{_description(entry)}: it no longer matches its hash."
        )
    if entry.evaluation_id is not None and entry.evaluation_id != entry.report_id:
        return (
            f"The column evaluation_id of entry {entry.sequence} of the audit log was altered: "
            f"it is {entry.evaluation_id!r}, the entry is about {entry.report_id!r}."
        )
    if entry.content.get("sequence") != entry.sequence:
        return f"Entry {entry.sequence} of the audit log was moved: its own number is {entry.content.get('sequence')}."
    if entry.content.get("previous_hash") != (previous.hash if previous else START):
        if previous is None:
            return f"The start of the audit log is missing: entry {entry.sequence} follows a different entry."
        replaced = f"Entry {previous.sequence} of the audit log was replaced{_description(previous)}"
        return f"{replaced}: entry {entry.sequence} follows a different entry."
    return None


def _description(entry: AuditEntry) -> str:
    """Return what kind of entry it is, if its content still says so."""
    about = f" of {entry.report_id}" if entry.report_id else ""
    return f" ({entry.action}{about}, {entry.at})" if entry.action else ""


def content(action: str, report_id: str, report_hash: str | None, *, at: str, **details: Any) -> dict[str, Any]:
    """Return the content of an entry; `details` are the fields that only this action has."""
    reference = {"report_id": report_id, "report_hash": report_hash}
    return {"action": action, "at": at, "byop_report": reference, **details}


def who(user: str | None) -> dict[str, Any]:
    """Return the fields that name the user who was logged in; none if nobody was."""
    return {} if user is None else {"by": user, "authenticated": True}


def evaluation(
    report: Report,
    raw_runs: Sequence[Mapping[str, Any]],
    *,
    at: str,
    stored: Report,
    columns: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the content of the entry. `stored` is the report as it is stored: the same, or without its texts.

    `columns` are those of the row that this changed, see `hash_long_columns`.
    """
    runner, _, version = report.integrity.runner_fingerprint.partition("/")
    entry = content(EVALUATION, report.report_id, report.integrity.report_hash, at=at)
    entry["byop_report"]["overall_status"] = str(report.summary.overall_status)
    if stored is not report:
        entry["byop_report"]["stored_without_texts"] = stored.integrity.report_hash
    return entry | {
        "playbook_id": report.playbook_id,
        "playbook_version": report.playbook_version,
        "playbook_logic_hash": report.integrity.playbook_logic_hash,
        "runner_name": runner,
        "runner_version": version,
        "timestamp": report.timestamp,
        "model_fingerprint": json.loads(json_codec.dumps(report.model_fingerprints)),
        "inputs_fingerprint": report.integrity.inputs_fingerprint,
        "raw_runs": list(raw_runs),
        **({} if columns is None else {"columns": dict(columns)}),
    }


LONG_COLUMNS = frozenset({"request", "inputs", "outcomes", "report", "document", "title", "note", "unread"})
"""Columns that the log records by their hash; the others are short, and recorded as they are. Titles and notes are
short too, but they may name a person, as file names may, and the log outlives what it is about."""


def hash_long_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the log records of columns: short values as they are, the sha256 of long ones."""
    return {
        name: sha256(value.encode()) if name in LONG_COLUMNS and isinstance(value, str) else value
        for name, value in columns.items()
    }
