"""`salvo models` and `byop models`."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, astuple, dataclass

import click

from salvo.engine.chat import catalog
from salvo.engine.runtime.clock import SystemClock
from salvo.engine.runtime.pricing import find_prices
from salvo.engine.text.terminal import table

_HEADER = ("MODEL", "KEY", "TEMPERATURE", "PRICE", "ENDS")


@dataclass(frozen=True)
class _Row:
    name: str
    key: str
    temperature: str
    price: str
    ends: str


@click.command
@click.argument("names", nargs=-1, metavar="[MODEL]...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def models(names: tuple[str, ...], as_json: bool) -> None:
    """List models: what they accept and cost, and which keys are set.

    MODEL is a name such as anthropic/claude-sonnet-4-6 or gpt-5.4-mini; without one, the current models are
    listed. A model that is not listed can be used as well: which parameters it refuses is found out with its first
    reply. Prices are dollars per million tokens, input / output.
    """
    rows = [_row(name) for name in names or _current_models()]
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        click.echo("\n".join(table(_HEADER, [astuple(row) for row in rows])))


def _current_models() -> list[str]:
    return [f"{name}/{model}" for name, provider in catalog.providers().items() for model in provider.current]


def _row(name: str) -> _Row:
    provider, model = catalog.find(name)
    facts = provider.facts(model)
    prices = find_prices(provider.name, model, SystemClock().now())
    endpoint = catalog.endpoint(provider, os.environ)
    return _Row(
        name=f"{provider.name}/{model}",
        key="set" if endpoint.key else f"{provider.key_variable} is not set" if endpoint.key_variable else "not needed",
        temperature=("refused" if "temperature" in facts.refuses else "taken") if facts.is_known else "unknown",
        price=f"${prices.tiers[0].input:g} / ${prices.tiers[0].output:g}" if prices else "unknown",
        ends=str(facts.ends or ""),
    )
