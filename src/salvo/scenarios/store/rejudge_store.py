"""Rejudgements on disk, separate from the runs: `.salvo/judgings/{batch_id}.jsonl`, one line per rejudgement.

A line is written as soon as its rejudgement is paid for, so neither a crash nor Ctrl-C loses money.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from salvo.engine.runtime.files import make_folder, read_regular, unreadable, unwritable
from salvo.scenarios.store.jsonl import append_line, parse_line
from salvo.scenarios.store.stored_file import own_path


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """`passed` is None without a majority. A vote is None if the judge gave no readable one."""

    assertion: str
    passed: bool | None
    votes: list[bool | None]
    reasons: list[str]
    error: str | None
    cost: float | None


@dataclass(frozen=True, slots=True)
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
    def __init__(self, store: Path) -> None:
        self._store = store
        self.folder = store / "judgings"

    def append(self, batch_id: str, rejudgement: Rejudgement) -> None:
        try:
            make_folder(self.folder)
            own_path(self.folder, self._store)
        except OSError as error:
            raise unwritable(self.folder, error) from error
        append_line(self._file(batch_id), rejudgement)

    def load(self, batch_id: str, version: str) -> list[Rejudgement]:
        """Return the rejudgements made by this version: another may ask the judge differently."""
        try:
            lines = read_regular(own_path(self._file(batch_id), self._store)).splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise unreadable(self._file(batch_id), error) from error
        rejudgements = [parse_line(line, Rejudgement) for line in lines]
        latest = {(item.run_id, item.time): item for item in rejudgements if item is not None}
        return [item for item in latest.values() if item.salvo_version == version]

    def _file(self, batch_id: str) -> Path:
        return self.folder / f"{batch_id}.jsonl"
