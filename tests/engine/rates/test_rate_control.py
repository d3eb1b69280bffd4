"""The controller against a simulated provider with a token bucket: thousands of calls in no time."""

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count

import pytest

from salvo.engine.rates.rate_control import RateController
from salvo.engine.rates.rate_headers import Headroom


@dataclass
class TokenBucket:
    """Accepts `rate` calls per second on average, and `size` at once."""

    rate: float
    size: float
    accepted: int = 0
    refused: int = 0
    refused_early: int = 0
    tokens: float = field(init=False)
    last: float = 0.0

    def __post_init__(self) -> None:
        self.tokens = self.size

    def accepts(self, now: float, early: int) -> bool:
        self.tokens = min(self.size, self.tokens + (now - self.last) * self.rate)
        self.last = now
        if self.tokens < 1:
            self.refused += 1
            if self.accepted < early:
                self.refused_early = self.refused
            return False
        self.tokens -= 1
        self.accepted += 1
        return True


class Worker:
    """Has calls to make, and makes as many at once as it may: more and more, until one is refused."""

    def __init__(self, calls: int) -> None:
        self.controller = RateController()
        self.remaining = calls
        self.in_flight = 0
        self.at_once = 10.0
        self.waiting = 0
        self.wakes_at = 0.0

    @property
    def has_work(self) -> bool:
        return bool(self.remaining or self.in_flight or self.waiting)


class Simulation:
    """Makes all calls of the workers, event by event. Several exchange their rates every second."""

    def __init__(self, bucket: TokenBucket, workers: list[Worker], latency: float, seed: int) -> None:
        self.bucket = bucket
        self.workers = workers
        self.latency = latency
        self.chance = random.Random(seed)
        self.early = sum(worker.remaining for worker in workers) // 5
        self.end = 0.0
        self._order = count()
        self._events: list[tuple[float, int, Callable[[float], None]]] = []

    def at(self, time: float, handle: Callable[[float], None]) -> None:
        heapq.heappush(self._events, (time, next(self._order), handle))

    def run(self) -> float:
        """Return when the last call was accepted."""
        for worker in self.workers:
            self.at(0.0, partial(self.send, worker))
        if len(self.workers) > 1:
            self.at(1.0, self.share)
        while self._events:
            now, _, handle = heapq.heappop(self._events)
            handle(now)
        return self.end

    def send(self, worker: Worker, now: float) -> None:
        while worker.remaining and worker.in_flight + worker.waiting < worker.at_once:
            worker.remaining -= 1
            worker.waiting += 1
        while worker.waiting:
            if (wait := worker.controller.seconds_until_next(now)) > 1e-9:
                if worker.wakes_at <= now or worker.wakes_at > now + wait + 1e-9:
                    worker.wakes_at = now + wait
                    self.at(worker.wakes_at, partial(self.send, worker))
                return
            worker.waiting -= 1
            worker.in_flight += 1
            worker.controller.sent(now)
            self.at(now + self.latency * self.chance.uniform(0.35, 0.75), partial(self.arrive, worker, now))

    def arrive(self, worker: Worker, sent_at: float, now: float) -> None:
        accepted = self.bucket.accepts(now, self.early)
        self.end = now if accepted else self.end
        self.at(now + self.latency / 2, partial(self.answer, worker, sent_at, accepted))

    def answer(self, worker: Worker, sent_at: float, accepted: bool, now: float) -> None:
        worker.in_flight -= 1
        if accepted:
            worker.controller.was_accepted(now, sent_at, is_waited_for=worker.waiting > 0, headroom=None)
            if worker.controller.rate is None:
                worker.at_once = min(200.0, worker.at_once + 0.25)
        else:
            worker.controller.was_refused(now, sent_at)
            self.at(now + self.chance.uniform(0.25, 0.5), partial(self.retry, worker))
        self.send(worker, now)

    def retry(self, worker: Worker, now: float) -> None:
        worker.waiting += 1
        self.send(worker, now)

    def share(self, now: float) -> None:
        busy = [worker.controller for worker in self.workers if worker.has_work and worker.controller.rate is not None]
        if busy:
            rate = sum(controller.rate or 0.0 for controller in busy) / len(busy)
            settled_at = max(controller.settled_at for controller in busy)
            for controller in busy:
                controller.take_share(rate, settled_at, len(busy))
        if any(worker.has_work for worker in self.workers):
            self.at(now + 1.0, self.share)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("rate, latency", [(50, 0.2), (20, 0.05), (200, 0.5)])
def test_the_rate_of_a_token_bucket_is_used_with_few_refusals(
    rate: float, latency: float, workers: int, seed: int
) -> None:
    calls = int(rate * 100)
    bucket = TokenBucket(rate, size=rate)
    seconds = Simulation(bucket, [Worker(calls // workers) for _ in range(workers)], latency, seed).run()

    assert bucket.accepted / (bucket.rate * seconds + bucket.size) > 0.9
    # Once the rate is known. To learn it costs about as many refusals as calls are under way then.
    assert (bucket.refused - bucket.refused_early) / (0.8 * calls) < 0.02


def test_nothing_is_limited_before_the_first_refusal() -> None:
    controller = RateController()
    for number in range(100):
        assert controller.seconds_until_next(number / 100) == 0
        controller.sent(number / 100)
    assert controller.rate is None


def limited_controller() -> RateController:
    """Return a controller that has sent ten calls a second for two seconds, the last of which was refused."""
    controller = RateController()
    for number in range(20):
        controller.sent(number / 10)
        controller.was_accepted(number / 10, number / 10, is_waited_for=False, headroom=None)
    controller.was_refused(2.0, 2.0)
    return controller


def test_the_refusals_of_one_burst_cut_the_rate_once() -> None:
    controller = limited_controller()
    rate = controller.rate
    assert rate is not None
    assert rate < 10
    for _ in range(5):
        controller.was_refused(2.1, 1.9)  # sent before the cut
    assert controller.rate == rate
    controller.was_refused(4.0, 3.9)
    assert controller.rate < rate


def test_a_provider_that_asks_for_a_pause_gets_it() -> None:
    controller = limited_controller()
    controller.was_refused(2.1, 1.9, retry_after=7)
    assert controller.seconds_until_next(2.1) == pytest.approx(7)


def test_a_very_long_pause_is_not_kept_for_all_calls() -> None:
    controller = limited_controller()
    controller.was_refused(2.1, 1.9, retry_after=3600)
    assert controller.seconds_until_next(2.1) == pytest.approx(60)


def test_the_rate_does_not_grow_while_no_call_waits() -> None:
    controller = limited_controller()
    rate = controller.rate
    for number in range(1000):
        controller.was_accepted(5 + number / 10, 5 + number / 10, is_waited_for=False, headroom=None)
    assert controller.rate == rate


def test_the_rate_does_not_grow_while_the_providers_limit_is_nearly_reached() -> None:
    controller, free = limited_controller(), limited_controller()
    rate = controller.rate
    for number in range(1000):
        now = 5 + number / 10
        controller.was_accepted(now, now, is_waited_for=True, headroom=Headroom(0.05, 30))
        free.was_accepted(now, now, is_waited_for=True, headroom=Headroom(0.5, 30))
    assert controller.rate == rate
    assert free.rate is not None
    assert rate is not None
    assert free.rate > rate


def test_a_limit_that_is_used_up_pauses_the_calls_for_a_part_of_its_time() -> None:
    controller = RateController()
    controller.was_accepted(1.0, 1.0, is_waited_for=False, headroom=Headroom(0.0, 60))
    assert controller.seconds_until_next(1.0) == pytest.approx(3)


def test_server_errors_pause_the_growth_and_cut_nothing() -> None:
    steady, failing = limited_controller(), limited_controller()
    for number in range(40):
        now = 5 + number / 10
        if number % 5 == 0:
            failing.has_failed()
        for controller in (steady, failing):
            controller.was_accepted(now, now, is_waited_for=True, headroom=None)
    assert steady.rate is not None
    assert failing.rate is not None
    assert failing.rate < steady.rate
    assert failing.rate == limited_controller().rate


def test_the_rate_never_falls_to_where_a_cached_prompt_would_be_dropped() -> None:
    controller = limited_controller()
    for number in range(100):
        controller.was_refused(5 + number * 2.0, 5 + number * 2.0)
    assert controller.rate == pytest.approx(0.1)
