"""The neutral message, tool, usage and reply types, and the one method that every model has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from salvo.engine.wire.base import Attempt

JsonObject: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A piece of a prompt. `cache` hints that everything up to its end will be sent again soon."""

    text: str
    cache: bool = False


Prompt: TypeAlias = str | tuple[PromptPart, ...]


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the model sees it; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The model asks for a tool. Where its arguments are no JSON object, `problem` says so and `raw` holds them."""

    id: str
    name: str
    arguments: JsonObject
    raw: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What the tool said to one ToolUse."""

    id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class UserMessage:
    content: Prompt


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said. `verbatim` is what its provider must get back unchanged, opaque to everyone else."""

    text: str
    tool_uses: tuple[ToolUse, ...] = ()
    verbatim: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The answers to all tool uses of the assistant's message before."""

    answers: tuple[ToolAnswer, ...]


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """The final text must be JSON of this shape; asked of the model where it can be, and never assumed."""

    name: str
    schema: JsonObject


@dataclass(frozen=True, slots=True)
class ChatRequest:
    messages: tuple[Message, ...]
    system: Prompt = ""
    tools: tuple[ToolDefinition, ...] = ()
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    output_schema: OutputSchema | None = None
    lane: str = ""


class Stop(StrEnum):
    """Why the model stopped."""

    END = "end"
    TOOL_USE = "tool_use"
    LENGTH = "length"
    """It ran into the limit on tokens, so the text is cut."""
    REFUSAL = "refusal"
    CONTEXT = "context"
    """The conversation filled the model's context."""
    OTHER = "other"
    """A reason this version does not know; `ChatReply.stop_raw` has the provider's word."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens in four buckets that do not overlap: `input` is what was neither read from a cache nor written to it."""

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


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The model's whole answer, and what is known about how it came about."""

    message: AssistantMessage
    stop: Stop
    usage: Usage | None
    """None where the provider did not say: unknown, not zero."""
    model: str
    """The id the provider returned, which may be more precise than the one asked for."""
    stop_raw: str = ""
    system_fingerprint: str | None = None
    request_id: str | None = None
    dropped: tuple[str, ...] = ()
    """Parameters of the ChatRequest that this model did not get, because it takes none."""
    seconds: float = 0.0
    attempts: tuple[Attempt, ...] = ()

    @property
    def text(self) -> str:
        return self.message.text


class ChatModel(Protocol):
    @property
    def name(self) -> str:
        """Provider and model, as in "anthropic/claude-sonnet-4-6"."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """One turn; raises ProviderError where there is no usable answer."""
        ...
