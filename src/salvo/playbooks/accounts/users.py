"""Users and their roles, and which names and passwords they may have. Pure."""

from __future__ import annotations

import unicodedata
from enum import StrEnum

from salvo.errors import UsageError
from salvo.records import record

MAX_NAME_LENGTH = 100
MAX_IDENTITY_LENGTH = 255
MIN_PASSWORD_LENGTH = 12
MAX_PASSWORD_LENGTH = 1000
OPERATOR_NAME = "local"
"""The name of who has the server's own address or token. No user may be called so."""


class Role(StrEnum):
    """What somebody may do. Each role includes those before it."""

    READER = "reader"
    """Read and export."""
    REVIEWER = "reviewer"
    """Also evaluate and review."""
    ADMIN = "admin"
    """Also delete, and see the users."""

    def includes(self, other: Role) -> bool:
        roles = list(Role)
        return roles.index(self) >= roles.index(other)


class LoginMethod(StrEnum):
    PASSWORD = "password"  # noqa: S105 - the name of a method
    OIDC = "oidc"


@record
class OidcIdentity:
    """Who somebody is at an OIDC provider. Neither a name nor an e-mail address identifies anybody: both can change."""

    issuer: str
    subject: str


@record
class UserAccount:
    name: str
    role: Role
    disabled: bool
    created_at: str
    password_set_at: str | None
    """None if the user has no password here."""
    identity: OidcIdentity | None
    """Whom an OIDC provider has to vouch for to log this user in; None if only a password does."""


def checked_name(name: str) -> str:
    """Return the name as it is stored, or raise UsageError."""
    stored = " ".join(unicodedata.normalize("NFC", name).split())
    if not stored or len(stored) > MAX_NAME_LENGTH or not stored.isprintable():
        raise UsageError(
            "The name of the user is empty or too long, or has characters that cannot be shown.",
            hint=f"Use at most {MAX_NAME_LENGTH} characters, without line breaks.",
        )
    if name_key(stored) == OPERATOR_NAME:
        raise UsageError(
            f"No user may be called {OPERATOR_NAME!r}: that is who starts the server.", hint="Choose another name."
        )
    return stored


def name_key(name: str) -> str:
    """Return what two names have in common that differ in case, width or spaces only."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).split())


def checked_identity(issuer: str, subject: str) -> OidcIdentity:
    """Return the identity, or raise UsageError."""
    for text in (issuer, subject):
        if not text or len(text) > MAX_IDENTITY_LENGTH or not text.isprintable():
            raise UsageError(
                "The issuer or the subject is empty or too long, or has characters that cannot be shown.",
                hint="The issuer is the provider's address as in --oidc-issuer, the subject its claim `sub`.",
            )
    return OidcIdentity(issuer, subject)


def check_password(password: str, name: str) -> None:
    """Raise UsageError if the password is too easy to guess to be used."""
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        raise UsageError(
            f"A password has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH:,} characters.",
            hint="Several words that do not belong together are easy to remember and hard to guess.",
        )
    if len(set(password)) < _FEWEST_CHARACTERS or name_key(password) == name_key(name):
        raise UsageError("This password is too easy to guess.", hint="Use several words that do not belong together.")


_FEWEST_CHARACTERS = 5
