"""Identify the process that runs an evaluation, and check whether it still exists."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timedelta
from pathlib import Path

_MAX_PROCESS_ID = 2**31
SILENCE_LIMIT = timedelta(hours=1)
"""A process on another machine counts as gone when the evaluation was not updated for this long."""


def this_process() -> str:
    return f"{platform.node()}/{os.getpid()}/{_started(os.getpid())}"


def system_user() -> str:
    """Return the operating system's name of the user who runs this process, not what the environment says."""
    if os.name == "posix":
        import pwd  # only POSIX systems have it

        try:
            return pwd.getpwuid(os.geteuid()).pw_name
        except KeyError:
            return f"user {os.geteuid()}"
    try:
        return os.getlogin()
    except OSError:
        return "unknown user"


def is_gone(owner: str, touched_at: str, now: datetime) -> bool:
    """Return whether the process has ended. One that is not named in our form is not running."""
    host, _, process = str(owner).rpartition("/")[0].rpartition("/")
    started = str(owner).rpartition("/")[2]
    if host != platform.node() or os.name != "posix":
        try:
            silence = now - datetime.fromisoformat(touched_at)
        except (ValueError, TypeError):  # not a time, or one without a time zone
            return True
        return owner != this_process() and silence > SILENCE_LIMIT
    if not process.isdecimal() or not 0 < int(process) < _MAX_PROCESS_ID:
        return True
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
