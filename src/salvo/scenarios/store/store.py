"""The store of runs: `.salvo/` on disk, a folder elsewhere, or an object store. Run files are the truth.

    batches/{batch_id}.json        what was requested, written before the first call
    runs/{run_id}.json             one AgentRunResult
    recordings/{run_id}/*.json     what replay needs
    scores/{score_id}/*.json       runs of a batch that were scored again (score_store.py)
    judgings/{batch_id}*           runs of a batch that were judged again (rejudge_store.py)
    leases/, sessions/             who makes which runs (backends/leases.py)
    rates/                         how fast shards send calls (run/sharing/shared_rates.py)
    budgets/, spending/            what shards may spend together (run/sharing/budget_ledger.py)
    labels/*                       what people say of judged runs (labels/label_store.py)
    pending/{run_id}.json          a run whose judges wait for a provider's batch (pending_store.py)
    pending-scores/*               scores whose judges wait for one (score_store.py)
    pending-judgings/*             judgings that wait for one (rejudge_store.py)
    question-batches/*             the questions to these judges, as they are sent (pending_store.py)

A folder also has what belongs to one machine: `batches/.lock`, the locks of the batches whose runs are being made;
`batches/.started/`, which runs each command has started (started_runs.py);
`history.jsonl`, an index with one line per run; and `cache/`, which is derived from it, and has replies
(reply_cache.py). An object store has leases instead of locks, and no index: what is derived from it is in a folder on
each machine. Index and cache can be deleted at any time.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from salvo.engine.jsonio import json_codec
from salvo.errors import AlreadyStoredError, StoreError, TapeError
from salvo.scenarios.result import AgentRunResult, Batch, LostAttempts
from salvo.scenarios.store.backends.base import Storage, map_in_threads
from salvo.scenarios.store.backends.folder import FolderStorage
from salvo.scenarios.store.ids import (
    checked_id,
    is_id,
    is_run_id,
    make_run_id,
    nth_newest,
    only_match,
    split_run_id,
    steps_before_latest,
    too_few,
)
from salvo.scenarios.store.index import Entries, IndexEntry, index_entry
from salvo.scenarios.store.indexing.base import Rebuilt, RunIndex
from salvo.scenarios.store.large_answers import has_large_answer, with_answer, without_answer, without_repeated_answer
from salvo.scenarios.store.pending_store import PendingRuns
from salvo.scenarios.store.recordings.recording_files import HASHES_ONLY, check_file_names
from salvo.scenarios.store.started_runs import StartedNote, started_notes
from salvo.scenarios.store.stored_file import damaged, load_stored, parse_stored

if TYPE_CHECKING:
    from salvo.scenarios.store.backends.leases import Leases
    from salvo.scenarios.store.recordings.recording import Recording

_MOST_TRIES = 100
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
T = TypeVar("T")


class RunStore:
    def __init__(self, folder: Path, storage: Storage | None = None) -> None:
        """`folder` is the store itself; of an object store, the folder on this machine with what is derived from it."""
        self.folder = folder
        self.storage = storage or FolderStorage(folder)
        self.index: RunIndex = self.storage.make_index(folder, self._load_entries)
        self.pending = PendingRuns(self.storage)

    @property
    def address(self) -> str:
        """Where the store is, as people know it: a folder or a URL."""
        return self.storage.address

    @property
    def is_shared(self) -> bool:
        """Whether the store is an object store, whose methods an event loop must call in threads."""
        return self.storage.is_shared

    def prepare(self) -> None:
        """Check that the store can be written: before money is spent. A folder is created."""
        self.storage.prepare()

    def hold(self, batches: Iterable[Batch], now: str) -> AbstractContextManager[None]:
        """Let no other process make runs of these batches in a block. Raise UsageError if one does already."""
        return self.storage.hold([checked_id(batch.batch_id, "batch") for batch in batches], now)

    def hold_runs(
        self, requested: Mapping[str, Sequence[int]], now: str
    ) -> AbstractContextManager[dict[str, list[int]]]:
        """Let no other process make these runs in a block. Yield those that none makes already, by batch.

        Which of them are stored must be looked at in the block: before, another process may still store one.
        """
        return self.storage.hold_runs({checked_id(item, "batch"): numbers for item, numbers in requested.items()}, now)

    def is_held(self) -> bool:
        """Return whether what `hold` holds is still this process's. If not, it must start no more runs."""
        return self.storage.is_held()

    @property
    def leases(self) -> Leases | None:
        """The leases by which this process holds runs; None while it holds none."""
        return self.storage.leases

    def create_batch(self, batch: Batch) -> bool:
        """Store a new batch. Return False, and change nothing, if there is one with its id."""
        created = self.storage.create(_batch_key(batch.batch_id), json_codec.dumps(batch, indent=2))
        self.index.batch_written()
        return created

    def read_batch(self, batch_id: str) -> Batch:
        """Return a batch as it is in the store at this moment, and not as an index knows it."""
        return load_stored(self.storage, _batch_key(batch_id), Batch)

    def update_batch(self, batch_id: str, change: Callable[[Batch], None]) -> Batch:
        """Change a batch that other processes change, too, and return it. `change` may be called several times."""
        key = _batch_key(batch_id)
        for _ in range(_MOST_TRIES):
            stored = self.storage.get_versioned(key)
            if stored is None:
                break
            batch = parse_stored(stored[0], Batch, self.storage.describe(key))
            change(batch)
            content = json_codec.dumps(batch, indent=2)
            if content == stored[0] or self.storage.replace(key, content, stored[1]):
                self.index.batch_written()
                return batch
        raise StoreError(
            f"{self.storage.describe(key)} cannot be changed: it was deleted, or others change it too often."
        )

    def save_batch(self, batch: Batch) -> None:
        self.storage.put(_batch_key(batch.batch_id), json_codec.dumps(batch, indent=2))
        self.index.batch_written()

    def load_batch(self, batch_id: str) -> Batch:
        key = _batch_key(batch_id)
        try:
            content = self.index.batch_content(batch_id)
        except FileNotFoundError:
            if recorded := min(self._recorded_ids(f"{batch_id}-"), default=None):
                return self._recorded(recorded).batch
            return load_stored(self.storage, key, Batch)
        batch = parse_stored(content, Batch, self.storage.describe(key))
        if batch.batch_id != batch_id:
            raise damaged(self.storage.describe(key), f": it holds the batch {batch.batch_id}")
        return batch

    def has_batch(self, batch_id: str) -> bool:
        """Return whether the batch has a file of its own, and not only recordings."""
        return self.storage.exists(_batch_key(batch_id))

    def batch_ids(self) -> list[str]:
        """Return every batch, also those of which there are only recordings, oldest first."""
        return sorted({*self._batch_ids(), *self._recorded_batches()})

    def batches_of_command(self, batch: Batch) -> list[Batch]:
        """Return all batches that were started by the same command, in that order."""
        if not batch.command:
            return [batch]
        candidates = []
        for batch_id in (batch_id for batch_id in self.batch_ids() if batch_id >= batch.command):
            with suppress(StoreError, TapeError):  # an unreadable batch of another command must not hide this one
                candidates.append(self.load_batch(batch_id))
        return [candidate for candidate in candidates if candidate.command == batch.command]

    def save_run(self, result: AgentRunResult) -> IndexEntry:
        """Store a run, and return its entry of the index.

        Raise AlreadyStoredError if there is another one with its id, which is not changed.
        """
        entry = index_entry(result)
        self.save_encoded(entry, encode_run(result, self.has_recording))
        return entry

    def save_encoded(self, entry: IndexEntry, content: bytes) -> None:
        """Store a run by its entry of the index and the content of its file. Raise AlreadyStoredError as `save_run`."""
        # The file first: a line of the index never names a run that does not exist.
        key = _run_key(entry.run_id)
        if self.storage.create(key, content):
            self.index.add(entry)
        elif self.storage.get(key) != content:  # else it was written by a try whose answer did not arrive
            raise _already_stored(f"The run {entry.run_id}")

    def save_pending(
        self, result: AgentRunResult, questions: bytes, recording: Mapping[str, bytes] | None
    ) -> IndexEntry:
        """Store a run whose judges wait for a batch, and return its entry. It becomes a run when it is collected."""
        if not self.pending.save(result, questions, recording):
            raise _already_stored(f"The run {result.run_id}")
        return index_entry(result)

    def load_run(self, run_id: str) -> AgentRunResult:
        result = self._load_file(run_id)
        if not result.answer_in_recording:
            return result
        if not self.has_recording(run_id):
            raise StoreError(
                f"The answer of the run {run_id} is in its recording, which is missing.",
                hint="Restore the folder of the recording.",
            )
        return with_answer(result, self._recorded(run_id).result.final_text)

    def _load_file(self, run_id: str) -> AgentRunResult:
        """Return what the file of a run holds, or its recording if it has no file."""
        key = _run_key(run_id)
        try:
            content = self.storage.get(key)
        except FileNotFoundError:
            if self.has_recording(run_id):
                return self._recorded(run_id).result
            if self.pending.has(run_id):
                return self.pending.load(run_id).run
            return load_stored(self.storage, key, AgentRunResult)
        result = parse_stored(content, AgentRunResult, self.storage.describe(key))
        if make_run_id(result.batch_id, result.number) != run_id:
            what = f": it holds run {result.number} of the batch {result.batch_id}"
            raise damaged(self.storage.describe(key), what)
        return result

    def save_recording(self, run_id: str, files: Mapping[str, bytes]) -> None:
        """Write all files of a recording or none. Raise AlreadyStoredError if the run has another recording."""
        key = _recording_key(run_id)
        if invalid := [name for name in files if not _FILE_NAME.fullmatch(name)]:
            raise ValueError(f"not a name for a file of a recording: {invalid[0]!r}")
        if not self.storage.create_group(key, files) and self.storage.get_group(key) != dict(files):
            raise _already_stored(f"A recording of the run {run_id}")

    def load_recording(self, run_id: str) -> dict[str, bytes]:
        try:
            files = self.storage.get_group(_recording_key(run_id))
        except FileNotFoundError:
            raise StoreError(
                f"There is no recording of the run {run_id}.", hint="Record runs with `salvo run --record`."
            ) from None
        check_file_names(files, run_id)
        return files

    def has_recording(self, run_id: str) -> bool:
        return self.storage.has_group(_recording_key(run_id))

    def has_run(self, run_id: str) -> bool:
        """Return whether the run has a file of its own, and not only a recording."""
        return self.storage.exists(_run_key(run_id))

    def stored_numbers(self, batch_id: str) -> set[int]:
        """Return the numbers of a batch's runs, by file names alone. A run may exist as a recording only, or wait."""
        prefix = f"{batch_id}-"
        return {number for batch, number in map(split_run_id, self._all_ids(prefix)) if batch == batch_id}

    def batch_run_ids(self, batch_id: str) -> list[str]:
        """Return every run of a batch, ordered by number."""
        return [make_run_id(batch_id, number) for number in sorted(self.stored_numbers(batch_id))]

    def load_runs(self, batch_id: str) -> list[AgentRunResult]:
        return list(self.map_runs(self.load_run, self.batch_run_ids(batch_id)))

    def map_runs(self, load: Callable[[str], T], run_ids: Iterable[str]) -> Iterator[T]:
        """Yield what a function returns for each of these runs, in order. Objects are read several at a time."""
        return map_in_threads(load, run_ids) if self.is_shared else map(load, run_ids)

    def load_entries(self, batch_id: str) -> Entries:
        """Return the runs of a batch from their own files, and count those that cannot be read."""
        return self._load_entries(self.batch_run_ids(batch_id))

    def read_entries(self, batch_id: str) -> Iterator[IndexEntry]:
        """Yield the runs of a batch from their own files, without those that cannot be read."""
        run_ids = (make_run_id(batch_id, number) for number in sorted(self.stored_numbers(batch_id)))
        return filter(None, self.map_runs(self._entry_or_none, run_ids))

    def existing_run_ids(self, batch: Batch) -> Iterator[str]:
        """Yield the runs of a batch that are stored."""
        yield from self.index.existing_run_ids(batch)
        if batch.defers_judges:
            yield from self.waiting_runs(batch)

    def waiting_runs(self, batch: Batch) -> list[str]:
        """Return the runs of a batch whose judges wait for a provider's batch, ordered by number."""
        if not batch.defers_judges:
            return []
        run_ids = (run_id for run_id in self.pending.run_ids(f"{batch.batch_id}-") if not self._is_made(run_id))
        return sorted((run_id for run_id in run_ids if split_run_id(run_id)[0] == batch.batch_id), key=split_run_id)

    def _is_made(self, run_id: str) -> bool:
        """Return whether a run has its verdict: a process may have been killed before it removed the pending one."""
        return self.has_run(run_id) or self.has_recording(run_id)

    def find_run(self, text: str) -> str:
        """Return the run whose id begins with the text; for `latest` the newest one, for `latest~1` the one before."""
        back = steps_before_latest(text)
        if back is not None:
            return self._latest_run(back)
        if is_id(text) and self.has_run(text):
            return text
        return only_match(text, "run", sorted(self._ids_like(text), key=split_run_id))

    def find_batch(self, text: str) -> str:
        """Return the batch whose id begins with the text; for `latest` the newest one, for `latest~1` the one before.

        Ids sort by the time they were created.
        """
        back = steps_before_latest(text)
        if back is None and is_id(text) and self.storage.exists(_batch_key(text)):
            return text
        ids = self.batch_ids()
        return only_match(text, "batch", ids) if back is None else nth_newest(ids[::-1], back, "batch")

    def find_batches(self, text: str) -> list[Batch]:
        """Return one batch by its id; for `latest` all of the newest command, for `latest~1` of the one before."""
        back = steps_before_latest(text)
        return [self.load_batch(self.find_batch(text))] if back is None else self._batches_of_latest_command(back)

    def _batches_of_latest_command(self, back: int) -> list[Batch]:
        commands: dict[str, Batch] = {}
        for batch_id in reversed(self.batch_ids()):
            with suppress(StoreError, TapeError):
                batch = self.load_batch(batch_id)
                commands.setdefault(batch.command or batch.batch_id, batch)
            if len(commands) > back:
                return self.batches_of_command(list(commands.values())[back])
        raise too_few(len(commands), back, "command" if commands else "batch")

    def newest_batches(self, number: int) -> list[str]:
        """Return the ids of the newest batches, newest first: ids sort by the time they were created."""
        # A project that was cloned may have recordings only. Otherwise they are not listed: there may be many.
        return heapq.nlargest(number, list(self._batch_ids()) or self._recorded_batches())

    def newest_first(self) -> Iterator[Batch]:
        """Yield every batch that can be read and has a run, newest first."""
        for batch_id in reversed(self.batch_ids()):
            with suppress(StoreError, TapeError):
                batch = self.load_batch(batch_id)
                if any(self.existing_run_ids(batch)):
                    yield batch

    def last(self, batches: int) -> Entries:
        """Return the runs of the newest batches, newest batch first."""
        return self.list_entries(self.newest_batches(batches))

    def list_entries(self, batch_ids: Iterable[str]) -> Entries:
        """Return the runs of these batches, in the given order of batches and ordered by number in each."""
        entries = Entries()
        read = []
        for batch_id in self.index.prefetched(batch_ids):
            with suppress(StoreError, TapeError):
                batch_entries = self.batch_entries(self.load_batch(batch_id))
                entries.extend(batch_entries)
                entries.skipped += batch_entries.skipped
                read.append(batch_id)
        entries.skipped += self.index.unreadable(read)
        return entries

    def batch_entries(self, batch: Batch) -> Entries:
        """Return the runs of a batch from the index. A run that the index lacks is read from its own file."""
        entries = self.index.entries(batch)
        if not (waiting := self.waiting_runs(batch)):
            return entries
        pending = self._load_entries(waiting)
        all_entries = Entries(sorted([*entries, *pending], key=lambda entry: entry.number))
        all_entries.skipped = entries.skipped + pending.skipped
        return all_entries

    def with_lost_attempts(self, batch: Batch, entries: Iterable[IndexEntry]) -> Batch:
        """Return a batch with the runs that were in flight when a command on this machine was killed, if it was."""
        ended = self.notes_of_ended(batch.batch_id)
        if not ended:
            return batch
        stored = {entry.number for entry in entries if entry.batch_id == batch.batch_id}
        changed = replace(batch)
        for note in ended:
            lost = sorted(number for number in note.numbers - stored if number <= batch.runs)
            if lost:
                changed.add_lost(LostAttempts(note.command_id, "command", lost))
        return changed

    def notes_of_ended(self, batch_id: str) -> list[StartedNote]:
        """Return what commands on this machine had started of a batch that have ended without a word."""
        return [note for note in started_notes(self.folder, batch_id) if note.has_ended()]

    def rebuild_index(self) -> Rebuilt:
        """Build the index again from the run files, and count those that cannot be read."""
        return self.index.rebuild()

    def _load_entries(self, run_ids: Iterable[str]) -> Entries:
        entries = Entries()
        for entry in self.map_runs(self._entry_or_none, run_ids):
            if entry is None:
                entries.skipped += 1
            else:
                entries.append(entry)
        return entries

    def _entry_or_none(self, run_id: str) -> IndexEntry | None:
        try:
            return index_entry(self.load_run(run_id))
        except (StoreError, TapeError):
            return self._entry_without_answer(run_id)

    def _entry_without_answer(self, run_id: str) -> IndexEntry | None:
        """Return the entry of a run whose large answer is lost with its recording. Its verdict is known."""
        with suppress(StoreError, TapeError):
            result = self._load_file(run_id)
            if result.answer_in_recording:
                return replace(index_entry(result), content_hash="")  # no other answer is known to be the same
        return None

    def _latest_run(self, back: int) -> str:
        """Return a run by how many ended after it, or by its id if the index does not say. A skipped run is none."""
        newest = self.index.newest_runs(back)
        if len(newest) > back:
            return newest[back]
        others = sorted({*self._run_ids(), *self._recorded_ids()} - {*newest}, key=split_run_id, reverse=True)
        return nth_newest([*newest, *others], back, "run")

    def _ids_like(self, text: str) -> set[str]:
        """Return the runs among which one is looked for by the beginning of its id."""
        if not self.is_shared:
            return set(self._all_ids())
        # An object store lists the runs of a batch quickly, but not all runs.
        batch_id = text.rpartition("-")[0]
        batch_ids = [item for item in self._batch_ids() if item == batch_id or (text and item.startswith(text))]
        prefixes = [f"{item}-" for item in batch_ids] if batch_ids else [""]
        return {run_id for prefix in prefixes for run_id in self._all_ids(prefix)}

    def _all_ids(self, prefix: str = "") -> Iterator[str]:
        yield from self._run_ids(prefix)
        yield from self._recorded_ids(prefix)
        yield from self.pending.run_ids(prefix)

    def _run_ids(self, prefix: str = "") -> Iterator[str]:
        names = self.storage.names("runs", prefix)
        run_ids = (name.removesuffix(".json") for name in names if name.endswith(".json"))
        return (run_id for run_id in run_ids if is_run_id(run_id))

    def _recorded_batches(self) -> set[str]:
        """Return the batches with recordings. In a project that was cloned, a batch may have nothing else."""
        if self.is_shared:
            return set()  # there, every batch has its own object
        return {split_run_id(run_id)[0] for run_id in self._recorded_ids()}

    def _recorded_ids(self, prefix: str = "") -> Iterator[str]:
        """Yield the runs that have a recording. It may be all that is there of a run: recordings are committed."""
        return (name for name in self.storage.names("recordings", prefix) if is_run_id(name))

    def _batch_ids(self) -> Iterator[str]:
        return self.index.batch_ids()

    def _recorded(self, run_id: str) -> Recording:
        from salvo.scenarios.store.recordings.recording import Recording  # few runs are read from it

        return Recording.from_files(self.load_recording(run_id), run_id)


def encode_run(result: AgentRunResult, has_recording: Callable[[str], bool]) -> bytes:
    """Return the content of the file of a run. A large answer is stored once, in the recording if there is one.

    `has_recording` returns whether the recording of a run is stored before the run is.
    """
    is_recorded = result.recorded and result.replay_note != HASHES_ONLY
    stored = without_repeated_answer(result)
    if is_recorded and has_large_answer(result) and has_recording(result.run_id):
        stored = without_answer(result).model_copy(update={"answer_in_recording": True})
    return json_codec.dumps(stored, indent=2)


def _batch_key(batch_id: str) -> str:
    return f"batches/{checked_id(batch_id, 'batch')}.json"


def _run_key(run_id: str) -> str:
    return f"runs/{checked_id(run_id, 'run')}.json"


def _recording_key(run_id: str) -> str:
    return f"recordings/{checked_id(run_id, 'run')}"


def _already_stored(what: str) -> AlreadyStoredError:
    return AlreadyStoredError(f"{what} is stored already, and was not changed.", hint="Another process has made it.")
