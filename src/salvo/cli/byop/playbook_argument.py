"""The playbook that a command names: one of the library, a file, or a saved one."""

from __future__ import annotations

import os
from pathlib import Path

from salvo.cli.byop.lazy_store import open_store_late
from salvo.playbooks.playbook import library
from salvo.playbooks.playbook.definition import Playbook
from salvo.playbooks.playbook.validate import stored_playbook
from salvo.playbooks.store.location import FILE, VARIABLE


def find_playbook(name: str) -> Playbook:
    """Return the playbook with this id, in this file, or the saved version ID@NUMBER. UsageError if there is none."""
    if name not in library.names() and not Path(name).exists() and _may_be_saved():
        playbook_id, at, number = name.rpartition("@")
        if at and number.isdecimal() and len(number) < 10:
            playbook = _saved(playbook_id, int(number))
        else:
            playbook = _saved(name, None)
        if playbook is not None:
            return playbook
    return library.find(name)


def saved_playbooks() -> list[Playbook]:
    """Return the newest version of each saved playbook that is listed."""
    if not _may_be_saved():
        return []
    with open_store_late() as store:
        return [stored_playbook(saved.document) for saved in store.saved_playbooks.newest()]


def _may_be_saved() -> bool:
    return bool(os.environ.get(VARIABLE, "").strip()) or Path(FILE).exists()


def _saved(playbook_id: str, number: int | None) -> Playbook | None:
    with open_store_late() as store:
        if not store.saved_playbooks.versions(playbook_id):
            return None
        return stored_playbook(store.saved_playbooks.load(playbook_id, number).document)
