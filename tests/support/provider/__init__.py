"""A provider on loopback that speaks OpenAI Chat Completions and Responses and Anthropic Messages, scripted by the test.

with LoopbackProvider(by_turn(UseTools(Use("find_order", {"id": 7})), Say("It is on its way."))) as provider:
    ...  # any client, pointed at provider.openai_url or provider.anthropic_url
assert provider.requests[1].tool_results[0].name == "find_order"
"""

from tests.support.provider.four_call import FOUR_CALL
from tests.support.provider.request import ProviderRequest, ToolResult
from tests.support.provider.script import (
    Answer,
    Fault,
    Say,
    Script,
    Scripted,
    Step,
    Use,
    UseTools,
    always,
    by_turn,
    in_order,
)
from tests.support.provider.server import LoopbackProvider
from tests.support.provider.tokens import Usage

__all__ = [
    "FOUR_CALL",
    "Answer",
    "Fault",
    "LoopbackProvider",
    "ProviderRequest",
    "Say",
    "Script",
    "Scripted",
    "Step",
    "ToolResult",
    "Usage",
    "Use",
    "UseTools",
    "always",
    "by_turn",
    "in_order",
]
