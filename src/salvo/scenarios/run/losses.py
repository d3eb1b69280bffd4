"""Runs that were in flight when a worker or a command ended. Their batch says so: calls of theirs may be paid for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from salvo.engine.runtime.clock import Clock
from salvo.records import record
from salvo.scenarios.result import Batch, LostAttempts
from salvo.scenarios.store.started_runs import started_notes
from salvo.scenarios.store.store import RunStore


@record
class LossRecorder:
    store: RunStore
    clock: Clock
    is_sharded: bool
    """Whether other commands make runs of the same batches."""

    def take_over(self, batch: Batch, pending: Iterable[int]) -> Iterator[int]:
        """Save which of the pending runs earlier commands were making when they ended, and yield these."""
        missing = {*pending}
        for note in started_notes(self.store.folder, batch.batch_id):
            numbers = sorted(note.numbers & missing)
            if numbers:
                self._save(batch, LostAttempts(note.command_id, "command", numbers))
                yield from numbers
            if not self.is_sharded:  # the note of another shard may name runs that this command does not make
                note.forget()

    def add_worker(self, batch: Batch, numbers: Iterable[int]) -> None:
        """Save that a worker ended while it was making these runs."""
        self._save(batch, LostAttempts(self.clock.new_id(), "worker", sorted(numbers)))

    def _save(self, batch: Batch, lost: LostAttempts) -> None:
        if self.is_sharded:
            stored = self.store.update_batch(batch.batch_id, lambda item: item.add_lost(lost))
            batch.lost_attempts = stored.lost_attempts
        else:
            batch.add_lost(lost)
            self.store.save_batch(batch)
