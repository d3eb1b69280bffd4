"""`byop history`: the stored evaluations."""

from __future__ import annotations

from typing import Any

import click


@click.command
@click.option("--subject", help="Only evaluations of this subject.")
@click.option(
    "--status",
    type=click.Choice(["alert", "review", "observe", "stable"], case_sensitive=False),
    help="Only reports with this status.",
)
@click.option("--mode", type=click.Choice(["full", "screening"]), help="Only evaluations in this mode.")
@click.option("--search", default="", help="Only those with this in their id, subject, evaluator, status or playbook.")
@click.option("--limit", type=click.IntRange(1, 1_000_000), default=20, show_default=True, help="How many to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def history(**options: Any) -> None:
    """List stored evaluations, newest first.

    They are read from the database in DATABASE_URL, or from byop_runs.db in the current folder. Times are in UTC.
    """
    from salvo.cli.byop import history_command

    history_command.history(**options)
