"""The gateway, with the official SDKs as its clients: they alone know whether a stream is well-formed."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai
import pytest
import yarl

from salvo.engine.gateway.paths import ForbiddenPathError, PathRules
from salvo.engine.gateway.server import Call, Gateway
from salvo.engine.jsonio import json_codec
from salvo.engine.wire.base import Wire, WireReply
from salvo.engine.wire.http import HttpWire
from salvo.engine.wire.record import RecordingWire
from salvo.engine.wire.replay import ReplayWire
from salvo.engine.wire.retry import RetryingWire
from salvo.engine.wire.streaming import StreamingWire
from salvo.errors import MissingKeyError, SalvoError, TapeMissError
from tests.support.clock import HeldClock
from tests.support.http_client import http_session
from tests.support.provider import Fault, LoopbackProvider, Say, Scripted, Use, UseTools, by_turn
from tests.support.wires import ANTHROPIC_KEY, OPENAI_KEY, REDACTOR, ScriptedWire, http_wire

CLAUDE, GPT = "claude-opus-4-8", "gpt-5.4-mini"
LONG = "A sentence of some length, with an é and a 😀 in it. " * 5
TOOLS = UseTools(
    Use("find", {"name": "Ada", "tags": ["x" * 60]}), Use("count", {}), text="Let me look.", thinking="private thoughts"
)


@dataclass
class Heard:
    calls: list[Call] = field(default_factory=list)
    replies: list[WireReply] = field(default_factory=list)
    faults: list[SalvoError] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def requested(self, call: Call) -> None:
        self.calls.append(call)

    def answered(self, call: Call, reply: WireReply) -> None:
        self.replies.append(reply)
        self.changed.set()

    async def answered_all(self, number: int) -> None:
        """Return when so many calls have been answered."""
        while len(self.replies) < number:
            self.changed.clear()
            await self.changed.wait()

    def failed(self, call: Call, fault: SalvoError) -> None:
        self.faults.append(fault)


@dataclass
class Served:
    provider: LoopbackProvider
    gateway: Gateway
    heard: Heard
    recording: RecordingWire

    @property
    def openai(self) -> openai.AsyncOpenAI:
        return openai_client(self.gateway)

    @property
    def anthropic(self) -> anthropic.AsyncAnthropic:
        return anthropic_client(self.gateway)


def openai_client(gateway: Gateway) -> openai.AsyncOpenAI:
    environ = gateway.environ
    return openai.AsyncOpenAI(base_url=environ["OPENAI_BASE_URL"], api_key=environ["OPENAI_API_KEY"])


def anthropic_client(gateway: Gateway) -> anthropic.AsyncAnthropic:
    environ = gateway.environ
    return anthropic.AsyncAnthropic(base_url=environ["ANTHROPIC_BASE_URL"], api_key=environ["ANTHROPIC_API_KEY"])


@asynccontextmanager
async def served(script: Scripted) -> AsyncIterator[Served]:
    heard = Heard()
    with LoopbackProvider(script) as provider:
        async with http_wire(provider) as http:
            live = StreamingWire(RetryingWire(http, clock=HeldClock()))
            recording = RecordingWire(live, REDACTOR, ignored=())
            async with Gateway(recording, heard, lane="agent") as gateway:
                yield Served(provider, gateway, heard, recording)


@asynccontextmanager
async def over(wire: Wire) -> AsyncIterator[tuple[Gateway, Heard]]:
    heard = Heard()
    async with Gateway(wire, heard, lane="agent") as gateway:
        yield gateway, heard


HELLO: list[Any] = [{"role": "user", "content": "hello"}]


async def test_an_openai_stream_comes_to_the_whole_reply() -> None:
    async with served(TOOLS) as there, there.openai as client:
        options: Any = {"include_usage": True}
        async with client.chat.completions.stream(model=GPT, messages=HELLO, stream_options=options) as stream:
            pieces = [event async for event in stream]
            final = (await stream.get_final_completion()).to_dict()
    whole = there.heard.replies[0].json()
    choice, streamed = whole["choices"][0], without_none(final["choices"])[0]
    for call in streamed["message"]["tool_calls"]:
        del call["index"]  # tells the pieces apart, and is left behind
    assert streamed["message"] == without_none(choice["message"])
    assert streamed["finish_reason"] == choice["finish_reason"] == "tool_calls"
    assert final["usage"] == whole["usage"]
    assert final["system_fingerprint"] == whole["system_fingerprint"]
    assert len(pieces) > 6


def without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_none(part) for name, part in value.items() if part is not None}
    return [without_none(part) for part in value] if isinstance(value, list) else value


async def test_an_openai_stream_without_include_usage_has_none_and_ends_as_it_must() -> None:
    async with served(Say(LONG)) as there, there.openai as client:
        stream = await client.chat.completions.create(model=GPT, messages=HELLO, stream=True)
        chunks = [chunk async for chunk in stream]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == LONG
    assert {chunk.usage for chunk in chunks} == {None}
    assert [chunk.choices[0].finish_reason for chunk in chunks][-1] == "stop"
    assert chunks[0].choices[0].delta.role == "assistant"


async def test_an_anthropic_stream_comes_to_the_whole_reply_thinking_and_all() -> None:
    async with (
        served(TOOLS) as there,
        there.anthropic as client,
        client.messages.stream(model=CLAUDE, max_tokens=4000, messages=HELLO) as stream,
    ):
        kinds = [event.type async for event in stream]
        final = (await stream.get_final_message()).to_dict()
    whole = there.heard.replies[0].json()
    assert without_none(final["content"]) == without_none(whole["content"])
    assert [block["type"] for block in whole["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert final["stop_reason"] == "tool_use"
    assert without_none(final["usage"]) == without_none(whole["usage"])
    assert {"thinking", "signature", "text", "input_json", "message_stop"} <= set(kinds)


async def test_a_stream_and_a_whole_reply_are_one_and_the_same_request_on_the_tape() -> None:
    async with served([Say("one"), Say("two")]) as there, there.openai as client:
        await client.chat.completions.create(model=GPT, messages=HELLO)
        await client.chat.completions.create(
            model=GPT, messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
    first, second = there.recording.tape.exchanges
    assert (first.key, first.occurrence, second.occurrence) == (second.key, 1, 2)
    assert there.provider.requests[1].body["stream"] is True


async def test_the_key_is_added_behind_the_gateway_and_never_seen_before_it() -> None:
    async with served(Say("hi")) as there, there.openai as gpt, there.anthropic as claude:
        await gpt.chat.completions.create(model=GPT, messages=HELLO)
        await claude.messages.create(model=CLAUDE, max_tokens=100, messages=HELLO)
    assert [asked.key for asked in there.provider.requests] == [OPENAI_KEY, ANTHROPIC_KEY]
    given = json.dumps(there.gateway.environ)
    assert OPENAI_KEY not in given
    assert ANTHROPIC_KEY not in given
    assert b"sk-" not in json_codec.dumps(there.recording.tape)


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer sk-salvo-other"}, {"x-api-key": "sk-salvo-other"}])
async def test_another_process_without_the_token_is_not_served(headers: dict[str, str]) -> None:
    async with served(Say("hi")) as there, http_session() as session:
        url = there.gateway.environ["ANTHROPIC_BASE_URL"]
        async with session.post(f"{url}/v1/messages", json={"model": CLAUDE}, headers=headers) as reply:
            assert reply.status == 401
            assert (await reply.json())["error"]["message"].startswith("This gateway serves one run")
    assert there.provider.requests == []
    assert there.heard.calls == []


async def test_a_token_that_is_no_text_is_refused_like_another_one() -> None:
    async with served(Say("hi")) as there:
        host, _, port = there.gateway.origin.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /openai/v1/models HTTP/1.1\r\nHost: x\r\nX-Api-Key: \xff\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 401 ")
        writer.close()


async def test_a_rate_limit_is_waited_out_behind_the_gateway() -> None:
    async with served([Fault.rate_limited(retry_after=7), Say("hi")]) as there, there.anthropic as client:
        said = await client.messages.create(model=CLAUDE, max_tokens=100, messages=HELLO)
    assert said.content[0].to_dict()["text"] == "hi"
    [reply] = there.heard.replies
    assert [attempt.status for attempt in reply.attempts] == [429]
    assert reply.attempts[0].waited >= 7


async def test_what_the_provider_refuses_the_client_hears_in_its_own_words_and_does_not_try_again() -> None:
    async with served(Fault.overloaded()) as there, there.anthropic as gpt, there.openai as claude:
        with pytest.raises(anthropic.APIStatusError, match="Overloaded") as told:
            await gpt.messages.create(model=CLAUDE, max_tokens=100, messages=HELLO)
        assert told.value.status_code == 529
        with pytest.raises(openai.APIStatusError):
            await claude.chat.completions.create(model=GPT, messages=HELLO, stream=True)
    assert len(there.heard.calls) == 2


async def test_a_fault_of_ours_reaches_the_client_in_its_providers_shape() -> None:
    async with (
        HttpWire({}, REDACTOR) as wire,
        over(_Faulty(wire)) as (gateway, heard),
        openai_client(gateway) as client,
    ):
        with pytest.raises(openai.APIStatusError, match="There is no API key for openai"):
            await client.chat.completions.create(model=GPT, messages=HELLO)
    assert isinstance(heard.faults[0], MissingKeyError)


class _Faulty:
    def __init__(self, inner: Wire) -> None:
        self._inner = inner

    async def send(self, request: Any) -> WireReply:
        raise MissingKeyError("There is no API key for openai, so nothing was sent.")


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_conversation_with_thinking_is_replayed_through_the_gateway(streamed: bool) -> None:
    async def talk(client: anthropic.AsyncAnthropic) -> str:
        messages: list[Any] = [{"role": "user", "content": "hello"}]
        said: Any = None
        for _ in range(2):
            said = await _message(client, messages, streamed=streamed)
            results = [{"type": "tool_result", "tool_use_id": use.id, "content": "7"} for use in said.content if use.type == "tool_use"]  # fmt: skip
            messages += [{"role": "assistant", "content": said.content}, {"role": "user", "content": results or "ok"}]
        return str(said.content[-1].to_dict()["text"])

    async with served(by_turn(TOOLS, Say("done", thinking="more"))) as there, there.anthropic as client:
        assert await talk(client) == "done"
    tape = there.recording.tape
    assert b"private thoughts" not in json_codec.dumps(tape)
    async with over(ReplayWire(tape, REDACTOR)) as (gateway, heard), anthropic_client(gateway) as client:
        assert await talk(client) == "done"
    assert heard.faults == []


async def _message(client: anthropic.AsyncAnthropic, messages: list[Any], *, streamed: bool) -> Any:
    tools: list[Any] = [{"name": name, "input_schema": {"type": "object"}} for name in ("find", "count")]
    if not streamed:
        return await client.messages.create(model=CLAUDE, max_tokens=4000, messages=messages, tools=tools)
    async with client.messages.stream(model=CLAUDE, max_tokens=4000, messages=messages, tools=tools) as stream:
        return await stream.get_final_message()


async def test_a_request_that_was_not_recorded_is_told_to_program_and_listener() -> None:
    async with served(Say("hi")) as there, there.openai as client:
        await client.chat.completions.create(model=GPT, messages=HELLO)
    replay = ReplayWire(there.recording.tape, REDACTOR)
    async with over(replay) as (gateway, heard), openai_client(gateway) as client:
        with pytest.raises(openai.APIStatusError, match="Nothing was recorded"):
            await client.chat.completions.create(model=GPT, messages=[{"role": "user", "content": "other"}])
    assert isinstance(heard.faults[0], TapeMissError)


async def test_identical_requests_in_flight_together_mark_the_tape_ambiguous() -> None:
    async with served(Say("hi", delay=0.05)) as there, there.openai as client:
        await asyncio.gather(*(client.chat.completions.create(model=GPT, messages=HELLO) for _ in range(2)))
    assert len(there.recording.tape.ambiguous) == 1
    assert "in the lane 'agent'" in there.recording.tape.ambiguous[0]


async def test_other_paths_are_handed_on_as_they_are() -> None:
    wire = ScriptedWire(lambda request: WireReply(200, b'{"input_tokens": 3}', {"content-type": "application/json"}))
    async with over(wire) as (gateway, heard), anthropic_client(gateway) as client:
        counted = await client.messages.count_tokens(model=CLAUDE, messages=HELLO)
        await client.models.list()
    assert counted.input_tokens == 3
    assert [(sent.method, sent.path) for sent in wire.sent] == [
        ("POST", "/v1/messages/count_tokens"),
        ("GET", "/v1/models"),
    ]
    assert not any(call.is_chat for call in heard.calls)


async def test_a_stream_of_the_responses_api_comes_to_the_whole_reply() -> None:
    async with served(TOOLS) as there, there.openai as client, client.responses.stream(model=GPT, input="hi") as stream:
        kinds = [event.type async for event in stream]
        final = (await stream.get_final_response()).to_dict()
    whole = there.heard.replies[0].json()
    streamed: Any = without_none(final)
    for item in streamed["output"]:
        item.pop("parsed_arguments", None)  # the client's own
    assert streamed["output"] == without_none(whole["output"])
    assert [item["type"] for item in whole["output"]] == ["reasoning", "message", "function_call", "function_call"]
    assert streamed["usage"] == without_none(whole["usage"])
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert {"response.reasoning_summary_text.delta", "response.output_text.delta"} <= set(kinds)
    assert kinds.count("response.function_call_arguments.delta") > 2


@pytest.mark.parametrize(
    "said, last",
    [
        (Say("I will not.", stop="refusal"), "response.completed"),
        (Say("Half of", stop="length"), "response.incomplete"),
    ],
)
async def test_a_refusal_and_a_cut_answer_are_streamed_as_what_they_are(said: Say, last: str) -> None:
    async with served(said) as there, there.openai as client:
        events = [event async for event in await client.responses.create(model=GPT, input="hello", stream=True)]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].type == last
    assert said.text in events[-1].to_json()


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_conversation_over_the_responses_api_is_replayed_without_its_reasoning(streamed: bool) -> None:
    async def talk(client: openai.AsyncOpenAI) -> str:
        conversation: list[Any] = [{"role": "user", "content": "hello"}]
        said: Any = None
        for _ in range(2):
            said = await _response(client, conversation, streamed=streamed)
            conversation += [item.to_dict() for item in said.output]
            conversation += [
                {"type": "function_call_output", "call_id": item.call_id, "output": "7"}
                for item in said.output
                if item.type == "function_call"
            ]
        return str(said.output_text)

    async with served(by_turn(TOOLS, Say("done", thinking="more"))) as there, there.openai as client:
        assert await talk(client) == "done"
    tape = there.recording.tape
    assert b"private thoughts" not in json_codec.dumps(tape)
    async with over(ReplayWire(tape, REDACTOR)) as (gateway, heard), openai_client(gateway) as client:
        assert await talk(client) == "done"
    assert heard.faults == []


async def _response(client: openai.AsyncOpenAI, conversation: list[Any], *, streamed: bool) -> Any:
    tools: list[Any] = [{"type": "function", "name": name, "parameters": {"type": "object"}, "strict": False} for name in ("find", "count")]  # fmt: skip
    if not streamed:
        return await client.responses.create(model=GPT, input=conversation, tools=tools)
    async with client.responses.stream(model=GPT, input=conversation, tools=tools) as stream:
        return await stream.get_final_response()


@pytest.mark.parametrize("path", ["/openai/chat/completions", "/openai/v1/chat/completions"])
async def test_a_client_may_leave_the_version_out_of_the_path(path: str) -> None:
    wire = ScriptedWire(lambda request: WireReply(200, b"{}"))
    async with over(wire) as (gateway, _), http_session() as session:
        root = gateway.environ["ANTHROPIC_BASE_URL"].removesuffix("/anthropic")
        headers = {"authorization": f"Bearer {gateway.environ['OPENAI_API_KEY']}"}
        async with session.post(f"{root}{path}", json={}, headers=headers) as reply:
            assert reply.status == 200
    assert [sent.path for sent in wire.sent] == ["/chat/completions"]


@pytest.mark.parametrize(
    "method, path, body, status",
    [
        ("DELETE", "/openai/v1/files/1", b"", 403),
        ("PUT", "/openai/v1/files/1", b"", 405),
        ("GET", "/elsewhere", b"", 404),
        ("POST", "/openai/v1/embeddings", b"--boundary", 502),
        ("POST", "/openai/v1/embeddings", b'{"stream": true}', 502),
    ],
)
async def test_what_cannot_be_handed_on_is_refused(method: str, path: str, body: bytes, status: int) -> None:
    wire = ScriptedWire(lambda request: WireReply(200, b"{}"))
    async with over(wire) as (gateway, _), http_session() as session:
        root = gateway.environ["ANTHROPIC_BASE_URL"].removesuffix("/anthropic")
        headers = {"authorization": f"Bearer {gateway.environ['OPENAI_API_KEY']}"}
        async with session.request(method, f"{root}{path}", data=body, headers=headers) as reply:
            assert reply.status == status
            assert "message" in (await reply.json())["error"]
    assert wire.sent == []


async def test_an_answer_that_is_no_completion_cannot_be_streamed_and_is_a_fault_of_the_provider() -> None:
    wire = ScriptedWire(lambda request: WireReply(200, b"[]"))
    async with over(wire) as (gateway, heard), openai_client(gateway) as client:
        with pytest.raises(openai.APIStatusError, match="cannot be streamed"):
            await client.chat.completions.create(model=GPT, messages=HELLO, stream=True)
    assert len(heard.faults) == 1


async def ask(gateway: Gateway, method: str, path: str, **settings: Any) -> tuple[int, str]:
    """Send a request with exactly this path, as no well-behaved client would."""
    root = gateway.environ["ANTHROPIC_BASE_URL"].removesuffix("/anthropic")
    headers = {"authorization": f"Bearer {gateway.environ['OPENAI_API_KEY']}"}
    url = yarl.URL(root + path, encoded=True)
    async with http_session() as session, session.request(method, url, headers=headers, **settings) as reply:
        body = json.loads(await reply.text())
        return reply.status, body.get("error", {}).get("message", "")


@pytest.mark.parametrize(
    "method, path",
    [
        ("GET", "/openai/v1/files"),
        ("POST", "/openai/v1/files"),
        ("POST", "/openai/v1/fine_tuning/jobs"),
        ("GET", "/openai/v1/organization/admin_api_keys"),
        ("GET", "/openai/v1/chat/completions"),
        ("GET", "/openai/v1/responses/resp_1"),
        ("POST", "/openai/v1/models"),
        ("POST", "/openai/v1/messages"),
        ("GET", "/anthropic/v1/files"),
        ("GET", "/anthropic/v1/organizations/api_keys"),
        ("POST", "/anthropic/v1/messages/batches"),
        ("POST", "/anthropic/v1/chat/completions"),
        ("GET", "/openai/v1/modelsandmore"),
    ],
)
async def test_a_path_that_asks_no_model_is_refused_and_names_the_setting(method: str, path: str) -> None:
    wire = ScriptedWire(lambda request: WireReply(200, b"{}"))
    async with over(wire) as (gateway, heard):
        status, message = await ask(gateway, method, f"{path}?key=top-secret", json={} if method == "POST" else None)
    assert status == 403
    assert "adapter_options.allow_paths" in message
    assert "top-secret" not in message
    assert wire.sent == []
    assert [type(fault) for fault in heard.faults] == [ForbiddenPathError]


DOT_SEGMENTS = [
    "..", ".", "%2e%2e", "%2E%2e", ".%2e", "..%2f..", "..%2F..%2Fadmin", "%2e%2e%2fadmin", "..\\..\\admin", "..%5cadmin",
    "%252e%252e", "..%252fadmin", "..;", "..%00", "...", "%c0%ae%c0%ae", "%ef%bc%8e%ef%bc%8e", "", "a%2fb", "%",
]  # fmt: skip


@pytest.mark.parametrize("segment", DOT_SEGMENTS)
@pytest.mark.parametrize("prefix", ["/openai/v1", "/openai/v1/models", "/openai", "/anthropic/v1/models"])
async def test_dot_segments_are_refused_however_they_are_written(prefix: str, segment: str) -> None:
    wire = ScriptedWire(lambda request: WireReply(200, b"{}"))
    heard = Heard()
    async with Gateway(wire, heard, lane="agent", paths=PathRules(["/files/*", "/models/*"])) as gateway:
        status, message = await ask(gateway, "GET", f"{prefix}/{segment}/x")
    assert (status, "was not forwarded" in message) == (400, True)
    assert wire.sent == []


@pytest.mark.parametrize(
    "path, is_allowed",
    [
        ("/openai/v1/files", True),
        ("/anthropic/v1/files", True),
        ("/openai/v1/files/1", False),
        ("/openai/v1/fine_tuning/jobs/1", True),
        ("/openai/v1/fine_tuning", False),
        ("/openai/v1/fine_tuning/../keys", False),
        ("/openai/v1/fine_tuning/%2e%2e/keys", False),
        ("/openai/v1/fine_tuning_other", False),
    ],
)
async def test_a_scenario_may_allow_paths_and_prefixes(path: str, is_allowed: bool) -> None:
    wire = ScriptedWire(lambda request: WireReply(200, b"{}"))
    rules = PathRules(["/files", "/v1/fine_tuning/*"])
    async with Gateway(wire, Heard(), lane="agent", paths=rules) as gateway:
        status, _ = await ask(gateway, "POST", path, json={})
    assert (status == 200, len(wire.sent)) == (is_allowed, int(is_allowed))


async def test_every_path_that_asks_a_model_is_forwarded() -> None:
    wire = ScriptedWire(lambda request: WireReply(200, b"{}"))
    paths = {
        "openai": [
            "chat/completions",
            "completions",
            "embeddings",
            "moderations",
            "responses",
            "responses/input_tokens",
        ],
        "anthropic": ["messages", "messages/count_tokens"],
    }
    async with over(wire) as (gateway, _):
        for provider, model_paths in paths.items():
            for path in model_paths:
                assert (await ask(gateway, "POST", f"/{provider}/v1/{path}", json={}))[0] == 200
            for path in ("models", "models/ft%3Agpt-5.4-mini%3Aacme%3A%3A7", "models?limit=5"):
                assert (await ask(gateway, "GET", f"/{provider}/v1/{path}"))[0] == 200


@pytest.mark.parametrize("query", ["key=AbC123", "x=1&api_key=AbC123", "X-Amz-Signature=AbC123", "access_token=AbC123"])
async def test_a_credential_in_the_query_is_sent_and_not_recorded(query: str) -> None:
    wire = ScriptedWire(lambda request: WireReply(200, b"{}"))
    recording = RecordingWire(wire, REDACTOR)
    async with over(recording) as (gateway, heard):
        await ask(gateway, "GET", f"/openai/v1/models?{query}")
    assert "AbC123" in wire.sent[0].path
    [exchange] = recording.tape.exchanges
    assert "AbC123" not in json_codec.dumps(recording.tape).decode()
    assert exchange.request.path.endswith("=[redacted]")
    assert heard.calls[0].path == "/models"
    async with over(ReplayWire(recording.tape, REDACTOR)) as (gateway, _):
        other_credential = query.replace("AbC123", "another")
        assert (await ask(gateway, "GET", f"/openai/v1/models?{other_credential}"))[0] == 200
