"""The command `salvo`."""

from __future__ import annotations

import click

from salvo import __version__
from salvo.cli.lazy import Lazy, LazyGroup

COMMANDS = {
    "models": Lazy("salvo.cli.models:models", "List models: what they accept and cost, and which keys are set."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
@click.version_option(__version__, prog_name="salvo")
def salvo() -> None:
    """Tests for multi-step AI agents: run a scenario N times, and know how far the agent can be relied on."""
