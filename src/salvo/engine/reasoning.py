"""A model's private reasoning is never stored: its type and sha256 stand in its place.

The same reasoning comes back in later requests, so it is replaced there too, before anything is hashed; what
stands in its place stays as it is, so a replay that sends the stand-in asks for the very same recording.
"""

from __future__ import annotations

import hashlib
from typing import Any

from salvo.engine.canonical import stable_key

_BLOCKS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")
_STAND_IN = "[reasoning sha256:"


def without_reasoning(body: Any) -> Any:
    """A request's or a reply's JSON with stand-ins for reasoning; the very same object where there is none.

    Looks only where the two protocols put it, so that a tool argument called "reasoning" stays what it is.
    """
    if not isinstance(body, dict):
        return body
    body = _replaced(body, "content", _blocks)  # an Anthropic reply
    body = _replaced(body, "messages", _messages)  # a request in either protocol
    return _replaced(body, "choices", _choices)  # an OpenAI reply


def _replaced(holder: dict[str, Any], name: str, replace: Any) -> dict[str, Any]:
    old = holder.get(name)
    if old is None:
        return holder
    new = replace(old)
    return holder if new is old else {**holder, name: new}


def _each(items: Any, replace: Any) -> Any:
    if not isinstance(items, list):
        return items
    new = [replace(item) if isinstance(item, dict) else item for item in items]
    return items if all(a is b for a, b in zip(items, new, strict=True)) else new


def _choices(choices: Any) -> Any:
    return _each(choices, lambda choice: _replaced(choice, "message", _message))


def _messages(messages: Any) -> Any:
    return _each(messages, _message)


def _message(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    for name in _FIELDS:
        message = _replaced(message, name, _field)
    return _replaced(message, "content", _blocks)


def _blocks(blocks: Any) -> Any:
    return _each(blocks, _block)


def _block(block: dict[str, Any]) -> dict[str, Any]:
    if block.get("type") not in _BLOCKS or set(block) == {"type", "sha256"}:
        return block
    return {"type": block["type"], "sha256": stable_key(block)}


def _field(value: Any) -> Any:
    if isinstance(value, str):
        digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        return value if not value or value.startswith(_STAND_IN) else f"{_STAND_IN}{digest}]"
    return _each(value, lambda item: item if set(item) == {"sha256"} else {"sha256": stable_key(item)})
