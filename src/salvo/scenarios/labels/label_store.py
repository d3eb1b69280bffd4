"""Labels in the store, beside the runs: small files that are worth committing.

    labels/{key}.{reviewer}.json     what one reviewer says of one question; a later answer replaces it
    labels/draws/{batch_id}.json     the seed of the random order in which the runs of a batch are labelled

A key is the hash of transcript and rubric, and a reviewer is known by a hash of the name. No file has a transcript.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from enum import StrEnum

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import hex_digest
from salvo.errors import StoreError
from salvo.records import record
from salvo.scenarios.store.backends.base import map_in_threads
from salvo.scenarios.store.ids import checked_id
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.store.stored_file import load_stored

_FOLDER = "labels"
_DRAWS = "labels/draws"
_KEY = re.compile(r"[0-9a-f]{64}")
LONGEST_NAME = 100
LONGEST_NOTE = 4_000


class LabelAnswer(StrEnum):
    PASS = "pass"  # noqa: S105 - an answer, not a password
    FAIL = "fail"
    UNCLEAR = "unclear"
    """The reviewer cannot tell."""

    @property
    def passed(self) -> bool | None:
        return {"pass": True, "fail": False}.get(self.value)


@record
class Label:
    """What a reviewer says of a question, without having seen what the judge or another reviewer said."""

    key: str
    answer: LabelAnswer
    reviewer: str
    """A name as it was typed."""
    at: str
    note: str = ""
    scenario_id: str = ""
    assertion: str = ""
    run_id: str = ""
    """The run with which it was shown."""


@record
class LabelDraw:
    """The seed of the order in which runs are labelled: by a hash of the seed and the run's id."""

    seed: str
    created_at: str

    def position(self, run_id: str) -> str:
        """Return what the runs are sorted by. It depends on nothing that is known of a run."""
        return hex_digest(f"{self.seed}:{run_id}")


class LabelStore:
    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._storage = store.storage

    def save(self, label: Label) -> None:
        if not _KEY.fullmatch(label.key):
            raise StoreError(f"{label.key!r} is not the key of a label.")
        self._storage.put(
            f"{_FOLDER}/{label.key}.{_reviewer_id(label.reviewer)}.json", json_codec.dumps(label, indent=2)
        )

    def load(self, keys: Collection[str]) -> list[Label]:
        """Return the labels of these questions, in the order of time. Raise StoreError if a file is damaged."""
        key_set = set(keys)
        names = [
            name for name in self._storage.names(_FOLDER) if name.endswith(".json") and name.split(".")[0] in key_set
        ]
        paths = [f"{_FOLDER}/{name}" for name in sorted(names)]
        read = map_in_threads(self._read, paths) if self._store.is_shared else map(self._read, paths)
        # The content decides: a file may have been renamed.
        return sorted((label for label in read if label.key in key_set), key=lambda label: label.at)

    def _read(self, path: str) -> Label:
        return load_stored(self._storage, path, Label)

    def draw(self, batch_id: str) -> LabelDraw | None:
        """Return the draw of a batch; None if none was made."""
        path = _draw_path(batch_id)
        return load_stored(self._storage, path, LabelDraw) if self._storage.exists(path) else None

    def make_draw(self, batch_id: str, seed: str, now: str) -> LabelDraw:
        """Return the draw of a batch. If it has none, one with this seed is stored; of several writers one succeeds."""
        path = _draw_path(batch_id)
        if not self._storage.exists(path):
            self._storage.create(path, json_codec.dumps(LabelDraw(seed, now), indent=2))
        return load_stored(self._storage, path, LabelDraw)

    def version(self) -> str:
        """Return what changes when labels do."""
        items = [*self._storage.list(_FOLDER), *self._storage.list(_DRAWS)]
        content = sorted(f"{item.name} {item.version}" for item in items)
        return hashlib.sha256("\n".join(content).encode()).hexdigest()


def reviewer_name(text: str) -> str:
    """Return a reviewer's name without superfluous spaces; empty if it is none."""
    return " ".join(text.split())[:LONGEST_NAME]


def _reviewer_id(name: str) -> str:
    return hex_digest(name.casefold())[:12]


def _draw_path(batch_id: str) -> str:
    return f"{_DRAWS}/{checked_id(batch_id, 'batch')}.json"
