"""The loopback provider knows the fields that the official SDKs know: no fewer, and none of its own invention."""

import pytest
from anthropic import types as claude
from anthropic.types import message_create_params
from openai.types import chat as gpt
from openai.types.chat import completion_create_params

from tests.support.provider import anthropic_rules, openai_rules

# Parameters of the SDK's methods that travel as headers.
HEADERS = {"user_profile_id", "workspace_id"}
# What compatible servers put into a message, and get back in it.
ADDITIONS = {"annotations", "reasoning_content"}


def fields(typed_dict: type) -> set[str]:
    return set(typed_dict.__annotations__)


def test_openai_parameters() -> None:
    assert fields(completion_create_params.CompletionCreateParamsNonStreaming) == openai_rules.PARAMETERS


@pytest.mark.parametrize(
    "role, message",
    [
        ("system", gpt.ChatCompletionSystemMessageParam),
        ("developer", gpt.ChatCompletionDeveloperMessageParam),
        ("user", gpt.ChatCompletionUserMessageParam),
        ("assistant", gpt.ChatCompletionAssistantMessageParam),
        ("tool", gpt.ChatCompletionToolMessageParam),
    ],
)
def test_openai_messages(role: str, message: type) -> None:
    assert fields(message) == openai_rules.MESSAGE_FIELDS[role] - ADDITIONS


def test_anthropic_parameters_are_those_of_the_version_that_the_sdk_sends() -> None:
    known = fields(message_create_params.MessageCreateParamsNonStreaming) - HEADERS
    assert known == anthropic_rules.VERSIONS["2026-10-21"]


@pytest.mark.parametrize(
    "shape, block",
    [
        (anthropic_rules.USER_BLOCKS["text"], claude.TextBlockParam),
        (anthropic_rules.USER_BLOCKS["image"], claude.ImageBlockParam),
        (anthropic_rules.USER_BLOCKS["document"], claude.DocumentBlockParam),
        (anthropic_rules.USER_BLOCKS["search_result"], claude.SearchResultBlockParam),
        (anthropic_rules.USER_BLOCKS["tool_result"], claude.ToolResultBlockParam),
        (anthropic_rules.ASSISTANT_BLOCKS["thinking"], claude.ThinkingBlockParam),
        (anthropic_rules.ASSISTANT_BLOCKS["redacted_thinking"], claude.RedactedThinkingBlockParam),
        (anthropic_rules.ASSISTANT_BLOCKS["tool_use"], claude.ToolUseBlockParam),
        (anthropic_rules.TOOL, claude.ToolParam),
    ],
)
def test_anthropic_blocks_and_tools(shape: anthropic_rules.Shape, block: type) -> None:
    assert fields(block) == shape.required | shape.optional
