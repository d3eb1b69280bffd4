"""Rejudgements, separate from the runs: `.salvo/judgings/{batch_id}.jsonl`, one line per rejudgement.

In an object store, to which nothing can be appended, each is an object of its own below `judgings/{batch_id}/`. It is
written as soon as it is paid for, so neither a crash nor Ctrl-C loses money. With `--judges batch`, one waits in
`.salvo/pending-judgings/{batch_id}/` until its votes are collected.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import make_folder, read_regular, unreadable, unwritable
from salvo.records import record
from salvo.scenarios.store.backends.base import map_in_threads
from salvo.scenarios.store.backends.folder import own_path
from salvo.scenarios.store.ids import JUDGING_PREFIX, checked_id, is_id, is_run_id, split_run_id
from salvo.scenarios.store.jsonl import append_line, parse_line
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.store.stored_file import load_stored

_PENDING = "pending-judgings"
_PENDING_KEY = re.compile(r"(?P<run>[A-Za-z0-9_-]+)\.(?P<time>[1-9]\d{0,3})\.(?P<command>[A-Za-z0-9_-]{1,64})")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9.]")


class JudgingKey(NamedTuple):
    """Which judging of which transcript."""

    run_id: str
    time: int
    """From 1."""


class PendingKey(NamedTuple):
    """A judging whose votes wait, and an id of the command that asked for them: it may be asked for again."""

    judging: JudgingKey
    command: str

    def __str__(self) -> str:
        return f"{self.judging.run_id}.{self.judging.time}.{self.command}"

    @classmethod
    def parse(cls, text: str) -> PendingKey:
        """Raise ValueError if the text is no such key."""
        match = _PENDING_KEY.fullmatch(text)
        if match is None or not is_run_id(match["run"]):
            raise ValueError(f"not the key of a pending judging: {text!r}")
        return cls(JudgingKey(match["run"], int(match["time"])), match["command"])


@record
class PendingRejudgement:
    """A rejudgement whose judges wait for a provider's batch."""

    salvo_version: str
    questions: dict[str, Any]
    """A tape, whose exchanges have no replies yet."""


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
    batched: bool = False
    """Whether the judges were asked through a provider's batch API."""

    @property
    def key(self) -> JudgingKey:
        return JudgingKey(self.run_id, self.time)

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

    def save_pending(self, batch_id: str, key: PendingKey, version: str, questions: bytes) -> None:
        """Store a rejudgement whose judges wait for a batch."""
        document = {"salvo_version": version, "questions": json_codec.loads(questions)}
        self._store.storage.put(_pending_key(batch_id, key), json_codec.dumps(document, indent=1))

    def load_pending(self, batch_id: str, key: PendingKey) -> PendingRejudgement:
        return load_stored(self._store.storage, _pending_key(batch_id, key), PendingRejudgement)

    def remove_pending(self, batch_id: str, key: PendingKey) -> None:
        self._store.storage.delete(_pending_key(batch_id, key))

    def pending(self, batch_id: str) -> list[PendingKey]:
        """Return the rejudgements of a batch whose judges wait for a provider's batch."""
        keys = []
        for name in self._store.storage.names(f"{_PENDING}/{checked_id(batch_id, 'batch')}"):
            with suppress(ValueError):
                keys.append(PendingKey.parse(name.removesuffix(".json")))
        return sorted(key for key in keys if split_run_id(key.judging.run_id)[0] == batch_id)

    def waiting_batches(self) -> list[str]:
        """Return the batches with rejudgements that wait, oldest first."""
        batch_ids = sorted(filter(is_id, self._store.storage.folders(_PENDING)))
        return [batch_id for batch_id in batch_ids if self.pending(batch_id)]

    def hold(self, batch_id: str, now: str) -> AbstractContextManager[None]:
        """Let no other process judge the runs of this batch again in a block. Raise UsageError if one does already."""
        return self._store.storage.hold([f"{JUDGING_PREFIX}{checked_id(batch_id, 'batch')}"], now)

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


def _pending_key(batch_id: str, key: PendingKey) -> str:
    return f"{_PENDING}/{checked_id(batch_id, 'batch')}/{key}.json"
