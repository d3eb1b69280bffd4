"""Salvo measures how reliable an AI is by running it many times.

The names below are the public Python API. Each is imported when it is first used, so `import salvo` is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from salvo.version import __version__

if TYPE_CHECKING:
    from salvo.engine.chat.base import (
        AssistantMessage,
        ChatModel,
        ChatReply,
        ChatRequest,
        OutputSchema,
        Stop,
        ToolAnswer,
        ToolDefinition,
        ToolMessage,
        ToolUse,
        Usage,
        UserMessage,
    )
    from salvo.scenarios.result import (
        AdapterRequest,
        AdapterResponse,
        AgentRunResult,
        Cause,
        EvalResult,
        Outcome,
        RunMetrics,
        Stopped,
        ToolCall,
        TraceEvent,
    )
    from salvo.scenarios.run.adapters.base import BaseAdapter, RunContext
    from salvo.scenarios.run.tools.function import tool

_MODULES = {
    "salvo.engine.chat.base": (
        *("AssistantMessage", "ChatModel", "ChatReply", "ChatRequest", "OutputSchema", "Stop"),
        *("ToolAnswer", "ToolDefinition", "ToolMessage", "ToolUse", "Usage", "UserMessage"),
    ),
    "salvo.scenarios.run.adapters.base": ("BaseAdapter", "RunContext"),
    "salvo.scenarios.result": (
        *("AdapterRequest", "AdapterResponse", "AgentRunResult", "Cause", "EvalResult"),
        *("Outcome", "RunMetrics", "Stopped", "ToolCall", "TraceEvent"),
    ),
    "salvo.scenarios.run.tools.function": ("tool",),
}

__all__ = [
    "AdapterRequest",
    "AdapterResponse",
    "AgentRunResult",
    "AssistantMessage",
    "BaseAdapter",
    "Cause",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "EvalResult",
    "Outcome",
    "OutputSchema",
    "RunContext",
    "RunMetrics",
    "Stop",
    "Stopped",
    "ToolAnswer",
    "ToolCall",
    "ToolDefinition",
    "ToolMessage",
    "ToolUse",
    "TraceEvent",
    "Usage",
    "UserMessage",
    "__version__",
    "tool",
]


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
