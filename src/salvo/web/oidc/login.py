"""The flow of a login with an OIDC provider: beginning it, and taking the provider's answer."""

from __future__ import annotations

import asyncio
import logging

from salvo.engine.runtime.clock import Clock
from salvo.playbooks.accounts.account_store import AccountStore
from salvo.playbooks.accounts.oidc_accounts import LoginRefusal
from salvo.playbooks.accounts.pending_logins import PendingLogin
from salvo.playbooks.accounts.users import OidcIdentity, UserAccount
from salvo.records import record
from salvo.web.oidc.claims import claimed_user
from salvo.web.oidc.provider import OidcProvider
from salvo.web.oidc.settings import CALLBACK_PAGE, OidcSettings
from salvo.web.responses import ForbiddenError, LoginProviderError
from salvo.web.sessions import random_token

_log = logging.getLogger(__name__)


@record
class AdmittedUser:
    account: UserAccount
    identity: OidcIdentity
    return_to: str


class OidcLogin:
    def __init__(self, settings: OidcSettings, accounts: AccountStore, clock: Clock) -> None:
        self.settings = settings
        self._accounts = accounts
        self._provider = OidcProvider(settings, clock)

    async def begin(self, origin: str, return_to: str) -> tuple[str, str]:
        """Return the provider's address to open, and the secret by which this browser is recognised afterwards."""
        redirect_url = self.settings.redirect_url or f"{origin}{CALLBACK_PAGE}"
        login = PendingLogin(random_token(), random_token(), random_token(), redirect_url, return_to)
        browser_secret = random_token()
        url = await self._provider.authorization_url(login)
        await asyncio.to_thread(self._accounts.pending_logins.add, login, browser_secret)
        return url, browser_secret

    async def finish(
        self, browser_secret: str, *, state: str, code: str | None, error: str | None, issuer: str | None
    ) -> AdmittedUser:
        """Return who logged in, by what the provider's redirect has in its address.

        ForbiddenError or LoginProviderError if nobody did.
        """
        login = await asyncio.to_thread(self._accounts.pending_logins.take, state, browser_secret)
        if login is None:
            _log.warning("A login was refused: this browser began none, or it has expired or was used.")
            raise ForbiddenError(
                "This login was not begun in this browser, has expired or was used already.", hint="Log in again."
            )
        if issuer is not None and issuer != self.settings.issuer:
            _log.warning("A login was refused: the answer is from another provider.")
            raise ForbiddenError("This answer is from another login provider.", hint="Log in again.")
        if code is None:
            _log.warning("A login was refused by the provider.", extra={"fields": {"error": error}})
            raise ForbiddenError(self._provider_refusal(error), hint="Log in again, or with another account.")
        try:
            claims = await self._provider.fetch_claims(code, login)
        except LoginProviderError as failure:
            _log.warning(failure.message)
            raise
        claimed = claimed_user(claims, self.settings)
        admitted = await asyncio.to_thread(
            self._accounts.oidc.admit, claimed, creates_users=self.settings.creates_users
        )
        if isinstance(admitted, LoginRefusal):
            _log.warning("A login was refused.", extra={"fields": {"reason": str(admitted)}})
            raise ForbiddenError(
                f"{self.settings.label} knows you, but you cannot log in here: {_REFUSALS[admitted]}.",
                hint="Ask an administrator of this server.",
            )
        return AdmittedUser(admitted, claimed.identity, login.return_to)

    def _provider_refusal(self, error: str | None) -> str:
        if error == "access_denied":
            return f"{self.settings.label} did not let you log in, or you cancelled it."
        return f"{self.settings.label} could not log you in ({error or 'no reason given'})."


_REFUSALS = {
    LoginRefusal.NO_ACCOUNT: "there is no account for you",
    LoginRefusal.NO_NAME: "it gives no name that can be used here",
    LoginRefusal.NAME_TAKEN: "another account here has your name",
    LoginRefusal.NO_ROLE: "you have no role here",
    LoginRefusal.DISABLED: "your account is disabled",
}
