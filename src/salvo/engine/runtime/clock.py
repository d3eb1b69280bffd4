"""The only door to time and to new ids, so that a test or a replay can hold both still."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from datetime import UTC, datetime
from typing import Protocol

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u to misread
_TIME_DIGITS = 9  # milliseconds until the year 3084
_SERIAL_DIGITS = 7
_SERIALS = 32**_SERIAL_DIGITS


class Clock(Protocol):
    def now(self) -> datetime:
        """The time of day, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards, for durations."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    def new_id(self) -> str:
        """Sixteen characters that sort by the time they were made."""
        ...


class SystemClock:
    """The machine's clock. Ids of one instance sort as they were made, even within a millisecond."""

    def __init__(self) -> None:
        self._last = 0
        self._drawing = threading.Lock()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def new_id(self) -> str:
        with self._drawing:  # tools and requests run in threads
            drawn = time.time_ns() // 1_000_000 * _SERIALS + secrets.randbelow(_SERIALS)
            # A clock that stands still, or is set back, must not break the order.
            self._last = drawn if drawn > self._last else self._last + 1
            return _base32(self._last)


def _base32(number: int) -> str:
    digits = []
    for _ in range(_TIME_DIGITS + _SERIAL_DIGITS):
        number, digit = divmod(number, 32)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
