"""The interface of an adapter: `BaseAdapter.run(AdapterRequest) -> AdapterResponse`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from salvo.engine.chat.base import ChatModel
from salvo.engine.chat.model import WiredModel
from salvo.engine.mcp.listing import ServerListing
from salvo.engine.runtime.clock import Clock
from salvo.engine.wire.base import Wire
from salvo.scenarios.result import AdapterRequest, AdapterResponse
from salvo.scenarios.run.journal import Journal, JournaledModel
from salvo.scenarios.run.tools.toolbox import ToolBox


@dataclass(frozen=True, slots=True)
class RunContext:
    """What belongs to one run. Whatever goes through the wire and the toolbox is recorded and can be replayed."""

    wire: Wire
    toolbox: ToolBox
    clock: Clock
    seed: int | None
    journal: Journal
    endpoint: str | None = None
    """The scenario's own endpoint, if it has one."""
    listings: Mapping[str, ServerListing] = field(default_factory=dict)
    """What each MCP server of the scenario lists, by its name there."""

    def chat_model(self, name: str) -> ChatModel:
        """Return a model whose calls are recorded, counted and priced."""
        key_hint = None if self.endpoint is None else "`api_key` in adapter_options; no other key is sent there"
        model = WiredModel(name, self.wire, endpoint=self.endpoint, key_hint=key_hint)
        return JournaledModel(model, model.provider, self.journal)


class BaseAdapter(ABC):
    """Runs an agent. The runner makes a new adapter for every run and sets `context` before it calls `run`."""

    context: RunContext

    @abstractmethod
    async def run(self, request: AdapterRequest) -> AdapterResponse: ...
