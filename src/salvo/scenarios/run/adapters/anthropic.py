"""`adapter: anthropic`: Anthropic's models."""

from __future__ import annotations

from salvo.scenarios.result import AdapterRequest, AdapterResponse
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.adapters.tool_loop import run_tool_loop


class AnthropicAdapter(BaseAdapter):
    async def run(self, request: AdapterRequest) -> AdapterResponse:
        return await run_tool_loop(self.context.chat_model(f"anthropic/{request.model}"), request, self.context)
