"""A worker that is a process: it reads messages from standard input until that ends, and then ends itself."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import IO

from salvo.engine.runtime import event_loop
from salvo.engine.sandbox.frames import read_frame
from salvo.scenarios.run.executors.messages import Message, WorkerSetup, pack, typed
from salvo.scenarios.run.executors.worker import LOST, Worker

_COLLECT_SECONDS = 0.01
"""How long messages are collected before they are written: to wake a thread for each costs more than to write it."""
_GRACE = 5.0
"""Seconds in which runs may end that are under way when the driver has gone."""


def main() -> None:
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # a thread of Ray that started this process may block signals
    incoming, outgoing = _take_over_streams()
    writer = _Writer(outgoing)
    try:
        kind, fields = read_frame(incoming)[0]
    except EOFError:  # the driver ended while this process started
        return
    if kind != "setup":
        raise RuntimeError("a worker must be set up first")
    lost: list[Worker] = []

    async def serve() -> None:
        worker = Worker(writer.send)
        lost.append(worker)
        arguments = (incoming, worker, asyncio.get_running_loop())
        threading.Thread(target=_read, args=arguments, name="salvo-driver-reader", daemon=True).start()
        await worker.serve(typed(WorkerSetup, fields))

    def on_lost(blocker: event_loop.Responsible, seconds: float, where: str) -> int:
        status = lost[0].end_lost_runs(blocker, seconds, where)
        writer.close()
        return status

    event_loop.run(serve(), on_lost)
    writer.close()
    sys.stdout.flush()
    os._exit(0)  # threads of a user's code that never end must not keep this process


class _Writer:
    """Writes messages in a thread, so that the event loop never waits for the driver."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._queue: SimpleQueue[Message | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="salvo-driver-writer", daemon=True)
        self._thread.start()

    def send(self, message: Message) -> None:
        self._queue.put(message)

    def close(self) -> None:
        """Write everything that was sent."""
        self._queue.put(None)
        self._thread.join(_GRACE)

    def _write(self) -> None:
        pause = threading.Event()
        with suppress(OSError):
            message = self._queue.get()
            while message is not None:
                pause.wait(_COLLECT_SECONDS)
                messages = [message]
                while not self._queue.empty() and (message := self._queue.get()) is not None:
                    messages.append(message)
                self._stream.write(pack(messages))
                self._stream.flush()
                if message is not None:
                    message = self._queue.get()


def _read(stream: IO[bytes], worker: Worker, loop: asyncio.AbstractEventLoop) -> None:
    """Hand over messages until the driver ends, which it may do without a word. Run in a thread."""
    with suppress(RuntimeError):  # the loop has ended: this process ends before it reads the next message
        with suppress(EOFError, OSError):
            while True:
                (kind, fields), content = read_frame(stream)
                loop.call_soon_threadsafe(worker.receive, Message(kind, fields, content))
        loop.call_soon_threadsafe(worker.receive, Message("end"))
    threading.Event().wait(_GRACE)
    os._exit(LOST)


def _take_over_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return the pipes to the driver. What a user's code prints goes to standard error, and it reads nothing."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    return incoming, outgoing
