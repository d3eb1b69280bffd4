"""Identify the process that runs an evaluation, and check whether it still exists."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timedelta
from pathlib import Path

SILENCE_LIMIT = timedelta(hours=1)
"""A process on another machine counts as gone when the evaluation was not updated for this long."""


def this_process() -> str:
    return f"{platform.node()}/{os.getpid()}/{_started(os.getpid())}"


def is_gone(owner: str, touched_at: str, now: datetime) -> bool:
    host, _, process = owner.rpartition("/")[0].rpartition("/")
    started = owner.rpartition("/")[2]
    if host != platform.node() or os.name != "posix":
        return owner != this_process() and now - datetime.fromisoformat(touched_at) > SILENCE_LIMIT
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it exists, and belongs to another user
    # The process id may have been reused.
    return _started(int(process)) != started


def _started(process: int) -> str:
    """Return the start time in kernel ticks, or an empty string if the system does not provide it."""
    try:
        # The second field is a name in parentheses, which may contain anything.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
