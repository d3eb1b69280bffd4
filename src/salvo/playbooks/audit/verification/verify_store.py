"""Verify one evaluation of a store, or everything in it, against the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import pluralize
from salvo.errors import StoreError, UnknownIdError
from salvo.playbooks.audit import chain_signatures
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.projection import LoggedEvaluation, LoggedRows, project
from salvo.playbooks.audit.verification import (
    verify,
    verify_results,
    verify_reviews,
    verify_rows,
    verify_share_links,
    verify_users,
)
from salvo.playbooks.audit.verification.finding import VerificationFinding, VerificationState
from salvo.playbooks.report.report import Report
from salvo.playbooks.store.store import EvaluationStore


def verify_one(store: EvaluationStore, evaluation_id: str, log: list[AuditEntry]) -> list[VerificationFinding]:
    """Verify every row about an evaluation, and the audit log."""
    return _verify(store, evaluation_id, log, project(log))


def _verify(
    store: EvaluationStore, evaluation_id: str, log: list[AuditEntry], logged: LoggedRows
) -> list[VerificationFinding]:
    rows = store.raw_rows(evaluation_id)
    erased = logged.evaluations.get(evaluation_id, LoggedEvaluation()).erasure
    if rows.evaluation is None and erased is not None:
        who = f" by {erased.content['by']}" if "by" in erased.content else ", an earlier version did not record by whom"
        message = f"The evaluation {evaluation_id} was erased on {erased.at}{who}, according to the audit log."
        return [VerificationFinding("evaluation", VerificationState.UNKNOWN, message), verify.chain(log)]
    evaluation = store.load_raw(evaluation_id)
    *findings, chain = verify.stored(evaluation_id, evaluation, log)
    if evaluation is not None and evaluation.report is not None:
        findings.append(verify_results.check_stored(evaluation, _baseline(store, evaluation.report)))
    if rows.evaluation is not None:
        findings.append(verify_rows.check_rows(rows, logged))
        findings += verify_reviews.check_reviews(rows, logged)
        findings += verify_share_links.check_share_links(rows, logged)
    return [*findings, chain]


def _baseline(store: EvaluationStore, report: str) -> Report | None:
    """Return the report that a stored one was compared with, if it is still stored."""
    try:
        baseline_id = json_codec.loads(report)["drift_summary"]["baseline_id"]
        return store.load(baseline_id).report if isinstance(baseline_id, str) else None
    except (ValueError, TypeError, KeyError, UnknownIdError, StoreError):
        return None


def verify_all(store: EvaluationStore) -> list[VerificationFinding]:
    """Verify everything that is stored, and look for what the log says was stored and is missing."""
    log = store.audit_log()
    logged = project(log)
    ids = store.all_ids()
    findings: list[VerificationFinding] = []
    intact = 0
    for evaluation_id in dict.fromkeys([*ids, *logged.evaluations]):
        parts = _verify(store, evaluation_id, log, logged)[:-1]
        problems = [part for part in parts if part.standing is not VerificationState.HOLDS]
        intact += not problems
        findings += [
            part if evaluation_id in part.message else replace(part, message=f"{evaluation_id}: {part.message}")
            for part in problems
        ]
    message = f"{pluralize(intact, 'evaluation')} of {len(ids)}: everything is what the audit log says."
    findings.append(VerificationFinding("evaluation", VerificationState.HOLDS, message))
    findings += verify_rows.check_unreferenced(
        logged, stored_ids=ids, playbook_rows=store.raw_playbooks(), orphans=store.orphans()
    )
    saved = store.saved_playbooks.raw_rows()
    if saved or logged.playbook_versions:
        findings.append(verify_rows.check_saved_playbooks(saved, logged))
    document_batches = store.batches.raw_rows()
    if document_batches or logged.document_batches:
        findings.append(verify_rows.check_document_batches(document_batches, logged))
    findings += verify_users.check_users(store.accounts.users.raw_rows(), logged)
    return [*findings, verify.chain(log)]


def conclusion(findings: Sequence[VerificationFinding]) -> str:
    """Return what a verification of the database shows if it found no alteration, and what it does not show."""
    other = [finding for finding in findings if finding.part != chain_signatures.PART]
    if all(finding.standing is VerificationState.HOLDS for finding in other):
        summary = "Consistent with the audit log."
    else:
        summary = "Nothing contradicts the audit log, but what is marked unknown could not be verified."
    unsigned = [
        finding.message
        for finding in findings
        if finding.part == chain_signatures.PART and finding.standing is not VerificationState.HOLDS
    ]
    return " ".join([summary, *unsigned])


def failure(failed: int) -> str:
    """Return what a verification shows if so many parts failed it."""
    return f"{pluralize(failed, 'part')} failed the verification."
