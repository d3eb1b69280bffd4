"""Convert tokens to dollars. An unknown price is None, never 0."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from salvo.engine.chat.base import Usage
from salvo.records import record

BATCH_SHARE = 0.5
"""What both providers charge for a call through their batch API, as a share of the price of a direct call."""


@record
class Rates:
    """Dollars per million tokens, for prompts of more than `above` tokens."""

    input: float
    output: float | None
    """None for a model without an output that is charged, such as one for embeddings."""
    cache_read: float
    cache_write: float
    above: int = 0

    def cost(self, usage: Usage) -> float | None:
        if usage.output and self.output is None:
            return None
        return (
            usage.input * self.input
            + usage.output * (self.output or 0.0)
            + usage.cache_read * self.cache_read
            + usage.cache_write * self.cache_write
        ) / 1_000_000


@record
class UnitPrices:
    """The prices of one model, as plain data that runs and recordings store. The first tier is the base."""

    tiers: tuple[Rates, ...]
    source: str = ""
    """The file of the user that sets them; empty for list prices."""

    def __str__(self) -> str:
        base = self.tiers[0]
        return f"${base.input:g} / " + ("no output" if base.output is None else f"${base.output:g}")

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of a call; None where a price is missing.

        All of it is charged at the rates of the tier that the prompt reaches.
        """
        prompt = usage.input + usage.cache_read + usage.cache_write
        reached = [rates for rates in self.tiers if prompt > rates.above or rates.above == 0]
        return max(reached, key=lambda rates: rates.above).cost(usage)


@record
class OwnPrice:
    """What the user says a model costs: rates, or the name of another model whose list prices it has."""

    rates: Rates | None
    same_as: str
    """As provider/model; empty if there are rates."""
    source: str
    """The file that says so."""
    by_project: bool
    """Whether that file is part of a project, which may be a stranger's."""

    def unit_prices(self, when: datetime) -> UnitPrices | None:
        if self.rates is not None:
            return UnitPrices((self.rates,), self.source)
        provider, _, model = self.same_as.partition("/")
        prices = find_prices(provider, model, when)
        return None if prices is None else replace(prices, source=self.source)


@record
class PriceBook:
    """What models cost: as the user says, else by the list."""

    own: Mapping[str, OwnPrice] = field(default_factory=dict)
    """By provider/model, in lower case."""

    def find(self, provider: str, models: Sequence[str], when: datetime) -> tuple[str, UnitPrices | None]:
        """Return the prices of a call, and the name that they are for. `models` are the requested and the answering.

        The user may price either. The list has the model that answered, which is last.
        """
        if self.own:
            for model in models:
                price = self.own.get(f"{provider}/{model}".lower())
                if price is not None:
                    return f"{provider}/{model}", price.unit_prices(when)
        return f"{provider}/{models[-1]}", find_prices(provider, models[-1], when)

    def counted_cost(
        self, provider: str, models: Sequence[str], cost: float | None, usage: Usage | None, when: datetime
    ) -> float | None:
        """Return what a budget counts for a call: its cost, or the list price if a project sets a lower one.

        Otherwise the project of a stranger could make a budget useless.
        """
        own = [self.own.get(f"{provider}/{model}".lower()) for model in models]
        price = next((price for price in own if price is not None), None)
        if cost is None or price is None or not price.by_project:
            return cost
        costs = (usage_cost(usage, find_prices(provider, model, when)) for model in models)
        return max(cost, *(value or 0.0 for value in costs))


def usage_cost(usage: Usage | None, prices: UnitPrices | None, *, batched: bool = False) -> float | None:
    """Return the cost in dollars; None where the usage or the prices are unknown."""
    cost = None if usage is None or prices is None else prices.cost(usage)
    return cost * BATCH_SHARE if batched and cost is not None else cost


def find_prices(provider: str, model: str, when: datetime) -> UnitPrices | None:
    """Return the list prices on that day from the bundled table; None for an unknown model."""
    return _prices_on(provider, model.lower(), when.date().isoformat())


@lru_cache(maxsize=512)
def _prices_on(provider: str, model: str, day: str) -> UnitPrices | None:
    models = _price_table().get(provider, ())
    # Some gateways write a date without dashes.
    dashed = _COMPACT_DATE.sub(r"-\1-\2-\3", model)
    entry = next((entry for name in (model, dashed) for entry in models if _matches(entry, name)), None)
    if entry is None:
        return None
    started = [period for period in entry["prices"] if period["from"] is None or period["from"] <= day]
    tiers = (started or entry["prices"][:1])[-1]["tiers"]
    if tiers[0]["input_mtok"] is None:
        return None
    return UnitPrices(tuple(map(_rates, tiers)))


def _rates(tier: dict[str, Any]) -> Rates:
    plain = tier["input_mtok"]
    # Cache tokens without a price of their own are charged as input.
    read, write = (plain if tier[name] is None else tier[name] for name in ("cache_read_mtok", "cache_write_mtok"))
    return Rates(plain, tier["output_mtok"], read, write, above=tier["above"])


def _matches(entry: dict[str, Any], model: str) -> bool:
    return any(_CLAUSES[kind](model, text) for kind, text in entry["match"])


_CLAUSES: dict[str, Callable[[str, str], bool]] = {
    "equals": str.__eq__,
    "starts_with": str.startswith,
    "contains": str.__contains__,
    "regex": lambda model, pattern: re.search(pattern, model) is not None,
}
_COMPACT_DATE = re.compile(r"-(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)")


@cache
def _price_table() -> dict[str, list[dict[str, Any]]]:
    """Return the models of each provider. `make prices` writes the file, from the data of genai-prices."""
    table: dict[str, list[dict[str, Any]]] = json.loads(Path(__file__).with_name("prices.json").read_text("utf-8"))
    return table
