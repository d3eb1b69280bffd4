"""A model's private reasoning is never stored: its type and sha256 stand in its place.

The same reasoning comes back in later requests, so it is replaced there too, before anything is hashed; what
stands in its place stays as it is, so a replay that sends the stand-in asks for the very same recording.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from salvo.engine.jsonio.canonical import stable_key

_BLOCKS = ("thinking", "redacted_thinking", "reasoning")
_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")
_TEXTS = {
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "reasoning": ("id", "encrypted_content"),
}
_WITHOUT_TEXT: dict[str, dict[str, Any]] = {"reasoning": {"summary": []}}
"""What a client insists on beside, and what tells nothing."""
_STAND_IN = re.compile(r"\[reasoning sha256:([0-9a-f]{64})\]")


def may_hold_reasoning(text: str) -> bool:
    """A quick look at a body's text before the walk: every place that reasoning is in has one of these in its name."""
    return "thinking" in text or "reasoning" in text


def without_reasoning(body: Any) -> Any:
    """A request's or a reply's JSON with stand-ins for reasoning; the very same object where there is none.

    Looks only where the protocols put it, so that a tool argument called "reasoning" stays what it is.
    """
    body = _replaced(body, "content", _blocks)  # an Anthropic reply
    body = _replaced(body, "output", _blocks)  # a reply of OpenAI's Responses API
    body = _replaced(body, "input", _blocks)  # and a request to it
    body = _replaced(body, "messages", _messages)  # a request in the two others
    return _replaced(body, "choices", _choices)  # an OpenAI reply


def presented(body: Any) -> Any:
    """A recorded reply as a program of another kind can read it: stand-ins in the fields where it looks for text.

    Sent back, such a block is taken for the stand-in that it is.
    """
    for place in ("content", "output"):
        body = _replaced(body, place, lambda blocks: _each(blocks, _presented_block))
    return body


def _presented_block(block: Any) -> Any:
    if not isinstance(block, dict) or set(block) != {"type", "sha256"} or block["type"] not in _TEXTS:
        return block
    stand_in = f"[reasoning sha256:{block['sha256']}]"
    kind = block["type"]
    return {"type": kind, **_WITHOUT_TEXT.get(kind, {}), **dict.fromkeys(_TEXTS[kind], stand_in)}


def _replaced(holder: Any, name: str, replace: Any) -> Any:
    if not isinstance(holder, dict) or name not in holder:
        return holder
    old = holder[name]
    new = replace(old)
    return holder if new is old else {**holder, name: new}


def _each(items: Any, replace: Any) -> Any:
    if not isinstance(items, list):
        return items
    new = [replace(item) for item in items]
    return items if all(a is b for a, b in zip(items, new, strict=True)) else new


def _choices(choices: Any) -> Any:
    return _each(choices, lambda choice: _replaced(choice, "message", _message))


def _messages(messages: Any) -> Any:
    return _each(messages, _message)


def _message(message: Any) -> Any:
    for name in _FIELDS:
        message = _replaced(message, name, _field)
    return _replaced(message, "content", _blocks)


def _blocks(blocks: Any) -> Any:
    return _each(blocks, _block)


def _block(block: Any) -> Any:
    if not isinstance(block, dict) or block.get("type") not in _BLOCKS or set(block) == {"type", "sha256"}:
        return block
    return {"type": block["type"], "sha256": _hash_presented(block) or stable_key(_said(block))}


def _said(block: dict[str, Any]) -> dict[str, Any]:
    """Without what a client may leave out when it sends a block back, or spell as nothing."""
    return {name: value for name, value in block.items() if value is not None and name != "status"}


def _hash_presented(block: dict[str, Any]) -> str | None:
    """The hash that every text of the block is a stand-in for, where it was made by `presented`."""
    texts = [value for name, value in block.items() if name != "type" and value]
    same = bool(texts) and isinstance(texts[0], str) and all(text == texts[0] for text in texts)
    found = _STAND_IN.fullmatch(texts[0]) if same else None
    return found[1] if found else None


def _field(value: Any) -> Any:
    return _each(value, _thought) if isinstance(value, list) else _thought(value)


def _thought(value: Any) -> Any:
    if not value or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        return value if _STAND_IN.fullmatch(value) else f"[reasoning sha256:{digest}]"
    return value if isinstance(value, dict) and set(value) == {"sha256"} else {"sha256": stable_key(value)}
