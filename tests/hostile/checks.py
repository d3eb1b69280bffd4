"""What every mutated file is checked for."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from click.testing import Result

CPU_SECONDS = 5
PARTS = 4
"""Each corpus is split, so that several processes share it."""

OWN_PROCESSES = ("salvo.engine.sandbox.worker", "program_guard.py")

parts = pytest.mark.parametrize("part", range(PARTS))


def children() -> set[str]:
    """The processes that this one has started and that still run; empty where the system does not list them.

    Idle workers of the sandbox and the guard of programs are no part of it: they end with this process.
    """
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    numbers = listed.read_text().split() if listed.exists() else []
    return {number for number in numbers if not any(own in command_line(number) for own in OWN_PROCESSES)}


def command_line(process: str) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:  # it has ended
        return ""


@contextmanager
def cpu_limit() -> Iterator[None]:
    """Raise where one input takes more than five seconds of CPU: unlike time, that is the same on a busy machine."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"This took more than {CPU_SECONDS} seconds of CPU.")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def check(command: Callable[..., Result], *arguments: str) -> None:
    with cpu_limit():
        result = command(*arguments)
    assert result.exit_code in range(6), result.output
    assert "Traceback" not in result.output
    assert "\x1b]" not in result.output
