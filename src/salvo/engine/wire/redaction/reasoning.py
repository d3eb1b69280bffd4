"""Replace a model's private reasoning by its type and sha256, so that it is never stored.

Clients send the reasoning back in later requests, so it is replaced there too, before a request is hashed. A
placeholder stays as it is, so a replay that sends the placeholder has the same key as the recording.
"""

from __future__ import annotations

import re
from typing import Any

from salvo.engine.jsonio.canonical import hex_digest, stable_key

_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")
_TEXTS = {
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "reasoning": ("id", "encrypted_content"),
}
_QUOTED_NAMES = tuple(f'"{name}"' for name in (*_FIELDS, *_TEXTS))
"""Every body with reasoning has one of them. Most replies count `reasoning_tokens`, which is none."""
_BLOCKS = tuple(_TEXTS)  # in a dict, a hostile type that is not hashable could not be looked up
_WITHOUT_TEXT: dict[str, dict[str, Any]] = {"reasoning": {"summary": []}}
"""Fields that clients require and that contain no reasoning."""
_PLACEHOLDER = re.compile(r"\[reasoning sha256:([0-9a-f]{64})\]")


def may_hold_reasoning(text: str) -> bool:
    """Return False where the JSON text of a body surely contains no reasoning. This is much faster than the walk."""
    return any(map(text.__contains__, _QUOTED_NAMES))


def without_reasoning(body: Any) -> Any:
    """Return the JSON of a request or reply with placeholders for reasoning; the same object where there is none.

    It looks only where the protocols put reasoning, so a tool argument called "reasoning" is not changed.
    """
    body = _map_items(body, "content", _block)  # an Anthropic reply
    body = _map_items(body, "output", _block)  # a reply of OpenAI's Responses API
    body = _map_items(body, "input", _block)  # a request to the Responses API
    body = _map_items(body, "messages", _message)  # a request to Anthropic or Chat Completions
    # A Chat Completions reply.
    return _map_items(body, "choices", lambda choice: _replaced(choice, "message", _message))


def with_placeholder_texts(body: Any) -> Any:
    """Return a recorded reply with placeholders in the text fields that clients require.

    When a client sends such a block back, `without_reasoning` recognises the placeholder.
    """
    for place in ("content", "output"):
        body = _map_items(body, place, _block_with_texts)
    return body


def _block_with_texts(block: Any) -> Any:
    if not isinstance(block, dict) or set(block) != {"type", "sha256"} or block["type"] not in _BLOCKS:
        return block
    placeholder = f"[reasoning sha256:{block['sha256']}]"
    kind = block["type"]
    return {"type": kind, **_WITHOUT_TEXT.get(kind, {}), **dict.fromkeys(_TEXTS[kind], placeholder)}


def _replaced(holder: Any, name: str, replace: Any) -> Any:
    if not isinstance(holder, dict) or name not in holder:
        return holder
    old = holder[name]
    new = replace(old)
    return holder if new is old else {**holder, name: new}


def _map_items(holder: Any, name: str, replace: Any) -> Any:
    return _replaced(holder, name, lambda items: _map_list(items, replace))


def _map_list(items: Any, replace: Any) -> Any:
    if not isinstance(items, list):
        return items
    new = [replace(item) for item in items]
    return items if all(a is b for a, b in zip(items, new, strict=True)) else new


def _message(message: Any) -> Any:
    for name in _FIELDS:
        message = _replaced(message, name, _thoughts)
    return _map_items(message, "content", _block)


def _block(block: Any) -> Any:
    if not isinstance(block, dict) or block.get("type") not in _BLOCKS or set(block) == {"type", "sha256"}:
        return block
    # Without the fields that a client may omit or set to null when it sends a block back.
    fields = {name: value for name, value in block.items() if value is not None and name != "status"}
    return {"type": block["type"], "sha256": _placeholder_hash(block) or stable_key(fields)}


def _placeholder_hash(block: dict[str, Any]) -> str | None:
    """Return the hash in the placeholders of a block that `with_placeholder_texts` made; else None."""
    texts = [value for name, value in block.items() if name != "type" and value]
    same = bool(texts) and isinstance(texts[0], str) and all(text == texts[0] for text in texts)
    match = _PLACEHOLDER.fullmatch(texts[0]) if same else None
    return match[1] if match else None


def _thoughts(value: Any) -> Any:
    return _map_list(value, _thought) if isinstance(value, list) else _thought(value)


def _thought(value: Any) -> Any:
    if not value or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        digest = hex_digest(value)
        return value if _PLACEHOLDER.fullmatch(value) else f"[reasoning sha256:{digest}]"
    return value if isinstance(value, dict) and set(value) == {"sha256"} else {"sha256": stable_key(value)}
