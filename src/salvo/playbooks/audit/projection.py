"""The rows that the tables must have, according to the audit log. Pure.

The log is the evidence, and the tables follow from it: each entry says which columns of an evaluation it changed.
Entries of earlier versions say less; columns that no entry has cannot be verified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from salvo.playbooks.accounts.users import name_key
from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.audit_log import AuditEntry


@dataclass(slots=True)
class LoggedEvaluation:
    """What the entries about one evaluation say together."""

    columns: dict[str, Any] = field(default_factory=dict)
    """By the name of the column; of long ones the sha256. A column that no entry has is absent."""
    runs: list[Mapping[str, Any]] | None = None
    """The votes at the last entry that has them."""
    baseline: dict[str, Any] | None = None
    reviews: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The columns of each review event, by its id."""
    share_links: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The columns of each share link, by its id."""
    document: dict[str, Any] | None = None
    erasure: AuditEntry | None = None
    unreadable: bool = False
    """An entry about it was altered, so it cannot be used."""


@dataclass(slots=True)
class LoggedRows:
    evaluations: dict[str, LoggedEvaluation] = field(default_factory=dict)
    playbooks: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By logic hash: the columns, or nothing for a playbook that only entries of earlier versions name."""
    playbook_versions: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    """The columns of each saved version, by the playbook's id and the version's number."""
    document_batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The columns of each batch of documents that was not deleted, by its id."""
    users: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The columns of each user who may log in, by what their name is looked up by."""
    batches_since: str | None = None
    """When the first batch of documents was logged; earlier versions logged none."""
    complete_since: str | None = None
    """When the first entry was written that says everything; None if there is none."""


def project(log: Iterable[AuditEntry]) -> LoggedRows:
    """Return what the entries say together; altered entries are not used."""
    rows = LoggedRows()
    for entry in log:
        if rows.complete_since is None and entry.content.get("entry_format") is not None:
            rows.complete_since = entry.at
        if not entry.report_id:
            if entry.intact:
                _apply_to_saved_playbooks(entry, rows)
                _apply_to_document_batches(entry, rows)
                _apply_to_users(entry, rows)
            continue
        evaluation = rows.evaluations.setdefault(entry.report_id, LoggedEvaluation())
        if not entry.intact:
            evaluation.unreadable = True
            continue
        _apply(entry, evaluation)
        _add_playbook(entry, rows)
    return rows


def _apply(entry: AuditEntry, evaluation: LoggedEvaluation) -> None:
    content = entry.content
    if entry.action == audit_log.EVALUATION and "columns" not in content:
        evaluation.columns |= _columns_of_earlier_version(entry)
    evaluation.columns |= _mapping(content.get("columns"))
    if isinstance(document := content.get("document"), dict):
        evaluation.document = document
    if isinstance(runs := content.get("raw_runs"), list):
        evaluation.runs = [run for run in runs if isinstance(run, dict)]
    if entry.action == audit_log.BASELINE_SET:
        evaluation.baseline = {
            "evaluation_id": entry.report_id,
            "playbook_hash": content.get("playbook_logic_hash"),
            "subject": content.get("subject"),
            "saved_at": entry.at,
        }
    elif entry.action == audit_log.BASELINE_CLEARED:
        evaluation.baseline = None
    elif entry.action == audit_log.REVIEW:
        columns = _mapping(content.get("review"))
        evaluation.reviews[str(columns.get("event_id"))] = columns
    elif entry.action in (audit_log.SHARE_LINK_CREATED, audit_log.SHARE_LINK_OPENED, audit_log.SHARE_LINK_REVOKED):
        columns = _mapping(content.get("share_link"))
        evaluation.share_links.setdefault(str(columns.get("id")), {}).update(columns)
    elif entry.action in (audit_log.ERASURE, audit_log.DELETION):
        evaluation.erasure = entry


def _apply_to_saved_playbooks(entry: AuditEntry, rows: LoggedRows) -> None:
    columns = _mapping(entry.content.get("playbook_version"))
    name = str(columns.get("playbook_id"))
    if entry.action == audit_log.PLAYBOOK_SAVED and isinstance(number := columns.get("number"), int):
        rows.playbook_versions[name, number] = columns
    elif entry.action in (audit_log.PLAYBOOK_WITHDRAWN, audit_log.PLAYBOOK_RESTORED):
        for (playbook_id, _), logged in rows.playbook_versions.items():
            if playbook_id == name:
                logged["withdrawn_at"] = columns.get("withdrawn_at")


def _apply_to_document_batches(entry: AuditEntry, rows: LoggedRows) -> None:
    columns = _mapping(entry.content.get("document_batch"))
    batch_id = str(columns.get("id"))
    if entry.action == audit_log.DOCUMENT_BATCH:
        rows.batches_since = rows.batches_since or str(columns.get("created_at"))
        rows.document_batches[batch_id] = columns
    elif entry.action == audit_log.DOCUMENT_BATCH_DELETED:
        rows.document_batches.pop(batch_id, None)


def _apply_to_users(entry: AuditEntry, rows: LoggedRows) -> None:
    content, name = entry.content, entry.content.get("user")
    if not isinstance(name, str):
        return
    key = name_key(name)
    if entry.action == audit_log.USER_ADDED:
        issuer, subject = content.get("oidc_issuer"), content.get("oidc_subject")
        rows.users[key] = {
            "name_key": key,
            "name": name,
            "role": content.get("role"),
            "disabled": False,
            "created_at": entry.at,
            "password_set_at": entry.at if issuer is None else None,
            "oidc_issuer": issuer,
            "oidc_subject": subject,
        }
    elif key in rows.users:
        rows.users[key] |= _changed_columns_of_user(entry)


def _changed_columns_of_user(entry: AuditEntry) -> dict[str, Any]:
    content = entry.content
    if entry.action == audit_log.USER_ROLE_CHANGED:
        return {"role": content.get("role")}
    if entry.action in (audit_log.USER_DISABLED, audit_log.USER_ENABLED):
        return {"disabled": entry.action == audit_log.USER_DISABLED}
    if entry.action == audit_log.USER_PASSWORD_SET:
        return {"password_set_at": entry.at}
    if entry.action == audit_log.USER_LINKED:
        return {"oidc_issuer": content.get("oidc_issuer"), "oidc_subject": content.get("oidc_subject")}
    if entry.action == audit_log.USER_UNLINKED:
        return {"oidc_issuer": None, "oidc_subject": None}
    return {}


def _columns_of_earlier_version(entry: AuditEntry) -> dict[str, Any]:
    report = _mapping(entry.content.get("byop_report"))
    return {
        "id": entry.report_id,
        "state": "done",
        "finished_at": entry.at,
        "playbook_hash": entry.content.get("playbook_logic_hash"),
        "inputs_fingerprint": entry.content.get("inputs_fingerprint"),
        "status": report.get("overall_status"),
        "report_hash": report.get("stored_without_texts", report.get("report_hash")),
    }


def _add_playbook(entry: AuditEntry, rows: LoggedRows) -> None:
    if isinstance(logic_hash := entry.content.get("playbook_logic_hash"), str):
        rows.playbooks.setdefault(logic_hash, {})
    playbook = _mapping(entry.content.get("playbook"))
    if isinstance(logic_hash := playbook.get("logic_hash"), str):
        rows.playbooks[logic_hash] = playbook


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
