"""`byop delete`: what should not be kept any longer."""

from __future__ import annotations

import sys

import click


@click.command
@click.argument("report_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(report_id: str, yes: bool) -> None:
    """Delete a stored evaluation: its texts, votes and report.

    ID is the beginning of a report's id, or `latest`. The audit log stays as it is: it holds hashes and verdicts, no
    texts, and notes the deletion. A baseline that is deleted is cleared.
    """
    from salvo.cli.byop.database import open_store
    from salvo.engine.text.unicode_escape import printable
    from salvo.errors import UsageError

    with open_store() as store:
        found = store.find(report_id)
        row = next(row for row in store.history(search=found) if row.id == found)
        what = f"{found} ({printable(row.subject)}, {row.created_at[:19]}Z, {row.status or row.state})"
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError(f"Nobody can be asked whether to delete {what}.", hint="Say it with --yes.")
            click.confirm(f"Delete {what}? It cannot be brought back.", abort=True)
        store.delete(found)
    click.echo(f"{found} was deleted. The audit log notes it.")
