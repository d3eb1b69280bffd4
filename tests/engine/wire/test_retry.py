"""RetryingWire: what is tried again, how long it waits, what it tells, and when it gives up."""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from salvo.engine.wire.base import WireReply
from salvo.engine.wire.retry import RetryingWire, RetryPolicy, Wait
from salvo.errors import ReplyTooLargeError, UnreachableError
from tests.support.clock import HeldClock
from tests.support.provider import Fault, LoopbackProvider, Say
from tests.support.wires import ScriptedWire, http_wire, openai_request


def limited(**headers: str) -> WireReply:
    return WireReply(429, b"{}", {name.replace("_", "-"): value for name, value in headers.items()})


async def waits_after(reply: WireReply, policy: RetryPolicy | None = None) -> list[float]:
    clock = HeldClock()
    wire = RetryingWire(ScriptedWire(lambda _: reply), policy=policy, clock=clock, chance=random.Random(1))
    await wire.send(openai_request())
    return clock.slept


@pytest.mark.parametrize(
    "fault",
    [
        Fault.rate_limited(),
        Fault.server_error(500),
        Fault.server_error(503),
        Fault.server_error(408),
        Fault.server_error(409),
        Fault.overloaded(),
        Fault.cut(),
        Fault.hang_up(),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}",
)
async def test_what_may_go_better_is_tried_again_until_it_does(fault: Fault) -> None:
    with LoopbackProvider([fault, fault, Say("finally")]) as provider:
        async with http_wire(provider) as http:
            reply = await RetryingWire(http, clock=HeldClock()).send(openai_request())
    assert reply.status == 200
    assert len(provider.requests) == 3
    assert [attempt.waited > 0 for attempt in reply.attempts] == [True, True]


@pytest.mark.parametrize(
    "fault",
    [
        Fault.unauthorized(),
        Fault.unknown_model(),
        Fault.refused_parameter("seed"),
        Fault.context_too_long(),
        Fault.quota(),
    ],
    ids=lambda fault: fault.kind,
)
async def test_what_no_wait_mends_is_asked_once(fault: Fault) -> None:
    with LoopbackProvider(fault) as provider:
        async with http_wire(provider) as http:
            reply = await RetryingWire(http, clock=HeldClock()).send(openai_request())
    assert reply.status in (400, 401, 404, 429)
    assert len(provider.requests) == 1


async def test_a_reply_that_is_too_large_is_not_asked_for_again() -> None:
    with LoopbackProvider(Fault.huge(2_000_000)) as provider:
        async with http_wire(provider, max_reply_bytes=1000) as http:
            with pytest.raises(ReplyTooLargeError):
                await RetryingWire(http, clock=HeldClock()).send(openai_request())
    assert len(provider.requests) == 1


async def test_a_provider_that_says_not_to_retry_is_believed() -> None:
    assert await waits_after(limited(x_should_retry="false")) == []


@pytest.mark.parametrize(
    "headers, asked",
    [
        ({"retry_after": "4"}, 4.0),
        ({"retry_after": "1.5"}, 1.5),
        ({"retry_after_ms": "250", "retry_after": "4"}, 0.25),
        ({"retry_after": format_datetime(datetime(2026, 11, 15, 12, 0, 7, tzinfo=UTC), usegmt=True)}, 7.0),
        ({"retry_after": "Sun, 15 Nov 2026 12:00:07 -0000"}, 7.0),
        ({"retry_after": "0"}, 0.0),
    ],
    ids=str,
)
async def test_the_wait_that_a_provider_asks_for_is_kept_with_a_little_more(
    headers: dict[str, str], asked: float
) -> None:
    first, *_ = await waits_after(limited(**headers))
    assert asked <= first <= asked * 1.1


@pytest.mark.parametrize("nonsense", ["soon", "", "-3", "nan", "inf", "Sun, 99 Nov 2026"])
async def test_nonsense_in_retry_after_means_our_own_wait(nonsense: str) -> None:
    first, *_ = await waits_after(limited(retry_after=nonsense))
    assert 0.25 <= first <= 0.5


async def test_waits_double_with_jitter_up_to_the_longest() -> None:
    policy = RetryPolicy(max_attempts=8, first_wait=1, longest_wait=10)
    waits = await waits_after(WireReply(500, b""), policy)
    assert len(waits) == 7
    assert all(longest / 2 <= wait <= longest for wait, longest in zip(waits, [1, 2, 4, 8, 10, 10, 10], strict=True))


async def test_attempts_are_capped() -> None:
    wire = ScriptedWire(lambda _: WireReply(500, b""))
    reply = await RetryingWire(wire, policy=RetryPolicy(max_attempts=3), clock=HeldClock()).send(openai_request())
    assert reply.status == 500
    assert len(wire.sent) == 3


async def test_a_wait_past_the_cap_on_total_time_is_not_begun() -> None:
    assert await waits_after(limited(retry_after="3600"), RetryPolicy(max_seconds=300)) == []
    assert len(await waits_after(limited(retry_after="100"), RetryPolicy(max_seconds=300))) == 2


async def test_a_fault_that_stays_is_raised_with_how_often_it_was_tried() -> None:
    def refuse(_: object) -> WireReply:
        raise UnreachableError("openai at 127.0.0.1:9 could not be reached: refused.")

    wire = RetryingWire(ScriptedWire(refuse), policy=RetryPolicy(max_attempts=3), clock=HeldClock())
    with pytest.raises(UnreachableError, match=r"refused\. It was tried 3 times\.") as error:
        await wire.send(openai_request())
    assert [attempt.status for attempt in error.value.attempts] == [None, None]


async def test_a_listener_hears_of_each_wait_before_it_begins() -> None:
    heard: list[Wait] = []
    with LoopbackProvider([Fault.rate_limited(retry_after=4), Fault.server_error(500), Say("hi")]) as provider:
        async with http_wire(provider) as http:
            wire = RetryingWire(http, clock=HeldClock(), listener=heard.append, chance=_no_jitter())
            await wire.send(openai_request(lane="agent"))
    assert [str(wait) for wait in heard] == ["rate limited, retrying in 4 s", "status 500, retrying in 1 s"]
    assert [(wait.attempt, wait.request.lane) for wait in heard] == [(1, "agent"), (2, "agent")]


async def test_a_short_wait_is_told_without_a_number() -> None:
    assert str(Wait(openai_request(), 1, 429, "status 429", 0.2)) == "rate limited, retrying"


def _no_jitter() -> random.Random:
    class Least(random.Random):
        uniform: Callable[[float, float], float] = staticmethod(lambda low, high: 1.0)  # type: ignore[assignment]

    return Least()
