"""Tell whether another process of this machine has ended."""

from __future__ import annotations

import os
from pathlib import Path


def pid_namespace() -> str:
    """Return what identifies the process ids of this machine, or of this container; empty where there is no /proc."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def has_process_ended(pid: int, namespace: str) -> bool:
    """Return whether the process is known to have ended. Of a process elsewhere that is not known."""
    if not namespace or pid < 1 or namespace != pid_namespace():
        return False
    try:
        os.kill(pid, 0)  # sends nothing
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False  # it is another user's, or no process id at all
    return _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Return whether the process has ended, and its parent has not asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False
