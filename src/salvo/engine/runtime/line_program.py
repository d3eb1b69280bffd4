"""A program that answers line by line on its standard output, for as long as its caller wants."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from salvo.engine.runtime.subprocesses import (
    MAX_OUTPUT,
    ProcessResult,
    RunningProgram,
    end_program,
    guard,
    start_program,
)
from salvo.engine.runtime.threads import in_thread

_PATIENCE = 1.0
"""Seconds that the program has to end by itself after its input is closed."""


class LineProgram:
    """A running program. It gets a process group of its own, and the whole group is ended by `close`."""

    def __init__(self, command: Sequence[str], *, folder: Path, environ: Mapping[str, str]) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._running = RunningProgram(start_program(command, folder, environ))
        guard.add(self._running.process.pid)
        self._exited = asyncio.ensure_future(in_thread(self._running.process.wait))
        self._streams = [
            asyncio.ensure_future(in_thread(work)) for work in (self._read_lines, self._running.read_errors)
        ]

    async def ask(self, line: bytes, until: asyncio.Future[Any]) -> bytes | None:
        """Write a line and return the next one of the program; None if it ended, or `until` is done, before."""
        write = asyncio.ensure_future(in_thread(self._write, line))
        answer = asyncio.ensure_future(self._lines.get())
        try:
            await asyncio.wait({answer, until}, return_when=asyncio.FIRST_COMPLETED)
            return answer.result() if answer.done() else None
        finally:
            for task in (answer, write):
                task.cancel()

    async def close(self) -> ProcessResult:
        """End the program and its children, and return how it ended."""
        running = self._running
        try:
            if running.process.stdin is not None:
                with suppress(OSError):
                    running.process.stdin.close()
            await asyncio.wait({self._exited}, timeout=_PATIENCE)
            ended_by_itself = self._exited.done()
        finally:
            await end_program(running, self._exited, self._streams)
        return running.result(ended_by_itself=ended_by_itself)

    def _write(self, line: bytes) -> None:
        stream = self._running.process.stdin
        if stream is not None:
            with suppress(OSError, ValueError):  # it has ended, which its output shows
                stream.write(line + b"\n")

    def _read_lines(self) -> None:
        stream = self._running.process.stdout
        pending = bytearray()
        with suppress(OSError, ValueError):
            while stream is not None and (chunk := stream.read(65536)):
                pending += chunk
                *lines, rest = bytes(pending).split(b"\n")
                pending = bytearray(rest)
                for line in lines:
                    if line.strip():
                        self._pass_on(line)
                if len(pending) > MAX_OUTPUT:
                    self._running.output_truncated = True
                    break
        self._pass_on(None)

    def _pass_on(self, line: bytes | None) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
