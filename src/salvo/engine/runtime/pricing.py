"""Convert tokens to dollars. An unknown price is None, never 0."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from salvo.engine.chat.base import Usage
from salvo.engine.runtime.threads import in_thread

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelPrice


@dataclass(frozen=True, slots=True)
class Rates:
    """Dollars per million tokens, for prompts of more than `above` tokens."""

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
        ) / 1_000_000


@dataclass(frozen=True, slots=True)
class UnitPrices:
    """The prices of one model, as plain data that recordings store. The first tier is the base."""

    tiers: tuple[Rates, ...]

    def cost(self, usage: Usage) -> float:
        """Return the cost of a call. All of it is charged at the rates of the tier that the prompt reaches."""
        prompt = usage.input + usage.cache_read + usage.cache_write
        reached = [rates for rates in self.tiers if prompt > rates.above or rates.above == 0]
        return max(reached, key=lambda rates: rates.above).cost(usage)


def usage_cost(usage: Usage | None, prices: UnitPrices | None) -> float | None:
    """Return the cost in dollars; None where the usage or the prices are unknown."""
    return None if usage is None or prices is None else prices.cost(usage)


def find_prices(provider: str, model: str, when: datetime) -> UnitPrices | None:
    """Return the list prices at that time from the bundled table; None for an unknown model."""
    return _prices_at(provider, model, when.replace(second=0, microsecond=0))


async def load_in_thread() -> None:
    """Load the price table while the first replies are on their way.

    Loading it on the event loop would delay those replies by 0.1 s, and count as latency of the agents.
    """
    await in_thread(_price_table)


@cache
def _price_table() -> DataSnapshot:
    # Imported here, because it is the import that takes the time, and many commands need no prices.
    from genai_prices.data_snapshot import get_snapshot

    return get_snapshot()


@lru_cache(maxsize=512)
def _prices_at(provider: str, model: str, minute: datetime) -> UnitPrices | None:
    try:
        _, info = _price_table().find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    prices = info.get_prices(minute)
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

    # Cache tokens without a price of their own are charged as input.
    plain_input, output = rate("input_mtok") or 0.0, rate("output_mtok") or 0.0
    cache_read, cache_write = rate("cache_read_mtok"), rate("cache_write_mtok")
    return Rates(
        plain_input,
        output,
        plain_input if cache_read is None else cache_read,
        plain_input if cache_write is None else cache_write,
        above=start,
    )
