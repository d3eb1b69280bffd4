"""`byop drift`: the reports of a subject over time."""

from __future__ import annotations

import click

from salvo.cli.byop.database import open_store
from salvo.cli.output import echo, echo_json
from salvo.engine.jsonio import json_codec
from salvo.playbooks.report import terminal


@click.command
@click.option("--subject", default="default", show_default=True, help="The subject to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def drift(subject: str, as_json: bool) -> None:
    """Show the reports of a subject over time.

    Each row is a report, oldest first, with its status, its consistency and the outcome of each check.
    """
    with open_store() as store:
        points = store.timeline(subject)
    if as_json:
        echo_json(json_codec.dumps(points, indent=2))
    else:
        echo("\n".join(terminal.timeline(subject, points, colour=True)))
