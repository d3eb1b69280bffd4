"""The actor that makes runs on a node of a Ray cluster. Ray imports it there; it does not import Ray.

Ray calls its methods in an event loop of its own. The runs have another one, in a thread: one that is watched, so that
an agent that blocks it does not count as other agents' time, and Ray can still ask whether the actor is alive.
"""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import Future
from contextlib import suppress

from salvo.engine.runtime import event_loop
from salvo.scenarios.run.executors.messages import Message, WorkerSetup, pack, typed, unpack
from salvo.scenarios.run.executors.worker import LOST, Worker

_COLLECT_SECONDS = 0.1
"""How long messages are collected before they are sent: each answer of an actor costs about a millisecond of CPU."""


class RayWorker:
    """`start` once, then `send` and `receive`. No method streams: Ray Client refuses those."""

    def __init__(self) -> None:
        self._outgoing: list[Message] = []
        self._lock = threading.Lock()
        self._has_messages = asyncio.Event()
        self._worker: Future[tuple[Worker, asyncio.AbstractEventLoop]] = Future()
        self._ray_loop: asyncio.AbstractEventLoop | None = None
        self._has_ended = False

    async def start(self, setup: bytes) -> None:
        self._ray_loop = asyncio.get_running_loop()
        [message] = unpack(setup)
        thread = threading.Thread(target=self._run, args=(message,), name="salvo-worker", daemon=True)
        thread.start()

    async def send(self, content: bytes) -> None:
        worker, loop = await asyncio.wrap_future(self._worker)
        with suppress(RuntimeError):  # the loop has ended, and `receive` tells the driver
            for message in unpack(content):
                loop.call_soon_threadsafe(worker.receive, message)

    async def receive(self) -> bytes:
        """Return the next messages; nothing if the worker has ended."""
        await self._has_messages.wait()
        await asyncio.sleep(_COLLECT_SECONDS)
        with self._lock:
            messages, self._outgoing = self._outgoing, []
            if not self._has_ended:
                self._has_messages.clear()
        return pack(messages)

    def _run(self, setup: Message) -> None:
        async def serve() -> None:
            worker = Worker(self._put)
            self._worker.set_result((worker, asyncio.get_running_loop()))
            await worker.serve(typed(WorkerSetup, setup.fields))

        def on_lost(_blocker: event_loop.Responsible, _seconds: float, _where: str) -> int:
            return LOST  # never called: only the main thread can be interrupted, so only its loop can be lost

        try:
            event_loop.run(serve(), on_lost)
        except BaseException:  # noqa: BLE001 - Ray tells the driver that the process ended, which leases the runs again
            os._exit(LOST)
        self._has_ended = True
        self._notify()

    def _put(self, message: Message) -> None:
        with self._lock:
            is_first = not self._outgoing
            self._outgoing.append(message)
        if is_first:
            self._notify()

    def _notify(self) -> None:
        if self._ray_loop is not None:
            self._ray_loop.call_soon_threadsafe(self._has_messages.set)
