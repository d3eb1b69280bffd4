"""HttpWire over real sockets: what goes out, what comes back, and what happens when nothing does."""

import contextlib
import gzip
import socket
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from salvo.engine.runtime.redact import PLACEHOLDER
from salvo.engine.wire.base import Endpoint, HttpOptions, Timeouts, WireRequest
from salvo.engine.wire.http import HttpWire
from salvo.errors import (
    BrokenReplyError,
    MissingKeyError,
    ReplyTimeoutError,
    ReplyTooLargeError,
    UnreachableError,
    UsageError,
)
from tests.support.provider import Fault, LoopbackProvider, Say
from tests.support.proxy import ConnectProxy
from tests.support.wires import ANTHROPIC_KEY, OPENAI_KEY, REDACTOR, http_wire, openai_request

ANTHROPIC_REQUEST = WireRequest(
    "anthropic",
    "/v1/messages",
    {"model": "claude-sonnet-4-6", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]},
    {"anthropic-version": "2023-06-01"},
)


@pytest.fixture(autouse=True)
def no_proxy_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def test_the_key_is_added_at_the_socket_in_each_providers_own_way() -> None:
    with LoopbackProvider(Say("hi")) as provider:
        async with http_wire(provider) as wire:
            await wire.send(openai_request())
            await wire.send(ANTHROPIC_REQUEST)
    openai, anthropic = provider.requests
    assert openai.headers["authorization"] == f"Bearer {OPENAI_KEY}"
    assert anthropic.headers["x-api-key"] == ANTHROPIC_KEY
    assert "authorization" not in anthropic.headers


async def test_the_key_is_in_no_object_that_a_caller_can_see() -> None:
    with LoopbackProvider(Say("hi")) as provider:
        async with http_wire(provider) as wire:
            request = openai_request()
            reply = await wire.send(request)
            seen = f"{request!r} {reply!r} {wire!r}"
    assert OPENAI_KEY not in seen
    assert OPENAI_KEY not in repr(Endpoint("https://example.com", key=OPENAI_KEY))


async def test_a_reply_has_status_body_and_the_request_id_and_no_other_headers() -> None:
    with LoopbackProvider(Say("hi")) as provider:
        async with http_wire(provider) as wire:
            reply = await wire.send(openai_request())
    assert reply.status == 200
    assert reply.json()["choices"][0]["message"]["content"] == "hi"
    assert reply.seconds > 0
    assert set(reply.headers) == {"content-type", "x-request-id"}


async def test_requests_share_one_pooled_connection() -> None:
    with LoopbackProvider(Say("hi")) as provider:
        async with http_wire(provider) as wire:
            for _ in range(5):
                await wire.send(openai_request())
    assert len({asked.connection for asked in provider.requests}) == 1


@pytest.mark.parametrize("size", [40_000, 300_000, 3_000_000])
async def test_a_long_request_arrives_whole(size: int) -> None:
    with LoopbackProvider(Say("hi")) as provider:
        async with http_wire(provider) as wire:
            await wire.send(openai_request("x" * size))
    assert len(provider.requests[0].last_user) == size


async def test_without_a_key_nothing_is_sent_and_the_error_names_the_variable() -> None:
    async with HttpWire({"openai": Endpoint("https://127.0.0.1:9", key_variable="OPENAI_API_KEY")}, REDACTOR) as wire:
        with pytest.raises(MissingKeyError, match="nothing was sent") as error:
            await wire.send(openai_request())
    assert error.value.hint == "Set OPENAI_API_KEY."


async def test_an_endpoint_nobody_named_is_a_usage_error_unless_it_is_an_address_itself() -> None:
    with LoopbackProvider(Fault.unauthorized()) as provider:
        async with http_wire(provider) as wire:
            with pytest.raises(UsageError, match="no endpoint called 'mistral'"):
                await wire.send(WireRequest("mistral", "/x"))
            reply = await wire.send(WireRequest(provider.openai_url, "/chat/completions", {}))
    assert reply.status == 401, "an address given by name of no endpoint gets no key of another"


@pytest.mark.parametrize("base_url", ["localhost:8000", "ftp://example.com", "https://"])
async def test_a_base_url_that_is_no_address_is_a_usage_error(base_url: str) -> None:
    async with HttpWire({"openai": Endpoint(base_url)}, REDACTOR) as wire:
        with pytest.raises(UsageError, match="not a valid base URL"):
            await wire.send(openai_request())


async def test_a_refused_connection_is_unreachable_and_says_where_and_what_to_check() -> None:
    with LoopbackProvider(Say("hi")) as gone:
        port = gone.port
    async with HttpWire({"openai": Endpoint(f"http://user:secret@127.0.0.1:{port}/v1")}, REDACTOR) as wire:
        with pytest.raises(UnreachableError, match=f"openai at 127.0.0.1:{port} could not be reached") as error:
            await wire.send(openai_request())
    assert "secret" not in str(error.value)
    assert "HTTPS_PROXY" in error.value.hint


async def test_a_port_where_nothing_ever_answered_is_not_worth_another_try() -> None:
    async with contextlib.AsyncExitStack() as stack:
        with LoopbackProvider(Say("hi")) as provider:
            answered, new = [await stack.enter_async_context(http_wire(provider)) for _ in range(2)]
            await answered.send(openai_request())
        with pytest.raises(BrokenReplyError):  # the pooled connection was closed
            await answered.send(openai_request())
        with pytest.raises(UnreachableError) as later:
            await answered.send(openai_request())
        with pytest.raises(UnreachableError) as first:
            await new.send(openai_request())
    assert (later.value.is_permanent, later.value.may_succeed_later) == (True, True), "it may be starting again"
    assert (first.value.is_permanent, first.value.may_succeed_later) == (True, False)


async def test_an_unknown_host_is_permanent(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(*_arguments: object, **_options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")  # a test asks no name server

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    async with HttpWire({"openai": Endpoint("http://nobody.invalid/v1")}, REDACTOR) as wire:
        with pytest.raises(UnreachableError, match="the name of the host cannot be resolved") as error:
            await wire.send(openai_request())
    assert (error.value.is_permanent, error.value.may_succeed_later) == (True, False)


COUNTS_BYTES = tuple(map(int, aiohttp.__version__.split(".")[:2])) >= (3, 14)  # before, it does not say how many came


@pytest.mark.parametrize(
    "fault, message",
    [
        (Fault.cut(), "broke off its reply after 62 of 124 bytes." if COUNTS_BYTES else "broke off its reply."),
        (Fault.hang_up(), "closed the connection without a reply."),
        (Fault.bad_gzip(), "sent a reply that is not the gzip data it says it is."),
        (Fault.bad_gzip(gzip.compress(b"{}")[:-1]), "broke off its reply: the gzip data has no end."),
    ],
    ids=["cut", "hang_up", "bad_gzip", "cut_gzip"],
)
async def test_a_reply_that_breaks_off_is_named_as_such_and_is_no_answer(fault: Fault, message: str) -> None:
    with LoopbackProvider(fault) as provider:
        async with http_wire(provider) as wire:
            with pytest.raises(BrokenReplyError) as error:
                await wire.send(openai_request())
    assert error.value.message == f"openai at 127.0.0.1:{provider.port} {message}"


async def test_a_reply_that_drips_is_over_its_limit() -> None:
    with LoopbackProvider(Fault.drip()) as provider:
        async with http_wire(provider, timeouts=Timeouts(read=5, total=0.5)) as wire:
            with pytest.raises(ReplyTimeoutError, match=r"no complete reply within 0\.5 s"):
                await wire.send(openai_request())


async def test_a_request_has_its_own_limits() -> None:
    with LoopbackProvider(Fault.hang()) as provider:
        async with http_wire(provider) as wire:
            with pytest.raises(ReplyTimeoutError, match=r"within 0\.2 s"):
                await wire.send(replace(openai_request(), timeouts=Timeouts(total=0.2)))


async def test_silence_becomes_a_timeout() -> None:
    with LoopbackProvider(Fault.hang()) as provider:
        async with http_wire(provider, timeouts=Timeouts(read=0.2)) as wire:
            with pytest.raises(ReplyTimeoutError):
                await wire.send(openai_request())
        async with http_wire(provider, timeouts=Timeouts(total=0.2)) as wire:
            with pytest.raises(ReplyTimeoutError):
                await wire.send(openai_request())


async def test_a_reply_larger_than_the_limit_is_not_held_in_memory() -> None:
    with LoopbackProvider(Fault.huge(5_000_000)) as provider:
        async with http_wire(provider, max_reply_bytes=100_000) as wire:
            with pytest.raises(ReplyTooLargeError, match="more than 100,000 bytes"):
                await wire.send(openai_request())


async def test_a_redirect_is_not_followed_so_the_key_goes_nowhere_else() -> None:
    with LoopbackProvider(Say("hi")) as elsewhere, LoopbackProvider(Fault.redirect(elsewhere.openai_url)) as provider:
        async with http_wire(provider) as wire:
            reply = await wire.send(openai_request())
    assert reply.status == 307
    assert reply.headers["location"] == elsewhere.openai_url
    assert elsewhere.requests == []


async def test_a_key_that_a_provider_echoes_in_an_error_is_redacted() -> None:
    body = {"model": OPENAI_KEY, "messages": [{"role": "user", "content": "hi"}]}
    with LoopbackProvider(Fault.unknown_model()) as provider:
        async with http_wire(provider) as wire:
            reply = await wire.send(WireRequest("openai", "/chat/completions", body))
    assert f"The model `{PLACEHOLDER}`" in reply.json()["error"]["message"]


async def test_an_address_that_accepts_nobody_is_unreachable_after_the_connect_timeout() -> None:
    with socket.socket() as busy, contextlib.ExitStack() as queue:
        busy.bind(("127.0.0.1", 0))
        busy.listen(0)
        for _ in range(2):  # fill the queue of connections that nobody accepts
            waiting = queue.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(busy.getsockname())
        endpoint = Endpoint(f"http://127.0.0.1:{busy.getsockname()[1]}")
        async with HttpWire({"openai": endpoint}, REDACTOR, options=HttpOptions(Timeouts(connect=0.2))) as wire:
            with pytest.raises(UnreachableError, match=r"did not accept a connection in 0\.2 s"):
                await wire.send(openai_request())


async def test_lone_surrogates_and_huge_integers_can_be_sent() -> None:
    text = "half a pair \ud83d and " + "9" * 50
    with LoopbackProvider(Say("hi")) as provider:
        async with http_wire(provider) as wire:
            reply = await wire.send(openai_request(text))
    assert reply.status == 200
    assert provider.requests[0].last_user == text


async def test_plain_requests_go_through_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackProvider(Say("hi")) as provider, ConnectProxy() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        async with http_wire(provider) as wire:
            assert (await wire.send(openai_request())).status == 200
        assert proxy.forwards == [f"{provider.openai_url}/chat/completions"]


async def test_https_goes_through_the_proxy_and_trusts_the_certificate_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with LoopbackProvider(Say("hi"), tls=True) as provider, ConnectProxy() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.setenv("SSL_CERT_FILE", str(provider.ca_file))
        async with http_wire(provider) as wire:
            assert (await wire.send(openai_request())).status == 200
        assert proxy.tunnels == [f"127.0.0.1:{provider.port}"]


async def test_no_proxy_keeps_a_host_off_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackProvider(Say("hi")) as provider, ConnectProxy() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        async with http_wire(provider) as wire:
            await wire.send(openai_request())
        assert proxy.forwards == []


async def test_a_certificate_that_nobody_vouches_for_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nobody = tmp_path / "empty.pem"
    nobody.write_text("")
    monkeypatch.setenv("SSL_CERT_FILE", str(nobody))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    with LoopbackProvider(Say("hi"), tls=True) as provider:
        async with http_wire(provider) as wire:
            with pytest.raises(UnreachableError, match=r"its certificate is not trusted \([\w -]+\)\. ") as error:
                await wire.send(openai_request())
    assert "SSL_CERT_FILE" in error.value.hint
    assert (error.value.is_permanent, error.value.may_succeed_later) == (True, False)
    assert provider.requests == []


async def test_a_server_without_tls_is_named_without_objects_of_python() -> None:
    with LoopbackProvider(Say("hi")) as provider:
        endpoint = Endpoint(provider.openai_url.replace("http:", "https:"))
        async with HttpWire({"openai": endpoint}, REDACTOR) as wire:
            with pytest.raises(UnreachableError) as error:
                await wire.send(openai_request())
    assert (
        error.value.message
        == f"openai at 127.0.0.1:{provider.port} could not be reached: TLS failed (wrong version number)."
    )
