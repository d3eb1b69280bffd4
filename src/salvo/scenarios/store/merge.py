"""Join stores. Runs keep their ids, so that joining a store twice, or stores that overlap, changes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from salvo.engine.jsonio import json_codec
from salvo.errors import UsageError
from salvo.records import record
from salvo.scenarios.result import Batch
from salvo.scenarios.shards import batch_difference
from salvo.scenarios.store.ids import split_run_id
from salvo.scenarios.store.store import RunStore


@record
class MergedStores:
    """The runs that were added to a store and those that it had, and the batches of the other stores."""

    added: int
    already_there: int
    batches: list[Batch]
    """Those with a file of their own, oldest first."""


def merge_stores(target: RunStore, sources: Sequence[RunStore]) -> MergedStores:
    """Add the batches, runs and recordings of other stores to a store.

    Raise UsageError if two stores have different content under one id. Then nothing is written.
    """
    comparison = _StoreComparison(target)
    for source in sources:
        comparison.add(source)
    target.prepare()
    return comparison.write()


@dataclass(slots=True)
class _StoreComparison:
    """What the other stores have, where it is, and a hash of it."""

    target: RunStore
    batches: dict[str, Batch] = field(default_factory=dict)
    batch_stores: dict[str, RunStore] = field(default_factory=dict)
    runs: dict[str, tuple[RunStore, str]] = field(default_factory=dict)
    recordings: dict[str, tuple[RunStore, str]] = field(default_factory=dict)

    def add(self, source: RunStore) -> None:
        for batch_id in source.batch_ids():
            if source.has_batch(batch_id):
                batch = source.load_batch(batch_id)
                _refuse_waiting(source, batch)
                batch = source.with_lost_attempts(batch, source.batch_entries(batch))
                self._add_batch(source, batch)
            for run_id in source.batch_run_ids(batch_id):
                if source.has_run(run_id):
                    _add_content(self.runs, "run", run_id, source, _run_hash(source, run_id))
                if source.has_recording(run_id):
                    _add_content(self.recordings, "recording", run_id, source, _recording_hash(source, run_id))

    def _add_batch(self, source: RunStore, batch: Batch) -> None:
        batch_id = batch.batch_id
        if batch_id not in self.batches and self.target.has_batch(batch_id):
            self.batches[batch_id] = self.target.load_batch(batch_id)
            self.batch_stores[batch_id] = self.target
        if batch_id not in self.batches:
            self.batches[batch_id], self.batch_stores[batch_id] = batch, source
            return
        joined = self.batches[batch_id]
        if (difference := batch_difference(joined, batch)) is not None:
            raise _conflict("batch", batch_id, self.batch_stores[batch_id], source, f" (its {difference})")
        joined.created_at = min(joined.created_at, batch.created_at)
        joined.mcp_servers = {**batch.mcp_servers, **joined.mcp_servers}
        for lost in batch.lost_attempts:
            joined.add_lost(lost)

    def write(self) -> MergedStores:
        self._compare_with_target()
        batches = [self.batches[batch_id] for batch_id in sorted(self.batches)]
        for batch in batches:
            self.target.save_batch(batch)
        for run_id in _sorted_ids(self.recordings):
            if not self.target.has_recording(run_id):
                self.target.save_recording(run_id, self.recordings[run_id][0].load_recording(run_id))
        new = [run_id for run_id in _sorted_ids(self.runs) if not self.target.has_run(run_id)]
        for run_id in new:
            self.target.save_run(self.runs[run_id][0].load_run(run_id))
        return MergedStores(len(new), len(self.runs) - len(new), batches)

    def _compare_with_target(self) -> None:
        for run_id, (source, content) in self.runs.items():
            if self.target.has_run(run_id) and _run_hash(self.target, run_id) != content:
                raise _conflict("run", run_id, self.target, source)
        for run_id, (source, content) in self.recordings.items():
            if self.target.has_recording(run_id) and _recording_hash(self.target, run_id) != content:
                raise _conflict("recording", run_id, self.target, source)


def _refuse_waiting(source: RunStore, batch: Batch) -> None:
    """Raise UsageError if judges of the batch wait for a provider: who collects them must have what was asked."""
    if source.waiting_runs(batch):
        raise UsageError(
            f"Runs of the batch {batch.batch_id} in {source.address} wait for their judges.",
            hint=f"Fetch the votes there first: salvo collect {batch.batch_id}. Nothing was written.",
        )


def _add_content(
    contents: dict[str, tuple[RunStore, str]], kind: str, run_id: str, source: RunStore, content: str
) -> None:
    earlier, same = contents.setdefault(run_id, (source, content))
    if same != content:
        raise _conflict(kind, run_id, earlier, source)


def _conflict(kind: str, name: str, first: RunStore, second: RunStore, note: str = "") -> UsageError:
    return UsageError(
        f"The {kind} {name} has other content{note} in {first.address} than in {second.address}.",
        hint="An id belongs to one content: leave out one of the stores. Nothing was written.",
    )


def _run_hash(store: RunStore, run_id: str) -> str:
    return hashlib.sha256(json_codec.dumps(store.load_run(run_id))).hexdigest()


def _recording_hash(store: RunStore, run_id: str) -> str:
    files = store.load_recording(run_id)
    content = hashlib.sha256()
    for name in sorted(files):
        content.update(json_codec.dumps([name, len(files[name])]) + files[name])
    return content.hexdigest()


def _sorted_ids(run_ids: Iterable[str]) -> list[str]:
    return sorted(run_ids, key=split_run_id)
