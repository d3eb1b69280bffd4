"""A dialect: how one provider's protocol writes a request and reads a reply. Pure; the wire is elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from salvo.engine.chat.base import AssistantMessage, ChatRequest, Stop, Usage


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """What a dialect finds in a reply's body."""

    message: AssistantMessage
    stop: Stop
    stop_raw: str
    usage: Usage | None
    model: str
    system_fingerprint: str | None = None


class Dialect(Protocol):
    path: str
    headers: Mapping[str, str]

    @property
    def optional(self) -> Mapping[str, str]:
        """Fields of a body that a request can do without, and the ChatRequest's parameter behind each."""
        ...

    def write(self, model: str, request: ChatRequest, refused: frozenset[str]) -> dict[str, Any]:
        """A request's body, without the fields that are known to be refused."""
        ...

    def read(self, body: dict[str, Any]) -> ParsedReply:
        """What a successful reply says; ValueError where it is not what the protocol says."""
        ...


def string_or_empty(value: Any) -> str:
    """A string of a reply, where null and nothing mean empty; anything else is not the protocol."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise ValueError(f"a text is {type(value).__name__}")


def token_count(usage: Mapping[str, Any], name: str) -> int:
    """A number of tokens; absent and null mean none. A provider's number is not trusted to be one."""
    value = usage.get(name)
    if value is None:
        return 0
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError(f"usage.{name} is not a number of tokens")


def object_list(holder: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """A list of objects in a reply; null and nothing mean none."""
    value = holder.get(name)
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    raise ValueError(f"{name} is not a list of objects")
