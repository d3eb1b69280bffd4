"""Replay: every request finds its own reply again, and what cannot be replayed says why."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import RecordingOptions, WireReply, WireRequest
from salvo.engine.wire.record import RecordingWire
from salvo.engine.wire.retry import RetryingWire
from salvo.errors import BrokenReplyError, NotReplayableError, ReplyTimeoutError, TapeMissError
from tests.support.clock import HeldClock
from tests.support.provider import Fault, LoopbackProvider, ProviderRequest, Say
from tests.support.wires import REDACTOR, ScriptedWire, answering, http_wire, openai_request, replay_wire


async def test_what_was_recorded_is_replayed_without_a_provider() -> None:
    with LoopbackProvider(lambda asked: Say(f"you said {asked.last_user}")) as provider:
        async with http_wire(provider) as http:
            recording = RecordingWire(http, REDACTOR)
            said = [await recording.send(openai_request(text, "agent")) for text in ("one", "two")]
    replay = replay_wire(recording)
    again = [await replay.send(openai_request(text, "agent")) for text in ("two", "one")]
    assert [reply.json() for reply in again] == [said[1].json(), said[0].json()]
    assert [reply.seconds for reply in again] == [said[1].seconds, said[0].seconds]
    assert replay.unused == []


async def test_a_reply_keeps_its_attempts_and_a_fault_is_raised_again() -> None:
    with LoopbackProvider([Fault.rate_limited(retry_after=2), Say("hi"), Fault.hang_up()]) as provider:
        async with http_wire(provider) as http:
            recording = RecordingWire(RetryingWire(http, clock=HeldClock()), REDACTOR)
            said = await recording.send(openai_request("one"))
            with pytest.raises(BrokenReplyError) as raised:
                await recording.send(openai_request("two"))
    replay = replay_wire(recording)
    assert (await replay.send(openai_request("one"))).attempts == said.attempts
    with pytest.raises(BrokenReplyError) as again:
        await replay.send(openai_request("two"))
    assert str(again.value) == str(raised.value)
    assert again.value.attempts == raised.value.attempts


async def test_a_timeout_is_replayed_as_a_timeout() -> None:
    def hang(_: WireRequest) -> WireReply:
        raise ReplyTimeoutError("nothing came")

    recording = RecordingWire(ScriptedWire(hang), REDACTOR)
    with pytest.raises(ReplyTimeoutError):
        await recording.send(openai_request())
    with pytest.raises(ReplyTimeoutError, match="nothing came"):
        await replay_wire(recording).send(openai_request())


async def test_identical_requests_in_flight_together_find_their_own_replies_by_lane() -> None:
    arrivals = iter(range(100))

    def numbered(asked: ProviderRequest) -> Say:
        number = next(arrivals)
        return Say(f"answer {number}", delay=0.05 if number % 2 else 0.0)

    lanes = [f"judge/vote-{number}" for number in range(8)]
    with LoopbackProvider(numbered) as provider:
        async with http_wire(provider) as http:
            recording = RecordingWire(http, REDACTOR)
            said = await asyncio.gather(*(recording.send(openai_request("same", lane)) for lane in lanes))
    replay = replay_wire(recording)
    again = [await replay.send(openai_request("same", lane)) for lane in reversed(lanes)]
    assert [reply.body for reply in said] != sorted((reply.body for reply in said), reverse=True)
    assert [reply.json() for reply in reversed(again)] == [reply.json() for reply in said]
    assert recording.tape.ambiguous == []


async def test_identical_requests_one_after_the_other_are_told_apart_by_their_occurrence() -> None:
    with LoopbackProvider([Say("first"), Say("second")]) as provider:
        async with http_wire(provider) as http:
            recording = RecordingWire(http, REDACTOR)
            for _ in range(2):
                await recording.send(openai_request("same"))
    replay = replay_wire(recording)
    texts = [(await replay.send(openai_request("same"))).json()["choices"][0]["message"]["content"] for _ in range(2)]
    assert texts == ["first", "second"]
    assert recording.tape.ambiguous == []


@settings(max_examples=60, deadline=None)
@given(
    asked=st.lists(st.tuples(st.sampled_from(["agent", "judge/1", "judge/2", ""]), st.integers(0, 3)), max_size=14),
    chance=st.randoms(use_true_random=False),
)
def test_replay_pairs_every_request_with_its_reply_whatever_the_order_across_lanes(
    asked: list[tuple[str, int]], chance: Any
) -> None:
    async def record_and_replay() -> None:
        numbers = iter(range(100))
        recording = RecordingWire(
            ScriptedWire(lambda _: WireReply(200, json.dumps(next(numbers)).encode())), Redactor()
        )
        said: dict[str, list[Any]] = {}
        for lane, text in asked:
            said.setdefault(lane, []).append((text, (await recording.send(openai_request(str(text), lane))).json()))
        replay = replay_wire(recording, Redactor())
        # Each lane in its own order, the lanes interleaved at random.
        waiting = {lane: list(pairs) for lane, pairs in said.items()}
        while waiting:
            lane = chance.choice(sorted(waiting))
            text, number = waiting[lane].pop(0)
            assert (await replay.send(openai_request(str(text), lane))).json() == number
            if not waiting[lane]:
                del waiting[lane]
        assert replay.unused == []

    asyncio.run(record_and_replay())


@pytest.mark.parametrize("body", [b"", b"plain words", b"<html>", "grün ✓".encode(), b'"half \\ud83d"'])
async def test_a_reply_that_is_not_a_json_object_is_replayed_as_it_was(body: bytes) -> None:
    recording = RecordingWire(answering(body), REDACTOR)
    await recording.send(openai_request())
    replayed = await replay_wire(recording).send(openai_request())
    assert replayed.body.decode("utf-8", "surrogatepass").strip('"') == body.decode().strip('"')


@pytest.mark.parametrize(
    "options, reason",
    [
        (RecordingOptions(max_reply_bytes=100), "larger than the limit of 100 bytes"),
        (RecordingOptions(hashes_only=True), "only hashes were recorded"),
    ],
)
async def test_a_reply_without_its_content_says_that_it_cannot_be_replayed(
    options: RecordingOptions, reason: str
) -> None:
    recording = RecordingWire(answering({"text": "y" * 1000}), REDACTOR, options)
    await recording.send(openai_request())
    tape = json_codec.dumps(recording.tape)
    assert b"yyyyy" not in tape
    assert b"sha256:" in tape
    with pytest.raises(NotReplayableError, match=reason):
        await replay_wire(recording).send(openai_request())


async def test_a_request_that_was_still_unanswered_when_recording_ended_says_so() -> None:
    with LoopbackProvider(Fault.hang()) as provider:
        async with http_wire(provider) as http:
            recording = RecordingWire(http, REDACTOR)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await recording.send(openai_request())
    with pytest.raises(NotReplayableError, match="ends before the request"):
        await replay_wire(recording).send(openai_request())


async def miss(record: Callable[[RecordingWire], Any], request: WireRequest) -> str:
    recording = RecordingWire(answering({"ok": True}), REDACTOR)
    await record(recording)
    with pytest.raises(TapeMissError) as error:
        await replay_wire(recording).send(request)
    return str(error.value)


async def test_a_miss_shows_the_nearest_recorded_request_and_the_fields_that_differ() -> None:
    async def record(wire: RecordingWire) -> None:
        await wire.send(openai_request("book the cheapest flight from SFO to JFK on March 15", "agent"))
        await wire.send(openai_request("something else altogether", "agent"))
        await wire.send(openai_request("book the cheapest flight from SFO to JFK on March 16", "judge"))

    changed = openai_request("book the cheapest flight from SFO to JFK on March 16", "agent")
    assert isinstance(changed.body, dict)
    changed.body["temperature"] = 0
    assert await miss(record, changed) == snapshot("""\
Nothing was recorded for this request to /chat/completions in lane 'agent'.
The nearest recorded request is the request to /chat/completions in lane 'agent'. It differs in:
  messages[0].content: recorded …FO to JFK on March 15", now …FO to JFK on March 16"
  temperature: recorded missing, now 0\
""")


async def test_a_miss_of_a_request_asked_too_often_says_that() -> None:
    recording = RecordingWire(answering({"ok": True}), REDACTOR)
    await recording.send(openai_request("same", "agent"))
    replay = replay_wire(recording)
    await replay.send(openai_request("same", "agent"))
    with pytest.raises(TapeMissError, match="recorded 1 time and is now sent once more"):
        await replay.send(openai_request("same", "agent"))
    with pytest.raises(TapeMissError, match="All recorded requests have been answered already"):
        await replay.send(openai_request("new", "agent"))


async def test_a_miss_against_a_request_without_content_tells_what_is_known() -> None:
    async def record(wire: RecordingWire) -> None:
        wire._options = RecordingOptions(hashes_only=True)
        await wire.send(openai_request("one", "agent"))

    assert "only hashes were recorded" in await miss(record, openai_request("two", "agent"))
