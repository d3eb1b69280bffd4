"""The official SDKs read everything the loopback provider answers.

Server and engine are written by the same people and could agree on something wrong. The SDKs are the referees: their
clients validate strictly here, so that a missing or misspelt field fails, and each fault must be the exception class
that the SDK has for it.
"""

import json
from collections.abc import Iterator
from typing import Any, Literal

import anthropic
import httpx2
import openai
import pytest
from pydantic import BaseModel

from tests.support.provider import Fault, LoopbackProvider, Say, Use, UseTools, by_turn

GPT = "gpt-5.4-mini"
CLAUDE = "claude-sonnet-4-6"
ASKING: Any = [{"role": "user", "content": "Where is my parcel?"}]
TRACK = {
    "type": "object",
    "properties": {"id": {"type": "string"}},
    "required": ["id"],
    "additionalProperties": False,
}
OPENAI_TOOL: Any = {"type": "function", "function": {"name": "track", "parameters": TRACK, "strict": True}}
ANTHROPIC_TOOL: Any = {"name": "track", "description": "Finds a parcel.", "input_schema": TRACK}
THOUGHTFUL = by_turn(UseTools(Use("track", {"id": "P-1"}), thinking="The id is P-1."), Say("It is here."))
TWO_CALLS = UseTools(Use("track", {"id": "P-1"}), Use("track", {"id": "P-2"}), text="One moment.")


class Verdict(BaseModel):
    verdict: Literal["pass", "fail"]
    score: float


def gpt(provider: LoopbackProvider, **settings: Any) -> openai.OpenAI:
    return openai.OpenAI(
        api_key="sk-test-0123456789",
        base_url=provider.openai_url,
        # An environment with a proxy in it must not make a test leave loopback.
        http_client=httpx2.Client(trust_env=False, follow_redirects=True),
        _strict_response_validation=True,
        **{"max_retries": 0, "timeout": 10.0, **settings},
    )


def claude(provider: LoopbackProvider, **settings: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(
        api_key="sk-ant-test-0123456789",
        base_url=provider.anthropic_url,
        http_client=httpx2.Client(trust_env=False, follow_redirects=True),
        _strict_response_validation=True,
        **{"max_retries": 0, "timeout": 10.0, **settings},
    )


def ask_openai(provider: LoopbackProvider, **request: Any) -> Any:
    with gpt(provider) as client:
        return client.chat.completions.create(**{"model": GPT, "messages": ASKING, **request})


def ask_anthropic(provider: LoopbackProvider, **request: Any) -> Any:
    with claude(provider) as client:
        return client.messages.create(**{"model": CLAUDE, "max_tokens": 1024, "messages": ASKING, **request})


@pytest.fixture
def hello() -> Iterator[LoopbackProvider]:
    with LoopbackProvider(Say("Hello.")) as provider:
        yield provider


class TestText:
    def test_openai_reads_the_text_the_model_and_the_fingerprint(self, hello: LoopbackProvider) -> None:
        completion = ask_openai(hello)
        assert completion.choices[0].message.content == "Hello."
        assert completion.choices[0].finish_reason == "stop"
        assert (completion.model, completion.system_fingerprint) == (GPT, "fp_loopback")
        assert completion._request_id == "req_000000000000000000000001"

    def test_anthropic_reads_the_text_and_the_model(self, hello: LoopbackProvider) -> None:
        message = ask_anthropic(hello)
        assert [block.text for block in message.content] == ["Hello."]
        assert (message.model, message.stop_reason) == (CLAUDE, "end_turn")
        assert message._request_id == "req_000000000000000000000001"

    def test_the_answering_model_can_be_another_than_the_one_asked(self) -> None:
        with LoopbackProvider(Say("Hello.", model="gpt-5.4-mini-2026-03-05", fingerprint="fp_new")) as provider:
            completion = ask_openai(provider)
        assert (completion.model, completion.system_fingerprint) == ("gpt-5.4-mini-2026-03-05", "fp_new")

    async def test_async_clients_are_served_alike(self, hello: LoopbackProvider) -> None:
        async with (
            openai.AsyncOpenAI(
                api_key="sk-test-0123456789",
                base_url=hello.openai_url,
                max_retries=0,
                http_client=httpx2.AsyncClient(trust_env=False),
                _strict_response_validation=True,
            ) as of_openai,
            anthropic.AsyncAnthropic(
                api_key="sk-ant-test-0123456789",
                base_url=hello.anthropic_url,
                max_retries=0,
                http_client=httpx2.AsyncClient(trust_env=False),
                _strict_response_validation=True,
            ) as of_anthropic,
        ):
            completion = await of_openai.chat.completions.create(model=GPT, messages=ASKING)
            message = await of_anthropic.messages.create(model=CLAUDE, max_tokens=64, messages=ASKING)
        assert completion.choices[0].message.content == "Hello."
        assert isinstance(message.content[0], anthropic.types.TextBlock)

    def test_the_sdk_sends_another_version_and_another_key_header_than_we_do(self, hello: LoopbackProvider) -> None:
        ask_anthropic(hello)
        assert hello.requests[0].headers["anthropic-version"] == "2026-10-21"
        assert hello.requests[0].headers["authorization"] == "Bearer sk-ant-test-0123456789"
        assert hello.requests[0].key == "sk-ant-test-0123456789"


class TestTools:
    def test_openai_holds_a_tool_loop_with_parallel_calls(self) -> None:
        with LoopbackProvider(by_turn(TWO_CALLS, Say("Both are on their way."))) as provider:
            asking = ask_openai(provider, tools=[OPENAI_TOOL]).choices[0]
            calls = asking.message.tool_calls
            messages = [
                *ASKING,
                asking.message,
                *({"role": "tool", "tool_call_id": call.id, "content": f"{n} km away"} for n, call in enumerate(calls)),
            ]
            final = ask_openai(provider, tools=[OPENAI_TOOL], messages=messages)
        assert asking.finish_reason == "tool_calls"
        assert asking.message.content == "One moment."
        assert [json.loads(call.function.arguments) for call in calls] == [{"id": "P-1"}, {"id": "P-2"}]
        assert final.choices[0].message.content == "Both are on their way."
        assert provider.requests[1].tool_results == [("track", "0 km away", False), ("track", "1 km away", False)]

    def test_anthropic_holds_a_tool_loop_with_parallel_calls(self) -> None:
        with LoopbackProvider(by_turn(TWO_CALLS, Say("Both are on their way."))) as provider:
            asking = ask_anthropic(provider, tools=[ANTHROPIC_TOOL])
            text, *calls = asking.content
            results = [
                {"type": "tool_result", "tool_use_id": calls[0].id, "content": "3 km away"},
                {"type": "tool_result", "tool_use_id": calls[1].id, "content": "no such parcel", "is_error": True},
            ]
            messages = [
                *ASKING,
                asking.to_param(),
                {"role": "user", "content": results},
            ]
            final = ask_anthropic(provider, tools=[ANTHROPIC_TOOL], messages=messages)
        assert (asking.stop_reason, text.text) == ("tool_use", "One moment.")
        assert [(call.name, call.input) for call in calls] == [("track", {"id": "P-1"}), ("track", {"id": "P-2"})]
        assert final.content[0].text == "Both are on their way."
        assert provider.requests[1].tool_results == [("track", "3 km away", False), ("track", "no such parcel", True)]

    def test_openai_passes_malformed_arguments_on_as_they_are(self) -> None:
        with LoopbackProvider(UseTools(Use("track", '{"id": '))) as provider:
            message = ask_openai(provider, tools=[OPENAI_TOOL]).choices[0].message
        assert (message.content, message.tool_calls[0].function.arguments) == (None, '{"id": ')

    @pytest.mark.parametrize(
        "written, sent", [('{"id": ', {"INVALID_JSON": '{"id": '}), ('{"id": "P-1"}', {"id": "P-1"})]
    )
    def test_anthropic_sends_an_object_whatever_the_model_wrote(self, written: str, sent: dict[str, str]) -> None:
        with LoopbackProvider(UseTools(Use("track", written))) as provider:
            assert ask_anthropic(provider, tools=[ANTHROPIC_TOOL]).content[0].input == sent


class TestThinking:
    def go_on(self, provider: LoopbackProvider, content: Any) -> Any:
        call = next(block for block in content if block["type"] == "tool_use")
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": "here"}
        messages = [
            *ASKING,
            {"role": "assistant", "content": content},
            {"role": "user", "content": [result]},
        ]
        return ask_anthropic(provider, tools=[ANTHROPIC_TOOL], messages=messages)

    def test_a_signed_block_comes_before_the_call_and_is_taken_back_unchanged(self) -> None:
        with LoopbackProvider(THOUGHTFUL) as provider:
            content = [block.to_dict() for block in ask_anthropic(provider, tools=[ANTHROPIC_TOOL]).content]
            final = self.go_on(provider, content)
        assert [block["type"] for block in content] == ["thinking", "tool_use"]
        assert content[0]["thinking"] == "The id is P-1."
        assert final.content[0].text == "It is here."

    def test_a_changed_block_is_refused(self) -> None:
        with LoopbackProvider(THOUGHTFUL) as provider:
            content = [block.to_dict() for block in ask_anthropic(provider, tools=[ANTHROPIC_TOOL]).content]
            content[0]["thinking"] += " Or P-2."
            with pytest.raises(anthropic.BadRequestError, match="Invalid `signature` in `thinking` block"):
                self.go_on(provider, content)

    def test_another_blocks_thinking_is_refused_in_its_place(self) -> None:
        script = by_turn(
            UseTools(Use("track", {"id": "P-1"}), thinking="First."),
            UseTools(Use("track", {"id": "P-1"}), thinking="Second."),
        )
        with LoopbackProvider(script) as provider:
            first = [block.to_dict() for block in ask_anthropic(provider, tools=[ANTHROPIC_TOOL]).content]
            second = [block.to_dict() for block in self.go_on(provider, first).content]
            with pytest.raises(anthropic.BadRequestError, match="cannot be modified"):
                self.go_on(provider, [second[0], first[1]])

    def test_a_lost_block_is_refused(self) -> None:
        with LoopbackProvider(THOUGHTFUL) as provider:
            content = [block.to_dict() for block in ask_anthropic(provider, tools=[ANTHROPIC_TOOL]).content]
            with pytest.raises(anthropic.BadRequestError, match=r"Expected `thinking` .* but found `tool_use`"):
                self.go_on(provider, content[1:])

    def test_openai_compatible_servers_send_it_as_reasoning_content(self) -> None:
        with LoopbackProvider(Say("It is here.", thinking="The id is P-1.")) as provider:
            completion = ask_openai(provider)
        assert completion.choices[0].message.reasoning_content == "The id is P-1."
        assert completion.usage.completion_tokens_details.reasoning_tokens == 4


class TestStructuredOutput:
    SCRIPT = Say('{"verdict": "pass", "score": 0.5}')

    def test_openai_parses_the_answer_to_a_strict_schema(self) -> None:
        with (
            LoopbackProvider(self.SCRIPT) as provider,
            gpt(provider) as client,
        ):
            completion = client.chat.completions.parse(model=GPT, messages=ASKING, response_format=Verdict)
        assert completion.choices[0].message.parsed == Verdict(verdict="pass", score=0.5)
        assert provider.requests[0].body["response_format"]["json_schema"]["strict"] is True

    def test_anthropic_parses_the_answer_to_an_output_schema(self) -> None:
        with (
            LoopbackProvider(self.SCRIPT) as provider,
            claude(provider) as client,
        ):
            message = client.messages.parse(
                model=CLAUDE,
                max_tokens=64,
                messages=ASKING,
                output_format=Verdict,
            )
        assert message.parsed_output == Verdict(verdict="pass", score=0.5)
        assert provider.requests[0].body["output_config"]["format"]["type"] == "json_schema"


class TestUsage:
    LONG = "Be exact. " * 1000

    def test_anthropic_counts_cached_tokens_beside_the_input(self, hello: LoopbackProvider) -> None:
        system = [{"type": "text", "text": self.LONG, "cache_control": {"type": "ephemeral"}}]
        first, second = (ask_anthropic(hello, system=system).usage for _ in range(2))
        assert (first.input_tokens, first.output_tokens) == (5, 2)
        assert (first.cache_creation_input_tokens, first.cache_read_input_tokens) == (2500, 0)
        assert first.cache_creation.ephemeral_5m_input_tokens == 2500
        assert (second.cache_creation_input_tokens, second.cache_read_input_tokens) == (0, 2500)
        assert second.input_tokens == 5

    def test_openai_counts_cached_tokens_in_the_prompt(self, hello: LoopbackProvider) -> None:
        messages = [{"role": "system", "content": self.LONG}, *ASKING]
        first, second = (ask_openai(hello, messages=messages).usage for _ in range(2))
        assert first.prompt_tokens == second.prompt_tokens == 2520
        assert first.total_tokens == 2522
        assert first.prompt_tokens_details.cached_tokens == 0
        assert second.prompt_tokens_details.cached_tokens == 1024 + 11 * 128

    def test_openai_reports_writes_only_where_they_cost(self, hello: LoopbackProvider) -> None:
        messages = [{"role": "user", "content": self.LONG}]
        older = ask_openai(hello, messages=messages, model="gpt-5.4").usage
        newer = ask_openai(hello, messages=messages, model="gpt-5.6-sol").usage
        assert older.prompt_tokens_details.cache_write_tokens == 0
        assert newer.prompt_tokens_details.cache_write_tokens == 1024 + 11 * 128

    def test_a_script_can_say_what_was_used(self) -> None:
        said = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        with LoopbackProvider([Say("Hello.", usage=said), Say("Hello.", usage={})]) as provider:
            assert ask_openai(provider).usage.total_tokens == 10
            assert ask_openai(provider).usage is None


class TestStopReasons:
    @pytest.mark.parametrize(
        "stop, reason",
        [
            ("end", "end_turn"),
            ("length", "max_tokens"),
            ("refusal", "refusal"),
            ("context", "model_context_window_exceeded"),
        ],
    )
    def test_anthropic(self, stop: Any, reason: str) -> None:
        with LoopbackProvider(Say("I", stop=stop)) as provider:
            message = ask_anthropic(provider)
        assert message.stop_reason == reason
        assert (message.stop_details is not None) == (stop == "refusal")

    @pytest.mark.parametrize("stop, reason", [("end", "stop"), ("length", "length"), ("context", "length")])
    def test_openai(self, stop: Any, reason: str) -> None:
        with LoopbackProvider(Say("I", stop=stop)) as provider:
            assert ask_openai(provider).choices[0].finish_reason == reason

    def test_openai_refuses_in_a_field_of_its_own(self) -> None:
        with LoopbackProvider(Say("I can't help with that.", stop="refusal")) as provider:
            choice = ask_openai(provider).choices[0]
        assert (choice.message.content, choice.message.refusal) == (None, "I can't help with that.")
        assert choice.finish_reason == "stop"

    def test_openai_filters_what_is_refused_without_a_word(self) -> None:
        with LoopbackProvider(Say("", stop="refusal")) as provider:
            assert ask_openai(provider).choices[0].finish_reason == "content_filter"


# Fault, the OpenAI SDK's exception with its code, the Anthropic SDK's exception with its type, and words of both.
API_FAULTS = [
    (
        Fault.unauthorized(),
        (openai.AuthenticationError, "invalid_api_key", "Incorrect API key provided"),
        (anthropic.AuthenticationError, "authentication_error", "invalid x-api-key"),
    ),
    (
        Fault.unknown_model(),
        (openai.NotFoundError, "model_not_found", f"The model `{GPT}` does not exist"),
        (anthropic.NotFoundError, "not_found_error", f"model: {CLAUDE}"),
    ),
    (
        Fault.refused_parameter("temperature"),
        (openai.BadRequestError, "unsupported_value", "'temperature' does not support 0 with this model"),
        (anthropic.BadRequestError, "invalid_request_error", "`temperature` is deprecated for this model."),
    ),
    (
        Fault.refused_parameter("seed"),
        (openai.BadRequestError, "unsupported_parameter", "'seed' is not supported with this model"),
        (anthropic.BadRequestError, "invalid_request_error", "`seed` is deprecated for this model."),
    ),
    (
        Fault.rate_limited(),
        (openai.RateLimitError, "rate_limit_exceeded", "Rate limit reached"),
        (anthropic.RateLimitError, "rate_limit_error", "rate limit of 50 requests per minute"),
    ),
    (
        Fault.quota(),
        (openai.RateLimitError, "insufficient_quota", "You exceeded your current quota"),
        (anthropic.BadRequestError, "invalid_request_error", "Your credit balance is too low"),
    ),
    (
        Fault.server_error(),
        (openai.InternalServerError, None, "The server had an error"),
        (anthropic.InternalServerError, "api_error", "Internal server error"),
    ),
    (
        Fault.server_error(status=409),
        (openai.ConflictError, None, "The server had an error"),
        (anthropic.ConflictError, "conflict_error", "Internal server error"),
    ),
    (
        Fault.overloaded(),
        (openai.InternalServerError, None, "currently overloaded"),
        (anthropic.OverloadedError, "overloaded_error", "Overloaded"),
    ),
    (
        Fault.context_too_long(),
        (openai.BadRequestError, "context_length_exceeded", "maximum context length"),
        (anthropic.BadRequestError, "invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum"),
    ),
]


class TestFaults:
    @pytest.mark.parametrize("fault, expected", [(fault, expected) for fault, expected, _ in API_FAULTS])
    def test_openai_has_an_exception_for_it(
        self, fault: Fault, expected: tuple[type[openai.APIStatusError], str | None, str]
    ) -> None:
        kind, code, words = expected
        with LoopbackProvider(fault) as provider, pytest.raises(kind, match=words) as caught:
            ask_openai(provider)
        assert type(caught.value) is kind
        assert (caught.value.code, caught.value.request_id) == (code, "req_000000000000000000000001")

    @pytest.mark.parametrize("fault, expected", [(fault, expected) for fault, _, expected in API_FAULTS])
    def test_anthropic_has_an_exception_for_it(
        self, fault: Fault, expected: tuple[type[anthropic.APIStatusError], str, str]
    ) -> None:
        kind, error_type, words = expected
        with LoopbackProvider(fault) as provider, pytest.raises(kind) as caught:
            ask_anthropic(provider)
        assert type(caught.value) is kind
        assert caught.value.type == error_type
        assert words in str(caught.value.api_message)
        assert caught.value.request_id == "req_000000000000000000000001"
        assert isinstance(caught.value.body, dict)
        assert caught.value.body["request_id"] == caught.value.request_id

    def test_a_refused_parameter_is_named(self) -> None:
        with (
            LoopbackProvider(Fault.refused_parameter("temperature")) as provider,
            pytest.raises(openai.BadRequestError) as caught,
        ):
            ask_openai(provider)
        assert caught.value.param == "temperature"

    @pytest.mark.parametrize(
        "fault, headers",
        [
            (Fault.rate_limited(retry_after=2), {"retry-after": "2"}),
            (Fault.rate_limited(retry_after_ms=250), {"retry-after-ms": "250"}),
            (
                Fault.rate_limited(retry_after="Sun, 15 Nov 2026 12:00:00 GMT"),
                {"retry-after": "Sun, 15 Nov 2026 12:00:00 GMT"},
            ),
            (Fault.rate_limited(), {}),
        ],
    )
    def test_a_rate_limit_says_how_long_to_wait(self, fault: Fault, headers: dict[str, str]) -> None:
        with LoopbackProvider(fault) as provider:
            with pytest.raises(openai.RateLimitError) as of_openai:
                ask_openai(provider)
            with pytest.raises(anthropic.RateLimitError) as of_anthropic:
                ask_anthropic(provider)
        for response in (of_openai.value.response, of_anthropic.value.response):
            assert {name: response.headers[name] for name in response.headers if name.startswith("retry")} == headers

    @pytest.mark.parametrize("fault", [Fault.cut(), Fault.hang_up()])
    def test_a_broken_connection_is_a_connection_error(self, fault: Fault) -> None:
        with LoopbackProvider(fault) as provider:
            with pytest.raises(openai.APIConnectionError):
                ask_openai(provider)
            with pytest.raises(anthropic.APIConnectionError):
                ask_anthropic(provider)

    def test_an_answer_that_never_comes_is_a_timeout(self) -> None:
        with LoopbackProvider(Fault.hang()) as provider:
            with gpt(provider, timeout=0.1) as client, pytest.raises(openai.APITimeoutError):
                client.chat.completions.create(model=GPT, messages=ASKING)
            with claude(provider, timeout=0.1) as rival, pytest.raises(anthropic.APITimeoutError):
                rival.messages.create(model=CLAUDE, max_tokens=64, messages=ASKING)

    @pytest.mark.parametrize("fault", [Fault.invalid_json(), Fault.empty(), Fault.huge(100_000)])
    def test_a_body_that_is_not_json_is_not_hidden_by_the_sdks(self, fault: Fault) -> None:
        with LoopbackProvider(fault) as provider:
            with pytest.raises(json.JSONDecodeError):
                ask_openai(provider)
            with pytest.raises(json.JSONDecodeError):
                ask_anthropic(provider)

    def test_a_proxys_page_is_told_by_its_status(self) -> None:
        with LoopbackProvider(Fault.html(502)) as provider:
            with pytest.raises(openai.InternalServerError, match="502"):
                ask_openai(provider)
            with pytest.raises(anthropic.InternalServerError, match="502 Bad Gateway"):
                ask_anthropic(provider)

    def test_a_redirect_elsewhere_is_followed_without_the_key(self, hello: LoopbackProvider) -> None:
        with LoopbackProvider(Fault.redirect(f"{hello.openai_url}/chat/completions")) as provider:
            with pytest.raises(openai.AuthenticationError, match="You didn't provide an API key"):
                ask_openai(provider)
            assert (provider.requests[0].key, hello.requests[0].key) == ("sk-test-0123456789", None)

    def test_a_client_that_retries_waits_as_told_and_gets_the_next_answer(self) -> None:
        busy = Fault.rate_limited(retry_after_ms=1)
        with LoopbackProvider([busy, busy, Say("At last.")]) as provider, claude(provider, max_retries=2) as client:
            message = client.messages.create(model=CLAUDE, max_tokens=64, messages=ASKING)
        assert isinstance(message.content[0], anthropic.types.TextBlock)
        assert len(provider.requests) == 3
