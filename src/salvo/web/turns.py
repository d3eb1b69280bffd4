"""One after the other: what evaluations do at once is done in small steps, and a page is answered in between."""

from __future__ import annotations

import asyncio

from salvo.engine.wire.http import Wire, WireReply, WireRequest


class Turns:
    """The loop looks at its sockets between two turns: forty questions that are sent in one go, and whose answers
    come back in one go, would keep a page waiting for all forty.
    """

    def __init__(self) -> None:
        self._line = asyncio.Lock()

    async def next(self) -> None:
        async with self._line:
            await asyncio.sleep(0)


class InTurn:
    """A wire that sends in turn, and hands out replies in turn."""

    def __init__(self, inner: Wire, turns: Turns) -> None:
        self._inner = inner
        self._turns = turns

    async def send(self, request: WireRequest) -> WireReply:
        await self._turns.next()
        reply = await self._inner.send(request)
        await self._turns.next()
        return reply
