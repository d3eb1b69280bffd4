"""The tape as a file."""

import json

import pytest
from inline_snapshot import snapshot

from salvo.engine.jsonio import json_codec
from salvo.engine.wire.base import WireReply, WireRequest
from salvo.engine.wire.record import RecordingWire
from salvo.engine.wire.replay import ReplayWire
from salvo.engine.wire.retry import RetryingWire
from salvo.engine.wire.tape import Tape
from salvo.errors import TapeCorruptError
from tests.support.clock import HeldClock
from tests.support.wires import REDACTOR, ScriptedWire, answering, openai_request


@pytest.mark.parametrize(
    "document, says",
    [
        ([], "is not a Salvo recording"),
        ({"hello": 1}, "is not a Salvo recording"),
        ({"salvo_tape": 99, "exchanges": []}, "has version 99; this version of Salvo reads version 1"),
        ({"salvo_tape": 1, "exchanges": [{"lane": 7}]}, r"is damaged at exchanges\.0\.lane"),
    ],
)
def test_a_corrupt_tape_is_a_clear_error(document: object, says: str) -> None:
    with pytest.raises(TapeCorruptError, match=says) as error:
        Tape.from_document(document, "recordings/abc/tape.json")
    assert error.value.message.startswith("recordings/abc/tape.json")


async def test_base64_that_is_damaged_is_a_clear_error() -> None:
    recording = RecordingWire(answering(b"\xff\x00"), REDACTOR)
    await recording.send(openai_request())
    damaged = json_codec.dumps(recording.tape).replace(b'"base64":"', b'"base64":"!')
    with pytest.raises(TapeCorruptError, match="is damaged"):
        await ReplayWire(Tape.from_document(json.loads(damaged)), REDACTOR).send(openai_request())


async def test_a_tape_is_json_that_a_person_can_read() -> None:
    def reply(_: WireRequest) -> WireReply:
        return WireReply(200, b'{"id": "x", "choices": []}', {"x-request-id": "req_1"}, seconds=0.25)

    recording = RecordingWire(RetryingWire(ScriptedWire(reply), clock=HeldClock()), REDACTOR)
    await recording.send(openai_request("hello", "agent"))
    assert json.loads(json_codec.dumps(recording.tape)) == snapshot(
        {
            "exchanges": [
                {
                    "lane": "agent",
                    "key": "4bfc9ee41d7eadb0ec6fc6a986eaa19cc2cdb0c3e432df7a533032dde3950bf1",
                    "occurrence": 1,
                    "request": {
                        "method": "POST",
                        "endpoint": "openai",
                        "path": "/chat/completions",
                        "headers": {},
                        "body": {"json": {"messages": [{"content": "hello", "role": "user"}], "model": "gpt-5.4-mini"}},
                    },
                    "reply": {
                        "status": 200,
                        "headers": {"x-request-id": "req_1"},
                        "body": {"json": {"id": "x", "choices": []}, "layout": "spaced", "end": ""},
                        "seconds": 0.25,
                        "attempts": [],
                    },
                    "span": {"made": 0, "answered": 1},
                }
            ],
            "matching": 0,
            "ignored": [],
            "ambiguous": [],
            "salvo_tape": 1,
        }
    )
