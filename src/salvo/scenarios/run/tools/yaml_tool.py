"""A tool without code: YAML that says what it answers, in sequence or by arguments, faults included."""

from __future__ import annotations

from collections import Counter
from typing import Any

from salvo.engine.chat.base import ToolDefinition
from salvo.engine.runtime.clock import Clock
from salvo.scenarios.run.tools.base import ToolFailure
from salvo.scenarios.spec.schema import ToolResponse, YamlTool


class ScriptedTool:
    """Among its answers, those whose `when` fits the call come first; of several, each call takes the next one."""

    def __init__(self, spec: YamlTool, clock: Clock) -> None:
        self.definition = ToolDefinition(spec.name, spec.description, spec.parameters)
        self._responses = spec.responses or [ToolResponse(result=spec.response)]
        self._clock = clock
        self._asked: Counter[tuple[int, ...]] = Counter()

    async def answer(self, arguments: dict[str, Any]) -> Any:
        response = self._next(arguments)
        if response.delay:
            await self._clock.sleep(response.delay)
        if response.error is not None:
            raise ToolFailure(response.error)
        return response.result

    def _next(self, arguments: dict[str, Any]) -> ToolResponse:
        fitting = [
            response for response in self._responses if response.when is not None and fits(response.when, arguments)
        ]
        candidates = fitting or [response for response in self._responses if response.when is None]
        if not candidates:
            raise ToolFailure("There is no answer for these arguments.")
        # Counted by which answers can come, so that one sequence does not use up another.
        key = tuple(self._responses.index(response) for response in candidates)
        self._asked[key] += 1
        return candidates[min(self._asked[key], len(candidates)) - 1]


def fits(wanted: Any, given: Any) -> bool:
    """Whether everything wanted is there; what is given besides does not matter."""
    if isinstance(wanted, dict):
        return isinstance(given, dict) and all(
            name in given and fits(part, given[name]) for name, part in wanted.items()
        )
    return bool(wanted == given) and isinstance(wanted, bool) == isinstance(given, bool)
