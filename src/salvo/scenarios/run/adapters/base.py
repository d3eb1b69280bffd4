"""The interface of an adapter: `BaseAdapter.run(AdapterRequest) -> AdapterResponse`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from salvo.engine.chat.base import ChatModel
from salvo.engine.chat.model import WiredModel
from salvo.engine.runtime import user_code
from salvo.engine.runtime.clock import Clock
from salvo.engine.wire.base import Wire
from salvo.records import record
from salvo.scenarios.result import AdapterRequest, AdapterResponse
from salvo.scenarios.run.journal import Journal, JournaledModel
from salvo.scenarios.run.tools.toolbox import ToolBox

if TYPE_CHECKING:
    from salvo.engine.mcp.listing import ServerListing


@record
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


class BaseAdapter:
    """Runs an agent. The runner makes a new adapter for every run and sets `context` before it calls `run`.

    In a conversation `run` is called once for each message of the user, on the same object. An adapter may have a
    method `respond(message)` instead, which returns the answer: its text, any other value, or an AdapterResponse.
    """

    context: RunContext
    request: AdapterRequest
    """What is asked now. It is set before `respond` is called."""

    async def run(self, request: AdapterRequest) -> AdapterResponse:
        """Return what the agent did. It is replaced by an adapter that has no method `respond`."""
        self.request = request
        output = await user_code.call(getattr(self, RESPOND), request.user_message)
        return output if isinstance(output, AdapterResponse) else AdapterResponse(output)

    async def end_conversation(self) -> None:
        """Release what was kept between the turns of a conversation. It is called after the last one."""


RESPOND = "respond"
"""The method of an adapter that answers one message of a conversation after the other."""


def is_adapter(adapter: object) -> bool:
    """Return whether it is a class of adapters that can be asked."""
    if not (inspect.isclass(adapter) and issubclass(adapter, BaseAdapter)):
        return False
    return adapter.run is not BaseAdapter.run or callable(getattr(adapter, RESPOND, None))
