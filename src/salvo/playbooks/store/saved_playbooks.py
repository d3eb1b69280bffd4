"""Playbooks that people saved: their versions, each with who saved it when.

A saved version is never changed or deleted, so a report can always be traced to the playbook that it was made with. A
playbook can be withdrawn from the list. The audit log records every step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, func, insert, select, update

from salvo.engine.jsonio import json_codec
from salvo.errors import InputError, PlaybookChangedError, StoreError, UnknownIdError
from salvo.playbooks.audit import audit_log
from salvo.playbooks.playbook.definition import Playbook
from salvo.playbooks.playbook.saving import SavedVersion, saving_problems
from salvo.playbooks.store.column_text import as_name, as_storable, as_text
from salvo.playbooks.store.damage import PARSE_ERRORS, as_logged, check_columns, check_type, damaged_row
from salvo.playbooks.store.database import DatabaseStore
from salvo.playbooks.store.records import RawRow
from salvo.playbooks.store.rows import audit_entries, raw_rows
from salvo.playbooks.store.tables import playbook_versions
from salvo.records import record

MAX_LISTED = 500
"""Playbooks in the list."""

_ROW = playbook_versions.c
_SAVED_VERSION_COLUMNS = [_ROW[part.name] for part in fields(SavedVersion)]


@record
class SavedPlaybook:
    """A version with its document."""

    saved: SavedVersion
    document: Mapping[str, Any]


class SavedPlaybooks(DatabaseStore):
    def save(self, playbook: Playbook, *, saved_by: str, note: str = "", based_on: int | None) -> SavedVersion:
        """Save the next version of a playbook without errors, and list it if it was withdrawn.

        `based_on` is the number of the version that was edited, or None for a new playbook: PlaybookChangedError if
        somebody saved another one meanwhile. InputError says what keeps it from being saved.
        """
        now = self._now()
        with self._database.writing(alone=True) as connection:
            saved = _versions(connection, playbook.id)
            newest = saved[-1].number if saved else None
            if newest != based_on:
                raise _changed(playbook.id, saved)
            if problems := saving_problems(playbook, saved):
                reasons = "; ".join(f"{problem.place} {problem.message}" for problem in problems)
                raise InputError(f"The playbook cannot be saved. {reasons}.")
            values = {
                "playbook_id": playbook.id,
                "number": (newest or 0) + 1,
                "version": as_name(playbook.version),
                "logic_hash": playbook.logic_hash,
                "saved_at": now,
                "saved_by": as_name(saved_by),
                "withdrawn_at": None,
                "note": as_storable(note),
                "document": as_text(playbook.document),
            }
            if saved and saved[-1].withdrawn_at is not None:
                self._set_withdrawn(connection, playbook.id, None, by=saved_by, at=now)
            connection.execute(insert(playbook_versions).values(values))
            logged = {"playbook_version": audit_log.hash_long_columns(values)}
            audit_entries.append(connection, {"action": audit_log.PLAYBOOK_SAVED, "at": now, **logged})
            return _versions(connection, playbook.id)[-1]

    def withdraw(self, playbook_id: str, *, by: str) -> None:
        """Take a playbook off the list. Its versions stay, and can be used by their number."""
        self._list_or_withdraw(playbook_id, self._now(), by=by)

    def restore(self, playbook_id: str, *, by: str) -> None:
        """Put a withdrawn playbook back on the list."""
        self._list_or_withdraw(playbook_id, None, by=by)

    def _list_or_withdraw(self, playbook_id: str, withdrawn_at: str | None, *, by: str) -> None:
        with self._database.writing(alone=True) as connection:
            saved = _versions(connection, playbook_id)
            if not saved:
                raise _unknown(playbook_id)
            if (saved[-1].withdrawn_at is None) != (withdrawn_at is None):
                self._set_withdrawn(connection, playbook_id, withdrawn_at, by=by, at=self._now())

    def _set_withdrawn(
        self, connection: Connection, playbook_id: str, withdrawn_at: str | None, *, by: str, at: str
    ) -> None:
        statement = update(playbook_versions).where(_ROW.playbook_id == playbook_id)
        connection.execute(statement.values(withdrawn_at=withdrawn_at))
        action = audit_log.PLAYBOOK_RESTORED if withdrawn_at is None else audit_log.PLAYBOOK_WITHDRAWN
        columns = {"playbook_id": playbook_id, "withdrawn_at": withdrawn_at}
        audit_entries.append(connection, {"action": action, "at": at, "by": as_name(by), "playbook_version": columns})

    def newest(self, *, withdrawn: bool = False) -> list[SavedPlaybook]:
        """Return the newest version of each listed or each withdrawn playbook, the last saved first."""
        last = select(_ROW.playbook_id, func.max(_ROW.number).label("number")).group_by(_ROW.playbook_id).subquery()
        is_last = and_(_ROW.playbook_id == last.c.playbook_id, _ROW.number == last.c.number)
        is_wanted = _ROW.withdrawn_at.is_not(None) if withdrawn else _ROW.withdrawn_at.is_(None)
        query = select(playbook_versions).join(last, is_last).where(is_wanted)
        query = query.order_by(_ROW.saved_at.desc(), _ROW.playbook_id).limit(MAX_LISTED)
        with self._database.reading() as connection:
            return [_saved_playbook(row) for row in connection.execute(query).mappings()]

    def versions(self, playbook_id: str) -> list[SavedVersion]:
        """Return the versions of a playbook, the oldest first; none if there is no such playbook."""
        with self._database.reading() as connection:
            return _versions(connection, playbook_id)

    def load(self, playbook_id: str, number: int | None = None) -> SavedPlaybook:
        """Return a version with its document, by default the newest. UnknownIdError if there is none."""
        query = select(playbook_versions).where(_ROW.playbook_id == as_name(playbook_id))
        if number is not None:
            query = query.where(_ROW.number == number)
        with self._database.reading() as connection:
            row = connection.execute(query.order_by(_ROW.number.desc()).limit(1)).mappings().one_or_none()
        if row is None:
            raise _unknown(playbook_id, number)
        return _saved_playbook(row)

    def with_hash(self, logic_hash: str) -> SavedPlaybook | None:
        """Return the version with this logic hash; None if none was saved."""
        query = select(playbook_versions).where(_ROW.logic_hash == as_name(logic_hash)).limit(1)
        with self._database.reading() as connection:
            row = connection.execute(query).mappings().one_or_none()
        return None if row is None else _saved_playbook(row)

    def hashes(self) -> set[str]:
        """Return the logic hashes of all saved versions."""
        with self._database.reading() as connection:
            return set(connection.scalars(select(_ROW.logic_hash)))

    def raw_rows(self) -> list[RawRow]:
        """Return the rows of all versions, for verification."""
        with self._database.reading() as connection:
            return raw_rows.list_playbook_versions(connection)


def _versions(connection: Connection, playbook_id: str) -> list[SavedVersion]:
    query = select(*_SAVED_VERSION_COLUMNS).where(_ROW.playbook_id == as_name(playbook_id)).order_by(_ROW.number)
    return [_saved_version(row) for row in connection.execute(query).mappings()]


def _saved_version(row: RowMapping) -> SavedVersion:
    columns = {part.name: row[part.name] for part in fields(SavedVersion)}
    try:
        check_columns(columns, dict(_ROW))
    except ValueError as error:
        name = f"{as_logged(columns['number'])} of the playbook {as_logged(columns['playbook_id'])}"
        raise damaged_row("version", name, error) from error
    return SavedVersion(**columns)


def _saved_playbook(row: RowMapping) -> SavedPlaybook:
    saved = _saved_version(row)
    try:
        return SavedPlaybook(saved, check_type("document", json_codec.loads(row["document"]), dict))
    except PARSE_ERRORS as error:
        raise StoreError(
            f"Version {saved.number} of the playbook {saved.playbook_id} is damaged.",
            hint="`byop verify --all` says what was altered.",
        ) from error


def _unknown(playbook_id: str, number: int | None = None) -> UnknownIdError:
    version = "" if number is None else f"version {number} of "
    return UnknownIdError(f"There is no {version}saved playbook {playbook_id}.", hint="`byop playbooks` lists them.")


def _changed(playbook_id: str, saved: list[SavedVersion]) -> PlaybookChangedError:
    if not saved:
        return PlaybookChangedError(f"No version of {playbook_id} is saved yet.", hint="Save it as a new playbook.")
    newest = saved[-1]
    return PlaybookChangedError(
        f"{newest.saved_by} saved version {newest.number} of {playbook_id} ({newest.version}) at {newest.saved_at}.",
        hint="Open that version and make your change there, or save yours under another id.",
    )
