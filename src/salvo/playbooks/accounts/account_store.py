"""What the database has of people who log in."""

from __future__ import annotations

from salvo.engine.runtime.clock import Clock
from salvo.playbooks.accounts.login_attempts import LoginAttempts
from salvo.playbooks.accounts.oidc_accounts import OidcAccounts
from salvo.playbooks.accounts.pending_logins import PendingLogins
from salvo.playbooks.accounts.session_store import UserSessionStore
from salvo.playbooks.accounts.user_store import UserStore
from salvo.playbooks.store.database import Database


class AccountStore:
    def __init__(self, database: Database, clock: Clock) -> None:
        self.users = UserStore(database, clock)
        self.sessions = UserSessionStore(database, clock)
        self.attempts = LoginAttempts(database, clock)
        self.oidc = OidcAccounts(database, clock)
        self.pending_logins = PendingLogins(database, clock)
