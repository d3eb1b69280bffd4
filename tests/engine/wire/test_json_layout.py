"""A tape gives back every byte of a reply, and still holds JSON as JSON where it can."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.jsonio import json_codec
from salvo.engine.wire.record import RecordingWire
from salvo.engine.wire.tape import FormattedJsonContent, JsonContent, TapedReply
from tests.support.wires import OPENAI_KEY, REDACTOR, answering, openai_request, replay_wire

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda items: st.lists(items, max_size=3) | st.dictionaries(st.text(max_size=5), items, max_size=3),
    max_leaves=8,
)


@given(
    value=_json,
    indent=st.sampled_from([None, 2, 4]),
    separators=st.sampled_from([None, (",", ":"), (" ,", " : ")]),
    ascii_only=st.booleans(),
    end=st.sampled_from(["", "\n", "\r\n", " "]),
)
async def test_every_byte_of_json_comes_back_whatever_its_layout(
    value: object, indent: int | None, separators: tuple[str, str] | None, ascii_only: bool, end: str
) -> None:
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=ascii_only) + end
    body = text.encode()
    recording = RecordingWire(answering(body), REDACTOR)
    await recording.send(openai_request())
    assert (await replay_wire(recording).send(openai_request())).body == body


@pytest.mark.parametrize(
    "body, kind",
    [
        (b'{"a":[1,"\xc3\xa9"]}', JsonContent),
        (b'{"a": [1, "\\u00e9"]}', FormattedJsonContent),
        (b'{"a": [1, "\xc3\xa9"]}', FormattedJsonContent),
        (b'{\n  "a": [\n    1\n  ]\n}\n', FormattedJsonContent),
    ],
    ids=["our own", "Python", "Python with Unicode", "indented"],
)
async def test_common_layouts_stay_json_on_the_tape(body: bytes, kind: type) -> None:
    recording = RecordingWire(answering(body), REDACTOR)
    await recording.send(openai_request())
    [exchange] = recording.tape.exchanges
    assert isinstance(exchange.reply, TapedReply)
    assert type(exchange.reply.body) is kind


@pytest.mark.parametrize(
    "body",
    [
        b'{"a" :"' + OPENAI_KEY.encode() + b'"}',
        b'{"a" :"' + OPENAI_KEY.encode() + b'","a":1}',
        b'{"content" :[{"type":"thinking","thinking":"private"}],"content":[]}',
        b'{"content" :[{"type":"thinking","thinking":"private"}]}',
    ],
    ids=["a key", "a key that parsers drop", "reasoning that parsers drop", "reasoning"],
)
async def test_neither_a_key_nor_reasoning_is_kept_for_the_sake_of_its_layout(body: bytes) -> None:
    recording = RecordingWire(answering(body), REDACTOR)
    await recording.send(openai_request())
    stored = json_codec.dumps(recording.tape)
    assert OPENAI_KEY.encode() not in stored
    assert b"private" not in stored
