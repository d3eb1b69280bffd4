"""Both protocols through the one method, over real sockets: what a model says, and what it means."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from salvo.engine.chat.base import (
    AssistantMessage,
    ChatModel,
    ChatRequest,
    OutputSchema,
    PromptPart,
    Stop,
    ToolAnswer,
    ToolDefinition,
    ToolMessage,
    ToolUse,
    Usage,
    UserMessage,
)
from salvo.engine.chat.model import WiredModel
from salvo.errors import BadReplyError
from tests.support.provider import Fault, LoopbackProvider, Say, Use, UseTools, by_turn
from tests.support.provider import Usage as Billed
from tests.support.wires import http_wire

OPENAI = "openai/gpt-5.4-mini"
ANTHROPIC = "anthropic/claude-sonnet-4-6"
BOTH = pytest.mark.parametrize("name", [OPENAI, ANTHROPIC])
HELLO = ChatRequest((UserMessage("hello"),))
SEARCH = ToolDefinition(
    "search", "Finds flights.", {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
)

Connect = Callable[[LoopbackProvider, str], AbstractAsyncContextManager[ChatModel]]


@asynccontextmanager
async def connected(provider: LoopbackProvider, name: str) -> AsyncIterator[ChatModel]:
    async with http_wire(provider) as wire:
        yield WiredModel(name, wire)


@BOTH
async def test_a_model_says_something_and_the_reply_says_how(name: str) -> None:
    with LoopbackProvider(Say("Good morning.", model="the-exact-model-0411")) as provider:
        async with connected(provider, name) as model:
            reply = await model.complete(ChatRequest((UserMessage("hello"),), system="Be kind."))
    assert (model.name, reply.text, reply.stop) == (name, "Good morning.", Stop.END)
    assert reply.model == "the-exact-model-0411"
    assert reply.request_id is not None
    assert reply.system_fingerprint == ("fp_loopback" if name == OPENAI else None)
    assert (provider.requests[0].system, provider.requests[0].last_user) == ("Be kind.", "hello")


@BOTH
async def test_a_conversation_with_parallel_tool_calls_goes_back_and_forth(name: str) -> None:
    script = by_turn(
        UseTools(Use("search", {"to": "JFK"}), Use("search", {"to": "LGA"}), text="One moment."), Say("Done.")
    )
    with LoopbackProvider(script) as provider:
        async with connected(provider, name) as model:
            first = await model.complete(ChatRequest((UserMessage("fly"),), tools=(SEARCH,)))
            assert first.stop is Stop.TOOL_USE
            assert [(use.name, use.arguments) for use in first.message.tool_uses] == [
                ("search", {"to": "JFK"}),
                ("search", {"to": "LGA"}),
            ]
            there, gone = first.message.tool_uses
            answers = ToolMessage((ToolAnswer(there.id, "$99"), ToolAnswer(gone.id, "no such airport", is_error=True)))
            last = await model.complete(ChatRequest((UserMessage("fly"), first.message, answers), tools=(SEARCH,)))
    assert last.text == "Done."
    results = [(result.content, result.is_error) for result in provider.requests[1].tool_results]
    # Chat Completions has no place for the flag; the text alone tells.
    assert results == [("$99", False), ("no such airport", name == ANTHROPIC)]


async def test_malformed_arguments_are_carried_as_such_and_sent_back_verbatim() -> None:
    script = by_turn(UseTools(Use("search", '{"to": "JFK"'), Use("search", "[1]"), Use("search", "")), Say("sorry"))
    with LoopbackProvider(script) as provider:
        async with connected(provider, OPENAI) as model:
            first = await model.complete(ChatRequest((UserMessage("fly"),), tools=(SEARCH,)))
            cut, wrong, empty = first.message.tool_uses
            answers = ToolMessage(tuple(ToolAnswer(use.id, use.problem) for use in first.message.tool_uses))
            await model.complete(ChatRequest((UserMessage("fly"), first.message, answers), tools=(SEARCH,)))
    assert (cut.arguments, cut.raw) == ({}, '{"to": "JFK"')
    assert cut.problem.startswith("The arguments are not JSON: ")
    assert wrong.problem == "The arguments are not a JSON object but list."
    assert (empty.arguments, empty.problem) == ({}, "")
    sent_back = provider.requests[1].messages[1]["tool_calls"]
    assert [call["function"]["arguments"] for call in sent_back] == ['{"to": "JFK"', "[1]", ""]


async def test_thinking_blocks_go_back_unchanged_in_a_tool_loop() -> None:
    """The provider checks the signature, and answers 400 to a block that was touched."""
    script = by_turn(UseTools(Use("search", {"to": "JFK"}), thinking="I need a flight."), Say("Done."))
    with LoopbackProvider(script) as provider:
        async with connected(provider, "anthropic/claude-opus-4-8") as model:
            first = await model.complete(ChatRequest((UserMessage("fly"),), tools=(SEARCH,)))
            answer = ToolMessage((ToolAnswer(first.message.tool_uses[0].id, "$99"),))
            last = await model.complete(ChatRequest((UserMessage("fly"), first.message, answer), tools=(SEARCH,)))
    assert last.text == "Done."
    assert "need a flight" not in first.text


@BOTH
async def test_a_conversation_that_another_model_began_can_be_continued(name: str) -> None:
    spoken = AssistantMessage("Let me see.", (ToolUse("call_1", "search", {"to": "JFK"}, '{"to": "JFK"}'),))
    messages = (UserMessage("fly"), spoken, ToolMessage((ToolAnswer("call_1", "$99"),)))
    with LoopbackProvider(Say("It is $99.")) as provider:
        async with connected(provider, name) as model:
            reply = await model.complete(ChatRequest(messages, tools=(SEARCH,)))
    assert reply.text == "It is $99."
    assert provider.requests[0].tool_results[0].name == "search"


@BOTH
@pytest.mark.parametrize(
    "said, stop",
    [
        (Say("half a sent", stop="length"), Stop.LENGTH),
        (Say("I cannot help with that.", stop="refusal"), Stop.REFUSAL),
        (Say("", stop="refusal"), Stop.REFUSAL),
    ],
    ids=["length", "refusal", "silent-refusal"],
)
async def test_stop_reasons_are_told_apart(name: str, said: Say, stop: Stop) -> None:
    with LoopbackProvider(said) as provider:
        async with connected(provider, name) as model:
            reply = await model.complete(HELLO)
    assert (reply.stop, reply.text) == (stop, said.text)


async def test_a_full_context_is_its_own_stop_reason_where_the_protocol_has_one() -> None:
    with LoopbackProvider(Say("so far", stop="context")) as provider:
        async with connected(provider, ANTHROPIC) as model:
            assert (await model.complete(HELLO)).stop is Stop.CONTEXT


@BOTH
async def test_usage_comes_in_four_buckets_that_do_not_overlap(name: str) -> None:
    billed = Billed(input=100, output=20, cache_read=900, cache_write=50)
    with LoopbackProvider(Say("hi", usage=billed)) as provider:
        async with connected(provider, name) as model:
            usage = (await model.complete(HELLO)).usage
    assert usage is not None
    assert (usage.output, usage.cache_read) == (20, 900)
    assert usage.input + usage.cache_write == 150
    assert usage + Usage(input=1) == Usage(usage.input + 1, 20, 900, usage.cache_write)


@BOTH
async def test_usage_that_the_provider_does_not_tell_is_unknown_not_zero(name: str) -> None:
    with LoopbackProvider(Say("hi", usage={})) as provider:
        async with connected(provider, name) as model:
            assert (await model.complete(HELLO)).usage is None


async def test_a_cache_hint_lets_the_second_call_read_what_the_first_one_wrote() -> None:
    long = PromptPart("All flights. " * 2000, cache=True)
    with LoopbackProvider(Say("hi")) as provider:
        async with connected(provider, ANTHROPIC) as model:
            first, second = [
                (await model.complete(ChatRequest((UserMessage((long, PromptPart(question))),)))).usage
                for question in ("Which is cheapest?", "Which is fastest?")
            ]
    assert first is not None
    assert second is not None
    assert first.cache_write > 6000
    assert second.cache_read == first.cache_write
    assert second.input < 100


@BOTH
async def test_structured_output_is_asked_for_in_the_providers_own_way(name: str) -> None:
    schema = {
        "type": "object",
        "properties": {"score": {"type": "number", "minimum": 0, "maximum": 1}},
        "required": ["score"],
        "additionalProperties": False,
    }
    with LoopbackProvider(Say('{"score": 0.5}')) as provider:
        async with connected(provider, name) as model:
            reply = await model.complete(
                ChatRequest((UserMessage("judge"),), output_schema=OutputSchema("verdict", schema))
            )
    assert reply.dropped == ()
    assert reply.text == '{"score": 0.5}'


@pytest.mark.parametrize(
    "name, dropped, sent",
    [
        ("openai/gpt-5.4-mini", ("temperature",), {"seed": 7, "max_completion_tokens": 99}),
        ("openai/gpt-4o", (), {"temperature": 0.0, "seed": 7, "max_completion_tokens": 99}),
        ("openai/llama-3.1-8b", (), {"temperature": 0.0, "seed": 7, "max_tokens": 99}),
        ("anthropic/claude-sonnet-4-6", ("seed",), {"temperature": 0.0, "max_tokens": 99}),
        ("anthropic/claude-opus-4-8", ("temperature", "seed"), {"max_tokens": 99}),
    ],
)
async def test_a_parameter_that_a_known_model_refuses_is_not_sent_and_the_reply_says_so(
    name: str, dropped: tuple[str, ...], sent: dict[str, object]
) -> None:
    with LoopbackProvider(Say("hi")) as provider:
        async with connected(provider, name) as model:
            reply = await model.complete(ChatRequest((UserMessage("hello"),), temperature=0.0, seed=7, max_tokens=99))
    assert reply.dropped == dropped
    assert len(provider.requests) == 1
    assert {key: value for key, value in provider.requests[0].body.items() if key not in ("model", "messages")} == sent


async def test_a_parameter_that_an_unknown_model_refuses_by_name_is_dropped_and_not_tried_again_in_that_lane() -> None:
    def picky(asked: object) -> Say | Fault:
        body = provider.requests[-1].body
        return next((Fault.refused_parameter(name) for name in ("temperature", "seed") if name in body), Say("hi"))

    request = ChatRequest((UserMessage("hello"),), temperature=0.0, seed=7, lane="agent")
    with LoopbackProvider(picky) as provider:
        async with connected(provider, "openai/brand-new") as model:
            replies = [await model.complete(request) for _ in range(2)]
            assert len(provider.requests) == 4, "two refusals, an answer, and an answer at once"
            await model.complete(ChatRequest(request.messages, temperature=0.0, lane="judge/vote-1"))
    assert [reply.dropped for reply in replies] == [("temperature", "seed")] * 2
    assert len(provider.requests) == 6, "another lane finds out for itself, so that it can be replayed alone"


async def test_a_model_that_takes_tools_only_on_a_condition_is_told_so() -> None:
    """The provider answers 400 to gpt-5.6 with tools and without the word."""
    with LoopbackProvider(UseTools(Use("search", {"to": "JFK"}))) as provider:
        async with connected(provider, "openai/gpt-5.6-luna") as model:
            reply = await model.complete(ChatRequest((UserMessage("fly"),), tools=(SEARCH,)))
            await model.complete(HELLO)
    assert reply.stop is Stop.TOOL_USE
    assert [asked.body.get("reasoning_effort") for asked in provider.requests] == ["none", None]


async def test_the_other_name_of_the_token_limit_is_tried_before_it_is_dropped() -> None:
    """An unknown model gets the old name, which a new OpenAI model refuses: the provider here does so by itself."""
    with LoopbackProvider(Say("hi")) as provider:
        async with connected(provider, "openai/gpt-6.9-nova") as model:
            reply = await model.complete(ChatRequest((UserMessage("hello"),), max_tokens=99))
    assert reply.dropped == ()
    assert [("max_tokens" in asked.body, "max_completion_tokens" in asked.body) for asked in provider.requests] == [
        (True, False),
        (False, True),
    ]


@BOTH
@pytest.mark.parametrize(
    "fault, says",
    [
        (Fault.invalid_json(), "its answer is not JSON"),
        (Fault.empty(), "its answer is empty"),
        (Fault.html(200), "its answer is not JSON"),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
async def test_a_success_that_is_no_completion_is_a_bad_reply(name: str, fault: Fault, says: str) -> None:
    with LoopbackProvider(fault) as provider:
        async with connected(provider, name) as model:
            with pytest.raises(BadReplyError, match=says) as error:
                await model.complete(HELLO)
    assert "base URL" in error.value.hint
