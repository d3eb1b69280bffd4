"""Whether a process still lives."""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from salvo.playbooks.store import process_owner

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def is_gone(said: str, heard_of: datetime = NOW) -> bool:
    return process_owner.is_gone(said, heard_of.isoformat(), NOW)


def test_this_process_is_here() -> None:
    assert not is_gone(process_owner.this_process())
    assert not is_gone(process_owner.this_process(), NOW - 2 * process_owner.SILENCE_LIMIT)


def test_a_process_that_ended_is_gone() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert is_gone(f"{platform.node()}/{ended.pid}/1")


def test_somebody_elses_process_is_here_though_we_may_not_touch_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise PermissionError

    said = process_owner.this_process()
    monkeypatch.setattr(os, "kill", refuse)
    assert not is_gone(said)


def test_where_the_system_does_not_say_when_a_process_began_its_number_must_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", missing)
    assert process_owner.this_process() == f"{platform.node()}/{os.getpid()}/"
    assert not is_gone(process_owner.this_process())


def test_a_process_on_another_machine_is_here_as_long_as_it_is_heard_of() -> None:
    assert not is_gone("another/1/1", NOW - process_owner.SILENCE_LIMIT)
    assert is_gone("another/1/1", NOW - 2 * process_owner.SILENCE_LIMIT)
