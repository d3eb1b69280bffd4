"""The interface of a tool: a definition for the model, and a method that answers."""

from __future__ import annotations

from typing import Any, Protocol

from salvo.engine.chat.base import ToolDefinition


class Tool(Protocol):
    """A tool of one run. Each run has its own, so that a sequence of fixed answers starts again."""

    @property
    def definition(self) -> ToolDefinition: ...

    async def answer(self, arguments: dict[str, Any]) -> Any:
        """Return the result as a JSON value. An exception is passed to the model as the tool's error."""
        ...


class ToolFailure(Exception):  # noqa: N818 - it carries the answer of a tool
    """A tool's own error. The model gets exactly this message."""
