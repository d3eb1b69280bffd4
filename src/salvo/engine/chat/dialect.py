"""The dialect protocol: how to write the requests of a provider and read its replies. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from salvo.engine.chat.base import ChatReply, ChatRequest, Usage

_MOST_TOKENS = 100_000_000
"""More than any model reads or writes in one call. A larger count is an error of the server."""


class Dialect(Protocol):
    path: str
    headers: Mapping[str, str]

    @property
    def optional(self) -> Mapping[str, str]:
        """The optional fields of a request body, each with its parameter of ChatRequest."""
        ...

    def write(self, model: str, request: ChatRequest, refused: frozenset[str]) -> dict[str, Any]:
        """Return the body of a request, without the fields that the model refuses."""
        ...

    def read(self, body: dict[str, Any]) -> ChatReply:
        """Return the content of a successful reply's body. Raises ValueError where it does not follow the protocol."""
        ...


def string_or_empty(value: Any) -> str:
    """Return a string of a reply; empty for null. Raises ValueError for other types."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise ValueError(f"a text is {type(value).__name__}")


def token_count(usage: Mapping[str, Any], name: str) -> int:
    """Return a number of tokens; 0 where it is missing or null. Raises ValueError for anything else."""
    value = usage.get(name)
    if value is None:
        return 0
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError(f"usage.{name} is not a number of tokens")


def credible(usage: Usage) -> Usage | None:
    """Return the usage; None, which means unknown, where a count is larger than any call can have."""
    counts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    return None if max(counts) > _MOST_TOKENS else usage


def required_text(holder: Mapping[str, Any], name: str, what: str) -> str:
    """Return a text that must not be missing or empty. Raises ValueError otherwise."""
    text = string_or_empty(holder.get(name))
    if not text:
        raise ValueError(f"{what} has no {name}")
    return text


def object_or_empty(holder: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an optional object of a reply; empty where it is missing or something else."""
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def checked_arguments(value: Any) -> tuple[dict[str, Any], str]:
    """Return the arguments of a tool call, and what is wrong with them; empty where nothing is."""
    if isinstance(value, dict):
        return value, ""
    return {}, f"The arguments are not a JSON object but {type(value).__name__}."


def object_list(holder: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return a list of objects of a reply; empty where it is missing or null. Raises ValueError for anything else."""
    value = holder.get(name)
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    raise ValueError(f"{name} is not a list of objects")
