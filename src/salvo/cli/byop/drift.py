"""`byop drift`: the reports of a subject over time."""

from __future__ import annotations

import click


@click.command
@click.option("--subject", default="default", show_default=True, help="The subject to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def drift(subject: str, as_json: bool) -> None:
    """Show the reports of a subject over time.

    Each row is a report, oldest first, with its status, its consistency and the outcome of each check.
    """
    from salvo.cli.byop import drift_command

    drift_command.drift(subject, as_json)
