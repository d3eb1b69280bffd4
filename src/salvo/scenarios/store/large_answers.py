"""Store a large answer once.

`final_output`, `final_text`, the trace of a run and the last turn of a conversation may all hold the same text, its
recording has the run again, and the recorded reply of the model has it, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.scenarios.result import SAME_AS_FINAL_TEXT, AgentRunResult, ConversationTurn, TraceEvent

_LARGE = 10_000
"""Characters from which a text is stored only once. Shorter ones are repeated, for whoever reads the file."""


def has_large_answer(result: AgentRunResult) -> bool:
    """Return whether the answer of a run is large, and all its fields can be derived from the text."""
    text = result.final_text
    return text is not None and len(text) > _LARGE and json_codec.loads_or_text(text) == result.final_output


def without_repeated_answer(result: AgentRunResult) -> AgentRunResult:
    """Return the result as it is stored. An AgentRunResult that is read from it has all its fields again."""
    if not has_large_answer(result):
        return result
    text = result.final_text or ""
    return result.model_copy(
        update={
            "final_output": None,
            "trace": [_referring(event, text) for event in result.trace],
            "turns": [_turn_referring(turn, text) for turn in result.turns],
        }
    )


def without_answer(result: AgentRunResult) -> AgentRunResult:
    """Return the result as it is stored where its large answer is elsewhere."""
    return without_repeated_answer(result).model_copy(update={"final_text": None})


def with_answer(stored: AgentRunResult, text: str | None) -> AgentRunResult:
    """Return a result that was stored without its answer, with all its fields again."""
    complete = stored.model_copy(update={"final_text": text, "answer_in_recording": False})
    complete.derive_answer()
    return complete


def find_text(value: Any, text: str) -> list[str | int] | None:
    """Return the path of a string in a JSON value; None if it is not there."""
    pending: list[tuple[Any, list[str | int]]] = [(value, [])]
    while pending:
        item, path = pending.pop()
        if isinstance(item, str):
            if item == text:
                return path
        elif isinstance(item, dict):
            pending += [(part, [*path, name]) for name, part in item.items()]
        elif isinstance(item, list):
            pending += [(part, [*path, index]) for index, part in enumerate(item)]
    return None


def text_at(value: Any, path: Sequence[object]) -> str | None:
    """Return the string at a path of a JSON value, which may come from someone else; None if there is none."""
    for step in path:
        is_key = isinstance(value, dict) and isinstance(step, str) and step in value
        is_index = isinstance(value, list) and type(step) is int and 0 <= step < len(value)
        if not (is_key or is_index):
            return None
        value = value[step]
    return value if isinstance(value, str) else None


def _referring(event: TraceEvent, text: str) -> TraceEvent:
    if event.data.get("text") != text:
        return event
    return replace(event, data={**event.data, "text": SAME_AS_FINAL_TEXT})


def _turn_referring(turn: ConversationTurn, text: str) -> ConversationTurn:
    if turn.agent != text:
        return turn
    return turn.model_copy(update={"agent": None, "agent_is_final_text": True})
