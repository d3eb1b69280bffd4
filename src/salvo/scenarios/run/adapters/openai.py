"""`adapter: openai`: OpenAI's models and every compatible server."""

from __future__ import annotations

from salvo.scenarios.result import AdapterRequest, AdapterResponse
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.adapters.tool_loop import run_tool_loop


class OpenAIAdapter(BaseAdapter):
    async def run(self, request: AdapterRequest) -> AdapterResponse:
        return await run_tool_loop(self.context.chat_model(f"openai/{request.model}"), request, self.context)
