"""`salvo models` and `byop models`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import click

from salvo.cli.output import echo, echo_json
from salvo.engine.chat import catalog
from salvo.engine.runtime.clock import SystemClock
from salvo.engine.runtime.pricing import PriceBook
from salvo.engine.text.terminal import table


def models_command(read_prices: Callable[[], PriceBook]) -> click.Command:
    """Return the command of a product, with the prices that it counts."""

    @click.command(name="models")
    @click.argument("names", nargs=-1, metavar="[MODEL]...")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    def models(names: tuple[str, ...], as_json: bool) -> None:
        """List models: what they accept and cost, and which keys are set.

        MODEL is a name such as anthropic/claude-sonnet-4-6 or gpt-5.4-mini; without one, the current models are
        listed. A model that is not listed can be used as well: which parameters it refuses is found out with its first
        reply. Prices are dollars per million tokens, input / output.
        """
        book = read_prices()
        current = [f"{name}/{model}" for name, provider in catalog.providers().items() for model in provider.current]
        rows = [_row(name, book) for name in names or dict.fromkeys([*current, *book.own])]
        if as_json:
            echo_json(json.dumps(rows, indent=2))
        else:
            header = ("MODEL", "KEY", "TEMPERATURE", "PRICE", "ENDS")
            echo("\n".join(table(header, [list(row.values()) for row in rows])))

    return models


def _row(name: str, book: PriceBook) -> dict[str, str]:
    provider, model = catalog.find(name)
    facts = provider.facts(model)
    _, prices = book.find(provider.name, (model,), SystemClock().now())
    endpoint = catalog.endpoint(provider, os.environ)
    missing_key = f"{provider.key_variable} is not set" if endpoint.key_variable else "not needed"
    source = f" ({prices.source})" if prices and prices.source else ""
    return {
        "name": f"{provider.name}/{model}",
        "key": "set" if endpoint.key else missing_key,
        "temperature": ("refused" if "temperature" in facts.refuses else "taken") if facts.is_known else "unknown",
        "price": f"{prices}{source}" if prices else "unknown",
        "ends": str(facts.ends or ""),
    }


models = models_command(PriceBook)
