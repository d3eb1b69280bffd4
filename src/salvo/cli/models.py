"""`models`, in both commands: what is known about the models that can be asked."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

import click

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
    listed. A model that is not listed can be used all the same: what it does not accept is found out when it is
    asked. Prices are dollars for a million tokens, input / output.
    """
    from salvo.engine.chat import catalog

    asked = names or [f"{name}/{model}" for name, of in catalog.providers().items() for model in of.current]
    rows = [_row(name) for name in asked]
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
        return
    click.echo("\n".join(table(_HEADER, [_cells(row) for row in rows])))


def _cells(row: _Row) -> tuple[str, ...]:
    return row.name, row.key, row.temperature, row.price, row.ends


def _row(name: str) -> _Row:
    from salvo.engine.chat import catalog
    from salvo.engine.runtime.clock import SystemClock
    from salvo.engine.runtime.pricing import prices_of

    provider, model = catalog.find(name)
    facts = provider.facts(model)
    prices = prices_of(provider.name, model, SystemClock().now())
    endpoint = catalog.endpoint(provider, os.environ)
    return _Row(
        name=f"{provider.name}/{model}",
        key="set" if endpoint.key else f"{provider.key_variable} is not set" if endpoint.key_variable else "not needed",
        temperature=("refused" if "temperature" in facts.refuses else "taken") if facts.known else "unknown",
        price=f"${prices.tiers[0].input:g} / ${prices.tiers[0].output:g}" if prices else "unknown",
        ends=str(facts.ends or ""),
    )
