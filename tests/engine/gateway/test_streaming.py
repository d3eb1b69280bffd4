"""Streams through the gateway: pieces arrive as the provider sends them, and a replay streams the assembled reply."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import anthropic
import openai
import pytest

from salvo.engine.gateway.server import Gateway
from salvo.engine.jsonio import json_codec
from salvo.engine.wire.base import Endpoint
from salvo.engine.wire.http import HttpWire
from salvo.engine.wire.record import RecordingWire
from salvo.engine.wire.replay import ReplayWire
from salvo.engine.wire.streaming import StreamingWire
from salvo.engine.wire.tape import Tape
from salvo.errors import StreamCutError
from tests.engine.gateway.test_server import CLAUDE, GPT, HELLO, LONG, anthropic_client, openai_client, over, served
from tests.support.http_api import ApiReply, ApiRequest, HttpApi
from tests.support.http_client import http_session
from tests.support.provider import Say
from tests.support.wires import REDACTOR, replay_wire


async def chat_texts(gateway: Gateway) -> AsyncIterator[str]:
    async with openai_client(gateway) as client:
        async for chunk in await client.chat.completions.create(model=GPT, messages=HELLO, stream=True):
            yield chunk.choices[0].delta.content or ""


async def response_texts(gateway: Gateway) -> AsyncIterator[str]:
    async with openai_client(gateway) as client:
        async for event in await client.responses.create(model=GPT, input="hello", stream=True):
            yield event.delta if event.type == "response.output_text.delta" else ""


async def message_texts(gateway: Gateway) -> AsyncIterator[str]:
    async with (
        anthropic_client(gateway) as client,
        client.messages.stream(model=CLAUDE, max_tokens=1000, messages=HELLO) as stream,
    ):
        async for text in stream.text_stream:
            yield text


Texts = Callable[[Gateway], AsyncIterator[str]]
protocols = pytest.mark.parametrize(
    "texts", [chat_texts, response_texts, message_texts], ids=["chat completions", "responses", "messages"]
)


async def read(texts: AsyncIterator[str]) -> tuple[str, Exception | None]:
    """Return the text as far as it came, and what the client raised."""
    text = ""
    try:
        async for piece in texts:
            text += piece
    except (openai.APIError, anthropic.APIError) as error:
        return text, error
    return text, None


@protocols
async def test_a_program_gets_the_beginning_of_an_answer_before_its_end_is_written(texts: Texts) -> None:
    async with served(Say(LONG)) as there:
        there.provider.hold_streams()
        begun = ""
        async for piece in texts(there.gateway):
            begun += piece
            if not there.heard.replies and begun and LONG.startswith(begun) and len(begun) >= 20:
                there.provider.let_streams_go()
        assert begun == LONG
    assert len(there.heard.replies) == 1


@protocols
async def test_a_replay_streams_what_was_assembled(texts: Texts) -> None:
    async with served(Say(LONG, thinking="private thoughts")) as there:
        assert await read(texts(there.gateway)) == (LONG, None)
        assert there.provider.requests[0].body["stream"] is True
    tape = there.recording.tape
    stored = json_codec.dumps(tape)
    assert b"private" not in stored
    assert b"data: " not in stored
    async with over(replay_wire(there.recording)) as (gateway, heard):
        assert await read(texts(gateway)) == (LONG, None)
    assert heard.faults == []


@protocols
async def test_the_reply_is_known_before_the_program_can_go_on(texts: Texts) -> None:
    """A program that has seen the end may send its next request at once."""
    async with served(Say("One two three.")) as there:
        there.provider.linger = 0.3
        assert await read(texts(there.gateway)) == ("One two three.", None)
        assert len(there.heard.replies) == 1


@protocols
@pytest.mark.parametrize("cut", ["closed", "error"])
async def test_a_stream_that_breaks_off_is_a_fault_of_the_provider_and_the_same_in_a_replay(
    texts: Texts, cut: Any
) -> None:
    async with served(Say(LONG, cut=cut)) as there:
        text, error = await read(texts(there.gateway))
        assert len(there.provider.requests) == 1, "what a program has seen is not sent again"
    assert error is not None
    assert text
    assert LONG.startswith(text)
    assert [type(fault) for fault in there.heard.faults] == [StreamCutError]
    async with over(replay_wire(there.recording)) as (gateway, heard):
        replayed_text, replayed_error = await read(texts(gateway))
    assert str(replayed_error) == str(error)
    assert [str(fault) for fault in heard.faults] == [str(fault) for fault in there.heard.faults]
    # Of an item that was not finished, the Responses API keeps nothing.
    assert replayed_text == ("" if texts is response_texts else text)


async def test_a_program_that_leaves_in_the_middle_has_its_answer_counted_all_the_same() -> None:
    async with served(Say(LONG)) as there:
        there.provider.hold_streams()
        async with there.openai as client:
            stream = await client.chat.completions.create(model=GPT, messages=HELLO, stream=True)
            await anext(aiter(stream))
            await stream.close()
        there.provider.let_streams_go()
        async with asyncio.timeout(30):
            await there.heard.answered_all(1)
    assert there.heard.replies[0].json()["choices"][0]["message"]["content"] == LONG
    assert there.heard.replies[0].json()["usage"]["completion_tokens"] > 0


def _chunk(**choice: Any) -> bytes:
    body = {"id": "cmpl-1", "object": "text_completion", "model": "babbage", "choices": [{"index": 0, **choice}]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def completions(request: ApiRequest) -> ApiReply:
    """The older API of a server that does not know `stream_options`."""
    if b"stream_options" in request.body:
        return ApiReply(b'{"error": {"message": "Unknown parameter: stream_options"}}', 400)
    pieces = [_chunk(text=piece, finish_reason=None) for piece in ("Once ", "upon ", "a time")]
    end = _chunk(text="", finish_reason="stop")
    return ApiReply(
        b": hello\n\n" + b"".join([*pieces, end, b"data: [DONE]\n\n"]), headers={"content-type": "text/event-stream"}
    )


async def test_completions_of_the_older_api_are_streamed_and_replayed() -> None:
    async def tell(gateway: Gateway) -> str:
        async with openai_client(gateway) as client:
            stream = await client.completions.create(model="babbage", prompt="Tell me.", stream=True)
            return "".join([chunk.choices[0].text async for chunk in stream])

    with HttpApi(completions) as api:
        async with HttpWire({"openai": Endpoint(api.url)}, REDACTOR) as http:
            recording = RecordingWire(StreamingWire(http), REDACTOR, ignored=())
            async with over(recording) as (gateway, heard):
                assert await tell(gateway) == "Once upon a time"
    assert heard.faults == []
    assert heard.replies[0].json()["choices"] == [
        {"index": 0, "text": "Once upon a time", "logprobs": None, "finish_reason": "stop"}
    ]
    async with over(replay_wire(recording)) as (gateway, _):
        assert await tell(gateway) == "Once upon a time"


MALFORMED = [
    b"data: {not json}\n\n",
    b"data: [1, 2]\n\n",
    b'data: {"choices": [{"index": -1, "delta": {}}]}\n\ndata: [DONE]\n\n',
    b'data: {"choices": [{"index": 0, "delta": {"content": "hi"}}]}\n\n',
    b"",
]


@pytest.mark.parametrize("stream", MALFORMED, ids=["no JSON", "no object", "no index", "no end", "nothing"])
async def test_a_malformed_stream_is_a_fault_of_the_provider(stream: bytes) -> None:
    reply = ApiReply(stream, headers={"content-type": "text/event-stream"})
    with HttpApi(lambda _: reply) as api:
        async with HttpWire({"openai": Endpoint(api.url)}, REDACTOR) as http:
            recording = RecordingWire(StreamingWire(http), REDACTOR, ignored=())
            async with over(recording) as (gateway, heard):
                _, error = await read(chat_texts(gateway))
    assert "The stream of the provider broke off" in str(error)
    assert len(heard.faults) == 1
    async with over(replay_wire(recording)) as (gateway, _):
        _, replayed_error = await read(chat_texts(gateway))
    assert str(replayed_error) == str(error)


async def test_a_server_that_does_not_stream_is_streamed_for() -> None:
    body = {"id": "x", "model": "m", "choices": [{"index": 0, "message": {"content": LONG}, "finish_reason": "stop"}]}
    with HttpApi(lambda _: ApiReply(json.dumps(body).encode())) as api:
        async with HttpWire({"openai": Endpoint(api.url)}, REDACTOR) as http, over(StreamingWire(http)) as (gateway, _):
            assert await read(chat_texts(gateway)) == (LONG, None)


async def test_headers_are_handed_on_except_credentials_and_those_of_the_connection() -> None:
    with HttpApi(lambda _: ApiReply(b"{}")) as api:
        async with (
            HttpWire({"openai": Endpoint(api.url, key="sk-proj-of-the-account")}, REDACTOR) as http,
            over(RecordingWire(http, REDACTOR, ignored=())) as (gateway, _),
            http_session() as session,
        ):
            token = gateway.environ["OPENAI_API_KEY"]
            headers = {
                "authorization": f"Bearer {token}",
                "api-key": token,
                "x-other-key": token,
                "cookie": "session=1",
                "connection": "x-hop",
                "x-hop": "1",
                "openai-organization": "org-1",
                "x-trace": "abc",
                "user-agent": "agent/1.0",
            }
            await session.post(f"{gateway.environ['OPENAI_BASE_URL']}/embeddings", json={}, headers=headers)
    [request] = api.requests
    sent = request.headers
    assert {name: sent.get(name) for name in ("openai-organization", "x-trace", "user-agent", "authorization")} == {
        "openai-organization": "org-1",
        "x-trace": "abc",
        "user-agent": "agent/1.0",
        "authorization": "Bearer sk-proj-of-the-account",
    }
    assert not {"api-key", "x-other-key", "cookie", "x-hop"} & set(sent)
    assert token not in str(sent)


async def test_a_websocket_is_refused_in_a_sentence() -> None:
    async with over(ReplayWire(Tape(), REDACTOR)) as (gateway, heard), http_session() as session:
        url = gateway.environ["OPENAI_BASE_URL"] + "/realtime?model=gpt-realtime"
        headers = {"authorization": f"Bearer {gateway.environ['OPENAI_API_KEY']}"}
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(url, headers=headers)
    assert refused.value.status == 501
    assert "opens a WebSocket at /realtime, which is not supported" in str(heard.faults[0])
