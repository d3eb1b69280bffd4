"""What a playbook must have to be saved under its id, beside the versions that are saved already. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from salvo.playbooks.playbook import library
from salvo.playbooks.playbook.definition import Playbook
from salvo.playbooks.playbook.document import PlaybookProblem, error
from salvo.records import record

MAX_ID_LENGTH: Final = 100
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@record
class SavedVersion:
    """A saved version of a playbook, without its document."""

    playbook_id: str
    number: int
    """From 1, in the order in which they were saved."""
    version: str
    """As the playbook calls it."""
    logic_hash: str
    saved_at: str
    saved_by: str
    """The user who was logged in, or a name as it was typed."""
    note: str
    """What was changed, as the author describes it."""
    withdrawn_at: str | None
    """When the playbook was taken off the list; None if it is listed."""


def saving_problems(playbook: Playbook, saved: Sequence[SavedVersion]) -> list[PlaybookProblem]:
    """Return why the playbook cannot be the next version. `saved` are the versions with its id, the oldest first."""
    if playbook.id in library.names():
        message = "belongs to a playbook of the library, which stays as it is: give yours another id"
        return [error(("metadata", "id"), message)]
    if len(playbook.id) > MAX_ID_LENGTH or not _ID.fullmatch(playbook.id):
        message = "must begin with a letter or a digit, and have only letters, digits, dots, hyphens and underscores"
        return [error(("metadata", "id"), f"{message} (at most {MAX_ID_LENGTH})")]
    if any(version.logic_hash == playbook.logic_hash for version in saved[-1:]):
        return [error((), f"has not changed since version {saved[-1].version} was saved")]
    if playbook.version in {version.version for version in saved}:
        message = f"{playbook.version} is saved already with other content: give this one another version"
        return [error(("metadata", "version"), message)]
    return []
