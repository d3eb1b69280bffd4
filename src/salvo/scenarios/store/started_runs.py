"""Which runs a command has started, so that the next one can name those that were under way when it was killed.

A command writes the number of each run that it starts to a hidden file, `batches/.{batch_id}.{id}.started`, and deletes
the file when it has made all of them. The file is on this machine, also if the runs are in an object store.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from salvo.engine.runtime.files import make_folder, read_regular
from salvo.scenarios.store.ids import checked_id
from salvo.scenarios.store.jsonl import open_for_appending

_SUFFIX = ".started"


class StartedRuns:
    """What this command has started. It goes on without these notes where they cannot be written."""

    def __init__(self, folder: Path, command_id: str) -> None:
        self._folder = folder / "batches"
        self._id = command_id
        self._file: int | None = None
        self._batch_id = ""
        """The batch whose file is open. Most runs are of the same batch as the run before."""

    def note(self, batch_id: str, number: int) -> None:
        with suppress(OSError):
            if self._file is None or batch_id != self._batch_id:
                self.close()
                make_folder(self._folder)
                self._file, self._batch_id = open_for_appending(self._path(batch_id)), batch_id
            os.write(self._file, b"%d\n" % number)

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
        return self._folder / f".{checked_id(batch_id, 'batch')}.{self._id}{_SUFFIX}"


def unfinished_runs(folder: Path, batch_id: str, missing: list[int], *, forget: bool) -> list[int]:
    """Return those of the missing runs of a batch that an earlier command had started.

    `forget` deletes the notes: not if other commands may be making runs of the batch.
    """
    started: set[int] = set()
    for file in (folder / "batches").glob(f".{checked_id(batch_id, 'batch')}.*{_SUFFIX}"):
        with suppress(OSError):
            started.update(int(line) for line in read_regular(file).split() if line.isdigit())
            if forget:
                file.unlink()
    return [number for number in missing if number in started]
