"""Which runs a command has started, so that those are known that were in flight when it was killed.

A command writes its process and the number of each run that it starts to `batches/.started/{batch_id}.{id}`, and
deletes the file when it has made all of them. The file is on this machine, also if the runs are in an object store.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from salvo.engine.runtime.files import make_folder, names, read_regular
from salvo.scenarios.store.backends.local_process import has_process_ended, pid_namespace
from salvo.scenarios.store.ids import checked_id
from salvo.scenarios.store.jsonl import open_for_appending

_FOLDER = Path("batches", ".started")
_PROCESS = b"process "
_LONGEST_NUMBER = 10


class StartedRuns:
    """What this command has started. It goes on without these notes where they cannot be written."""

    def __init__(self, folder: Path, command_id: str) -> None:
        self._folder = folder / _FOLDER
        self._id = command_id
        self._file: int | None = None
        self._batch_id = ""
        """The batch whose file is open. Most runs are of the same batch as the run before."""
        self._begun: set[str] = set()
        """The batches whose files name this process."""

    def note(self, batch_id: str, number: int) -> None:
        self._write(batch_id, b"%d\n" % number)

    def note_lost(self, batch_id: str, number: int) -> None:
        """The run was given up, and the batch says when it was in flight."""
        self._write(batch_id, b"-%d\n" % number)

    def _write(self, batch_id: str, line: bytes) -> None:
        with suppress(OSError):
            if self._file is None or batch_id != self._batch_id:
                self.close()
                if self._folder.is_symlink():
                    return  # a store of someone else could lead to any folder
                make_folder(self._folder)
                self._file, self._batch_id = open_for_appending(self._path(batch_id)), batch_id
            if batch_id not in self._begun:
                self._begun.add(batch_id)
                line = _PROCESS + f"{os.getpid()} {pid_namespace()}\n".encode() + line
            os.write(self._file, line)

    def forget(self, batch_id: str) -> None:
        """All runs that were started have ended."""
        self.close()
        with suppress(OSError):
            self._path(batch_id).unlink(missing_ok=True)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
        self._file = None

    def _path(self, batch_id: str) -> Path:
        return self._folder / f"{checked_id(batch_id, 'batch')}.{self._id}"


class StartedNote(NamedTuple):
    """What one command has started of a batch."""

    file: Path
    command_id: str
    lines: list[bytes]

    @property
    def numbers(self) -> set[int]:
        """The runs that were started. Most of them are stored."""
        notes = (line for line in self.lines if line.removeprefix(b"-").isdigit() and len(line) <= _LONGEST_NUMBER)
        numbers = {int(line) for line in notes}
        return {number for number in numbers if number > 0 and -number not in numbers}

    def has_ended(self) -> bool:
        """Return whether the command is known to have ended."""
        process = next((line.removeprefix(_PROCESS) for line in self.lines if line.startswith(_PROCESS)), b"")
        pid, _, namespace = process.partition(b" ")
        is_pid = pid.isdigit() and len(pid) <= _LONGEST_NUMBER
        return is_pid and has_process_ended(int(pid), namespace.decode("ascii", "replace"))

    def forget(self) -> None:
        with suppress(OSError):
            self.file.unlink()


def started_notes(folder: Path, batch_id: str) -> Iterator[StartedNote]:
    """Yield what commands on this machine have started of a batch and, as far as their notes say, not ended."""
    prefix = f"{checked_id(batch_id, 'batch')}."
    for name in sorted(names(folder / _FOLDER, prefix)):
        file = folder / _FOLDER / name
        with suppress(OSError):
            yield StartedNote(file, name.removeprefix(prefix), read_regular(file).splitlines())
