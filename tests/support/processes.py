"""The processes that a process started, from /proc."""

import time
from collections.abc import Callable
from pathlib import Path


def descendants(pid: int) -> set[int]:
    """Return every process that this one started, and those that they started."""
    found: set[int] = set()
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in listed.read_text().split()]
        except OSError:  # it has just ended
            continue
        for child in children:
            found |= {child, *descendants(child)}
    return found


def is_running(pid: int) -> bool:
    """Return whether the process exists and has not only to be waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something holds. It is an error if it never does."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"it does not hold after {seconds:g} s")
        time.sleep(0.02)
