"""Login with an OpenID Connect provider: the authorization-code flow, ID tokens, and what their claims mean here."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from salvo.engine.text.messages import install_hint
from salvo.errors import UsageError

if TYPE_CHECKING:
    from salvo.engine.runtime.clock import Clock
    from salvo.playbooks.accounts.account_store import AccountStore
    from salvo.web.oidc.login import OidcLogin
    from salvo.web.oidc.settings import OidcSettings


def check_installed() -> None:
    """Raise UsageError if what the login needs is not installed."""
    if find_spec("authlib") is None or find_spec("joserfc") is None:
        raise UsageError(
            "The login with an OIDC provider needs the package Authlib, which is not installed.",
            hint=install_hint("oidc"),
        )


def open_oidc(settings: OidcSettings, accounts: AccountStore, clock: Clock) -> OidcLogin:
    """Return the login with this provider."""
    from salvo.web.oidc.login import OidcLogin  # Authlib is an optional dependency

    return OidcLogin(settings, accounts, clock)
