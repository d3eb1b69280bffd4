"""Name the process that runs an evaluation, and tell whether a process of this machine has ended."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from functools import cache
from itertools import count
from pathlib import Path

if sys.platform != "win32":
    import pwd

_MAX_PROCESS_ID = 2**31
_numbers = count(1)


def this_process() -> str:
    return f"{machine()}/{os.getpid()}/{_started(os.getpid())}"


def new_owner() -> str:
    """Return a name that nobody else has: not another store of this process, and no other process, now or later."""
    return f"{this_process()}/{next(_numbers)}"


@cache
def machine() -> str:
    """Return a name for the place where process ids are unique: containers of one host may share its name."""
    namespace = []
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            namespace.append(str(Path(path).readlink()) if path.endswith("/pid") else Path(path).read_text().strip())
        except OSError:
            continue
    digest = hashlib.sha256(" ".join(namespace).encode()).hexdigest()[:8]
    return f"{platform.node()}+{digest}" if namespace else platform.node()


def system_user() -> str:
    """Return the operating system's name of the user who runs this process, not what the environment says."""
    if sys.platform == "win32":
        try:
            return os.getlogin()
        except OSError:
            return "unknown user"
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"user {os.geteuid()}"


def has_ended(owner: str) -> bool:
    """Return whether the owner was a process of this machine and is no more. False where that cannot be known."""
    *machine_parts, process, started, _number = ["", "", *owner.split("/")]
    if "/".join(machine_parts).removeprefix("//") != machine() or os.name != "posix":
        return False
    if not process.isdecimal() or not 0 < int(process) < _MAX_PROCESS_ID:
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it exists, and belongs to another user
    if _stat(int(process))[:1] == ["Z"]:
        return True  # its parent has not asked how it ended
    # The process id may have been reused.
    return _started(int(process)) != started


def _started(process: int) -> str:
    """Return the start time in kernel ticks, or an empty string if the system does not provide it."""
    return "".join(_stat(process)[19:20])


def _stat(process: int) -> list[str]:
    """Return what the kernel says of a process, from its state on; nothing if the system does not provide it."""
    try:
        # The second field is a name in parentheses, which may contain anything.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
