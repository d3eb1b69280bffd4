"""Workers that are processes on this machine, for agents that burn CPU (`--processes`).

A worker gets its messages on standard input and writes its own to standard output. It ends when its input does, and is
killed with everything that it started if this process is killed (`subprocesses.guard`). It has a session of its own, so
that Ctrl-C reaches this process alone, which then ends its workers.
"""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from queue import SimpleQueue

from salvo.engine.runtime.subprocesses import guard, kill_group
from salvo.engine.runtime.threads import in_thread
from salvo.engine.sandbox.frames import read_frame
from salvo.scenarios.run.executors.base import Driver, Executor, OpenWorkers
from salvo.scenarios.run.executors.messages import Message, WorkerSetup, pack, plain
from salvo.scenarios.run.executors.worker_pool import open_workers
from salvo.scenarios.run.executors.worker_start import END_SECONDS, describe_end, start_worker, start_writer


def in_processes(count: int, setup: WorkerSetup) -> OpenWorkers:
    """Return what opens so many worker processes."""

    def opened(driver: Driver) -> AbstractAsyncContextManager[Executor]:
        return open_workers(driver, setup, ProcessLink, count)

    return opened


class ProcessLink:
    """A WorkerLink to a process. Threads read and write its pipes."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()
        self._incoming: asyncio.Queue[Message | None] = asyncio.Queue()
        self._has_ended = False

    async def start(self, setup: WorkerSetup) -> None:
        self._process = process = start_worker(Path(setup.root) / setup.cwd)
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(process, loop), name="salvo-worker-reader", daemon=True).start()
        start_writer(process, self._outgoing)
        self.send([Message("setup", plain(setup))])

    def send(self, messages: Sequence[Message]) -> None:
        self._outgoing.put(pack(messages))

    async def receive(self) -> Sequence[Message]:
        message = None if self._has_ended else await self._incoming.get()
        if message is None:
            self._has_ended = True
            return []
        messages = [message]
        while not self._incoming.empty():
            message = self._incoming.get_nowait()
            if message is None:
                self._has_ended = True
                break
            messages.append(message)
        return messages

    async def close(self) -> None:
        process = self._process
        if process is None:
            return
        self.send([Message("end")])
        self._outgoing.put(None)
        try:
            with suppress(subprocess.TimeoutExpired):
                await in_thread(process.wait, END_SECONDS)
        finally:
            kill_group(process)
            guard.remove(process.pid)

    def describe_end(self) -> str:
        if self._process is None:
            return "it was not started"
        return describe_end(self._process)

    def _read(self, process: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop) -> None:
        """Read messages until the worker ends. Run in a thread."""
        if process.stdout is None:
            raise RuntimeError("the process was started without a pipe")
        with suppress(RuntimeError):  # the loop has ended, so nobody waits any more
            with suppress(EOFError, OSError, ValueError):
                while True:
                    (kind, fields), content = read_frame(process.stdout)
                    loop.call_soon_threadsafe(self._incoming.put_nowait, Message(kind, fields, content))
            process.stdout.close()
            loop.call_soon_threadsafe(self._incoming.put_nowait, None)
