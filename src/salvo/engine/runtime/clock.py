"""The only source of time and of new ids, so that tests and replays can control both."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from datetime import UTC, datetime
from typing import Protocol

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u to misread
TIME_DIGITS = 9  # milliseconds until the year 3084
_SERIAL_DIGITS = 7
_SERIALS = 32**_SERIAL_DIGITS


def base32(number: int, digits: int) -> str:
    """Return the last digits of a number. Texts of the same length sort as their numbers do."""
    return "".join(_DIGITS[number // 32**place % 32] for place in reversed(range(digits)))


def id_time(seconds: int) -> str:
    """Return how an id begins that was created at this time, in seconds since 1970."""
    return base32(seconds * 1000, TIME_DIGITS)


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the current time in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never decrease, for durations."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    def new_id(self) -> str:
        """Return sixteen characters that sort by time of creation."""
        ...


class SystemClock:
    """The system clock. Ids of one instance sort by creation, even within a millisecond."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def new_id(self) -> str:
        with self._lock:  # tools and requests run in threads
            candidate = time.time_ns() // 1_000_000 * _SERIALS + secrets.randbelow(_SERIALS)
            # A clock that stops or is set back must not break the order.
            self._last = candidate if candidate > self._last else self._last + 1
            return base32(self._last, TIME_DIGITS + _SERIAL_DIGITS)
