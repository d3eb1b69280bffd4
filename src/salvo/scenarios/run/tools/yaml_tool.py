"""A tool without code: YAML with its answers and errors, in sequence or by arguments."""

from __future__ import annotations

from typing import Any

from salvo.engine.chat.base import ToolDefinition
from salvo.engine.runtime.clock import Clock
from salvo.scenarios.run.tools.toolbox import ToolFailure
from salvo.scenarios.spec.tool_schema import ToolResponse, YamlTool


class ScriptedTool:
    """Prefers the answers whose `when` matches the call. Of several, each call takes the next one."""

    def __init__(self, spec: YamlTool, clock: Clock) -> None:
        self.definition = ToolDefinition(spec.name, spec.description, spec.parameters)
        self._responses = spec.responses or [ToolResponse(result=spec.response)]
        self._clock = clock
        self._calls: dict[tuple[int, ...], int] = {}

    async def answer(self, arguments: dict[str, Any]) -> Any:
        response = self._next(arguments)
        if response.delay:
            await self._clock.sleep(response.delay)
        if response.error is not None:
            raise ToolFailure(response.error)
        return response.result

    def _next(self, arguments: dict[str, Any]) -> ToolResponse:
        matching = [
            response for response in self._responses if response.when is not None and matches(response.when, arguments)
        ]
        candidates = matching or [response for response in self._responses if response.when is None]
        if not candidates:
            raise ToolFailure("There is no answer for these arguments.")
        # Each sequence of answers has its own counter.
        key = tuple(self._responses.index(response) for response in candidates)
        call = self._calls.get(key, 0)
        self._calls[key] = call + 1
        return candidates[min(call, len(candidates) - 1)]


def matches(expected: Any, actual: Any) -> bool:
    """Return whether everything expected is there. Additional arguments do not matter."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            name in actual and matches(part, actual[name]) for name, part in expected.items()
        )
    return bool(expected == actual) and isinstance(expected, bool) == isinstance(actual, bool)
