"""Links that show one report, and nothing else, to whoever has their token, until they expire.

Only the hash of a token is stored: the token is returned once. It has 256 random bits, so it cannot be guessed, and its
hash needs no salt. Each link is stored together with its entry in the audit log, or not at all. Erasing a report
erases its links.
"""

from __future__ import annotations

import os
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum

from sqlalchemy import Connection, RowMapping, and_, insert, select, update

from salvo.engine.jsonio.canonical import hex_digest
from salvo.errors import UnknownIdError, UsageError
from salvo.playbooks.accounts.users import Role
from salvo.playbooks.audit import audit_log
from salvo.playbooks.store.column_text import as_name, as_storable
from salvo.playbooks.store.damage import as_logged, check_columns, damaged_row
from salvo.playbooks.store.database import DatabaseStore
from salvo.playbooks.store.queueing import process_owner
from salvo.playbooks.store.queueing.leases import as_stored
from salvo.playbooks.store.records import State
from salvo.playbooks.store.rows import audit_entries
from salvo.playbooks.store.rows import evaluations as rows
from salvo.playbooks.store.tables import share_links, users
from salvo.records import record

DEFAULT_DAYS = 7
MAX_DAYS = 90
MAX_NOTE_LENGTH = 500
MAX_OPEN_LINKS = 100
"""Links of one report that work at the same time."""
_TOKEN_BYTES = 32
_TOKEN_LENGTH = 43
_NOTED_EVERY = timedelta(minutes=1)
"""Not every request writes when the link was last opened."""


class ShareLinkState(StrEnum):
    OPEN = "open"
    EXPIRED = "expired"
    REVOKED = "revoked"
    SUSPENDED = "suspended"
    """The user who made it may no longer share reports."""


@record
class ShareLink:
    id: str
    evaluation_id: str
    created_at: str
    created_by: str
    """The user who made it; the operating system's user where nobody was logged in."""
    authenticated: bool
    """Whether somebody was logged in with that name."""
    expires_at: str
    revoked_at: str | None
    revoked_by: str | None
    first_opened_at: str | None
    last_opened_at: str | None
    """Within a minute."""
    note: str
    state: ShareLinkState


@record
class NewShareLink:
    link: ShareLink
    token: str
    """Shown once: only its hash is stored."""

    @property
    def path(self) -> str:
        """The address on the server. Browsers send the fragment neither to a server nor as a referrer."""
        return f"{PAGE}#{self.token}"


PAGE = "/shared"

_LINKS = select(share_links, users.c.role, users.c.disabled).outerjoin(
    users, and_(share_links.c.authenticated, users.c.name == share_links.c.created_by)
)


class ShareLinks(DatabaseStore):
    def create(
        self, evaluation_id: str, *, days: int = DEFAULT_DAYS, note: str = "", user: str | None = None
    ) -> NewShareLink:
        """Make a link to a report that works for so many days. The audit log has it, and the user who is logged in."""
        if not 1 <= days <= MAX_DAYS:
            raise UsageError(f"A link works for 1 to {MAX_DAYS} days.")
        token = urlsafe_b64encode(os.urandom(_TOKEN_BYTES)).rstrip(b"=").decode()
        now = self._clock.now()
        link_id = self._clock.new_id()
        values = {
            "id": link_id,
            "evaluation_id": evaluation_id,
            "token_hash": _hash(token),
            "created_at": as_stored(now),
            "created_by": user if user is not None else as_name(process_owner.system_user()),
            "authenticated": user is not None,
            "expires_at": as_stored(now + timedelta(days=days)),
            "revoked_at": None,
            "revoked_by": None,
            "first_opened_at": None,
            "note": as_storable(note.strip()[:MAX_NOTE_LENGTH]),
        }
        with self._database.writing(alone=True) as connection:
            row = rows.get_row(connection, evaluation_id)
            if row["state"] != State.DONE:
                raise UsageError(
                    f"The evaluation {evaluation_id} has no report: it is {row['state']}.",
                    hint="A report can be shared once it is done.",
                )
            is_open = (link.state is ShareLinkState.OPEN for link in self._list(connection, evaluation_id))
            if sum(is_open) >= MAX_OPEN_LINKS:
                raise UsageError(f"{MAX_OPEN_LINKS} links to this report work already.", hint="Revoke some of them.")
            connection.execute(insert(share_links).values(values))
            logged = {"share_link": audit_log.hash_long_columns(values), **_who(user)}
            self._log(connection, audit_log.SHARE_LINK_CREATED, row, as_stored(now), logged)
            return NewShareLink(self._find(connection, evaluation_id, link_id), token)

    def of_report(self, evaluation_id: str) -> list[ShareLink]:
        """Return the links to a report, also those that have ended, the newest first."""
        with self._database.reading() as connection:
            return self._list(connection, evaluation_id)

    def revoke(self, evaluation_id: str, link_id: str, *, user: str | None = None) -> ShareLink:
        """Let a link no longer work. UnknownIdError if the report has no such link."""
        now = self._now()
        by = user if user is not None else as_name(process_owner.system_user())
        with self._database.writing(alone=True) as connection:
            row = rows.get_row(connection, evaluation_id)
            link = self._find(connection, evaluation_id, link_id)
            if link.revoked_at is not None:
                return link
            changes = {"revoked_at": now, "revoked_by": by}
            connection.execute(update(share_links).where(share_links.c.id == link.id).values(changes))
            logged = {"share_link": {"id": link.id, **changes}, **_who(user)}
            self._log(connection, audit_log.SHARE_LINK_REVOKED, row, now, logged)
            return self._find(connection, evaluation_id, link_id)

    def open(self, token: str) -> ShareLink:
        """Return the link with this token, and note that it was opened.

        UnknownIdError if there is none, or it has ended: the answer does not tell which.
        """
        if len(token) != _TOKEN_LENGTH or self._database.is_new:  # reading would create the file
            raise _unknown_token()
        with self._database.reading() as connection:
            link = self._find_open(connection, token)
        now = self._clock.now()
        if link.first_opened_at is None:
            return self._note_first(token, as_stored(now))
        if link.last_opened_at is None or link.last_opened_at <= as_stored(now - _NOTED_EVERY):
            with self._database.writing() as connection:
                is_it = share_links.c.id == link.id
                connection.execute(update(share_links).where(is_it).values(last_opened_at=as_stored(now)))
        return link

    def _note_first(self, token: str, now: str) -> ShareLink:
        with self._database.writing(alone=True) as connection:
            link = self._find_open(connection, token)
            if link.first_opened_at is None:  # two requests may arrive at once
                opened = {"first_opened_at": now}
                is_it = share_links.c.id == link.id
                connection.execute(update(share_links).where(is_it).values(**opened, last_opened_at=now))
                row = rows.get_row(connection, link.evaluation_id)
                logged = {"share_link": {"id": link.id, **opened}}
                self._log(connection, audit_log.SHARE_LINK_OPENED, row, now, logged)
            return self._find_open(connection, token)

    def _find_open(self, connection: Connection, token: str) -> ShareLink:
        row = connection.execute(_LINKS.where(share_links.c.token_hash == _hash(token))).mappings().one_or_none()
        link = None if row is None else self._link(row)
        if link is None or link.state is not ShareLinkState.OPEN:
            raise _unknown_token()
        return link

    def _find(self, connection: Connection, evaluation_id: str, link_id: str) -> ShareLink:
        is_it = (share_links.c.evaluation_id == evaluation_id, share_links.c.id == as_name(link_id))
        row = connection.execute(_LINKS.where(*is_it)).mappings().one_or_none()
        if row is None:
            raise UnknownIdError(
                f"The report {evaluation_id} has no share link {link_id!r}.",
                hint=f"`byop share {evaluation_id} --list` shows its links.",
            )
        return self._link(row)

    def _list(self, connection: Connection, evaluation_id: str) -> list[ShareLink]:
        newest_first = (share_links.c.created_at.desc(), share_links.c.id.desc())
        query = _LINKS.where(share_links.c.evaluation_id == evaluation_id).order_by(*newest_first)
        return [self._link(row) for row in connection.execute(query).mappings()]

    def _link(self, row: RowMapping) -> ShareLink:
        columns = {name: row[name] for name in _COLUMNS}
        try:
            check_columns(columns, dict(share_links.c))
            return ShareLink(**columns, authenticated=bool(row["authenticated"]), state=self._state(row))
        except ValueError as error:
            raise damaged_row("share link", row["id"], error) from error

    def _state(self, row: RowMapping) -> ShareLinkState:
        if row["revoked_at"] is not None:
            return ShareLinkState.REVOKED
        if row["expires_at"] <= self._now():
            return ShareLinkState.EXPIRED
        if row["authenticated"] and not _may_share(row):
            return ShareLinkState.SUSPENDED
        return ShareLinkState.OPEN

    def _log(
        self, connection: Connection, action: str, evaluation: RowMapping, now: str, details: Mapping[str, object]
    ) -> None:
        report_hash = as_logged(evaluation["report_hash"])
        audit_entries.append(connection, audit_log.content(action, evaluation["id"], report_hash, at=now, **details))


_COLUMNS = (
    *("id", "evaluation_id", "created_at", "created_by", "expires_at", "revoked_at", "revoked_by"),
    *("first_opened_at", "last_opened_at", "note"),
)


def _may_share(row: RowMapping) -> bool:
    """Return whether the user who made the link may still make one."""
    return row["role"] is not None and not row["disabled"] and Role(row["role"]).includes(Role.REVIEWER)


def _who(user: str | None) -> Mapping[str, object]:
    return audit_log.who(user) if user is not None else {"by": process_owner.system_user()}


def _unknown_token() -> UnknownIdError:
    return UnknownIdError(
        "This link does not work: it is incomplete, has expired or was revoked.", hint="Ask who sent it for a new one."
    )


def _hash(token: str) -> str:
    return hex_digest(token)
