"""Ids sort as they were made, whatever the machine's clock does."""

import asyncio
import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC

import pytest

from salvo.engine.runtime.clock import SystemClock

NOW = 1_794_000_000_000_000_000
MILLISECOND = 1_000_000


def set_time(monkeypatch: pytest.MonkeyPatch, *nanoseconds: int) -> None:
    """Each look at the clock sees the next of these times, and the last one for ever after."""
    times = itertools.chain(nanoseconds, itertools.repeat(nanoseconds[-1]))
    monkeypatch.setattr(time, "time_ns", lambda: next(times))


def test_an_id_has_sixteen_characters_that_nobody_misreads() -> None:
    new_id = SystemClock().new_id()
    assert len(new_id) == 16
    assert set(new_id) <= set("0123456789abcdefghjkmnpqrstvwxyz")


def test_many_ids_are_unique_and_sort_as_they_were_made() -> None:
    clock = SystemClock()
    ids = [clock.new_id() for _ in range(5_000)]
    assert ids == sorted(set(ids))


@pytest.mark.parametrize(
    "times",
    [(NOW,), (NOW, NOW - 3_600_000 * MILLISECOND), tuple(NOW - step * MILLISECOND for step in range(100))],
    ids=["stands still", "is set back", "runs backwards"],
)
def test_ids_sort_as_they_were_made_when_the_time(monkeypatch: pytest.MonkeyPatch, times: tuple[int, ...]) -> None:
    set_time(monkeypatch, *times)
    clock = SystemClock()
    ids = [clock.new_id() for _ in range(500)]
    assert ids == sorted(set(ids))
    assert {len(new_id) for new_id in ids} == {16}


def test_ids_of_different_clocks_sort_by_their_millisecond(monkeypatch: pytest.MonkeyPatch) -> None:
    set_time(monkeypatch, *(NOW + step * MILLISECOND for step in range(200)))
    ids = [SystemClock().new_id() for _ in range(200)]
    assert ids == sorted(set(ids))


def test_clocks_that_see_the_same_time_give_different_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    set_time(monkeypatch, NOW)
    assert len({SystemClock().new_id() for _ in range(100)}) == 100


def test_threads_never_get_the_same_id(monkeypatch: pytest.MonkeyPatch) -> None:
    set_time(monkeypatch, NOW)
    clock = SystemClock()
    with ThreadPoolExecutor(8) as threads:
        ids = list(threads.map(lambda _: clock.new_id(), range(2_000)))
    assert len(set(ids)) == 2_000


def test_the_time_of_day_is_in_utc() -> None:
    assert SystemClock().now().tzinfo is UTC


async def test_durations_and_sleep_are_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(time, "monotonic", lambda: 12.5)
    await SystemClock().sleep(3.5)
    assert slept == [3.5]
    assert SystemClock().monotonic() == 12.5
