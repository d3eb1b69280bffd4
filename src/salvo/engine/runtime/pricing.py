"""Tokens to dollars. What is not known stays unknown: a price of None is never a price of 0."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from salvo.engine.chat.base import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Rates:
    """Dollars for a million tokens, for prompts of more than `above` tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    above: int = 0

    def cost(self, usage: Usage) -> float:
        return (
            usage.input * self.input
            + usage.output * self.output
            + usage.cache_read * self.cache_read
            + usage.cache_write * self.cache_write
        ) / _MILLION


@dataclass(frozen=True, slots=True)
class UnitPrices:
    """What one model costs: plain data, to be stored beside what it was used for. The first tier is the base."""

    tiers: tuple[Rates, ...]

    def cost(self, usage: Usage) -> float:
        """The whole call is charged at the rates of the tier that its prompt reaches."""
        prompt = usage.input + usage.cache_read + usage.cache_write
        reached = [rates for rates in self.tiers if prompt > rates.above or rates.above == 0]
        return max(reached, key=lambda rates: rates.above).cost(usage)


def usage_cost(usage: Usage | None, prices: UnitPrices | None) -> float | None:
    """None where either is unknown."""
    return None if usage is None or prices is None else prices.cost(usage)


def find_prices(provider: str, model: str, when: datetime) -> UnitPrices | None:
    """The list prices of that time from the bundled table; None for a model it does not have."""
    return _prices_at(provider, model, when.replace(second=0, microsecond=0))


@lru_cache(maxsize=512)
def _prices_at(provider: str, model: str, minute: datetime) -> UnitPrices | None:
    # Imported here: the table takes a fifth of a second, which callers spend while a model is answering.
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, found = get_snapshot().find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    prices = found.get_prices(minute)
    if prices.input_mtok is None or prices.output_mtok is None:
        return None
    starts = {0} | {tier.start for price in vars(prices).values() for tier in getattr(price, "tiers", ())}
    return UnitPrices(tuple(_rates(prices, start) for start in sorted(starts)))


def _rates(prices: ModelPrice, start: int) -> Rates:
    def rate(name: str) -> float | None:
        price = getattr(prices, name)
        if price is None or isinstance(price, Decimal):
            return None if price is None else float(price)
        reached = [tier.price for tier in price.tiers if tier.start <= start]
        return float(reached[-1] if reached else price.base)

    # Tokens without a price of their own are charged as what they are a kind of.
    plain_input, output = rate("input_mtok") or 0.0, rate("output_mtok") or 0.0
    cache_read, cache_write = rate("cache_read_mtok"), rate("cache_write_mtok")
    return Rates(
        plain_input,
        output,
        plain_input if cache_read is None else cache_read,
        plain_input if cache_write is None else cache_write,
        above=start,
    )
