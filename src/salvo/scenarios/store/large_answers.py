"""Store a large answer once. `final_output`, `final_text` and the trace of a run may all hold the same text."""

from __future__ import annotations

from dataclasses import replace

from salvo.engine.jsonio import json_codec
from salvo.scenarios.result import SAME_AS_FINAL_TEXT, AgentRunResult, TraceEvent

_LARGE = 10_000
"""Characters from which a text is stored only once. Shorter ones are repeated, for whoever reads the file."""


def without_repeated_answer(result: AgentRunResult) -> AgentRunResult:
    """Return the result as it is stored. An AgentRunResult that is read from it has all its fields again."""
    text = result.final_text
    if text is None or len(text) <= _LARGE or json_codec.loads_or_text(text) != result.final_output:
        return result
    return result.model_copy(
        update={"final_output": None, "trace": [_referring(event, text) for event in result.trace]}
    )


def _referring(event: TraceEvent, text: str) -> TraceEvent:
    if event.data.get("text") != text:
        return event
    return replace(event, data={**event.data, "text": SAME_AS_FINAL_TEXT})
