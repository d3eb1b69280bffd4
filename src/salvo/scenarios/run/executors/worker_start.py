"""Starts the process of a worker. Light to import: the actor on a cluster that starts one needs nothing else."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from salvo.engine.runtime.subprocesses import guard

_START = (
    "import sys; sys.path.append(sys.argv[1]); from salvo.scenarios.run.executors.worker_process import main; main()"
)
"""The folder of this package is added, if it is not installed. -P: the current folder is not."""
_PACKAGE_FOLDER = Path(__file__).parents[4]
END_SECONDS = 5.0
"""In which a worker that was asked to end may end what it started."""


def start_worker(folder: Path) -> subprocess.Popen[bytes]:
    """Start a worker that gets its messages on standard input and writes its own to standard output."""
    guard.start()
    process = subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-P", "-c", _START, str(_PACKAGE_FOLDER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        start_new_session=True,
    )
    guard.add(process.pid)
    return process


def start_writer(process: subprocess.Popen[bytes], messages: SimpleQueue[bytes | None]) -> None:
    """Write messages to a worker, up to None, in a thread: a worker that is busy reads nothing."""
    threading.Thread(target=_write, args=(process, messages), name="salvo-worker-writer", daemon=True).start()


def _write(process: subprocess.Popen[bytes], messages: SimpleQueue[bytes | None]) -> None:
    if process.stdin is None:
        raise RuntimeError("the process was started without a pipe")
    with suppress(OSError):
        while (content := messages.get()) is not None:
            process.stdin.write(content)
            process.stdin.flush()
    with suppress(OSError):
        process.stdin.close()


def describe_end(process: subprocess.Popen[bytes]) -> str:
    """Return how a worker ended, such as "process 12 was killed by signal 9"."""
    try:
        status = process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        return f"process {process.pid} closed its connection"
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    return f"process {process.pid} {how}"
