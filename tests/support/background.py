"""An asyncio server in a thread of its own."""

import asyncio
import threading
from abc import ABC, abstractmethod
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Self


class BackgroundServer(ABC):
    """Serves while the `with` block lasts, whatever the test does meanwhile.

    The thread is the point: a server on the test's own event loop would stand still as soon as the test blocks,
    and a test that waits for a child process or a synchronous SDK client always blocks.
    """

    def __init__(self) -> None:
        self._port: Future[int] = Future()
        self._thread = threading.Thread(target=self._live, name=type(self).__name__, daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._closing: asyncio.Event

    @property
    def port(self) -> int:
        return self._port.result()

    def __enter__(self) -> Self:
        self._thread.start()
        self._port.result()  # raises here, in the test, what kept the server from listening
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    @abstractmethod
    def _listening(self) -> AbstractAsyncContextManager[int]:
        """Listen on loopback for as long as the context lasts; gives the port."""

    def _live(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        try:
            async with self._listening() as port:
                self._port.set_result(port)
                await self._closing.wait()
        except Exception as error:
            if self._port.done():
                raise
            self._port.set_exception(error)
