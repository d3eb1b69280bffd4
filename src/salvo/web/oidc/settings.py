"""The settings of the login with an OIDC provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from salvo.playbooks.accounts.users import Role
from salvo.records import record

CALLBACK_PAGE = "/login/oidc"
"""The page that the provider sends the browser to. It hands on what is in its address."""
DEFAULT_NAME_CLAIM = "preferred_username"
DEFAULT_SCOPES = ("openid", "profile", "email")


@record
class OidcSettings:
    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    label: str
    """The provider's name on the page."""
    redirect_url: str | None = None
    """Where the provider sends the browser back to. None: to the address at which the browser uses this server."""
    scopes: tuple[str, ...] = DEFAULT_SCOPES
    name_claim: str = DEFAULT_NAME_CLAIM
    role_claim: str | None = None
    """The claim that decides about the role at every login. None: `byop user role` does."""
    roles: Mapping[str, Role] = field(default_factory=dict)
    """The role that each value of that claim gives."""
    default_role: Role | None = None
    """The role of who has no such value. None: they may not log in."""
    creates_users: bool = False
    """Whether an account is made at the first login."""
    is_only_login: bool = False
    """Whether nobody can log in with a password."""
