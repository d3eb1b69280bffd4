"""Write the table of list prices from the data of genai-prices: `make prices`.

Only the data is bundled, because the package itself brings an HTTP client that downloads newer prices.
"""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from genai_prices import types
from genai_prices.data_snapshot import get_snapshot

from salvo.engine.chat import catalog
from salvo.engine.runtime import pricing

FILE = Path(pricing.__file__).with_name("prices.json")
FIELDS = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")


def price_table() -> str:
    """Return the text of the file: one line per model, in the order in which they are matched."""
    providers = {provider.id: provider for provider in get_snapshot().providers}
    parts = []
    for name in catalog.providers():
        models = ",\n".join(f"  {json.dumps(_model(model))}" for model in providers[name].models)
        parts.append(f"{json.dumps(name)}: [\n{models}\n]")
    return "{" + ",\n".join(parts) + "}\n"


def _model(model: types.ModelInfo) -> dict[str, Any]:
    prices = model.prices if isinstance(model.prices, list) else [types.ConditionalPrice(prices=model.prices)]
    return {"id": model.id, "match": list(_clauses(model.match)), "prices": [_period(price) for price in prices]}


def _clauses(match: Any) -> Any:
    if isinstance(match, types.ClauseOr):
        for clause in match.or_:
            yield from _clauses(clause)
        return
    kind = {
        types.ClauseEquals: "equals",
        types.ClauseStartsWith: "starts_with",
        types.ClauseContains: "contains",
        types.ClauseRegex: "regex",
    }[type(match)]
    text = getattr(match, kind)
    yield [kind, text if kind == "regex" else text.lower()]


def _period(price: types.ConditionalPrice) -> dict[str, Any]:
    if price.constraint is not None and not isinstance(price.constraint, types.StartDateConstraint):
        raise NotImplementedError(f"A price with {price.constraint} has no place in the table.")
    values = {name: getattr(price.prices, name) for name in FIELDS}
    starts = {0} | {tier.start for value in values.values() for tier in getattr(value, "tiers", ())}
    tiers = [{"above": start, **{name: _rate(values[name], start) for name in FIELDS}} for start in sorted(starts)]
    return {"from": None if price.constraint is None else str(price.constraint.start_date), "tiers": tiers}


def _rate(value: Any, start: int) -> float | None:
    if value is None or isinstance(value, Decimal):
        return None if value is None else float(value)
    reached = [tier.price for tier in value.tiers if tier.start <= start]
    return float(reached[-1] if reached else value.base)


if __name__ == "__main__":
    FILE.write_text(price_table())
