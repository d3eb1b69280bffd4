"""A provider's refusal becomes an error of ours: its words, and what the person should do."""

import pytest
from inline_snapshot import snapshot

from salvo.engine.chat.base import ChatRequest, UserMessage
from salvo.engine.chat.model import WiredModel
from salvo.engine.chat.provider_errors import parse_error_body, refused_parameter
from salvo.engine.wire.base import WireReply
from salvo.engine.wire.retry import RetryingWire, RetryPolicy
from salvo.errors import (
    ContextTooLongError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestRefusedError,
    UnknownModelError,
    WrongKeyError,
)
from tests.support.clock import HeldClock
from tests.support.provider import Fault, LoopbackProvider, Say
from tests.support.wires import ScriptedWire, http_wire


async def error_after(fault: Fault | Say, name: str) -> ProviderError:
    with LoopbackProvider(fault) as provider:
        async with http_wire(provider) as http:
            wire = RetryingWire(http, clock=HeldClock(), policy=RetryPolicy(max_attempts=3))
            with pytest.raises(ProviderError) as error:
                await WiredModel(name, wire).complete(ChatRequest((UserMessage("hello"),)))
    return error.value


@pytest.mark.parametrize("name", ["openai/gpt-5.4-mini", "anthropic/claude-sonnet-4-6"])
@pytest.mark.parametrize(
    "fault, kind",
    [
        (Fault.unauthorized(), WrongKeyError),
        (Fault.unknown_model(), UnknownModelError),
        (Fault.quota(), QuotaError),
        (Fault.rate_limited(), RateLimitError),
        (Fault.server_error(500), OverloadedError),
        (Fault.overloaded(), OverloadedError),
        (Fault.html(502), OverloadedError),
        (Fault.context_too_long(), ContextTooLongError),
        (Fault.html(404), RequestRefusedError),
        (Fault.redirect("https://example.com/login"), RequestRefusedError),
    ],
    ids=lambda value: f"{value.kind}-{value.status}" if isinstance(value, Fault) else None,
)
async def test_each_fault_has_its_own_error_with_its_status_and_a_way_out(
    name: str, fault: Fault, kind: type[ProviderError]
) -> None:
    error = await error_after(fault, name)
    assert type(error) is kind
    assert error.status is not None
    assert error.status >= 300
    assert error.hint


async def test_errors_read_like_sentences() -> None:
    openai, anthropic = "openai/gpt-5.4-mini", "anthropic/claude-sonnet-4-6"
    faults: list[tuple[Fault | Say, str]] = [
        (Fault.unauthorized(), openai),
        (Fault.unknown_model(), "anthropic/claude-sonet-4-6"),
        (Say("never"), "anthropic/claude-sonnet-4-20250514"),
        (Fault.quota(), anthropic),
        (Fault.rate_limited(), openai),
        (Fault.context_too_long(), anthropic),
        (Fault.html(502), openai),
        (Fault.redirect("https://example.com/login"), openai),
    ]
    assert [str(await error_after(fault, name)) for fault, name in faults] == snapshot(
        [
            "OpenAI answered 401: Incorrect API key provided: sk-********6789. You can find your API key at https://platform.openai.com/account/api-keys. Check the key (in the environment: OPENAI_API_KEY), and that its account may use gpt-5.4-mini.",
            "Anthropic answered 404: model: claude-sonet-4-6. Did you mean claude-sonnet-4-6? Current models: claude-sonnet-4-6, claude-haiku-4-5, claude-opus-4-8, claude-sonnet-5-5, claude-haiku-5-5, claude-opus-5-5.",
            "Anthropic answered 404: model: claude-sonnet-4-20250514. The end of claude-sonnet-4-20250514 was announced for 2026-06-15. Current models: claude-sonnet-4-6, claude-haiku-4-5, claude-opus-4-8, claude-sonnet-5-5, claude-haiku-5-5, claude-opus-5-5.",
            "Anthropic answered 400: Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits. The account has no credit or quota left. Add some at the provider, or use another key.",
            "OpenAI answered 429: Rate limit reached for gpt-5.4-mini in organization org-loopback on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s. Visit https://platform.openai.com/account/rate-limits to learn more. It was tried 3 times. Lower the concurrency, or wait until the limit is reset.",
            "Anthropic answered 400: prompt is too long: 200001 tokens > 200000 maximum. The conversation does not fit claude-sonnet-4-6. Shorten it, or use a model with a larger context.",
            "OpenAI answered 502: 502 Bad Gateway nginx. It was tried 3 times. The provider failed. Try again later.",
            "OpenAI answered 307. It redirects to https://example.com/login. No redirect is followed, because it would get the key. Check the base URL.",
        ]
    )


@pytest.mark.parametrize(
    "message, parameter",
    [
        ("`temperature` is deprecated for this model.", "temperature"),
        ("temperature: Extra inputs are not permitted", "temperature"),
        ("Unsupported value: 'temperature' does not support 0 with this model. Only the default (1).", "temperature"),
        ("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("Unrecognized request argument supplied: seed", "seed"),
        ("temperature: must be at most 2", None),
        ("messages: unexpected role", None),
        ("The model is not supported here", None),
    ],
)
def test_a_refused_parameter_is_recognised_by_name_and_a_bad_value_is_not(message: str, parameter: str | None) -> None:
    body = f'{{"error": {{"message": "{message}", "type": "invalid_request_error"}}}}'.encode()
    sent = ["temperature", "seed", "max_completion_tokens", "max_tokens"]
    assert refused_parameter(parse_error_body(WireReply(400, body)), sent) == parameter


def test_the_parameter_that_the_provider_names_in_a_field_is_believed_if_it_was_sent() -> None:
    body = b'{"error": {"message": "no", "param": "seed", "code": "unsupported_parameter"}}'
    assert refused_parameter(parse_error_body(WireReply(400, body)), ["seed"]) == "seed"
    assert refused_parameter(parse_error_body(WireReply(400, body)), ["temperature"]) is None
    assert refused_parameter(parse_error_body(WireReply(500, body)), ["seed"]) is None


@pytest.mark.parametrize(
    "body, message",
    [
        (b"", ""),
        (b'{"error": "just words"}', "just words."),
        (b'{"message": "from a gateway"}', "from a gateway."),
        (b"<html><head><title>502</title></head><style>p {}</style><p>Bad <b>Gateway</b></p>", "Bad Gateway."),
        (b'{"error": {"message": "' + b"long " * 200 + b'"}}', "long " * 79 + "long…"),
        (b'{"error": {"message": 7}}', '{"error": {"message": 7}}.'),
    ],
)
def test_a_message_is_found_in_whatever_a_proxy_sends(body: bytes, message: str) -> None:
    assert parse_error_body(WireReply(502, body)).message == message


async def test_a_success_other_than_200_is_not_called_a_refusal() -> None:
    wire = ScriptedWire(lambda _: WireReply(201, b'{"choices": []}', {}))
    with pytest.raises(
        RequestRefusedError, match=r"answered 201.* A completion has the status 200\. Check the base URL"
    ):
        await WiredModel("gpt-5.4-mini", wire).complete(ChatRequest((UserMessage("hello"),)))


async def test_a_refusal_of_an_odd_kind_still_tells_the_providers_words() -> None:
    wire = ScriptedWire(lambda _: WireReply(418, b'{"error": {"message": "I am a teapot"}}', {"x-request-id": "req_9"}))
    with pytest.raises(RequestRefusedError, match=r"OpenAI answered 418: I am a teapot\.") as error:
        await WiredModel("gpt-5.4-mini", wire).complete(ChatRequest((UserMessage("hello"),)))
    assert error.value.request_id == "req_9"
