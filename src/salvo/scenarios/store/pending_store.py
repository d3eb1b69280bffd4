"""Runs whose judges wait for a provider's batch (`salvo run --judges batch`).

    pending/{run_id}.json       the run before its verdict, the questions to its judges, its recording

A pending run becomes a run in `runs/` when its answers have come, and its file here is removed. If both are there, a
process was killed in between, and the run counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.records import record
from salvo.scenarios.result import AgentRunResult
from salvo.scenarios.store.backends.base import Storage
from salvo.scenarios.store.ids import checked_id, is_run_id
from salvo.scenarios.store.stored_file import damaged, load_stored


@record
class PendingRun:
    run: AgentRunResult
    questions: dict[str, Any]
    """A tape, whose exchanges have no replies yet."""
    recording: dict[str, str] | None
    """The files of the recording without its judges, if the run is recorded."""


class PendingRuns:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def save(self, run: AgentRunResult, questions: bytes, recording: Mapping[str, bytes] | None) -> bool:
        """Store a run. Return False, and change nothing, if it is there already."""
        files = None if recording is None else {name: content.decode() for name, content in recording.items()}
        document = {"run": run, "questions": json_codec.loads(questions), "recording": files}
        return self._storage.create(_key(run.run_id), json_codec.dumps(document, indent=1))

    def load(self, run_id: str) -> PendingRun:
        key = _key(run_id)
        pending = load_stored(self._storage, key, PendingRun)
        if pending.run.run_id != run_id:
            raise damaged(self._storage.describe(key), f": it holds the run {pending.run.run_id}")
        return pending

    def has(self, run_id: str) -> bool:
        return self._storage.exists(_key(run_id))

    def run_ids(self, prefix: str = "") -> Iterator[str]:
        ids = (name.removesuffix(".json") for name in self._storage.names("pending", prefix))
        return filter(is_run_id, ids)

    def remove(self, run_id: str) -> None:
        self._storage.delete(_key(run_id))


def _key(run_id: str) -> str:
    return f"pending/{checked_id(run_id, 'run')}.json"
