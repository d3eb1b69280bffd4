"""Which process runs an evaluation, and whether it still lives. For one that was killed cannot say so."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timedelta
from pathlib import Path

QUIET = timedelta(hours=1)
"""A process of another machine cannot be seen: it counts as gone when nothing was heard of it for so long."""


def this_process() -> str:
    return f"{platform.node()}/{os.getpid()}/{_started(os.getpid())}"


def is_gone(owner: str, heard_of: str, now: datetime) -> bool:
    host, _, process = owner.rpartition("/")[0].rpartition("/")
    started = owner.rpartition("/")[2]
    if host != platform.node() or os.name != "posix":
        return owner != this_process() and now - datetime.fromisoformat(heard_of) > QUIET
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # somebody else's, and alive
    # The number may have been given to another process since.
    return _started(int(process)) != started


def _started(process: int) -> str:
    """When it was started, in the kernel's ticks; empty where the system does not say."""
    try:
        # The second field is a name in parentheses, and may hold anything.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
