"""`byop delete`: delete a stored evaluation."""

from __future__ import annotations

import click


@click.command
@click.argument("report_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete(report_id: str, yes: bool) -> None:
    """Delete a stored evaluation: its texts, votes and report.

    ID is a report's id, a prefix of it, or `latest`. The audit log stays: it contains hashes and verdicts but no texts,
    and it records the deletion. A deleted baseline is cleared.
    """
    from salvo.cli.byop import delete_command

    delete_command.delete(report_id, yes)
