"""Salvo measures how far an AI can be relied on, by never trusting one run.

What people need to extend it is here, and is loaded when it is first used: importing salvo is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from salvo.version import __version__

if TYPE_CHECKING:
    from salvo.engine.chat.base import ToolDefinition
    from salvo.scenarios.result import (
        AdapterRequest,
        AdapterResponse,
        AgentRunResult,
        EvalResult,
        RunMetrics,
        ToolCall,
        TraceEvent,
    )
    from salvo.scenarios.run.adapters.base import BaseAdapter, RunContext
    from salvo.scenarios.run.tools.function import tool

_HOMES = {
    "salvo.engine.chat.base": ("ToolDefinition",),
    "salvo.scenarios.run.adapters.base": ("BaseAdapter", "RunContext"),
    "salvo.scenarios.result": (
        *("AdapterRequest", "AdapterResponse", "AgentRunResult"),
        *("EvalResult", "RunMetrics", "ToolCall", "TraceEvent"),
    ),
    "salvo.scenarios.run.tools.function": ("tool",),
}

__all__ = [
    "AdapterRequest",
    "AdapterResponse",
    "AgentRunResult",
    "BaseAdapter",
    "EvalResult",
    "RunContext",
    "RunMetrics",
    "ToolCall",
    "ToolDefinition",
    "TraceEvent",
    "__version__",
    "tool",
]


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
