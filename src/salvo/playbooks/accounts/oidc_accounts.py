"""Users for whom an OIDC provider vouches: which account is theirs, and whether they may log in.

An account is found by issuer and subject alone. An account that merely has the same name is never given to anybody.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from sqlalchemy import Connection, delete, update

from salvo.errors import UsageError
from salvo.playbooks.accounts.user_store import (
    append_entry,
    find_account,
    find_linked,
    identity_fields,
    insert_user,
)
from salvo.playbooks.accounts.users import OidcIdentity, Role, UserAccount, checked_name, name_key
from salvo.playbooks.audit import audit_log
from salvo.playbooks.store.database import DatabaseStore
from salvo.playbooks.store.tables import user_sessions, users
from salvo.records import record


class LoginRefusal(StrEnum):
    """Why somebody may not log in for whom the provider vouched, as the audit log says it."""

    NO_ACCOUNT = "there is no account for them"
    NO_NAME = "the provider gave no usable name"
    NAME_TAKEN = "another account has their name"
    NO_ROLE = "none of their claims gives a role"
    DISABLED = "their account is disabled"


@record
class ClaimedUser:
    """What the provider vouched for, and what it means here."""

    identity: OidcIdentity
    name: str | None
    """Names the account that is made at the first login; None if the provider gave no name."""
    role: Role | None
    """The role of a new account; None: nobody may log in who has no other."""
    role_is_claimed: bool
    """Whether the provider decides about the role at every login, instead of `byop user role`."""


class OidcAccounts(DatabaseStore):
    def admit(self, claimed: ClaimedUser, *, creates_users: bool) -> UserAccount | LoginRefusal:
        """Return the account of somebody who logs in, with the role that they have now, or why they may not.

        Whatever changes, and a refusal, is stored with its entry in the audit log.
        """
        with self._database.writing(alone=True) as connection:
            admission = _Admission(connection, claimed, self._now())
            admitted = admission.decide(creates_users=creates_users)
            if isinstance(admitted, LoginRefusal):
                admission.note_refusal(admitted)
            return admitted


class _Admission:
    """One login, within a transaction."""

    def __init__(self, connection: Connection, claimed: ClaimedUser, now: str) -> None:
        self._connection = connection
        self._claimed = claimed
        self._now = now
        self._account = find_linked(connection, claimed.identity)

    def decide(self, *, creates_users: bool) -> UserAccount | LoginRefusal:
        account, claimed = self._account, self._claimed
        if account is None:
            return self._create() if creates_users else LoginRefusal.NO_ACCOUNT
        if account.disabled:
            return LoginRefusal.DISABLED
        if not claimed.role_is_claimed or claimed.role is account.role:
            return account
        return LoginRefusal.NO_ROLE if claimed.role is None else self._change_role(account, claimed.role)

    def note_refusal(self, refusal: LoginRefusal) -> None:
        """Record the refusal, and end the other sessions of who may no longer log in."""
        name = None
        if self._account is not None:
            name = self._account.name
            self._connection.execute(delete(user_sessions).where(user_sessions.c.name_key == name_key(name)))
        self._log(audit_log.LOGIN_REFUSED, name, reason=str(refusal))

    def _create(self) -> UserAccount | LoginRefusal:
        role = self._claimed.role
        if role is None:
            return LoginRefusal.NO_ROLE
        try:
            name = checked_name(self._claimed.name or "")
        except UsageError:
            return LoginRefusal.NO_NAME
        if find_account(self._connection, name) is not None:
            return LoginRefusal.NAME_TAKEN
        account = insert_user(self._connection, name, role, self._now, identity=self._claimed.identity)
        self._log(audit_log.USER_ADDED, name, role=str(role))
        return account

    def _change_role(self, account: UserAccount, role: Role) -> UserAccount:
        is_it = users.c.name_key == name_key(account.name)
        self._connection.execute(update(users).where(is_it).values(role=str(role)))
        self._log(audit_log.USER_ROLE_CHANGED, account.name, role=str(role))
        return replace(account, role=role)

    def _log(self, action: str, name: str | None, **details: str) -> None:
        identity = self._claimed.identity
        fields = {**identity_fields(identity), **details}
        append_entry(self._connection, action, name, self._now, by=identity.issuer, **fields)
