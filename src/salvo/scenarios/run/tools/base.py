"""What a tool is to the rest: a definition the model sees, and something that answers."""

from __future__ import annotations

from typing import Any, Protocol

from salvo.engine.chat.base import ToolDefinition


class Tool(Protocol):
    """One for each run, so that a sequence of canned answers starts anew in every run."""

    @property
    def definition(self) -> ToolDefinition: ...

    async def answer(self, arguments: dict[str, Any]) -> Any:
        """The result, as a JSON value. What it raises is handed to the model as the tool's error."""
        ...


class ToolFailure(Exception):  # noqa: N818 - what a canned fault says is the tool's word, not an error of ours
    """A tool's own error, told to the model in exactly these words."""
