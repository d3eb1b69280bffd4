"""`.salvo/` on disk. Run files are the truth; `history.jsonl` is an index of them, and can be made again.

    batches/{batch_id}.json        what was asked for, written before the first call
    runs/{run_id}.json             one AgentRunResult
    recordings/{run_id}/*.json     what replay needs
    history.jsonl                  one line a run, in the order they ended

Several processes may write one store, and each may be killed at any moment. So a file gets its name only when it is
whole, and a line of the index is one write between two newlines.
"""

from __future__ import annotations

import heapq
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import first_error, reader
from salvo.engine.runtime.files import move_folder, names, temporary_beside, unwritable, write, write_atomically
from salvo.errors import AmbiguousIdError, StoreError, TapeError, UnknownIdError
from salvo.scenarios.result import AgentRunResult, Batch, Outcome
from salvo.scenarios.store.index import (
    Entries,
    IndexEntry,
    Judged,
    entry_of,
    fields_of,
    line_of,
    lines_backwards,
    to_entry,
)

if TYPE_CHECKING:
    from salvo.scenarios.store.recording import Recording

__all__ = ["LATEST", "Entries", "IndexEntry", "Judged", "Rebuilt", "RunStore", "entry_of"]

LATEST = "latest"
ROOM = 32 * 1024 * 1024
"""Bytes that must be free before runs are paid for."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_RUN_ID = re.compile(r"(?P<batch>.+)-(?P<number>\d{4,})")
_PATIENCE = 1000  # lines of the index, some 500 kB
_CANDIDATES = 5
_MOST_RUNS = 100_000
"""Of a batch. No more can be asked for, but a file may say anything."""
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

    def prepare(self) -> None:
        """Makes the folders, and proves that they can be written and have room: before money is spent."""
        try:
            for folder in (self.runs, self.batches, self.recordings):
                folder.mkdir(parents=True, exist_ok=True)
                probe = temporary_beside(folder / "probe")
                write(probe, bytes(4096))
                probe.unlink()
            os.close(self._open_history())
            free = shutil.disk_usage(self.folder).free
        except OSError as fault:
            raise unwritable(self.folder, fault) from fault
        if free < ROOM:
            raise StoreError(
                f"The disk under {self.folder} has only {free // 1024:,} kB left.",
                hint=f"Free at least {ROOM // 1024**2} MB. Nothing was run, and nothing was spent.",
            )

    def save_batch(self, batch: Batch) -> None:
        write_atomically(self._batch_file(batch.batch_id), json_codec.dumps(batch, indent=2))

    def load_batch(self, batch_id: str) -> Batch:
        path = self._batch_file(batch_id)
        if not path.is_file() and (recorded := min(self._recorded_ids(f"{batch_id}-"), default=None)):
            return self._recorded(recorded).batch
        batch = self._load(path, Batch)
        if batch.batch_id != batch_id:
            raise _damaged(path, f": it holds the batch {batch.batch_id}")
        return batch

    def begun_with(self, batch: Batch) -> list[Batch]:
        """All batches that the same command began, in that order."""
        if not batch.command:
            return [batch]
        together = []
        known = {*self._batch_ids(), *self._recorded_batches()}
        for batch_id in sorted(batch_id for batch_id in known if batch_id >= batch.command):
            with suppress(StoreError, TapeError):  # another command's batch that cannot be read must not keep this one
                together.append(self.load_batch(batch_id))
        return [each for each in together if each.command == batch.command]

    def save_run(self, result: AgentRunResult) -> None:
        """The run's file first, then its line: a line never names a run that is not there."""
        write_atomically(self._run_file(result.run_id), json_codec.dumps(result, indent=2))
        self._append(entry_of(result))

    def load_run(self, run_id: str) -> AgentRunResult:
        path = self._run_file(run_id)
        if not path.is_file() and self.has_recording(run_id):
            return self._recorded(run_id).result
        result = self._load(path, AgentRunResult)
        if _run_id(result.batch_id, result.number) != run_id:
            raise _damaged(path, f": it holds run {result.number} of the batch {result.batch_id}")
        return result

    def save_recording(self, run_id: str, files: Mapping[str, bytes]) -> None:
        """All files or none; an earlier recording of the same run makes way."""
        final = self._recording(run_id)
        if unfit := [name for name in files if not _FILE_NAME.fullmatch(name)]:
            raise ValueError(f"not a name for a file of a recording: {unfit[0]!r}")
        aside = temporary_beside(final)
        try:
            aside.mkdir(parents=True)
            for name, content in files.items():
                write(aside / name, content)
            move_folder(aside, final)
        except OSError as fault:
            shutil.rmtree(aside, ignore_errors=True)
            raise unwritable(final, fault) from fault

    def load_recording(self, run_id: str) -> dict[str, bytes]:
        folder = self._recording(run_id)
        if not folder.is_dir():
            raise StoreError(
                f"There is no recording of the run {run_id}.", hint="Record runs with `salvo run --record`."
            )
        try:
            return {name: self._own(folder / name).read_bytes() for name in sorted(names(folder))}
        except OSError as fault:
            raise _unreadable(folder, fault) from fault

    def has_recording(self, run_id: str) -> bool:
        return self._recording(run_id).is_dir()

    def has_run(self, run_id: str) -> bool:
        """Whether the run's own file is there, and not only its recording."""
        return self._run_file(run_id).is_file()

    def numbers_done(self, batch_id: str) -> set[int]:
        """Which runs of a batch are on disk, by their names alone. A recording may be all there is of one."""
        found = {*self._run_ids(f"{batch_id}-"), *self._recorded_ids(f"{batch_id}-")}
        return {number for batch, number in map(_parts, found) if batch == batch_id}

    def run_ids_of(self, batch_id: str) -> list[str]:
        """Every run of a batch, in the order of their numbers."""
        return [_run_id(batch_id, number) for number in sorted(self.numbers_done(batch_id))]

    def runs_of(self, batch_id: str) -> list[AgentRunResult]:
        return [self.load_run(run_id) for run_id in self.run_ids_of(batch_id)]

    def entries_of(self, batch_id: str) -> Entries:
        """A batch as it is listed, from its run files; those that cannot be read are counted."""
        return self.entries(self.run_ids_of(batch_id))

    def entries(self, run_ids: Iterable[str]) -> Entries:
        """Runs as they are listed, from their own files; those that cannot be read are counted."""
        entries = Entries()
        for run_id in run_ids:
            try:
                entries.append(entry_of(self.load_run(run_id)))
            except (StoreError, TapeError):
                entries.skipped += 1
        return entries

    def on_disk(self, batch: Batch) -> Iterator[str]:
        """The runs of a batch. Asks for each that it may have: a listing takes longer the more the store holds."""
        runs, recordings = os.fspath(self.runs), os.fspath(self.recordings)  # a Path a run takes longer than to ask
        for number in range(1, min(batch.runs, _MOST_RUNS) + 1):
            run_id = batch.run_id(number)
            if os.access(f"{runs}/{run_id}.json", os.F_OK) or os.access(f"{recordings}/{run_id}", os.F_OK):
                yield run_id

    def find_run(self, text: str) -> str:
        """The one run whose id begins so, or the newest."""
        if text == LATEST:
            return self._latest_run()
        if _ID.fullmatch(text) and self.has_run(text):
            return text
        return _the_one(text, "run", sorted({*self._run_ids(), *self._recorded_ids()}, key=_parts))

    def find_batch(self, text: str) -> str:
        """The one batch whose id begins so, or the newest."""
        if text != LATEST and _ID.fullmatch(text) and self._batch_file(text).is_file():
            return text
        ids = sorted({*self._batch_ids(), *self._recorded_batches()})
        if text == LATEST and ids:
            return ids[-1]
        return _the_one(text, "batch", ids)

    def newest_batches(self, number: int) -> list[str]:
        """The newest comes first: ids sort by the time they were made."""
        # Whoever was given the project may have recordings alone. Else they are not looked at: there may be very many.
        return heapq.nlargest(number, list(self._batch_ids()) or self._recorded_batches())

    def newest_first(self) -> Iterator[Batch]:
        """Every batch that can be read and has a run."""
        for batch_id in sorted({*self._batch_ids(), *self._recorded_batches()}, reverse=True):
            with suppress(StoreError, TapeError):
                batch = self.load_batch(batch_id)
                if any(self.on_disk(batch)):
                    yield batch

    def last(self, batches: int) -> Entries:
        """The runs of the newest batches, the newest batch first."""
        return self.listed(self.newest_batches(batches))

    def listed(self, batch_ids: Iterable[str]) -> Entries:
        """The runs of these batches, in the order given, each in the order of its numbers.

        Reads the index from its end, until every run that these batches have on disk was met: batches may interleave
        there, and one that was killed never becomes complete. A run whose line was lost is read from its own file.
        """
        rank = {batch_id: place for place, batch_id in enumerate(batch_ids)}
        missing = {run_id for batch_id in rank for run_id in self._of_batch(batch_id)}
        # A lost line must not make us read a long history to its start: from here on, the runs' own files are nearer.
        patience = _PATIENCE + 4 * len(missing)
        found: dict[str, IndexEntry] = {}
        skipped = 0
        for seen, line in enumerate(lines_backwards(self.history)):
            if not missing or seen >= patience:
                break
            fields = fields_of(line)
            if fields and fields["batch_id"] not in rank:
                continue
            entry = to_entry(fields)
            if entry is None:
                skipped += 1
                continue
            # The first that is met was written last, and that is the one that counts.
            found.setdefault(entry.run_id, entry)
            missing.discard(entry.run_id)
        unindexed = self.entries(missing)
        entries = Entries(sorted([*found.values(), *unindexed], key=lambda of: (rank[of.batch_id], of.number)))
        entries.skipped = skipped + unindexed.skipped
        return entries

    def rebuild_index(self) -> Rebuilt:
        """Makes the index again from the run files; those that cannot be read are counted."""
        before = self._versions()
        skipped = 0
        lines = []
        for run_id in sorted(before, key=_parts):
            try:
                lines.append(line_of(entry_of(self.load_run(run_id))))
            except StoreError:
                skipped += 1
        if self.folder.is_dir():
            write_atomically(self.history, b"".join(lines))
        # Another process may have ended a run meanwhile, and put its line into the file that was just replaced. Its
        # run file was there before the line, so what is new by now is all that can be missing.
        late = self.entries(run_id for run_id, _ in self._versions().items() - before.items())
        for entry in late:
            self._append(entry)
        return Rebuilt(len(lines) + len(late), skipped + late.skipped)

    def _append(self, entry: IndexEntry) -> None:
        line = line_of(entry)
        try:
            # Opened anew each time, for rebuild_index() may have put another file in its place.
            history = self._open_history()
            try:
                # What was cut short will be skipped by readers, so it is written again as a whole.
                while os.write(history, line) < len(line):
                    pass
            finally:
                os.close(history)
        except OSError as fault:
            raise unwritable(self.history, fault) from fault

    def _open_history(self) -> int:
        return os.open(self.history, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)

    def _of_batch(self, batch_id: str) -> Iterator[str]:
        with suppress(StoreError):
            yield from self.on_disk(self.load_batch(batch_id))

    def _versions(self) -> dict[str, tuple[int, int]]:
        """Every run, with what changes when its file is written again."""
        versions = {}
        for run_id in self._run_ids():
            with suppress(FileNotFoundError):
                state = self._run_file(run_id).stat()
                versions[run_id] = (state.st_ino, state.st_mtime_ns)
        return versions

    def _latest_run(self) -> str:
        """The run that ended last, of those that were made at all; where the index is silent, the highest id."""
        for seen, line in enumerate(lines_backwards(self.history)):
            entry = to_entry(fields_of(line))
            made = entry is not None and entry.outcome is not Outcome.NOT_RUN
            if entry and made and _ID.fullmatch(entry.run_id) and self._run_file(entry.run_id).is_file():
                return entry.run_id
            if seen >= _PATIENCE:
                break
        newest = max((*self._run_ids(), *self._recorded_ids()), key=_parts, default=None)
        return newest or _the_one(LATEST, "run", [])

    def _run_ids(self, prefix: str = "") -> Iterator[str]:
        found = (name.removesuffix(".json") for name in names(self.runs, prefix) if name.endswith(".json"))
        return (run_id for run_id in found if _ID.fullmatch(run_id) and _RUN_ID.fullmatch(run_id))

    def _recorded_batches(self) -> set[str]:
        return {_parts(run_id)[0] for run_id in self._recorded_ids()}

    def _recorded_ids(self, prefix: str = "") -> Iterator[str]:
        """A recording may be all there is of a run: it is what people commit."""
        return (name for name in names(self.recordings, prefix) if _ID.fullmatch(name) and _RUN_ID.fullmatch(name))

    def _batch_ids(self) -> Iterator[str]:
        found = (name.removesuffix(".json") for name in names(self.batches) if name.endswith(".json"))
        return filter(_ID.fullmatch, found)

    def _recorded(self, run_id: str) -> Recording:
        from salvo.scenarios.store.recording import Recording

        return Recording.from_files(self.load_recording(run_id), run_id)

    def _load(self, path: Path, kind: type[T]) -> T:
        from pydantic import ValidationError

        try:
            content = self._own(path).read_bytes()
            return reader(kind).validate_python(json_codec.loads(content, deepest=json_codec.DEEPEST_OF_OURS))
        except FileNotFoundError as fault:
            raise StoreError(f"{path} does not exist.", hint="`salvo report` lists what is stored.") from fault
        except OSError as fault:
            raise _unreadable(path, fault) from fault
        except ValidationError as fault:
            where, what = first_error(fault)
            raise _damaged(path, f" at {where}: {what}" if where else f": {what}") from fault
        except ValueError as fault:
            raise _damaged(path, f": {fault}") from fault

    def _own(self, path: Path) -> Path:
        """The file, if it is one and lies in the store: a link in somebody's store may lead to anything."""
        kind = path.stat().st_mode
        inside = os.path.realpath(path).startswith(f"{os.path.realpath(self.folder)}{os.sep}")
        if not inside or not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise StoreError(f"{path} leads out of the store, and is not read.", hint="Remove it.")
        return path

    def _batch_file(self, batch_id: str) -> Path:
        return self.batches / f"{_checked(batch_id, 'batch')}.json"

    def _run_file(self, run_id: str) -> Path:
        return self.runs / f"{_checked(run_id, 'run')}.json"

    def _recording(self, run_id: str) -> Path:
        return self.recordings / _checked(run_id, "run")


def _run_id(batch_id: str, number: int) -> str:
    return f"{batch_id}-{number:04d}"


def _parts(run_id: str) -> tuple[str, int]:
    """Batch and number; by these runs sort, for the 10,000th comes after the 9,999th."""
    batch_id, _, number = run_id.rpartition("-")
    return batch_id, int(number)


def _checked(text: str, what: str) -> str:
    """An id becomes part of a path, and people and files may say anything."""
    if not _ID.fullmatch(text):
        raise UnknownIdError(f"{text!r} is not the id of a {what}.", hint=f"`salvo report` lists every {what}.")
    return text


def _the_one(text: str, what: str, ids: list[str]) -> str:
    """The id itself, or the only one that begins so."""
    if text in ids:
        return text
    if not ids:
        raise UnknownIdError(f"No {what} is stored yet.", hint="Make one with `salvo run`.")
    matching = [each for each in ids if each.startswith(text)] if text else []
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise AmbiguousIdError(
            f"{len(matching)} of the stored ids begin with {text!r}.", hint=f"Which {what}? {_listed(matching)}"
        )
    near = get_close_matches(text, ids, _CANDIDATES) or ids[: -_CANDIDATES - 1 : -1]
    raise UnknownIdError(f"No {what} has an id that begins with {text!r}.", hint=f"The nearest: {_listed(near)}")


def _listed(ids: list[str]) -> str:
    more = len(ids) - _CANDIDATES
    return ", ".join(ids[:_CANDIDATES]) + (f" and {more} more." if more > 0 else ".")


def _damaged(path: Path, what: str) -> StoreError:
    return StoreError(f"{path} is damaged{what}.", hint="Restore it from a backup, or remove it and run again.")


def _unreadable(path: Path, fault: OSError) -> StoreError:
    return StoreError(f"{path} cannot be read: {fault.strerror or fault}.", hint="Check its permissions.")
