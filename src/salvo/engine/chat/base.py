"""The messages, tools, usage and replies of all providers, and the protocol of a chat model."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from salvo.engine.wire.base import Attempt
from salvo.records import record

JsonObject: TypeAlias = Mapping[str, Any]


@record
class PromptPart:
    """A part of a prompt. `cache` says that everything up to its end will be sent again soon."""

    text: str
    cache: bool = False


Prompt: TypeAlias = str | tuple[PromptPart, ...]


@record
class ToolDefinition:
    """A tool as the model sees it. `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: JsonObject


@record
class ToolUse:
    """A tool call by the model. If the arguments are not a JSON object, `problem` says so; `raw` is their text."""

    id: str
    name: str
    arguments: JsonObject
    raw: str
    problem: str = ""


@record
class ToolAnswer:
    """The answer of a tool to one ToolUse."""

    id: str
    content: str
    is_error: bool = False


@record
class UserMessage:
    content: Prompt


@record
class AssistantMessage:
    """A message of the model. `verbatim` must be sent back to its provider unchanged; nothing else reads it."""

    text: str
    tool_uses: tuple[ToolUse, ...] = ()
    verbatim: tuple[Any, ...] = ()


@record
class ToolMessage:
    """The answers to all tool uses of the preceding assistant message."""

    answers: tuple[ToolAnswer, ...]


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


@record
class OutputSchema:
    """The JSON Schema of the final text. It is sent to models that support it, and the text is always checked."""

    name: str
    schema: JsonObject


def object_schema(properties: JsonObject) -> JsonObject:
    """Return the JSON Schema of an object with exactly these properties: providers enforce no other kind."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


@record
class ChatRequest:
    messages: tuple[Message, ...]
    system: Prompt = ""
    tools: tuple[ToolDefinition, ...] = ()
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    output_schema: OutputSchema | None = None
    lane: str = ""
    cache_prefix: bool = False
    """Whether the beginning of the conversation will be sent again soon, so that the provider should cache it."""


class Stop(StrEnum):
    """Why the model stopped."""

    END = "end"
    TOOL_USE = "tool_use"
    LENGTH = "length"
    """The token limit was reached, so the text is cut off."""
    REFUSAL = "refusal"
    CONTEXT = "context"
    """The context window is full."""
    OTHER = "other"
    """An unknown reason; `ChatReply.stop_raw` has the provider's word."""


@record
class Usage:
    """Tokens in four separate counts: `input` excludes tokens that were read from a cache or written to one."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


@record
class ChatReply:
    """The complete answer of a model, with its usage, duration and attempts."""

    message: AssistantMessage
    stop: Stop
    usage: Usage | None
    """None where the provider did not report it."""
    model: str
    """The model id in the reply, which may be more precise than the one in the request."""
    stop_raw: str = ""
    system_fingerprint: str | None = None
    request_id: str | None = None
    dropped: tuple[str, ...] = ()
    """Parameters of the ChatRequest that were not sent, because the model does not accept them."""
    seconds: float = 0.0
    attempts: tuple[Attempt, ...] = ()
    from_cache: bool = False
    """Whether it was received before, so that it costs nothing now."""
    batched: bool = False
    """Whether it came through the provider's batch API, at half the price."""

    @property
    def text(self) -> str:
        return self.message.text


class ChatModel(Protocol):
    @property
    def name(self) -> str:
        """The provider and model, such as "anthropic/claude-sonnet-4-6"."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the reply to one request. Raises ProviderError where there is no usable answer."""
        ...
