"""A clock that a test holds: it moves when somebody sleeps, and nobody waits."""

from datetime import UTC, datetime, timedelta
from itertools import count


class HeldClock:
    def __init__(self, start: datetime = datetime(2026, 11, 15, 12, tzinfo=UTC)) -> None:
        self._start = start
        self._elapsed = 0.0
        self._ids = count(1)
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._elapsed += seconds

    def advance(self, seconds: float) -> None:
        self._elapsed += seconds

    def new_id(self) -> str:
        return f"id-{next(self._ids):04d}"
