"""The cache of replies: bounded, and concurrent requests get their own replies."""

import asyncio
import os
from pathlib import Path

from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import Endpoint, WireReply, WireRequest
from salvo.engine.wire.cache import CachedReply, CachingWire, ReplyCache

ENDPOINTS = {"openai": Endpoint("http://127.0.0.1:1/v1")}


class Numbering:
    """A wire that numbers its replies."""

    def __init__(self) -> None:
        self.sent = 0

    async def send(self, request: WireRequest) -> WireReply:
        self.sent += 1
        number = self.sent
        await asyncio.sleep(0)
        return WireReply(200, b'{"number": %d}' % number, seconds=2.0)


def caching(inner: Numbering, folder: Path, scope: str = "run 1") -> CachingWire:
    cache = ReplyCache(folder)
    cache.prepare()
    return CachingWire(inner, cache, Redactor([]), ENDPOINTS, scope)


async def test_identical_requests_in_one_run_get_replies_of_their_own_and_count_their_time_once(tmp_path: Path) -> None:
    inner = Numbering()
    request = WireRequest("openai", "/chat/completions", {"a": 1}, lane="agent")
    first = caching(inner, tmp_path)
    replies = await asyncio.gather(first.send(request), first.send(request))
    first.keep(lambda _: True)
    second = caching(inner, tmp_path)
    again = await asyncio.gather(second.send(request), second.send(request))
    assert [reply.json() for reply in again] == [reply.json() for reply in replies]
    assert (inner.sent, second.hits) == (2, 2)
    assert second.seconds == 2.0, "they were made at the same time"
    third = caching(inner, tmp_path)
    await third.send(request)
    await third.send(request)
    assert third.seconds == 4.0, "one after the other"
    await caching(inner, tmp_path, "run 2").send(request)
    assert inner.sent == 3


async def test_nothing_is_kept_before_the_run_has_ended_well(tmp_path: Path) -> None:
    inner = Numbering()
    wire = caching(inner, tmp_path)
    await wire.send(WireRequest("openai", "/x", {}, lane="agent"))
    await wire.send(WireRequest("openai", "/x", {}, lane="judge/1"))
    assert ReplyCache(tmp_path).size()[0] == 0
    wire.keep(lambda lane: lane == "agent")
    assert ReplyCache(tmp_path).size()[0] == 1


def test_the_oldest_replies_are_removed_when_there_is_too_much(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path)
    for number in range(5):
        cache.save(str(number), CachedReply(1, {}, {"text": "x" * 1000}, 1.0))
        os.utime(tmp_path / f"{number}.json", (number, number))
    size = cache.size()[1]
    cache.prepare(size // 2)
    assert sorted(file.stem for file in tmp_path.glob("*.json")) == ["3", "4"]
