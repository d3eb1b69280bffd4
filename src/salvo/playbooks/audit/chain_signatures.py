"""Signatures over the heads of the audit log. Pure; the store keeps them beside the log.

The hash of an entry covers all entries before it, so a signature over one entry covers the log up to there. Somebody
who can write the database can rebuild the log, but cannot sign it again without the key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from salvo.engine.jsonio.strict_json import loads_strict
from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.integrity import canonical
from salvo.playbooks.audit.revoked_keys import Revocation
from salvo.playbooks.audit.signatures import signs_bytes
from salvo.playbooks.audit.verification.finding import VerificationFinding, VerificationState
from salvo.playbooks.report.report_document import Signature
from salvo.records import record

if TYPE_CHECKING:
    from salvo.playbooks.audit.signing import SigningKey

PAYLOAD_TYPE = "application/vnd.byop.audit-head+json"
PART = "log signed"
_REBUILT = "somebody with write access to the database could have rebuilt"


@record
class HeadSignature:
    """A stored signature. The statement names the entry and its hash, the time and the key; the value signs it."""

    sequence: int
    public_key: str
    statement: str
    value: str

    @property
    def claims(self) -> dict[str, Any]:
        """The parsed statement; empty if it is not a JSON object."""
        try:
            claims = loads_strict(self.statement.encode())
        except ValueError:
            return {}
        return claims if isinstance(claims, dict) else {}


def sign_head(entry: AuditEntry, key: SigningKey, *, at: str) -> HeadSignature:
    claims = {"sequence": entry.sequence, "hash": entry.hash, "at": at, "public_key": key.public}
    statement = canonical(claims)
    return HeadSignature(entry.sequence, key.public, statement.decode(), key.sign(PAYLOAD_TYPE, statement).value)


@record
class KnownKeys:
    """What is known about keys: those that replaced the expected one, and those that must no longer be trusted."""

    successors: Collection[str] = ()
    revocations: Mapping[str, Revocation] = field(default_factory=dict)


_TRUNCATED = (
    "Signatures do not show whether the newest entries were removed; a head that was kept elsewhere does (byop audit "
    "--witness FILE)."
)


def known_keys(
    log: Sequence[AuditEntry], revocation_list: Mapping[str, Revocation], public_key: str | None
) -> KnownKeys:
    """Return what the audit log and the list of revoked keys say. `public_key` is the key that the user expects."""
    logged = {
        key: Revocation(key, str(entry.content.get("reason", "")), entry.at) for key, entry in _revocations(log).items()
    }
    successors = [] if public_key is None else [*_successors(log, public_key, revocation_list)][1:]
    return KnownKeys(successors, {**logged, **revocation_list})


def check(
    log: Sequence[AuditEntry],
    signatures: Sequence[HeadSignature],
    *,
    public_key: str | None = None,
    revocation_list: Mapping[str, Revocation] | None = None,
) -> list[VerificationFinding]:
    """Verify every signature, and say up to where the log is signed and by whom.

    `public_key` is the key that the user expects. Keys that replaced it are taken from the log. `revocation_list` has
    revoked keys that the log may not know.
    """
    entries = {entry.sequence: entry for entry in log}
    revocations = _revocations(log)
    problems = list(filter(None, (_problem(signature, entries, revocations) for signature in signatures)))
    if problems:
        return problems
    keys = known_keys(log, revocation_list or {}, public_key)
    usable = [signature for signature in signatures if signature.public_key not in keys.revocations]
    if public_key is not None:
        trusted = {public_key, *keys.successors}
        usable = [signature for signature in usable if signature.public_key in trusted]
    if usable:
        return [_coverage(log, max(usable, key=lambda signature: signature.sequence), public_key)]
    return [_not_covered(signatures, keys.revocations, public_key)]


def check_entry(
    entry: AuditEntry, signatures: Sequence[HeadSignature], revocation_list: Mapping[str, Revocation]
) -> EntrySignature:
    """Say who signed one entry, and whether the signatures hold. Revocations in the log are not looked up."""
    problems = filter(None, (_problem(signature, {entry.sequence: entry}, {}) for signature in signatures))
    revoked = (
        f"The key {signature.public_key} was revoked on {revocation_list[signature.public_key].at}."
        for signature in signatures
        if signature.public_key in revocation_list
    )
    messages = [*(problem.message for problem in problems), *revoked]
    return EntrySignature(tuple(signature.public_key for signature in signatures), " ".join(messages))


@record
class EntrySignature:
    public_keys: tuple[str, ...]
    """The keys that signed the entry."""
    problem: str
    """What is wrong with these signatures; empty if they hold."""


def _coverage(log: Sequence[AuditEntry], newest: HeadSignature, public_key: str | None) -> VerificationFinding:
    last = log[-1].sequence
    message = f"The audit log is signed by {newest.public_key} up to entry {newest.sequence}"
    message += (
        "." if newest.sequence == last else f"; entries after {newest.sequence} are not signed, so {_REBUILT} them."
    )
    if public_key is None:
        message += " The owner of that key is not known: name the key that you expect with --public-key."
    elif newest.public_key != public_key:
        message += f" That key replaced {public_key}, by a statement that it signed."
    return VerificationFinding(PART, VerificationState.HOLDS, f"{message} {_TRUNCATED}")


def _not_covered(
    signatures: Sequence[HeadSignature], revocations: Mapping[str, Revocation], public_key: str | None
) -> VerificationFinding:
    if public_key is not None and public_key in revocations:
        message = (
            f"The key that you named, {public_key}, was revoked on {revocations[public_key].at}, and no other key that "
            f"it vouches for signed the audit log, so {_REBUILT} it."
        )
        return VerificationFinding(PART, VerificationState.REVOKED_KEY, message)
    if public_key is not None:
        message = f"The audit log is not signed by the key that you named, {public_key}, so {_REBUILT} it."
        state = VerificationState.OTHER_KEY if signatures else VerificationState.NOT_SIGNED
        return VerificationFinding(PART, state, message)
    if signatures:
        revoked = revocations[signatures[-1].public_key]
        message = (
            f"The audit log is signed only by {signatures[-1].public_key}, which was revoked on {revoked.at}: whoever "
            "has that key and write access to the database could have rebuilt it."
        )
        return VerificationFinding(PART, VerificationState.UNKNOWN, message)
    return VerificationFinding(PART, VerificationState.UNKNOWN, f"The audit log is not signed, so {_REBUILT} it.")


def _problem(
    signature: HeadSignature, entries: dict[int, AuditEntry], revocations: dict[str, AuditEntry]
) -> VerificationFinding | None:
    """Return what is wrong with a signature, or None."""
    name = f"The signature of entry {signature.sequence} by {signature.public_key}"
    signed = Signature("ed25519", signature.public_key, signature.value, PAYLOAD_TYPE)
    claims = signature.claims
    if not signs_bytes(signature.statement.encode("utf-8", "surrogatepass"), signed):
        return _altered(f"{name} is invalid: it or its statement was altered.")
    if (claims.get("sequence"), claims.get("public_key")) != (signature.sequence, signature.public_key):
        return _altered(f"{name} was moved: its statement is about entry {claims.get('sequence')}.")
    entry = entries.get(signature.sequence)
    if entry is None:
        return _altered(f"The audit log was truncated: entry {signature.sequence} was signed, and it is not there.")
    if claims.get("hash") != entry.hash:
        return _altered(
            f"The audit log was rebuilt: entry {signature.sequence} was signed as {claims.get('hash')}, and it is now "
            f"{entry.hash}."
        )
    revoked = revocations.get(signature.public_key)
    if revoked is not None and signature.sequence > revoked.sequence:
        message = f"{name} was made after that key was revoked (entry {revoked.sequence}, {revoked.at})."
        return VerificationFinding(PART, VerificationState.REVOKED_KEY, message)
    return None


def _altered(message: str) -> VerificationFinding:
    return VerificationFinding(PART, VerificationState.ALTERED, message)


def _revocations(log: Sequence[AuditEntry]) -> dict[str, AuditEntry]:
    """Return the first revocation of each key."""
    entries: dict[str, AuditEntry] = {}
    for entry in log:
        if entry.action == audit_log.KEY_REVOKED:
            entries.setdefault(str(entry.content.get("public_key")), entry)
    return entries


def rotation_statement(old: str, new: str, *, at: str) -> bytes:
    """Return what the old key signs when a new one replaces it."""
    return canonical({"public_key": old, "replaced_by": new, "at": at})


ROTATION_TYPE = "application/vnd.byop.key-rotation+json"


def _successors(log: Sequence[AuditEntry], public_key: str, revocation_list: Mapping[str, Revocation]) -> Iterator[str]:
    """Yield the key, and every key that replaced it by a valid statement before the one that signed it was revoked.

    The log shows what came first. If only the list has a key, whoever has it could have made the statement afterwards.
    """
    trusted = {public_key}
    revoked = set(revocation_list) - set(_revocations(log))
    yield public_key
    for entry in log:
        if entry.action == audit_log.KEY_REVOKED:
            revoked.add(str(entry.content.get("public_key")))
        if entry.action != audit_log.KEY_ROTATED:
            continue
        old, new, at, value = (
            str(entry.content.get(name)) for name in ("public_key", "replaced_by", "at", "signature")
        )
        signature = Signature("ed25519", old, value, ROTATION_TYPE)
        is_trusted = old in trusted and old not in revoked
        if is_trusted and signs_bytes(rotation_statement(old, new, at=at), signature):
            trusted.add(new)
            yield new
