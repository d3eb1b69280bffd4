"""What the routes work with."""

from __future__ import annotations

import asyncio
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends, Request

from salvo.playbooks.audit.head_key import ReadKey
from salvo.playbooks.report.report import Report
from salvo.playbooks.store.column_text import as_name
from salvo.playbooks.store.records import StoredEvaluation
from salvo.playbooks.store.store import EvaluationStore
from salvo.records import record
from salvo.scenarios.store.batch_catalog import BatchCatalog
from salvo.web.jobs.changes import Changes
from salvo.web.jobs.scheduler import Jobs
from salvo.web.metrics import Metrics
from salvo.web.read_files import ReadFiles
from salvo.web.responses import ConflictError
from salvo.web.sessions import AccessControl, CurrentUser, LoginSession
from salvo.web.settings import Settings

if TYPE_CHECKING:  # it needs an optional dependency
    from salvo.web.oidc.login import OidcLogin

MAX_TRIALS = 2
"""Trials of playbooks at the same time, beside the evaluations."""


@record
class Services:
    settings: Settings
    store: EvaluationStore
    jobs: Jobs
    catalog: BatchCatalog
    """The stored runs of scenarios."""
    changes: Changes
    metrics: Metrics
    access: AccessControl
    read_files: ReadFiles
    read_signing_key: ReadKey
    """Reads the key with which this server signs, if it has one. It stays here."""
    closing: asyncio.Event
    """Set when the server shuts down: event streams that would never end are closed then."""
    oidc: OidcLogin | None = None
    """The login with an OIDC provider, if there is one."""
    trials: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_TRIALS))
    """Held while a playbook is tried; further trials wait."""

    def oidc_login(self) -> OidcLogin:
        if self.oidc is None:
            raise ConflictError(
                "This server has no login provider.", hint="Log in with a password, or the address that it printed."
            )
        return self.oidc

    def load(self, name: str) -> StoredEvaluation:
        """Load an evaluation by its id, a prefix of it, or "latest". Blocks."""
        return self.store.load(self.store.find(name))

    def load_with_report(self, name: str) -> tuple[StoredEvaluation, Report]:
        stored = self.load(name)
        if stored.report is None:
            raise ConflictError(
                f"The evaluation {stored.id} has no report: it is {stored.state}.",
                hint="It has a report once it is done.",
            )
        return stored, stored.report


def _services(request: Request) -> Services:
    return cast("Services", request.app.state.services)


def _user(request: Request) -> CurrentUser:
    return cast("CurrentUser", request.state.user)


def _client(request: Request) -> str:
    """Return who asks, for the order in which evaluations are run: a user, a browser's session, or a program.

    A program has the token, so it is believed for whom it asks: it may be a proxy that many people use.
    """
    session: LoginSession | None = request.state.session
    if session is not None and session.user.authenticated:
        return as_name(f"user {session.user.name}")
    if session is not None:
        return f"session {session.id_hash[:16]}"
    return as_name(f"program {request.headers.get(CLIENT_HEADER, '')}".strip())


CLIENT_HEADER = "x-client-name"


ClientDep = Annotated[str, Depends(_client)]
UserDep = Annotated[CurrentUser, Depends(_user)]
ServicesDep = Annotated[Services, Depends(_services)]
