"""/api/audit-log, /api/verify, /api/signing-key: who did what, and whether what is stored is what was logged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query

from salvo.errors import InputError
from salvo.playbooks.audit import audit_log, chain_signatures
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.chain_signatures import EntrySignature, HeadSignature
from salvo.playbooks.audit.entry_wording import ACTIONS, EntryDescription, describe_entry
from salvo.playbooks.audit.head_key import list_revocations
from salvo.playbooks.audit.revoked_keys import Revocation
from salvo.playbooks.audit.verification import verify_store
from salvo.playbooks.audit.verification.finding import VerificationFinding, VerificationState
from salvo.playbooks.store.rows.audit_entries import AuditFilter
from salvo.records import record
from salvo.web.request_models import MAX_NAME_LENGTH, Limit
from salvo.web.responses import ConflictError, JsonRoute
from salvo.web.services import Services, ServicesDep

if TYPE_CHECKING:
    from salvo.playbooks.audit.signing import SigningKey

router = APIRouter(prefix="/api", tags=["audit"], route_class=JsonRoute)


@record
class AuditLogRow:
    number: int
    at: str
    action: str
    description: EntryDescription
    evaluation_id: str
    """Empty if the entry is about none."""
    stored: bool
    """Whether that evaluation is still stored."""
    document: str
    """What its document is called, as long as the evaluation is stored; the log itself has no titles."""
    hash: str
    problem: str
    """What is wrong with the entry or with its place after the one before it; empty if nothing is."""
    signature: EntrySignature


@record
class AuditAction:
    name: str
    title: str


@record
class AuditLogPage:
    """The newest first. Each entry was compared with its hash and with the entry before it."""

    rows: list[AuditLogRow]
    total: int
    """How many entries match the filter."""
    offset: int
    limit: int
    actions: list[AuditAction]
    """What there is to filter by."""
    sentence: str
    """What was checked of the entries on this page, and what was not."""


@router.get("/audit-log", operation_id="listAuditLog")
def list_audit_log(
    services: ServicesDep,
    action: Annotated[str, Query(max_length=MAX_NAME_LENGTH, description="Only this action.")] = "",
    evaluation: Annotated[str, Query(max_length=MAX_NAME_LENGTH, description="Only this evaluation, by its id.")] = "",
    search: Annotated[str, Query(max_length=MAX_NAME_LENGTH, description="Only entries with this text.")] = "",
    limit: Limit = 50,
    offset: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
) -> AuditLogPage:
    """Return the audit log: who did what, when, to which evaluation, and whether the entries are unaltered."""
    store = services.store
    page = store.audit_page(AuditFilter(action, evaluation, search.strip()), limit=limit, offset=offset)
    signatures: dict[int, list[HeadSignature]] = defaultdict(list)
    for signature in store.head_signatures([entry.sequence for entry in page.entries]):
        signatures[signature.sequence].append(signature)
    titles = store.titles(entry.report_id for entry in page.entries)
    revocations = list_revocations()
    rows = [
        _row(entry, page.previous.get(entry.sequence), signatures[entry.sequence], titles, revocations)
        for entry in page.entries
    ]
    actions = [AuditAction(name, title) for name, title in ACTIONS.items()]
    return AuditLogPage(rows, page.total, offset, limit, actions, _page_sentence(rows, page.total))


def _row(
    entry: AuditEntry,
    previous: AuditEntry | None,
    signatures: Sequence[HeadSignature],
    titles: Mapping[str, str],
    revocations: dict[str, Revocation],
) -> AuditLogRow:
    return AuditLogRow(
        number=entry.sequence,
        at=entry.at,
        action=entry.action,
        description=describe_entry(entry),
        evaluation_id=entry.report_id,
        stored=entry.report_id in titles,
        document=titles.get(entry.report_id, ""),
        hash=entry.hash,
        problem=_entry_problem(entry, previous),
        signature=chain_signatures.check_entry(entry, signatures, revocations),
    )


def _entry_problem(entry: AuditEntry, previous: AuditEntry | None) -> str:
    if previous is None and entry.sequence > 1:
        return f"Entry {entry.sequence - 1}, which comes before this one, was removed from the audit log."
    return audit_log.break_message(entry, previous) or ""


def _page_sentence(rows: Sequence[AuditLogRow], total: int) -> str:
    if not rows:
        return ""
    problems = sum(bool(row.problem or row.signature.problem) for row in rows)
    if problems:
        return f"{problems} of the {len(rows)} entries on this page do not hold. Verify everything that is stored."
    signed = sum(bool(row.signature.public_keys) for row in rows)
    signatures = "all of them are signed" if signed == len(rows) else f"{signed} of {len(rows)} are signed"
    sentence = f"The entries on this page match their hashes and follow the entries before them; {signatures}."
    return sentence if total == len(rows) else f"{sentence} The entries on other pages were not checked."


@record
class Verification:
    altered: int
    """The number of parts that were altered."""
    failed: int
    """The number of parts that were altered, are contradicted by others, or are signed by a key of no worth."""
    conclusion: str
    """What the verification shows, and what it does not show."""
    findings: tuple[VerificationFinding, ...]


@router.get("/reports/{report_id}/verify", operation_id="verifyReport", tags=["reports"])
def verify_report(report_id: str, services: ServicesDep) -> Verification:
    """Hash everything that is stored of a report again, and compare it with the audit log."""
    store = services.store
    evaluation_id = store.find(report_id)
    log = store.audit_log()
    return _verification(services, log, verify_store.verify_one(store, evaluation_id, log))


@router.get("/verify", operation_id="verifyEverything")
def verify_everything(services: ServicesDep) -> Verification:
    """Verify every evaluation, playbook, vote, baseline, review and user against the audit log. It takes time."""
    return _verification(services, services.store.audit_log(), verify_store.verify_all(services.store))


def _verification(
    services: Services, log: Sequence[AuditEntry], findings: Sequence[VerificationFinding]
) -> Verification:
    signatures = services.store.head_signatures()
    findings = [*findings, *chain_signatures.check(log, signatures, revocation_list=list_revocations())]
    altered = sum(finding.standing is VerificationState.ALTERED for finding in findings)
    failed = sum(finding.failed for finding in findings)
    conclusion = verify_store.failure(failed) if failed else verify_store.conclusion(findings)
    return Verification(altered, failed, conclusion, tuple(findings))


@record
class SigningKeyDetail:
    public_key: str | None
    """The public key of this server; null if it signs nothing."""
    problem: str
    """Why there is none, or why it cannot be used; empty if it can."""


_NO_KEY = "This server has no signing key. The command “byop keys new” creates one on the machine of the server."
_UNUSABLE_KEY = "The signing key of this server cannot be used. The command “byop keys show” on its machine says why."


@router.get("/signing-key", operation_id="getSigningKey")
def signing_key(services: ServicesDep) -> SigningKeyDetail:
    """Return the public key with which this server signs files and the audit log. The private key stays on it."""
    try:
        return SigningKeyDetail(required_signing_key(services).public, "")
    except ConflictError as error:
        return SigningKeyDetail(None, error.message)


def required_signing_key(services: Services) -> SigningKey:
    """Return the key of this server. ConflictError, without the location of the key, if it has none to sign with."""
    try:
        key = services.read_signing_key()
    except InputError as error:
        raise ConflictError(_UNUSABLE_KEY, hint="Export the file without a signature.") from error
    if key is None:
        raise ConflictError(_NO_KEY, hint="Export the file without a signature, or create a key.")
    return key
