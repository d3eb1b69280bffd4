"""`byop delete`: delete a stored evaluation."""

from __future__ import annotations

import sys

import click

from salvo.cli.byop.database import open_store
from salvo.cli.output import confirm, echo
from salvo.engine.text.unicode_escape import printable
from salvo.errors import UsageError
from salvo.playbooks.store.history import HistoryFilters


@click.command
@click.argument("report_id", metavar="ID")
@click.option("--by", metavar="NAME", help="Who asks for it; by default the operating system's user name.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete(report_id: str, by: str | None, yes: bool) -> None:
    """Delete a stored evaluation: its texts, votes and report.

    ID is a report's id, a prefix of it, or `latest`. The audit log stays: it contains hashes, verdicts and names (such
    as the subject) but no texts, and it records who erased what and when. A deleted baseline is cleared.
    """
    with open_store() as store:
        full_id = store.find(report_id)
        row = next((row for row in store.history(HistoryFilters(search=full_id)).rows if row.id == full_id), None)
        details = "damaged" if row is None else f"{row.subject}, {row.created_at[:19]}Z, {row.status or row.state}"
        description = f"{full_id} ({printable(details)})"
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError(
                    f"Deleting {description} needs a confirmation, and there is no terminal.", hint="Pass --yes."
                )
            confirm(f"Delete {description}? This cannot be undone.")
        store.delete(full_id, by=by)
    echo(f"{full_id} was deleted. The audit log records it.")
