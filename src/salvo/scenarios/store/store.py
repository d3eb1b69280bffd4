"""The store, `.salvo/` on disk. Run files are the truth; `history.jsonl` is an index that can be built again from them.

    batches/{batch_id}.json        what was requested, written before the first call
    batches/.lock                  locks of the batches whose runs are being made
    runs/{run_id}.json             one AgentRunResult
    recordings/{run_id}/*.json     what replay needs
    scores/{score_id}/*.json       runs of a batch that were scored again (score_store.py)
    judgings/{batch_id}.jsonl      runs of a batch that were judged again (rejudge_store.py)
    history.jsonl                  one line per run, in the order in which they ended
    cache/                         derived from history.jsonl, and replies (reply_cache.py); can be deleted at any time

Several processes may write one store, and each may be killed at any moment. So a file gets its name only when it is
complete, and a line of the index that was cut short is removed by the next append.
"""

from __future__ import annotations

import heapq
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import (
    make_folder,
    move_folder,
    names,
    read_regular,
    temporary_beside,
    unreadable,
    unwritable,
    write,
    write_atomically,
)
from salvo.errors import StoreError, TapeError
from salvo.scenarios.result import AgentRunResult, Batch, Outcome
from salvo.scenarios.store.batch_lock import hold_batches
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
from salvo.scenarios.store.jsonl import append_line, open_for_appending, open_locked, parse_line, tail_lines
from salvo.scenarios.store.large_answers import without_repeated_answer
from salvo.scenarios.store.recording import Recording, check_file_names
from salvo.scenarios.store.stored_file import damaged, load_stored, own_path

if TYPE_CHECKING:
    from salvo.scenarios.store.index_cache import IndexCache

FREE_SPACE = 32 * 1024 * 1024
"""Bytes that must be free before any run is paid for."""

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_TAIL = 512 * 1024
"""Bytes of the index, about 1,000 lines, in which the newest run is looked for."""
_MOST_RUNS = 100_000
"""Per batch. The command line accepts no more, but a file may say anything."""
_GITIGNORE = Path(__file__).parents[1] / "spec" / "templates" / "gitignore.txt"
T = TypeVar("T")


class Rebuilt(NamedTuple):
    runs: int
    skipped: int


class RunStore:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.batches = folder / "batches"
        self.recordings = folder / "recordings"
        self.history = folder / "history.jsonl"

    @cached_property
    def index(self) -> IndexCache:
        # Imported here, because sqlite3 is not needed to run scenarios.
        from salvo.scenarios.store.index_cache import IndexCache

        return IndexCache(self.history)

    def prepare(self) -> None:
        """Create the folders, and check that they are writable and that the disk has space: before money is spent."""
        try:
            if not self.runs.exists():
                self._ignore_in_git()
            for folder in (self.runs, self.batches, self.recordings):
                make_folder(folder)
                probe = temporary_beside(folder / "probe")
                write(probe, bytes(4096))
                probe.unlink()
            os.close(open_for_appending(self.history))
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            raise unwritable(self.folder, error) from error
        if free < FREE_SPACE:
            raise StoreError(
                f"The disk under {self.folder} has only {free // 1024:,} kB left.",
                hint=f"Free at least {FREE_SPACE // 1024**2} MB. Nothing was run, and nothing was spent.",
            )

    def _ignore_in_git(self) -> None:
        """Write a .gitignore into a new store, as `salvo init` does: only recordings are worth committing."""
        make_folder(self.folder)
        with suppress(FileExistsError):
            write(self.folder / ".gitignore", _GITIGNORE.read_bytes())

    def hold(self, batches: Iterable[Batch], now: str) -> AbstractContextManager[None]:
        """Let no other process make runs of these batches in a block. Raise UsageError if one does already."""
        return hold_batches(self.batches, [checked_id(batch.batch_id, "batch") for batch in batches], now)

    def save_batch(self, batch: Batch) -> None:
        write_atomically(self._batch_file(batch.batch_id), json_codec.dumps(batch, indent=2))

    def load_batch(self, batch_id: str) -> Batch:
        path = self._batch_file(batch_id)
        if not path.is_file() and (recorded := min(self._recorded_ids(f"{batch_id}-"), default=None)):
            return self._recorded(recorded).batch
        batch = self._load(path, Batch)
        if batch.batch_id != batch_id:
            raise damaged(path, f": it holds the batch {batch.batch_id}")
        return batch

    def has_batch(self, batch_id: str) -> bool:
        """Return whether the batch has a file of its own, and not only recordings."""
        return self._batch_file(batch_id).is_file()

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

    def save_run(self, result: AgentRunResult) -> None:
        # The file first: a line of the index never names a run that does not exist.
        write_atomically(self._run_file(result.run_id), json_codec.dumps(without_repeated_answer(result), indent=2))
        append_line(self.history, index_entry(result))

    def load_run(self, run_id: str) -> AgentRunResult:
        path = self._run_file(run_id)
        if not path.is_file() and self.has_recording(run_id):
            return self._recorded(run_id).result
        result = self._load(path, AgentRunResult)
        if make_run_id(result.batch_id, result.number) != run_id:
            raise damaged(path, f": it holds run {result.number} of the batch {result.batch_id}")
        return result

    def save_recording(self, run_id: str, files: Mapping[str, bytes]) -> None:
        """Write all files of a recording or none. An earlier recording of the same run is replaced."""
        final = self._recording(run_id)
        if invalid := [name for name in files if not _FILE_NAME.fullmatch(name)]:
            raise ValueError(f"not a name for a file of a recording: {invalid[0]!r}")
        temporary = temporary_beside(final)
        try:
            make_folder(temporary)
            for name, content in files.items():
                write(temporary / name, content)
            move_folder(temporary, final)
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise unwritable(final, error) from error

    def load_recording(self, run_id: str) -> dict[str, bytes]:
        folder = self._recording(run_id)
        if not folder.is_dir():
            raise StoreError(
                f"There is no recording of the run {run_id}.", hint="Record runs with `salvo run --record`."
            )
        try:
            files = sorted(names(folder))
            check_file_names(files, run_id)
            return {name: read_regular(own_path(folder / name, self.folder)) for name in files}
        except OSError as error:
            raise unreadable(folder, error) from error

    def has_recording(self, run_id: str) -> bool:
        return self._recording(run_id).is_dir()

    def has_run(self, run_id: str) -> bool:
        """Return whether the run has a file of its own, and not only a recording."""
        return self._run_file(run_id).is_file()

    def stored_numbers(self, batch_id: str) -> set[int]:
        """Return the numbers of a batch's runs, by file names alone. A run may exist as a recording only."""
        run_ids = {*self._run_ids(f"{batch_id}-"), *self._recorded_ids(f"{batch_id}-")}
        return {number for batch, number in map(split_run_id, run_ids) if batch == batch_id}

    def batch_run_ids(self, batch_id: str) -> list[str]:
        """Return every run of a batch, ordered by number."""
        return [make_run_id(batch_id, number) for number in sorted(self.stored_numbers(batch_id))]

    def load_runs(self, batch_id: str) -> list[AgentRunResult]:
        return [self.load_run(run_id) for run_id in self.batch_run_ids(batch_id)]

    def load_entries(self, batch_id: str) -> Entries:
        """Return the runs of a batch from their own files, and count those that cannot be read."""
        return self._load_entries(self.batch_run_ids(batch_id))

    def existing_run_ids(self, batch: Batch) -> Iterator[str]:
        """Yield the runs of a batch that are stored."""
        # Each possible run is tried, because listing a folder takes longer the more runs the store holds. And the
        # paths are strings, because creating a Path takes longer than trying it.
        runs, recordings = os.fspath(self.runs), os.fspath(self.recordings)
        for number in range(1, min(batch.runs, _MOST_RUNS) + 1):
            run_id = batch.run_id(number)
            if os.access(f"{runs}/{run_id}.json", os.F_OK) or os.access(f"{recordings}/{run_id}", os.F_OK):
                yield run_id

    def find_run(self, text: str) -> str:
        """Return the run whose id begins with the text; for `latest` the newest one, for `latest~1` the one before."""
        back = steps_before_latest(text)
        if back is not None:
            return self._latest_run(back)
        if is_id(text) and self.has_run(text):
            return text
        return only_match(text, "run", sorted({*self._run_ids(), *self._recorded_ids()}, key=split_run_id))

    def find_batch(self, text: str) -> str:
        """Return the batch whose id begins with the text; for `latest` the newest one, for `latest~1` the one before.

        Ids sort by the time they were created.
        """
        back = steps_before_latest(text)
        if back is None and is_id(text) and self._batch_file(text).is_file():
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
        oldest = self.index.end()
        for batch_id in batch_ids:
            with suppress(StoreError, TapeError):
                batch_entries = self.batch_entries(self.load_batch(batch_id))
                entries.extend(batch_entries)
                entries.skipped += batch_entries.skipped
                oldest = min(oldest, self.index.span(batch_id)[0])
        entries.skipped += self.index.unreadable_since(oldest)
        return entries

    def batch_entries(self, batch: Batch) -> Entries:
        """Return the runs of a batch from the index. A run that the index lacks is read from its own file."""
        indexed: dict[str, IndexEntry] = {}
        skipped = 0
        for _, line in self.index.lines(batch.batch_id):
            entry = parse_line(line, IndexEntry)
            if entry is None:
                skipped += 1
            else:
                indexed[entry.run_id] = entry  # the last line of a run counts
        missing = self._load_entries(run_id for run_id in self.existing_run_ids(batch) if run_id not in indexed)
        entries = Entries(sorted([*indexed.values(), *missing], key=lambda entry: entry.number))
        entries.skipped = skipped + missing.skipped
        return entries

    def rebuild_index(self) -> Rebuilt:
        """Build the index again from the run files, and count those that cannot be read."""
        if not self.folder.is_dir():
            return Rebuilt(0, 0)
        before = self._versions()
        entries = self._load_entries(sorted(before, key=split_run_id))
        with open_locked(self.history):
            # Other processes wait with their lines until this one has replaced the file. What they added before is
            # lost with the old file, so the runs that ended in the meantime are read now.
            late = self._load_entries(run_id for run_id, _ in self._versions().items() - before.items())
            lines = [json_codec.dumps(entry) + b"\n" for entry in (*entries, *late)]
            write_atomically(self.history, b"".join(lines))
        return Rebuilt(len(lines), entries.skipped + late.skipped)

    def _load_entries(self, run_ids: Iterable[str]) -> Entries:
        entries = Entries()
        for run_id in run_ids:
            try:
                entries.append(index_entry(self.load_run(run_id)))
            except (StoreError, TapeError):
                entries.skipped += 1
        return entries

    def _versions(self) -> dict[str, tuple[int, int]]:
        """Return every run, with values that change when its file is written again."""
        versions = {}
        for run_id in self._run_ids():
            with suppress(FileNotFoundError):
                state = self._run_file(run_id).stat()
                versions[run_id] = (state.st_ino, state.st_mtime_ns)
        return versions

    def _latest_run(self, back: int) -> str:
        """Return a run by how many ended after it, or by its id if the index does not say. A skipped run is none."""
        newest: dict[str, None] = {}
        for line in reversed(tail_lines(self.history, _TAIL * (1 + back // 500))):
            entry = parse_line(line, IndexEntry)
            if entry is None or entry.outcome is Outcome.NOT_RUN or not is_id(entry.run_id):
                continue
            if self._run_file(entry.run_id).is_file():
                newest[entry.run_id] = None
                if len(newest) > back:
                    return entry.run_id
        others = sorted({*self._run_ids(), *self._recorded_ids()} - newest.keys(), key=split_run_id, reverse=True)
        return nth_newest([*newest, *others], back, "run")

    def _run_ids(self, prefix: str = "") -> Iterator[str]:
        run_ids = (name.removesuffix(".json") for name in names(self.runs, prefix) if name.endswith(".json"))
        return (run_id for run_id in run_ids if is_run_id(run_id))

    def _recorded_batches(self) -> set[str]:
        return {split_run_id(run_id)[0] for run_id in self._recorded_ids()}

    def _recorded_ids(self, prefix: str = "") -> Iterator[str]:
        """Yield the runs that have a recording. It may be all that is there of a run: recordings are committed."""
        return (name for name in names(self.recordings, prefix) if is_run_id(name))

    def _batch_ids(self) -> Iterator[str]:
        batch_ids = (name.removesuffix(".json") for name in names(self.batches) if name.endswith(".json"))
        return filter(is_id, batch_ids)

    def _recorded(self, run_id: str) -> Recording:
        return Recording.from_files(self.load_recording(run_id), run_id)

    def _load(self, path: Path, kind: type[T]) -> T:
        return load_stored(path, kind, self.folder)

    def _batch_file(self, batch_id: str) -> Path:
        return self.batches / f"{checked_id(batch_id, 'batch')}.json"

    def _run_file(self, run_id: str) -> Path:
        return self.runs / f"{checked_id(run_id, 'run')}.json"

    def _recording(self, run_id: str) -> Path:
        return self.recordings / checked_id(run_id, "run")
