"""The journal of a run: what the agent said and did so far, there even if the run ends by an error or the clock."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

from salvo.engine.chat.base import ChatModel, ChatReply, ChatRequest, Usage
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pricing import UnitPrices, cost_of, prices_of
from salvo.scenarios.result import ToolCall, TraceEvent


class Journal:
    """Counts what was paid for and keeps safe events. Reasoning is not among them."""

    def __init__(self, clock: Clock, prices: dict[str, UnitPrices | None] | None = None) -> None:
        self.events: list[TraceEvent] = []
        self.model_calls = 0
        self.retries = 0
        self.prices: dict[str, UnitPrices | None] = dict(prices or {})
        self.models: dict[str, str | None] = {}
        """Each model as it was returned, with its backend's fingerprint."""
        self.dropped: set[str] = set()
        self._clock = clock
        self._fixed = prices is not None
        self._usage: Usage | None = Usage()
        self._costs: list[float | None] = []

    @property
    def usage(self) -> Usage | None:
        """All tokens; None where any call did not tell, or where no call was made through us."""
        return self._usage if self.model_calls else None

    @property
    def cost(self) -> float | None:
        """All dollars; None where the price of any call is not known."""
        if any(cost is None for cost in self._costs):
            return None
        # Exact, so that it is the same in whichever order concurrent calls are answered.
        return math.fsum(cost for cost in self._costs if cost is not None) if self.model_calls else None

    def said(self, provider: str, reply: ChatReply) -> float | None:
        """The model spoke. Gives what that cost."""
        self.model_calls += 1
        self.retries += len(reply.attempts)
        self.models[f"{provider}/{reply.model}"] = reply.system_fingerprint
        self.dropped.update(reply.dropped)
        self._usage = None if self._usage is None or reply.usage is None else self._usage + reply.usage
        cost = cost_of(reply.usage, self._prices(provider, reply.model, self._clock.now()))
        self._costs.append(cost)
        data: dict[str, Any] = {"text": reply.text, "stop": str(reply.stop)}
        if reply.message.tool_uses:
            data["tools"] = [use.name for use in reply.message.tool_uses]
        if reply.usage is not None:
            data["tokens"] = reply.usage.input + reply.usage.output + reply.usage.cache_read + reply.usage.cache_write
        self.events.append(TraceEvent("model", data, reply.seconds))
        return cost

    def used(self, call: ToolCall) -> None:
        """A tool was asked, and answered."""
        answer = {"error": call.error} if call.error is not None else {"result": call.result}
        data = {"name": call.name, "arguments": call.arguments, **answer}
        self.events.append(TraceEvent("tool", data, call.seconds))

    def note(self, type_: str, **data: Any) -> None:
        self.events.append(TraceEvent(type_, data))

    def _prices(self, provider: str, model: str, when: datetime) -> UnitPrices | None:
        """The unit prices used, kept so that a recording holds them: a new price table changes nothing in replay."""
        name = f"{provider}/{model}"
        if name not in self.prices and not self._fixed:
            self.prices[name] = prices_of(provider, model, when)
        return self.prices.get(name)


class JournaledModel:
    """A model whose every word is in the journal."""

    def __init__(self, inner: ChatModel, provider: str, journal: Journal) -> None:
        self._inner = inner
        self._provider = provider
        self._journal = journal

    @property
    def name(self) -> str:
        return self._inner.name

    async def complete(self, request: ChatRequest) -> ChatReply:
        reply = await self._inner.complete(request)
        self._journal.said(self._provider, reply)
        return reply
