"""The actor on a node of a Ray cluster. Ray imports it there; it does not import Ray.

It starts a worker process, as `--processes` does, and passes its messages on without reading them. The runs are not in
the actor itself: only in the main thread of a process of its own can code that blocks be interrupted, and the actor
can still answer Ray. The worker ends when its actor does, however that ends.
"""

from __future__ import annotations

import asyncio
import os
import platform
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from salvo.engine.runtime.subprocesses import guard, kill_group
from salvo.scenarios.run.executors.worker_start import describe_end, start_worker, start_writer

COLLECT_SECONDS = 0.1
"""How long messages are collected before they are sent: each call of an actor costs about two milliseconds of CPU."""
PARTS = 4
"""How many values an exchange returns. Together they are what the worker wrote."""
_MOST_INLINE = 96 * 1024
"""Bytes: a larger value goes through the object stores of two nodes, which costs four milliseconds of CPU more."""
_PAUSE_SECONDS = 0.05
"""Between two looks at a worker that has written little: to wake for each of its messages costs more than that."""
_LITTLE = 32 * 1024
"""Bytes: half of what a pipe holds, so that a worker with large recordings never waits."""


class RayWorker:
    """`start` once, then `exchange` and `send`. No method streams: Ray Client refuses those."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._to_worker: SimpleQueue[bytes | None] = SimpleQueue()
        self._to_driver: list[bytes] = []
        self._lock = threading.Lock()
        self._has_messages = asyncio.Event()
        self._has_ended = False

    async def start(self, setup: bytes) -> None:
        self._process = process = start_worker(Path.cwd())  # a copy of the project's folder
        self._to_worker.put(setup)
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(process, loop), name="salvo-worker-reader", daemon=True).start()
        start_writer(process, self._to_worker)

    async def send(self, content: bytes) -> None:
        self._to_worker.put(content)

    async def exchange(self, content: bytes) -> list[bytes]:
        """Send to the worker, if there is something, and wait for what it writes. Return that in parts.

        It may end in the middle of a message. It is empty if the worker has ended.
        """
        if content:
            self._to_worker.put(content)
        await self._has_messages.wait()
        await asyncio.sleep(COLLECT_SECONDS)
        with self._lock:
            messages, self._to_driver = self._to_driver, []
            if not self._has_ended:
                self._has_messages.clear()
        return _parts(b"".join(messages))

    async def end(self) -> str:
        """End the worker if it has not ended, and return how it ended."""
        process = self._process
        if process is None:
            return "it was not started"
        self._to_worker.put(None)
        how = await asyncio.to_thread(describe_end, process)
        kill_group(process)
        guard.remove(process.pid)
        return f"{how} on {platform.node()}"

    def _read(self, process: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop) -> None:
        """Collect the messages of the worker until it ends. Run in a thread."""
        if process.stdout is None:
            raise RuntimeError("the process was started without a pipe")
        pause = threading.Event()
        with suppress(OSError):
            while content := os.read(process.stdout.fileno(), 2 * _LITTLE):
                with self._lock:
                    is_first = not self._to_driver
                    self._to_driver.append(content)
                if is_first:
                    loop.call_soon_threadsafe(self._has_messages.set)
                if len(content) < _LITTLE:
                    pause.wait(_PAUSE_SECONDS)
        process.stdout.close()
        with self._lock:
            self._has_ended = True
        loop.call_soon_threadsafe(self._has_messages.set)


def _parts(content: bytes) -> list[bytes]:
    """Return the content in parts that are sent inline, or in one part if it is too large for that."""
    size = _MOST_INLINE if len(content) <= PARTS * _MOST_INLINE else len(content)
    return [content[number * size : (number + 1) * size] for number in range(PARTS)]
