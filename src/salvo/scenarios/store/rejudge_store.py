"""Judgings on disk, beside the runs and never in them: `.salvo/judgings/{batch_id}.jsonl`, one line a judging.

A line is written as soon as its judging is paid for, so that neither a crash nor Ctrl-C loses money, and what was asked
once need not be asked again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import reader
from salvo.engine.runtime.files import unwritable


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """`passed` is None without a majority, and a vote is None where the judge gave none that can be read."""

    assertion: str
    passed: bool | None
    votes: list[bool | None]
    reasons: list[str]
    error: str | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class Rejudgement:
    """One transcript judged once, by every judge of its scenario in the scenario's order."""

    run_id: str
    time: int
    """From 1."""
    salvo_version: str
    verdicts: list[JudgeVerdict]

    @property
    def voted(self) -> bool:
        """Whether every judge could be reached; else it is to be asked again."""
        return all(set(of.votes) - {None} for of in self.verdicts)


class RejudgeStore:
    def __init__(self, store: Path) -> None:
        self.folder = store / "judgings"

    def append(self, batch_id: str, judging: Rejudgement) -> None:
        line = b"\n" + json_codec.dumps(judging) + b"\n"
        path = self._file(batch_id)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            try:
                # What was cut short will be skipped by readers, so it is written again as a whole.
                while os.write(file, line) < len(line):
                    pass
            finally:
                os.close(file)
        except OSError as fault:
            raise unwritable(path, fault) from fault

    def of(self, batch_id: str, version: str) -> list[Rejudgement]:
        """Those that this version asked for: another may ask in other words. What cannot be read is no judging."""
        try:
            lines = self._file(batch_id).read_bytes().splitlines()
        except FileNotFoundError:
            return []
        found = {(of.run_id, of.time): of for line in lines if line and (of := _read(line)) is not None}
        return [of for of in found.values() if of.salvo_version == version]

    def _file(self, batch_id: str) -> Path:
        return self.folder / f"{batch_id}.jsonl"


def _read(line: bytes) -> Rejudgement | None:
    from pydantic import ValidationError

    try:
        return reader(Rejudgement).validate_python(json_codec.loads(line))
    except (ValueError, ValidationError):
        return None
