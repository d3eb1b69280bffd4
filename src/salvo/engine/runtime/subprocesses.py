"""Run a program with limits on its time and output, and end its whole process group.

A second process, `program_guard.py`, ends the groups that are left if this one is killed.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from salvo.engine.runtime.threads import in_thread
from salvo.errors import InputError
from salvo.records import record

MAX_OUTPUT = 10 * 1024 * 1024
_MAX_ERRORS = 8 * 1024
_GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL."""


@record
class ProcessResult:
    """The result of a program. `exit_code` is negative for a signal, and None where we ended the program."""

    exit_code: int | None
    output: str
    errors: str
    """The end of what it wrote to its standard error."""
    output_truncated: bool = False


async def run_program(
    command: Sequence[str], *, folder: Path, environ: Mapping[str, str], stdin: bytes, until: asyncio.Future[Any]
) -> ProcessResult:
    """Run the program with `stdin` on its standard input, until it ends or `until` is done.

    It gets a process group of its own, and the whole group is ended when this function returns or raises.
    """
    running = RunningProgram(start_program(command, folder, environ))
    guard.add(running.process.pid)
    exited = asyncio.ensure_future(in_thread(running.process.wait))
    streams = [
        asyncio.ensure_future(in_thread(work))
        for work in (running.read_output, running.read_errors, lambda: running.feed(stdin))
    ]
    try:
        await asyncio.wait({exited, until}, return_when=asyncio.FIRST_COMPLETED)
        ended_by_itself = exited.done()
    finally:
        await end_program(running, exited, streams)
    return running.result(ended_by_itself=ended_by_itself)


class _Guard:
    """The process that ends the programs of this one if it is killed. It is started before the first program."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, if it does not run. If it started only after a program, that could outlive a kill in between."""
        with self._lock:
            if hasattr(os, "killpg") and (self._process is None or self._process.poll() is not None):
                self._start()

    def add(self, group: int) -> None:
        if not hasattr(os, "killpg"):
            return
        with self._lock:
            self._groups.add(group)
            if not self._tell(f"+{group}\n"):
                self._start()

    def remove(self, group: int) -> None:
        with self._lock:
            self._groups.discard(group)
            self._tell(f"-{group}\n")

    def _tell(self, lines: str) -> bool:
        """Return whether the process got the lines."""
        pipe = None if self._process is None else self._process.stdin
        try:
            if pipe is not None:
                pipe.write(lines.encode())
        except OSError:  # it was ended by someone
            return False
        return pipe is not None

    def _start(self) -> None:
        if self._process is None:
            atexit.register(self._end)
        else:
            self._end()
        self._process = subprocess.Popen(  # noqa: S603 - our own file
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("program_guard.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=os.sep,
            env={},
            bufsize=0,
            start_new_session=True,  # Ctrl-C and a closed terminal are for this process only
        )
        self._tell("".join(f"+{known}\n" for known in self._groups))

    def _end(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
            self._process.wait()


guard = _Guard()


class RunningProgram:
    """A running program. Threads read its pipes, because a process it left behind may keep them open forever."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.output = bytearray()
        self.errors = bytearray()
        self.output_truncated = False

    def read_output(self) -> None:
        for chunk in _chunks(self.process.stdout):
            if self.output_truncated:
                continue
            self.output += chunk
            if len(self.output) > MAX_OUTPUT:
                del self.output[MAX_OUTPUT:]
                self.output_truncated = True
                self.signal(signal.SIGTERM)

    def read_errors(self) -> None:
        for chunk in _chunks(self.process.stderr):
            self.errors += chunk
            del self.errors[:-_MAX_ERRORS]

    def feed(self, content: bytes) -> None:
        stream = self.process.stdin
        if stream is not None:
            with suppress(OSError):  # the program need not read its input
                stream.write(content)
            with suppress(OSError):
                stream.close()

    def result(self, *, ended_by_itself: bool) -> ProcessResult:
        return ProcessResult(
            exit_code=self.process.returncode if ended_by_itself else None,
            output=bytes(self.output).decode("utf-8", "replace"),
            errors=bytes(self.errors).decode("utf-8", "replace"),
            output_truncated=self.output_truncated,
        )

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, number)
            else:
                self.process.terminate()


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that was started with a session of its own, and everything in its group."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def start_program(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    guard.start()
    try:
        return subprocess.Popen(  # noqa: S603 - the command is in the user's own scenario
            list(command),
            cwd=folder,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise InputError(
            f"The program {command[0]} could not be started: {start_failure(error)}.",
            hint="Check adapter_options.command and adapter_options.cwd.",
        ) from error


def start_failure(error: OSError | ValueError) -> str:
    """Return why a program could not be started, without the error's number and the program's name."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _chunks(stream: IO[bytes] | None) -> Any:
    with suppress(OSError, ValueError):
        while stream is not None and (chunk := stream.read(65536)):
            yield chunk


async def end_program(
    running: RunningProgram, exited: asyncio.Future[Any], streams: Sequence[asyncio.Future[None]]
) -> None:
    """End the whole process group, and wait until its pipes are read."""
    try:
        try:
            if not exited.done():
                running.signal(signal.SIGTERM)
                await asyncio.wait({exited}, timeout=_GRACE)
        finally:
            running.signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
            # The pipes are closed with the group, unless a process left it; then the output so far is all there is.
            await asyncio.wait([exited, *streams], timeout=_GRACE)
            if all(stream.done() for stream in streams):
                for pipe in (running.process.stdout, running.process.stderr):
                    if pipe is not None:
                        pipe.close()
    finally:
        guard.remove(running.process.pid)
