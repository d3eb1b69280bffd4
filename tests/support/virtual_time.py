"""An event loop whose time is virtual: it passes only while nothing can be done, and nobody waits for it."""

import asyncio
import random
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar

T = TypeVar("T")

_START = datetime(2026, 11, 15, 12, tzinfo=UTC)


class _VirtualSelector(selectors.DefaultSelector):
    """Does not wait for the next timer, but lets the time be when it is due, or a little later."""

    def __init__(self, stalls: random.Random | None, most_stalled: float) -> None:
        super().__init__()
        self.elapsed = 0.0
        self._stalls = stalls
        self._most_stalled = most_stalled

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("nothing is scheduled, so virtual time would stand still for ever")
        self.elapsed += timeout
        if self._stalls is not None and timeout > 0 and self._stalls.random() < 0.1:
            self.elapsed += self._stalls.uniform(0, self._most_stalled)
        return super().select(0)


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, selector: _VirtualSelector) -> None:
        super().__init__(selector)
        self._virtual = selector

    def time(self) -> float:
        return self._virtual.elapsed


class VirtualClock:
    """The time of the loop that is running."""

    def __init__(self) -> None:
        self._ids = count(1)

    def now(self) -> datetime:
        return _START + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def new_id(self) -> str:
        return f"id-{next(self._ids):04d}"


def run_in_virtual_time(
    main: Coroutine[Any, Any, T], *, stalls: random.Random | None = None, most_stalled: float = 0.0
) -> T:
    """Run a coroutine that uses no threads and no sockets.

    With `stalls`, every tenth wait ends late, by up to so many seconds, as on a machine that is busy with other things.
    """
    selector = _VirtualSelector(stalls, most_stalled)
    with asyncio.Runner(loop_factory=lambda: _VirtualLoop(selector)) as runner:
        return runner.run(main)
