"""Pacing: sends the calls of all runs as fast as each model's provider accepts them (`-j auto`)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from salvo.engine.rates.rate_control import RateController
from salvo.engine.rates.rate_headers import RATE_HEADERS, read_headroom
from salvo.engine.rates.rate_shares import RateState
from salvo.engine.runtime.clock import Clock
from salvo.engine.wire.base import Wire, WireReply, WireRequest
from salvo.engine.wire.retry import requested_seconds
from salvo.errors import WireError

_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500
_ACCEPTED_PER_RUN = 4
"""So many accepted calls make room for one more run at once."""


@dataclass(slots=True)
class ModelQueue:
    """The calls to one model that wait for their turn, first come, first served."""

    endpoint: str
    model: str
    clock: Clock
    controller: RateController = field(default_factory=RateController)
    _waiting: deque[tuple[asyncio.Future[None], float]] = field(default_factory=deque)
    """The calls, and since when they have waited."""
    _timer: asyncio.TimerHandle | None = None

    @property
    def is_waited_for(self) -> bool:
        return bool(self._waiting)

    @property
    def must_wait(self) -> bool:
        return bool(self._waiting) or self.controller.seconds_until_next(self.clock.monotonic()) > 0

    async def turn(self) -> None:
        """Wait until the caller may send."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        ticket = future, self.clock.monotonic()
        self._waiting.append(ticket)
        self._wake()
        try:
            await future
        except asyncio.CancelledError:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            self._wake()
            raise

    def _wake(self) -> None:
        """Let those go whose turn it is, and set a timer for the next one."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiting:
            now = self.clock.monotonic()
            if (seconds := self.controller.seconds_until_next(now)) > 0:
                self._timer = asyncio.get_running_loop().call_later(seconds, self._wake)
                return
            future, since = self._waiting.popleft()
            if not future.done():
                self.controller.count_call(now, since)
                future.set_result(None)


class Pacer:
    """The queues of all models. Room for more runs at once grows as long as no provider refuses a call."""

    headers = RATE_HEADERS
    """What it reads of a reply, besides `retry-after`."""

    def __init__(
        self,
        clock: Clock,
        add_room: Callable[[], None],
        on_cut: Callable[[list[RateState]], None] | None = None,
    ) -> None:
        self.clock = clock
        self._add_room = add_room
        self._on_cut = on_cut
        self._accepted = 0
        self._queues: dict[tuple[str, str], ModelQueue] = {}

    @property
    def rates(self) -> list[RateState]:
        """Return the models whose calls are limited."""
        now = self.clock.monotonic()
        return [
            RateState(queue.endpoint, queue.model, controller.rate, now - controller.settled_at)
            for queue in self._queues.values()
            if (controller := queue.controller).rate is not None
        ]

    def take_shares(self, shares: Iterable[RateState], workers: int) -> None:
        """Use these rates: what each of so many workers may send."""
        now = self.clock.monotonic()
        for share in shares:
            if (queue := self._queues.get(share.key)) is not None:
                queue.controller.take_share(share.rate, now - share.settled_seconds, workers)

    def queue(self, request: WireRequest) -> ModelQueue:
        model = request.body.get("model") if isinstance(request.body, Mapping) else None
        key = request.endpoint, model if isinstance(model, str) else ""
        if key not in self._queues:
            self._queues[key] = ModelQueue(*key, self.clock)
        return self._queues[key]

    def wire(self, inner: Wire, paused: Callable[[], AbstractContextManager[None]]) -> PacedWire:
        """Return the wire of one run. `paused` is entered while a call waits for its turn."""
        return PacedWire(inner, self, paused)

    def answered(self, queue: ModelQueue, reply: WireReply, sent_at: float) -> None:
        now = self.clock.monotonic()
        controller = queue.controller
        if reply.status == _TOO_MANY_REQUESTS:
            before = controller.settled_at
            controller.was_refused(now, sent_at, requested_seconds(reply))
            if controller.settled_at != before and self._on_cut is not None:
                self._on_cut(self.rates)  # at once: the others that share the limit send too much as well
        elif reply.status >= _SERVER_ERROR:
            controller.has_failed()
        else:
            headroom = read_headroom(reply.headers, self.clock.now())
            controller.was_accepted(now, sent_at, is_waited_for=queue.is_waited_for, headroom=headroom)
            self._accepted += 1
            if self._accepted % _ACCEPTED_PER_RUN == 0 and not queue.is_waited_for:
                self._add_room()


class PacedWire:
    """The wire of one run around the shared one. Waiting for a turn is not the time of the agent: it is `paused`."""

    def __init__(self, inner: Wire, pacer: Pacer, paused: Callable[[], AbstractContextManager[None]]) -> None:
        self._inner = inner
        self._pacer = pacer
        self._paused = paused

    async def send(self, request: WireRequest) -> WireReply:
        queue = self._pacer.queue(request)
        if queue.must_wait:
            with self._paused():
                await queue.turn()
        else:
            queue.controller.count_call(self._pacer.clock.monotonic())
        sent_at = self._pacer.clock.monotonic()
        try:
            reply = await self._inner.send(request)
        except WireError:
            queue.controller.has_failed()
            raise
        self._pacer.answered(queue, reply, sent_at)
        headers = {name: value for name, value in reply.headers.items() if name not in RATE_HEADERS}
        return reply if len(headers) == len(reply.headers) else replace(reply, headers=headers)
