"""The rate of a token bucket, used by one command or four shards, in virtual time: the machine's speed has no part in it.

Everything that decides when a call is sent is the program's own: the pool, the pacer, the retries, and the exchange of
rates through a store. Only the provider, the time, the network and the disk are simulated, and chance has a seed: each case
gives the same numbers every time.
"""

import asyncio
import random
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager

import pytest

from salvo.engine.rates.pacing import Pacer
from salvo.engine.runtime.pool import Pool, gather
from salvo.engine.wire.base import WireReply, WireRequest
from salvo.engine.wire.retry import RetryingWire
from salvo.scenarios.run.runner import MOST_AT_ONCE, RunLimits
from salvo.scenarios.run.sharing.shared_rates import RateExchange
from tests.scenarios.store.backends.memory_storage import MemoryStorage
from tests.support.clock import HeldClock
from tests.support.virtual_time import VirtualClock, run_in_virtual_time

REQUEST = WireRequest("openai", "/chat/completions", {"model": "gpt-5.4-mini"})


class TokenBucket:
    """Accepts so many calls per second on average, and as many at once as a second brings."""

    def __init__(self, rate: float, latency: float, seed: int) -> None:
        self._rate = rate
        self._latency = latency
        self._chance = random.Random(seed)
        self._tokens = rate
        self._refilled = 0.0
        self.accepted = self.refused = 0

    async def send(self, _request: WireRequest) -> WireReply:
        await asyncio.sleep(self._latency * self._chance.uniform(0.3, 0.7))
        now = asyncio.get_running_loop().time()
        self._tokens = min(self._rate, self._tokens + (now - self._refilled) * self._rate)
        self._refilled = now
        is_accepted = self._tokens >= 1
        self._tokens -= is_accepted
        self.accepted += is_accepted
        self.refused += not is_accepted
        await asyncio.sleep(self._latency / 2)
        return WireReply(200 if is_accepted else 429, b"{}")

    @property
    def used(self) -> float:
        """Return the share that was used of what could have been, from the start to the last call."""
        return self.accepted / (self._rate * self._refilled + self._rate)


class LocalStorage(MemoryStorage):
    """Reached without a thread, as a folder is. A folder tells versions apart by times, which are not virtual."""

    is_shared = False


@contextmanager
def not_measured() -> Iterator[None]:
    yield


async def make_calls(bucket: TokenBucket, count: int, exchange: RateExchange | None, seed: int) -> None:
    """Make calls as `salvo run -j auto` does, one for each run."""
    clock, chance = VirtualClock(), random.Random(seed)
    pool = Pool(MOST_AT_ONCE, start=RunLimits().concurrency)
    pacer = Pacer(clock, pool.grow, lambda _: exchange.wake() if exchange else None)

    async def run() -> None:
        wire = RetryingWire(pacer.wire(bucket, not_measured), clock=clock, chance=chance)
        assert (await wire.send(REQUEST)).status == 200

    async with AsyncExitStack() as stack:
        if exchange is not None:
            await stack.enter_async_context(
                exchange.opened(lambda: [pacer.rates], lambda: pacer.take_shares(*exchange.shares([pacer.rates])))
            )
        await gather(pool.run(run) for _ in range(count))


async def make_all_calls(bucket: TokenBucket, count: int, shards: int) -> None:
    storage = LocalStorage(HeldClock())
    names = [f"shard-{number}" for number in range(shards)]
    exchanges = [RateExchange(storage, "command", name, VirtualClock()) if shards > 1 else None for name in names]
    await gather(make_calls(bucket, count // shards, exchange, seed) for seed, exchange in enumerate(exchanges))


CALLS = 10_000
PROVIDERS = [(50, 0.2, 0), *(pytest.param(*case, marks=pytest.mark.load) for case in ((20, 0.05, 1), (100, 0.5, 2)))]


@pytest.mark.parametrize("most_stalled", [0.0, 0.3])
@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("rate, latency, seed", PROVIDERS)
def test_at_least_90_percent_of_the_rate_is_used_and_under_2_percent_of_the_calls_are_refused(
    rate: float, latency: float, seed: int, shards: int, most_stalled: float
) -> None:
    bucket = TokenBucket(rate, latency, seed)
    calls = make_all_calls(bucket, CALLS, shards)
    run_in_virtual_time(calls, stalls=random.Random(seed), most_stalled=most_stalled)
    refused = bucket.refused / (bucket.accepted + bucket.refused)
    print(f"{bucket.used:.1%} of the rate used, {refused:.1%} refused")
    assert bucket.accepted == CALLS
    assert bucket.used > 0.9
    assert refused < 0.02
