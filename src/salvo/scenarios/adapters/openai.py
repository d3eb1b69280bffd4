"""`adapter: openai`: OpenAI's models and every compatible server."""

from __future__ import annotations

from salvo.scenarios.adapters.base import BaseAdapter
from salvo.scenarios.adapters.tool_loop import drive
from salvo.scenarios.result import AdapterRequest, AdapterResponse


class OpenAIAdapter(BaseAdapter):
    async def run(self, request: AdapterRequest) -> AdapterResponse:
        return await drive(self.context.chat_model(f"openai/{request.model}"), request, self.context)
