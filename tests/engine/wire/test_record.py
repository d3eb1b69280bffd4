"""Recording: what reaches the tape, and what does not."""

import asyncio
import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import Endpoint, RecordingOptions, WireReply, WireRequest
from salvo.engine.wire.http import HttpWire
from salvo.engine.wire.record import RecordingWire
from salvo.errors import MissingKeyError, UnreachableError
from tests.support.provider import LoopbackProvider, Say
from tests.support.wires import OPENAI_KEY, REDACTOR, ScriptedWire, answering, http_wire, openai_request, replay_wire


async def test_identical_requests_in_flight_together_without_a_lane_mark_the_tape_ambiguous() -> None:
    with LoopbackProvider(Say("hi", delay=0.05)) as provider:
        async with http_wire(provider) as http:
            recording = RecordingWire(http, REDACTOR)
            await asyncio.gather(*(recording.send(openai_request("same")) for _ in range(3)))
            await recording.send(openai_request("other"))
    [warning] = recording.tape.ambiguous
    assert warning == snapshot(
        "Identical requests to /chat/completions were in flight at the same time without a lane, so their replies are matched in the order of sending."
    )


async def test_secrets_and_reasoning_never_reach_the_tape_and_replay_still_matches() -> None:
    secret = "correct horse battery"
    redactor = Redactor([secret, OPENAI_KEY])
    thinking = {"role": "assistant", "content": "", "reasoning_content": "private thoughts"}

    def request(messages: list[Any]) -> WireRequest:
        return WireRequest("openai", "/chat/completions", {"messages": messages}, {"x-api-key": OPENAI_KEY})

    said = {"choices": [{"message": {**thinking, "content": f"the password is {secret}"}}]}
    recording = RecordingWire(answering(said), redactor)
    prompt = {"role": "user", "content": json.dumps({"key": OPENAI_KEY})}
    first = await recording.send(request([prompt]))
    live = first.json()["choices"][0]["message"]
    assert secret in live["content"], "what is under test sees the true reply"
    await recording.send(request([prompt, live]))

    tape = json_codec.dumps(recording.tape).decode()
    assert secret not in tape
    assert OPENAI_KEY not in tape
    assert "private thoughts" not in tape

    replay = replay_wire(recording, redactor)
    replayed = (await replay.send(request([prompt]))).json()["choices"][0]["message"]
    await replay.send(request([prompt, replayed]))
    assert replay.unused == []


async def test_a_secret_in_a_fault_or_a_binary_reply_is_redacted_too() -> None:
    def refuse(_: WireRequest) -> WireReply:
        raise UnreachableError(f"proxy said {OPENAI_KEY}")

    recording = RecordingWire(ScriptedWire(refuse), REDACTOR)
    with pytest.raises(UnreachableError):
        await recording.send(openai_request())
    assert OPENAI_KEY.encode() not in json_codec.dumps(recording.tape)

    binary = RecordingWire(answering(b"\xff\xfe" + OPENAI_KEY.encode() + b"\x00"), REDACTOR)
    await binary.send(openai_request())
    assert (await replay_wire(binary).send(openai_request())).body == b"\xff\xfe[redacted]\x00"


async def test_what_the_caller_changes_after_sending_does_not_change_the_tape() -> None:
    messages = [{"role": "user", "content": "before"}]
    recording = RecordingWire(answering({}), REDACTOR)
    await recording.send(WireRequest("openai", "/x", {"messages": messages}))
    messages[0]["content"] = "after"
    assert b"after" not in json_codec.dumps(recording.tape)


async def test_a_large_request_keeps_its_key_and_is_still_replayed() -> None:
    recording = RecordingWire(answering({"ok": True}), REDACTOR, RecordingOptions(max_request_bytes=100))
    await recording.send(openai_request("x" * 1000))
    assert b"xxxxx" not in json_codec.dumps(recording.tape)
    assert (await replay_wire(recording).send(openai_request("x" * 1000))).json() == {"ok": True}


async def test_what_was_never_sent_is_not_on_the_tape() -> None:
    async with HttpWire({"openai": Endpoint("https://127.0.0.1:9", key_variable="OPENAI_API_KEY")}, REDACTOR) as http:
        recording = RecordingWire(http, REDACTOR)
        with pytest.raises(MissingKeyError):
            await recording.send(openai_request())
    assert recording.tape.exchanges == []
