"""What a worker process takes from itself before it reads anything. It cannot be undone. Standard library only.

| | Linux | macOS | Windows |
|---|---|---|---|
| memory | yes | not enforced by the system | no |
| CPU time | yes | yes | no |
| time of one operation | yes | yes | yes |
| writing files | yes | yes | Python code only |
| new processes | yes, but for root Python code only | yes | Python code only |
| network | an empty network namespace, if permitted; else Python code only | Python code only | Python code only |
| ends with its parent | at once | when its operation ends, or its time is up | the same |

"Python code only" means that the worker's own Python code is refused, by an audit hook. Native code in a library that
was taken over would not be. The parent kills a worker after its time limit on every system.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
from contextlib import suppress

if sys.platform != "win32":
    import resource

MAX_OPEN_FILES = 32

_CLONE_NEWUSER, _CLONE_NEWNET, _CLONE_NEWIPC = 0x10000000, 0x40000000, 0x08000000
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38

_FORBIDDEN_EVENTS = (
    *("socket.", "subprocess.", "ctypes.", "shutil.", "pty.", "urllib.", "http.", "ftplib.", "smtplib.", "webbrowser."),
    *("os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "os.kill", "os.putenv"),
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown"),
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def confine(parent: int, *, memory_bytes: int, cpu_seconds: int) -> None:
    """Give up what the operations do not need. Ends the process if its parent, `parent`, has ended already."""
    with suppress(AttributeError, OSError):  # a busy pattern must not slow down what the user is waiting for
        os.nice(10)
    if sys.platform == "linux":
        _leave_network_and_die_with_parent(parent)
    _limit_resources(memory_bytes, cpu_seconds)
    sys.addaudithook(_refuse)


def limit_operation(seconds: float) -> None:
    """Let the system end this process after so many seconds, even while native code runs. 0 is no limit.

    The parent does the same a little earlier. This is for a parent that is gone.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)  # nothing handles SIGALRM, so the system ends the process
    elif seconds:
        faulthandler.dump_traceback_later(seconds, exit=True)
    else:
        faulthandler.cancel_dump_traceback_later()


def _leave_network_and_die_with_parent(parent: int) -> None:
    with suppress(OSError, AttributeError):  # without a C library that can be loaded, the other limits remain
        libc = ctypes.CDLL(None)
        # A user may have no right to a network of its own, but to a user namespace in which it has that right.
        if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC) != 0:
            libc.unshare(_CLONE_NEWNET | _CLONE_NEWIPC)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        # After the namespaces, because Linux forgets this when a process changes its rights.
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # the parent ended before the line above
        os._exit(1)


def _limit_resources(memory_bytes: int, cpu_seconds: int) -> None:
    if sys.platform == "win32":  # it has no such limits
        return
    limits = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": 0,
        "RLIMIT_NPROC": 0,
        "RLIMIT_NOFILE": MAX_OPEN_FILES,
        "RLIMIT_CPU": cpu_seconds,
        "RLIMIT_AS": memory_bytes,
    }
    for name, limit in limits.items():
        with suppress(AttributeError, ValueError, OSError):  # a system without this limit, or with a lower one
            resource.setrlimit(getattr(resource, name), (limit, limit))


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event.startswith(_FORBIDDEN_EVENTS):
        raise PermissionError(f"{event} is not allowed in a worker")
    if event == "open":
        flags = arguments[2]
        if isinstance(flags, int) and flags & _WRITES:
            raise PermissionError("writing files is not allowed in a worker")
