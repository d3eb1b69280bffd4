"""The one seam of running an agent: `BaseAdapter.run(AdapterRequest) -> AdapterResponse`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from salvo.engine.chat import catalog
from salvo.engine.chat.base import ChatModel
from salvo.engine.runtime.clock import Clock
from salvo.engine.wire.base import Wire
from salvo.scenarios.result import AdapterRequest, AdapterResponse
from salvo.scenarios.run.journal import Journal, JournaledModel
from salvo.scenarios.run.tools.toolbox import ToolBox


class RunContext(NamedTuple):
    """What belongs to one run. What goes through the wire and the toolbox is recorded and can be replayed."""

    wire: Wire
    toolbox: ToolBox
    clock: Clock
    seed: int | None
    journal: Journal
    endpoint: str | None = None
    """Another endpoint than the provider's own, where the scenario names one."""

    def chat_model(self, name: str) -> ChatModel:
        """A model whose calls are recorded, counted and priced."""
        model = catalog.chat_model(name, self.wire, endpoint_name=self.endpoint)
        return JournaledModel(model, model.provider, self.journal)


class BaseAdapter(ABC):
    """Runs an agent once. The runner makes a new one for every run and sets `context` before it calls `run`."""

    context: RunContext

    @abstractmethod
    async def run(self, request: AdapterRequest) -> AdapterResponse: ...
