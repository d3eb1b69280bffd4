"""Thinking blocks: signed when they go out, and checked when they come back."""

from base64 import b64encode
from hashlib import blake2b
from typing import Any

from tests.support.provider.anthropic_errors import problem
from tests.support.provider.request import blocks_of

Block = dict[str, Any]


class Thinking:
    """Remembers which thinking led to which tool call, so that it notices when a client loses it."""

    def __init__(self) -> None:
        self._behind: dict[str, Block] = {}

    def block(self, text: str, tool_use_ids: list[str]) -> Block:
        block = {"type": "thinking", "thinking": text, "signature": _signature(text)}
        self._behind.update(dict.fromkeys(tool_use_ids, block))
        return block

    def check(self, messages: list[dict[str, Any]]) -> None:
        """Refuse thinking that was changed, and thinking that is missing from the tool loop under way."""
        for n, message in enumerate(messages):
            for k, block in enumerate(blocks_of(message["content"])):
                if block["type"] == "thinking" and block["signature"] != _signature(block["thinking"]):
                    raise problem(f"messages.{n}.content.{k}: Invalid `signature` in `thinking` block")
        for n in range(_start_of_loop(messages), len(messages)):
            self._check_nothing_is_lost(blocks_of(messages[n]["content"]), n)

    def _check_nothing_is_lost(self, blocks: list[Block], n: int) -> None:
        calls = (block["id"] for block in blocks if block["type"] == "tool_use")
        wanted = next((self._behind[call] for call in calls if call in self._behind), None)
        if wanted is None or blocks[0] == wanted:
            return
        if blocks[0]["type"] == "thinking":
            raise problem(
                f"messages.{n}.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant "
                "message cannot be modified. These blocks must remain as they were in the original response."
            )
        raise problem(
            f"messages.{n}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
            f"`{blocks[0]['type']}`. When `thinking` is enabled, a final `assistant` message must start with a "
            "thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
        )


def _signature(text: str) -> str:
    return b64encode(blake2b(text.encode(), digest_size=48, person=b"loopback").digest()).decode()


def _start_of_loop(messages: list[dict[str, Any]]) -> int:
    """Just after the last message in which a person speaks: thinking of finished loops may be left out."""
    spoken = (n for n in range(len(messages) - 1, -1, -1) if _is_spoken(messages[n]))
    return next(spoken, 0)


def _is_spoken(message: dict[str, Any]) -> bool:
    blocks = blocks_of(message["content"])
    return message["role"] == "user" and all(block["type"] != "tool_result" for block in blocks)
