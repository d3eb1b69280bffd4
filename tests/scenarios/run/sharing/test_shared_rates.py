"""Shards that share a store know how fast the others send, and share what the provider accepts from all of them."""

import asyncio
from collections.abc import Callable

from salvo.engine.rates.rate_shares import RateState
from salvo.engine.runtime.clock import SystemClock
from salvo.scenarios.run.sharing.shared_rates import RateExchange
from tests.scenarios.store.backends.memory_storage import MemoryStorage
from tests.support.clock import HeldClock


def state(rate: float, settled_seconds: float = 100.0) -> RateState:
    return RateState("openai", "gpt-5.4-mini", rate, settled_seconds)


async def holds(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - nothing sets an event when another exchange has looked
            await asyncio.sleep(0.01)


async def test_each_worker_of_all_shards_gets_an_equal_share() -> None:
    storage = MemoryStorage(HeldClock())
    first, second = (RateExchange(storage, "command", name, SystemClock()) for name in ("a", "b"))
    slow, fast = [[state(10.0)]], [[state(40.0)]]
    unlimited: list[list[RateState]] = [[], []]
    async with first.opened(lambda: slow, lambda: None):
        assert first.shares(slow) == (slow[0], 1)
        async with second.opened(lambda: fast, lambda: None):
            await holds(lambda: first.shares(slow)[1] == second.shares(fast)[1] == 2)
            assert [share.rate for share in first.shares(slow)[0]] == [25.0]
            assert [share.rate for share in second.shares(fast)[0]] == [25.0]
        await holds(lambda: first.shares(slow)[1] == 1)  # the other has ended
        async with second.opened(lambda: unlimited, lambda: None):
            await holds(lambda: first.shares(slow)[1] == 3)
            assert [share.rate for share in second.shares(unlimited)[0]] == [10.0]
    assert storage.objects == {}


async def test_a_cut_is_told_at_once_and_counts_alone() -> None:
    storage = MemoryStorage(HeldClock())
    first, second = (RateExchange(storage, "command", name, SystemClock()) for name in ("a", "b"))
    own = [[state(50.0)]]
    async with first.opened(lambda: own, lambda: None), second.opened(lambda: [[state(50.0)]], lambda: None):
        await holds(lambda: second.shares([[state(50.0)]])[1] == 2)
        own = [[state(40.0, settled_seconds=-0.5)]]
        first.wake()
        await holds(lambda: second.shares([[state(50.0)]])[0][0].rate == 40.0)


async def test_a_store_out_of_reach_or_a_damaged_object_changes_nothing() -> None:
    storage = MemoryStorage(HeldClock())
    storage.put("rates/command/strange.json", b'{"workers": [[["openai"]]], "written_at": "yesterday"}')
    exchange = RateExchange(storage, "command", "a", SystemClock())
    changes: list[int] = []
    async with exchange.opened(lambda: [[state(10.0)]], lambda: changes.append(1)):
        await holds(lambda: bool(changes))
        storage.unreachable = True
        await asyncio.sleep(0.7)
        assert exchange.shares([[state(10.0)]]) == ([state(10.0)], 1)
