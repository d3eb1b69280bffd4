"""Rejudgements, separate from the runs: `.salvo/judgings/{batch_id}.jsonl`, one line per rejudgement.

In an object store, to which nothing can be appended, each is an object of its own below `judgings/{batch_id}/`. It is
written as soon as it is paid for, so neither a crash nor Ctrl-C loses money.
"""

from __future__ import annotations

import re
from pathlib import Path

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import make_folder, read_regular, unreadable, unwritable
from salvo.records import record
from salvo.scenarios.store.backends.base import map_in_threads
from salvo.scenarios.store.backends.folder import own_path
from salvo.scenarios.store.ids import checked_id
from salvo.scenarios.store.jsonl import append_line, parse_line
from salvo.scenarios.store.store import RunStore

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9.]")


@record
class JudgeVerdict:
    """`passed` is None without a majority. A vote is None if the judge gave no readable one."""

    assertion: str
    passed: bool | None
    votes: list[bool | None]
    reasons: list[str]
    error: str | None
    cost: float | None


@record
class Rejudgement:
    """One transcript judged once by every judge of its scenario, in the order of the scenario."""

    run_id: str
    time: int
    """From 1."""
    salvo_version: str
    verdicts: list[JudgeVerdict]

    @property
    def voted(self) -> bool:
        """Whether every judge gave a vote. If not, the judges are asked again."""
        return all(set(verdict.votes) - {None} for verdict in self.verdicts)


class RejudgeStore:
    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._folder = store.folder / "judgings"

    @property
    def is_shared(self) -> bool:
        return self._store.is_shared

    def append(self, batch_id: str, rejudgement: Rejudgement) -> None:
        if self.is_shared:
            version = _NOT_IN_A_NAME.sub("-", rejudgement.salvo_version)
            key = f"judgings/{batch_id}/{rejudgement.run_id}.{rejudgement.time}.{version}.json"
            self._store.storage.put(key, json_codec.dumps(rejudgement))
            return
        try:
            make_folder(self._folder)
            own_path(self._folder, self._store.folder)
        except OSError as error:
            raise unwritable(self._folder, error) from error
        append_line(self._file(batch_id), rejudgement)

    def load(self, batch_id: str, version: str) -> list[Rejudgement]:
        """Return the rejudgements made by this version: another may ask the judge differently."""
        rejudgements = [parse_line(line, Rejudgement) for line in self._lines(checked_id(batch_id, "batch"))]
        own = (item for item in rejudgements if item is not None and item.salvo_version == version)
        return list({(item.run_id, item.time): item for item in own}.values())  # the last one counts

    def _lines(self, batch_id: str) -> list[bytes]:
        if self.is_shared:
            storage, folder = self._store.storage, f"judgings/{batch_id}"
            keys = [f"{folder}/{name}" for name in sorted(storage.names(folder))]
            stored = map_in_threads(storage.get_versioned, keys)
            return [item[0] for item in stored if item is not None]  # one may have been deleted just now
        try:
            return read_regular(own_path(self._file(batch_id), self._store.folder)).splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise unreadable(self._file(batch_id), error) from error

    def _file(self, batch_id: str) -> Path:
        return self._folder / f"{batch_id}.jsonl"
