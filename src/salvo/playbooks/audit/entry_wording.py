"""What an entry of the audit log says, in words for people: who did what. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.records import record

ACTIONS: dict[str, str] = {
    audit_log.CREATED: "Evaluation started",
    audit_log.EVALUATION: "Evaluation finished",
    audit_log.FAILED: "Evaluation failed",
    audit_log.CANCELLED: "Evaluation cancelled",
    audit_log.INTERRUPTED: "Evaluation interrupted",
    audit_log.RESUMED: "Evaluation resumed",
    audit_log.BATCHED: "Evaluation handed to a provider’s batch",
    audit_log.LATE_VOTES: "Late votes stored",
    audit_log.BASELINE_SET: "Baseline saved",
    audit_log.BASELINE_CLEARED: "Baseline removed",
    audit_log.REVIEW: "Review",
    audit_log.EXPORT: "Report exported",
    audit_log.ERASURE: "Evaluation erased",
    audit_log.DELETION: "Evaluation deleted by an earlier version",
    audit_log.PLAYBOOK_SAVED: "Playbook saved",
    audit_log.PLAYBOOK_WITHDRAWN: "Playbook withdrawn",
    audit_log.PLAYBOOK_RESTORED: "Playbook restored",
    audit_log.DOCUMENT_BATCH: "Batch of documents stored",
    audit_log.DOCUMENT_BATCH_DELETED: "Batch of documents deleted",
    audit_log.SHARE_LINK_CREATED: "Share link created",
    audit_log.SHARE_LINK_OPENED: "Share link opened for the first time",
    audit_log.SHARE_LINK_REVOKED: "Share link revoked",
    audit_log.KEY_ROTATED: "Signing key replaced",
    audit_log.KEY_REVOKED: "Signing key revoked",
    audit_log.USER_ADDED: "User added",
    audit_log.USER_ROLE_CHANGED: "Role of a user changed",
    audit_log.USER_DISABLED: "User disabled",
    audit_log.USER_ENABLED: "User enabled again",
    audit_log.USER_PASSWORD_SET: "Password of a user set",
    audit_log.USER_LINKED: "User linked to a login provider",
    audit_log.USER_UNLINKED: "User unlinked from a login provider",
    audit_log.USER_LOGGED_IN: "Login",
    audit_log.LOGIN_REFUSED: "Login refused",
}
"""What each action is called."""

_REVIEW_ACTIONS = {
    "accept": "Result accepted",
    "override": "Result changed",
    "comment": "Comment",
    "assign": "Assigned",
    "sign_off": "Signed off",
    "withdraw": "Step withdrawn",
    "amend": "Step amended",
}


@record
class EntryDescription:
    title: str
    who: str
    """The name that the entry records; empty if it records none."""
    authenticated: bool
    """Whether the server checked that name, instead of recording it as typed."""
    details: str


def describe_entry(entry: AuditEntry) -> EntryDescription:
    content = entry.content
    title = ACTIONS.get(entry.action, entry.action or "Unreadable entry")
    review = content.get("review")
    if isinstance(review, dict):
        name = _REVIEW_ACTIONS.get(str(review.get("action")), str(review.get("action")))
        return EntryDescription(
            f"{title}: {name.lower()}",
            str(review.get("actor") or ""),
            review.get("authenticated") is True,
            _review_details(review),
        )
    is_authenticated = content.get("authenticated") is True
    return EntryDescription(title, str(content.get("by") or ""), is_authenticated, _details(content))


def _review_details(review: Mapping[str, Any]) -> str:
    result = review.get("result")
    details = (
        str(review["check_id"]).replace("_", " ") if review.get("check_id") else "",
        f"passage {review['finding']}" if review.get("finding") else "",
        str(result).upper() if result else "",
        f"to {review['assignee']}" if review.get("assignee") else "",
        "without seeing the evaluator’s result" if review.get("blind") is True else "",
    )
    return ", ".join(filter(None, details))


def _details(content: Mapping[str, Any]) -> str:
    report = content.get("byop_report")
    status = report.get("overall_status") if isinstance(report, dict) else None
    names = ("format", "subject", "reason", "public_key", "system_user", "user", "role")
    login_names = ("login_method", "oidc_issuer", "oidc_subject")
    values = {name: content.get(name) for name in (*names, *login_names)}
    link = content.get("share_link")
    columns = link if isinstance(link, dict) else {}
    details = (
        str(values["user"] or ""),
        f"role {values['role']}" if values["role"] else "",
        str(status) if status else "",
        f"as {values['format']}" if values["format"] else "",
        f"link {columns['id']}" if columns.get("id") else "",
        f"until {columns['expires_at']}" if columns.get("expires_at") else "",
        f"subject {values['subject']}" if values["subject"] else "",
        str(values["public_key"] or ""),
        str(values["reason"] or ""),
        f"by {values['login_method']}" if values["login_method"] else "",
        f"subject {values['oidc_subject']} at {values['oidc_issuer']}" if values["oidc_subject"] else "",
        f"system user {values['system_user']}" if values["system_user"] else "",
    )
    return ", ".join(filter(None, details))
