import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from salvo.engine.rates.pacing import Pacer
from salvo.engine.runtime.clock import SystemClock
from salvo.engine.wire.base import WireReply, WireRequest
from salvo.errors import UnreachableError
from tests.support.virtual_time import VirtualClock, run_in_virtual_time

REQUEST = WireRequest("openai", "/chat/completions", {"model": "gpt-5.4-mini"})


class ScriptedWire:
    """Answers with these statuses, one after the other, then with 200."""

    def __init__(self, *statuses: int, headers: dict[str, str] | None = None) -> None:
        self._statuses = list(statuses)
        self._headers = headers or {}
        self.sent = 0

    async def send(self, _request: WireRequest) -> WireReply:
        self.sent += 1
        status = self._statuses.pop(0) if self._statuses else 200
        if status == 0:
            raise UnreachableError("no connection")
        return WireReply(status, b"{}", headers=self._headers)


@contextmanager
def not_measured() -> Iterator[None]:
    yield


async def test_a_refusal_of_one_model_does_not_slow_another() -> None:
    pacer = Pacer(SystemClock(), lambda: None)
    inner = ScriptedWire(429)
    wire = pacer.wire(inner, not_measured)
    assert (await wire.send(REQUEST)).status == 429
    other = WireRequest("openai", "/chat/completions", {"model": "gpt-5.5"})
    waiting, sent = (asyncio.create_task(wire.send(request)) for request in (REQUEST, other))
    done, _ = await asyncio.wait({waiting, sent}, return_when=asyncio.FIRST_COMPLETED)
    assert done == {sent}
    assert (await sent).status == 200
    waiting.cancel()
    assert [state.model for state in pacer.rates] == ["gpt-5.4-mini"]


def test_a_call_that_is_cancelled_while_it_waits_lets_the_next_one_go() -> None:
    async def cancel_the_first() -> None:
        pacer = Pacer(VirtualClock(), lambda: None)
        inner = ScriptedWire(429)
        wire = pacer.wire(inner, not_measured)
        await wire.send(REQUEST)
        first, second = (asyncio.create_task(wire.send(REQUEST)) for _ in range(2))
        await asyncio.sleep(0.1)
        assert inner.sent == 1
        first.cancel()
        assert (await second).status == 200
        assert first.cancelled()

    run_in_virtual_time(cancel_the_first())


async def test_a_connection_that_fails_is_not_a_refusal() -> None:
    pacer = Pacer(SystemClock(), lambda: None)
    wire = pacer.wire(ScriptedWire(0, 500), not_measured)
    with pytest.raises(UnreachableError):
        await wire.send(REQUEST)
    assert (await wire.send(REQUEST)).status == 500
    assert pacer.rates == []


async def test_the_headers_about_limits_go_no_further() -> None:
    headers = {"x-request-id": "req_1", "x-ratelimit-limit-requests": "10", "x-ratelimit-remaining-requests": "9"}
    reply = await Pacer(SystemClock(), lambda: None).wire(ScriptedWire(headers=headers), not_measured).send(REQUEST)
    assert dict(reply.headers) == {"x-request-id": "req_1"}


async def test_accepted_calls_make_room_for_more_runs() -> None:
    room: list[None] = []
    wire = Pacer(SystemClock(), lambda: room.append(None)).wire(ScriptedWire(), not_measured)
    for _ in range(12):
        await wire.send(REQUEST)
    assert len(room) == 3
