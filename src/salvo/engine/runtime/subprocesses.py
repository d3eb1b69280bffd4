"""A program, run to its end within bounds: what it wrote, how it ended, and nothing of it left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from salvo.engine.runtime.threads import in_thread
from salvo.errors import InputError

LARGEST_OUTPUT = 10 * 1024 * 1024
_LAST_ERRORS = 8 * 1024
_GRACE = 1.0
"""Seconds between asking a program to end and ending it."""


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """`exit_code` is negative for the signal that ended it, and None where we did."""

    exit_code: int | None
    output: str
    errors: str
    """The last of what it wrote to its standard error."""
    too_much: bool = False


async def run_program(
    command: Sequence[str], *, folder: Path, environ: Mapping[str, str], given: bytes, until: asyncio.Future[Any]
) -> ProcessResult:
    """Runs it with `given` on its standard input, at most until something else is over.

    In a process group of its own: when we leave, however that comes, the whole group is ended.
    """
    running = _Running(_start(command, folder, environ))
    exited = asyncio.ensure_future(in_thread(running.process.wait))
    streams = [
        asyncio.ensure_future(in_thread(work))
        for work in (running.read_output, running.read_errors, lambda: running.feed(given))
    ]
    try:
        await asyncio.wait({exited, until}, return_when=asyncio.FIRST_COMPLETED)
        by_itself = exited.done()
    finally:
        await _end(running, exited, streams)
    return ProcessResult(
        exit_code=running.process.returncode if by_itself else None,
        output=bytes(running.output).decode("utf-8", "replace"),
        errors=bytes(running.errors).decode("utf-8", "replace"),
        too_much=running.too_much,
    )


class _Running:
    """Threads, not the event loop's pipes: what a program left running may hold those open for ever."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.output = bytearray()
        self.errors = bytearray()
        self.too_much = False

    def read_output(self) -> None:
        for chunk in _chunks(self.process.stdout):
            if self.too_much:
                continue
            self.output += chunk
            if len(self.output) > LARGEST_OUTPUT:
                del self.output[LARGEST_OUTPUT:]
                self.too_much = True
                self.signal(signal.SIGTERM)

    def read_errors(self) -> None:
        for chunk in _chunks(self.process.stderr):
            self.errors += chunk
            del self.errors[:-_LAST_ERRORS]

    def feed(self, given: bytes) -> None:
        stream = self.process.stdin
        if stream is not None:
            with suppress(OSError):  # it need not read what it is given
                stream.write(given)
            with suppress(OSError):
                stream.close()

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, number)
            else:
                self.process.terminate()


def _start(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - the command stands in the user's own scenario
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
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(
            f"The program {command[0]} could not be started: {reason}.",
            hint="Check adapter_options.command and adapter_options.cwd.",
        ) from error


def _chunks(stream: IO[bytes] | None) -> Any:
    with suppress(OSError, ValueError):
        while stream is not None and (chunk := stream.read(65536)):
            yield chunk


async def _end(running: _Running, exited: asyncio.Future[Any], streams: Sequence[asyncio.Future[None]]) -> None:
    try:
        if not exited.done():
            running.signal(signal.SIGTERM)
            await asyncio.wait({exited}, timeout=_GRACE)
    finally:
        running.signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        # With the group gone its pipes are closed, unless one of it left the group: then what came is what there is.
        await asyncio.wait([exited, *streams], timeout=_GRACE)
        if all(stream.done() for stream in streams):
            for pipe in (running.process.stdout, running.process.stderr):
                if pipe is not None:
                    pipe.close()
