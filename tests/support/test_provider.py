"""The loopback provider as a server: its scripts, its faults, its connections and its process."""

import asyncio
import json
import re
import signal
import socket
import ssl
import sys
import threading
import time
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from tests.support.byop_project import wait_until
from tests.support.http_client import (
    ANTHROPIC_HEADERS,
    ASKING,
    OPENAI_BODY,
    OPENAI_HEADERS,
    ask_anthropic,
    ask_openai,
    http_session,
    post,
)
from tests.support.provider import (
    FOUR_CALL,
    Fault,
    LoopbackProvider,
    ProviderRequest,
    Say,
    Usage,
    Use,
    UseTools,
    always,
    by_turn,
    in_order,
)

SAID = [{"role": "assistant", "content": "Which parcel?"}, {"role": "user", "content": "P-1."}]


def asked(protocol: Any, body: dict[str, Any]) -> ProviderRequest:
    return ProviderRequest(protocol=protocol, body=body, headers={}, key=None, arrived=0.0, connection=0)


def talk(provider: LoopbackProvider) -> socket.socket:
    """A bare connection on which a good request has just been sent."""
    connection = socket.create_connection(("127.0.0.1", provider.port), timeout=10)
    body = json.dumps(OPENAI_BODY)
    connection.sendall(
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: loopback\r\nauthorization: Bearer sk-test\r\n"
        f"content-length: {len(body)}\r\n\r\n{body}".encode()
    )
    return connection


def everything(connection: socket.socket) -> bytes:
    """All that is sent until the other side closes."""
    return b"".join(iter(lambda: connection.recv(65_536), b""))


@pytest.fixture
def hello() -> Iterator[LoopbackProvider]:
    with LoopbackProvider(Say("Hello.")) as provider:
        yield provider


class TestProviderRequest:
    OPENAI = asked(
        "openai",
        {
            "tools": [{"type": "function", "function": {"name": "track"}}],
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
                *ASKING,
                {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "track"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "3 km away"},
                {"role": "tool", "tool_call_id": "c2", "content": "gone"},
            ],
        },
    )
    ANTHROPIC = asked(
        "anthropic",
        {
            "tools": [{"name": "track", "input_schema": {"type": "object"}}],
            "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}],
            "messages": [
                *ASKING,
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "track", "input": {}}]},
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "c1",
                            "content": [{"type": "text", "text": "3 km away"}],
                        },
                        {"type": "tool_result", "tool_use_id": "c2", "content": "gone", "is_error": True},
                    ],
                },
            ],
        },
    )

    @pytest.mark.parametrize("request_read", [OPENAI, ANTHROPIC])
    def test_a_conversation_reads_the_same_in_both_protocols(self, request_read: ProviderRequest) -> None:
        assert request_read.system == "Be brief.\nBe kind."
        assert request_read.last_user == "Where is my parcel?"
        assert request_read.turn == 1
        assert request_read.tools == ["track"]

    def test_results_are_read_by_the_name_of_the_tool_or_else_by_the_id_of_the_call(self) -> None:
        assert self.OPENAI.tool_results == [("track", "3 km away", False), ("c2", "gone", False)]
        assert self.ANTHROPIC.tool_results == [("track", "3 km away", False), ("c2", "gone", True)]

    @pytest.mark.parametrize("protocol", ["openai", "anthropic"])
    @pytest.mark.parametrize("body", [{}, {"messages": "no"}, {"messages": [7, {"role": "user", "content": 8}]}])
    def test_a_malformed_body_is_read_as_saying_nothing(self, protocol: str, body: dict[str, Any]) -> None:
        empty = asked(protocol, body)
        assert (empty.turn, empty.system, empty.last_user, empty.tool_results, empty.model) == (0, "", "", [], "")


class TestScripts:
    def test_by_turn_picks_by_how_often_the_model_has_spoken(self) -> None:
        script = by_turn(Say("first"), Say("second"))
        new, second = asked("openai", {"messages": ASKING}), asked("openai", {"messages": ASKING + SAID})
        third = asked("openai", {"messages": ASKING + SAID + SAID})
        assert [script(request) for request in (second, new, third)] == [Say("second"), Say("first"), Say("second")]

    def test_in_order_picks_by_arrival_and_repeats_the_last(self) -> None:
        script, request = in_order(Say("first"), Fault.overloaded()), asked("openai", {})
        assert [script(request) for _ in range(3)] == [Say("first"), Fault.overloaded(), Fault.overloaded()]

    def test_a_step_can_be_a_script_of_its_own(self) -> None:
        script = always(by_turn(lambda request: Say(request.last_user), Say("over")))
        assert script(asked("openai", {"messages": ASKING})) == Say("Where is my parcel?")

    async def test_an_answer_alone_means_always_and_a_sequence_means_in_order(self) -> None:
        with LoopbackProvider([Fault.server_error(), Say("one"), Say("two")]) as provider:
            answers = [await ask_openai(provider) for _ in range(4)]
        assert [answer.status for answer in answers] == [500, 200, 200, 200]
        assert answers[-1].body["choices"][0]["message"]["content"] == "two"

    async def test_conversations_do_not_disturb_each_other(self) -> None:
        async def converse(provider: LoopbackProvider) -> list[str]:
            messages: list[dict[str, Any]] = list(ASKING)
            names: list[str] = []
            while True:
                reply = (await ask_openai(provider, messages=messages)).body["choices"][0]["message"]
                if "tool_calls" not in reply:
                    return [*names, reply["content"]]
                names += [call["function"]["name"] for call in reply["tool_calls"]]
                messages.append(reply)
                messages += [{"role": "tool", "tool_call_id": c["id"], "content": "ok"} for c in reply["tool_calls"]]

        with LoopbackProvider(FOUR_CALL) as provider:
            conversations = await asyncio.gather(*(converse(provider) for _ in range(40)))
        assert len(provider.requests) == 160
        for *names, final in conversations:
            assert names == ["find_order", "check_stock", "issue_refund"]
            assert json.loads(final)["status"] == "refunded"

    async def test_a_script_that_raises_fails_its_test(self) -> None:
        def strict(request: ProviderRequest) -> Say:
            raise AssertionError("the system prompt is missing")

        with pytest.raises(AssertionError, match="the system prompt is missing"), LoopbackProvider(strict) as provider:
            assert (await ask_openai(provider)).status == 500

    async def test_a_failing_test_is_told_that_its_script_had_raised(self) -> None:
        def broken(request: ProviderRequest) -> Say:
            raise ZeroDivisionError

        async def fail() -> None:
            with LoopbackProvider(broken) as provider:
                await ask_openai(provider)
                raise RuntimeError("no answer")

        with pytest.raises(RuntimeError) as caught:
            await fail()
        assert "ZeroDivisionError" in caught.value.__notes__[0]


class TestAnswers:
    async def test_usage_given_by_a_script_is_spelled_in_either_protocol(self) -> None:
        usage = Usage(input=10, output=5, cache_read=20, cache_write=30)
        with LoopbackProvider(Say("Hello.", usage=usage)) as provider:
            of_openai = (await ask_openai(provider)).body["usage"]
            of_anthropic = (await ask_anthropic(provider)).body["usage"]
        assert (of_openai["prompt_tokens"], of_openai["completion_tokens"]) == (60, 5)
        assert of_openai["prompt_tokens_details"]["cached_tokens"] == 20
        assert (of_anthropic["input_tokens"], of_anthropic["output_tokens"]) == (10, 5)
        assert (of_anthropic["cache_creation_input_tokens"], of_anthropic["cache_read_input_tokens"]) == (30, 20)

    async def test_thinking_of_a_finished_tool_loop_may_be_left_out(self) -> None:
        script = by_turn(UseTools(Use("track", {}), thinking="Hm."), Say("It is here."), Say("You are welcome."))
        tools = [{"name": "track", "input_schema": {"type": "object"}}]
        with LoopbackProvider(script) as provider:
            thinking, call = (await ask_anthropic(provider, tools=tools)).body["content"]
            result = {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": "here"}],
            }
            loop = [*ASKING, {"role": "assistant", "content": [call]}, result]
            finished = [*loop, {"role": "assistant", "content": "It is here."}, {"role": "user", "content": "Thanks."}]
            assert thinking["type"] == "thinking"
            assert (await ask_anthropic(provider, tools=tools, messages=loop)).status == 400
            assert (await ask_anthropic(provider, tools=tools, messages=finished)).status == 200

    async def test_latency_of_one_answer_does_not_hold_up_the_others(self) -> None:
        with LoopbackProvider(Say("Hello.", delay=0.05), latency=0.05) as provider:
            start = time.monotonic()
            await asyncio.gather(*(ask_openai(provider) for _ in range(30)))
            took = time.monotonic() - start
        assert took >= 0.1
        assert provider.most_at_once > 1

    async def test_a_connection_is_kept_for_the_next_request(self, hello: LoopbackProvider) -> None:
        async with http_session(headers=OPENAI_HEADERS) as session:
            for _ in range(3):
                async with session.post(f"{hello.openai_url}/chat/completions", json=OPENAI_BODY) as response:
                    await response.read()
        assert len({request.connection for request in hello.requests}) == 1

    async def test_a_request_may_be_large(self, hello: LoopbackProvider) -> None:
        long = [{"role": "user", "content": "x" * 3_000_000}]
        assert (await ask_openai(hello, messages=long)).body["usage"]["prompt_tokens"] > 750_000


ANSWERING_FAULTS = [
    Fault.unauthorized(),
    Fault.rate_limited(),
    Fault.server_error(),
    Fault.invalid_json(),
    Fault.empty(),
    Fault.huge(10),
    Fault.redirect("http://127.0.0.1:1/"),
    Fault.html(),
]


class TestFaults:
    @pytest.mark.parametrize("answer", [Say("Hello."), *ANSWERING_FAULTS])
    async def test_every_answer_has_its_request_id(self, answer: Say | Fault) -> None:
        with LoopbackProvider(answer) as provider:
            of_openai, of_anthropic = await ask_openai(provider), await ask_anthropic(provider)
        assert of_openai.headers["x-request-id"] == "req_000000000000000000000001"
        assert of_anthropic.headers["request-id"] == "req_000000000000000000000002"

    def test_cut_sends_the_headers_and_half_of_the_body(self) -> None:
        with LoopbackProvider(Fault.cut()) as provider, talk(provider) as connection:
            head, _, body = everything(connection).partition(b"\r\n\r\n")
        promised = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        assert head.startswith(b"HTTP/1.1 200")
        assert promised is not None
        assert 0 < len(body) < int(promised[1])

    def test_hang_up_sends_nothing(self) -> None:
        with LoopbackProvider(Fault.hang_up()) as provider, talk(provider) as connection:
            assert everything(connection) == b""
        assert len(provider.requests) == 1

    def test_hang_sends_nothing_until_the_provider_closes(self) -> None:
        arrived = threading.Event()

        def hang(request: ProviderRequest) -> Fault:
            arrived.set()
            return Fault.hang()

        with LoopbackProvider([hang, Say("Hello.")]) as provider:
            hanging = talk(provider)
            assert arrived.wait(timeout=10)
            with talk(provider) as other:
                assert other.recv(12) == b"HTTP/1.1 200"
            hanging.setblocking(False)
            with pytest.raises(BlockingIOError):
                hanging.recv(1)
            hanging.settimeout(10)
        with hanging:
            assert everything(hanging) == b""

    async def test_hang_does_not_outlive_its_client(self) -> None:
        with LoopbackProvider([Fault.hang(), Say("Hello.")]) as provider:
            with pytest.raises(TimeoutError):
                await post(
                    f"{provider.openai_url}/chat/completions",
                    OPENAI_BODY,
                    OPENAI_HEADERS,
                    timeout=aiohttp.ClientTimeout(total=0.05),
                )
            assert (await ask_openai(provider)).status == 200

    async def test_huge_is_exactly_as_large_as_asked_and_does_not_say_so_before(self) -> None:
        with LoopbackProvider(Fault.huge(5_000_001)) as provider:
            answer = await ask_openai(provider)
        assert len(answer.content) == 5_000_001
        assert "content-length" not in answer.headers

    async def test_a_client_may_leave_in_the_middle_of_it(self) -> None:
        with LoopbackProvider([Fault.huge(50_000_000), Say("Hello.")]) as provider:
            with talk(provider) as connection:
                assert connection.recv(12) == b"HTTP/1.1 200"
            assert (await ask_openai(provider)).status == 200

    async def test_bodies_that_are_no_answer(self) -> None:
        with LoopbackProvider([Fault.invalid_json(), Fault.empty(), Fault.html(503)]) as provider:
            invalid, empty, page = [await ask_openai(provider) for _ in range(3)]
        with pytest.raises(json.JSONDecodeError):
            json.loads(invalid.content)
        assert (invalid.status, empty.status, empty.content) == (200, 200, b"")
        assert (page.status, page.headers["content-type"]) == (503, "text/html; charset=utf-8")
        assert b"<h1>503 Service Unavailable</h1>" in page.content

    async def test_redirect_names_another_place(self) -> None:
        with LoopbackProvider(Fault.redirect("http://127.0.0.1:9/elsewhere", status=308)) as provider:
            answer = await ask_openai(provider)
        assert (answer.status, answer.headers["location"]) == (308, "http://127.0.0.1:9/elsewhere")

    async def test_an_address_that_nobody_serves_is_not_found(self, hello: LoopbackProvider) -> None:
        of_openai = await post(f"{hello.url}/chat/completions", OPENAI_BODY, OPENAI_HEADERS)
        of_anthropic = await post(f"{hello.url}/v1/v1/messages", {}, ANTHROPIC_HEADERS)
        assert (of_openai.status, of_openai.error["message"]) == (404, "Invalid URL (POST /chat/completions)")
        assert (of_anthropic.status, of_anthropic.error["type"]) == (404, "not_found_error")
        assert hello.requests == []


class TestTls:
    async def test_who_is_given_the_certificate_trusts_the_provider(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with LoopbackProvider(Say("Hello."), tls=True) as provider:
            monkeypatch.setenv("SSL_CERT_FILE", str(provider.ca_file))
            trusting = ssl.create_default_context()
            trusting.verify_flags |= ssl.VERIFY_X509_STRICT  # the default from Python 3.13 on
            url = f"{provider.openai_url}/chat/completions"
            answers = [
                await post(address, OPENAI_BODY, OPENAI_HEADERS, ssl=trusting)
                for address in (url, url.replace("127.0.0.1", "localhost"))
            ]
        assert url.startswith("https://127.0.0.1:")
        assert [answer.status for answer in answers] == [200, 200]
        assert not provider.ca_file.exists()

    async def test_who_is_not_given_it_does_not(self) -> None:
        with (
            LoopbackProvider(Say("Hello."), tls=True) as provider,
            pytest.raises(aiohttp.ClientConnectorCertificateError),
        ):
            await ask_openai(provider)


class TestProcess:
    @pytest.fixture
    def command(self) -> list[str]:
        return [sys.executable, "-m", "tests.support.provider", "--port", "0", "--four-call"]

    async def test_it_prints_its_url_and_serves_until_its_stdin_closes(self, command: list[str]) -> None:
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip()
        answer = await post(f"{url}/v1/chat/completions", OPENAI_BODY, OPENAI_HEADERS)
        process.stdin.close()
        assert answer.body["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "find_order"
        assert await process.wait() == 0

    async def test_it_ends_quietly_when_it_is_told_to(self, command: list[str]) -> None:
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE)
        assert process.stdout is not None
        await process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, complaints = await process.communicate()
        assert (process.returncode, complaints) == (0, b"")

    def test_a_port_that_is_taken_is_told_to_who_asks_for_it(self, hello: LoopbackProvider) -> None:
        with pytest.raises(OSError, match="address already in use"), LoopbackProvider(Say("Me too."), port=hello.port):
            pytest.fail("two providers on one port")

    def test_a_stopped_provider_leaves_no_thread_and_no_port(self) -> None:
        before = set(threading.enumerate())
        for _ in range(20):
            with LoopbackProvider(Say("Hello.")) as provider:
                assert set(threading.enumerate()) - before
            assert not set(threading.enumerate()) - before
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", provider.port), timeout=1)


async def test_held_requests_are_answered_when_they_are_let_go() -> None:
    with LoopbackProvider(always(Say("One."))) as provider:
        provider.hold(after=1)
        first = await ask_openai(provider)
        held = asyncio.create_task(ask_openai(provider))
        await asyncio.to_thread(wait_until, lambda: len(provider.requests) == 2)
        assert not held.done()
        provider.let_go()
        texts = [answered.body["choices"][0]["message"]["content"] for answered in (first, await held)]
        provider.play(always(Say("Two.")))
        assert provider.requests == []
        texts.append((await ask_openai(provider)).body["choices"][0]["message"]["content"])
    assert texts == ["One.", "One.", "Two."]
