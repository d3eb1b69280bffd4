"""What the claims of a valid ID token mean here: who it is, their name, and their role. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from salvo.playbooks.accounts.oidc_accounts import ClaimedUser
from salvo.playbooks.accounts.users import OidcIdentity, Role
from salvo.web.oidc.settings import OidcSettings


def claimed_user(claims: Mapping[str, Any], settings: OidcSettings) -> ClaimedUser:
    identity = OidcIdentity(settings.issuer, claims["sub"])
    return ClaimedUser(identity, _name(claims, settings), _role(claims, settings), settings.role_claim is not None)


def _name(claims: Mapping[str, Any], settings: OidcSettings) -> str | None:
    name = find_claim(claims, settings.name_claim)
    # Not every provider says whether an address was verified; some say it as a text. Unverified, anybody typed it.
    if settings.name_claim == "email" and claims.get("email_verified", True) not in (True, "true"):
        return None
    return name if isinstance(name, str) else None


def _role(claims: Mapping[str, Any], settings: OidcSettings) -> Role | None:
    """Return the highest role that a value of the claim gives."""
    if settings.role_claim is None:
        return settings.default_role
    value = find_claim(claims, settings.role_claim)
    values = value if isinstance(value, list) else [value]
    roles = {settings.roles[one] for one in values if isinstance(one, str) and one in settings.roles}
    return max(roles, key=list(Role).index, default=settings.default_role)


def find_claim(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim by its name, or by a path such as realm_access.roles; None if there is none."""
    if name in claims:  # a name may have dots: https://example.com/roles
        return claims[name]
    value: Any = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
