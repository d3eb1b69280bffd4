"""The journal of a run: every reply and tool call so far. It survives when the run ends by an error or its timeout."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any, TypeAlias

from salvo.engine.chat.base import ChatModel, ChatReply, ChatRequest, Usage
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pricing import PriceBook, UnitPrices, usage_cost
from salvo.errors import ContextTooLongError, ProviderError
from salvo.scenarios.result import ToolCall, TraceEvent

Spend: TypeAlias = Callable[[float | None, str], None]
"""Counts the cost of a call, None where it is not known, and the name of its model."""


class Journal:
    """Counts calls, tokens and cost, and collects trace events. Private reasoning is not among them."""

    def __init__(
        self,
        clock: Clock,
        prices: dict[str, UnitPrices | None] | None = None,
        spend: Spend | None = None,
        price_book: PriceBook | None = None,
    ) -> None:
        """`prices` are those of a recording, which are used instead of the price book."""
        self.events: list[TraceEvent] = []
        self.model_calls = 0
        self.retries = 0
        self.prices: dict[str, UnitPrices | None] = dict(prices or {})
        """Unit prices by model. They are recorded, so that a new price table changes nothing in a replay."""
        self.models: dict[str, str | None] = {}
        """Each model that answered, with the fingerprints of its backends."""
        self.dropped: set[str] = set()
        self.tolerated_fault: ProviderError | None = None
        """Why the agent's last call failed, if it did, and the agent went on."""
        self._clock = clock
        self._spend = spend
        self._price_book = None if prices is not None else price_book or PriceBook()
        self._price_names: dict[tuple[str, str, str], str] = {}
        self._usages: list[Usage | None] = []
        self._costs: list[float | None] = []
        self._part_start = (0, 0)

    def sibling(self) -> Journal:
        """Return an empty journal with the same prices, for calls that are counted separately."""
        prices = self.prices if self._price_book is None else None
        return Journal(self._clock, prices, self._spend, self._price_book)

    @property
    def usage(self) -> Usage | None:
        """All tokens; None if a call did not report them, or if no call was made through Salvo."""
        return _total(self._usages)

    def known_prices(self) -> dict[str, Any]:
        """Return the prices by which the calls were charged, as they are stored."""
        return {name: _price_document(prices) for name, prices in self.prices.items() if prices is not None}

    @property
    def cost(self) -> float | None:
        """All dollars; None if the price of any call is not known."""
        return _sum(self._costs)

    def begin_part(self) -> None:
        """Begin a part of the run that is measured by itself, such as a turn of a conversation."""
        self._part_start = (self.model_calls, self.retries)

    def part(self) -> tuple[Usage | None, float | None, int, int]:
        """Return the tokens, cost, calls and retries of this part."""
        calls, retries = self._part_start
        return _total(self._usages[calls:]), _sum(self._costs[calls:]), self.model_calls - calls, self.retries - retries

    def record_reply(self, provider: str, reply: ChatReply, requested: str = "") -> float | None:
        """Record a reply and return its cost. The requested model may be an alias of the one that answers."""
        self.model_calls += 1
        self.retries += len(reply.attempts)
        self.dropped.update(reply.dropped)
        self._usages.append(reply.usage)
        name = f"{provider}/{reply.model}"
        self.models[name] = _join_fingerprints(self.models.get(name), reply.system_fingerprint)
        models = (requested or reply.model, reply.model)
        prices = self.prices.get(self._priced_name(provider, *models))
        cost = usage_cost(reply.usage, prices, batched=reply.batched)
        self._costs.append(cost)
        # At once, because a run may have calls without a price, or never end. A reply from the cache was paid before.
        if not reply.from_cache:
            label = name if reply.model else f"{provider}{reply.stop_raw}"
            self._count_spending(provider, models, cost, reply.usage, label)
        data: dict[str, Any] = {"text": reply.text, "stop": str(reply.stop)}
        if reply.message.tool_uses:
            data["tools"] = [use.name for use in reply.message.tool_uses]
        if reply.usage is not None:
            data["tokens"] = reply.usage.input + reply.usage.output + reply.usage.cache_read + reply.usage.cache_write
        self.events.append(TraceEvent("model", data, reply.seconds))
        return cost

    def expect_reply(self, provider: str, model: str, usage: Usage) -> None:
        """Count what a call through the batch API will cost, by an estimate of its tokens: its reply comes later."""
        cost = usage_cost(usage, self.prices.get(self._priced_name(provider, model, model)), batched=True)
        self._count_spending(provider, (model, model), cost, usage, f"{provider}/{model}")

    def _count_spending(
        self, provider: str, models: tuple[str, str], cost: float | None, usage: Usage | None, name: str
    ) -> None:
        if self._spend is None:
            return
        if self._price_book is not None and self._price_book.own:
            cost = self._price_book.counted_cost(provider, models, cost, usage, self._clock.now())
        self._spend(cost, name)

    def _priced_name(self, provider: str, requested: str, answering: str) -> str:
        """Return the name under which `prices` has the prices of a call."""
        call = (provider, requested, answering)
        if call not in self._price_names:
            if self._price_book is not None:
                name, prices = self._price_book.find(provider, (requested, answering), self._clock.now())
                self.prices[name] = prices
            else:
                alias = self.prices.get(f"{provider}/{requested}")
                # Only a price of the user's own is for the requested name.
                name = f"{provider}/{requested if alias is not None and alias.source else answering}"
            self._price_names[call] = name
        return self._price_names[call]

    def record_tool_call(self, call: ToolCall) -> None:
        answer = {"error": call.error} if call.error is not None else {"result": call.result}
        data = {"name": call.name, "arguments": call.arguments, **answer}
        self.events.append(TraceEvent("tool", data, call.seconds))

    def record_event(self, type_: str, **data: Any) -> None:
        self.events.append(TraceEvent(type_, data))


def _total(usages: Sequence[Usage | None]) -> Usage | None:
    total = Usage()
    for usage in usages:
        if usage is None:
            return None
        total += usage
    return total if usages else None


def _sum(costs: Sequence[float | None]) -> float | None:
    if not costs or any(cost is None for cost in costs):
        return None
    # An exact sum does not depend on the order in which concurrent calls are answered.
    return math.fsum(cost for cost in costs if cost is not None)


def _join_fingerprints(previous: str | None, fingerprint: str | None) -> str | None:
    """Return all fingerprints in alphabetical order: which reply came last depends on timing."""
    if previous is None or fingerprint is None or previous == fingerprint:
        return previous or fingerprint
    return ", ".join(sorted({*previous.split(", "), fingerprint}))


class JournaledModel:
    """A model whose replies are recorded in the journal."""

    def __init__(self, inner: ChatModel, provider: str, journal: Journal) -> None:
        self._inner = inner
        self._provider = provider
        self._journal = journal

    @property
    def name(self) -> str:
        return self._inner.name

    async def complete(self, request: ChatRequest) -> ChatReply:
        try:
            reply = await self._inner.complete(request)
        except ProviderError as error:
            # A context that is too long is the agent's own fault.
            self._journal.tolerated_fault = None if isinstance(error, ContextTooLongError) else error
            raise
        self._journal.tolerated_fault = None
        self._journal.record_reply(self._provider, reply, self._inner.name.partition("/")[2])
        return reply


@lru_cache(maxsize=64)
def _price_document(prices: UnitPrices) -> dict[str, Any]:
    # Once for all runs, because `asdict` is slow.
    return asdict(prices)
