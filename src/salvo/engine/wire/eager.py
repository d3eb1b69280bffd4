"""A request that is on its way when it has been made, and not when everyone else has made theirs.

aiohttp writes a body in a task of its own, which before Python 3.12 begins behind all that wait for the event loop. Of
fifty runs whose answers come together, the first would send its next request only after the fiftieth has made its own:
they would come together again, and each time take longer.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from aiohttp import ClientRequest
from aiohttp.abc import AbstractStreamWriter
from aiohttp.connector import Connection

_SHORT = 32 * 1024
"""Bytes that are written without waiting for the connection to take them; aiohttp waits from 64 kB."""


class EagerRequest(ClientRequest):
    def write_bytes(
        self, writer: AbstractStreamWriter, conn: Connection, content_length: int | None = None
    ) -> Coroutine[Any, Any, None]:
        writing = super().write_bytes(writer, conn, content_length)
        if content_length is None or content_length > _SHORT:
            return writing
        try:
            writing.send(None)
        except StopIteration:
            return _nothing_left()
        writing.close()
        raise RuntimeError("a short body had to wait, and was not sent")


async def _nothing_left() -> None:
    """What is left to the task."""
