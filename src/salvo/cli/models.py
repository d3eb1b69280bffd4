"""`salvo models` and `byop models`."""

from __future__ import annotations

import click


@click.command
@click.argument("names", nargs=-1, metavar="[MODEL]...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def models(names: tuple[str, ...], as_json: bool) -> None:
    """List models: what they accept and cost, and which keys are set.

    MODEL is a name such as anthropic/claude-sonnet-4-6 or gpt-5.4-mini; without one, the current models are
    listed. A model that is not listed can be used as well: which parameters it refuses is found out with its first
    reply. Prices are dollars per million tokens, input / output.
    """
    from salvo.cli import models_command

    models_command.models(names, as_json=as_json)
