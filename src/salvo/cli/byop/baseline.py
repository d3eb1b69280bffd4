"""`byop baseline`: which reports later ones are compared with."""

from __future__ import annotations

from dataclasses import asdict

import click


@click.group
def baseline() -> None:
    """Say which reports later ones are compared with.

    A report is compared with the newest saved baseline that has the same playbook and the same subject; where none
    was saved, with the newest earlier full report.
    """


@baseline.command(name="set")
@click.argument("report_id", metavar="ID")
def set_(report_id: str) -> None:
    """Save a full, complete report as a baseline.

    ID is the beginning of a report's id, or `latest`.
    """
    from salvo.cli.byop.database import open_store

    with open_store() as store:
        found = store.find(report_id)
        store.set_baseline(found)
    click.echo(f"{found} is a baseline now: later reports with its playbook and subject are compared with it.")


@baseline.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """List the saved baselines, the newest first."""
    from salvo.cli.byop.database import open_for_listing
    from salvo.engine.jsonio import json_codec
    from salvo.engine.text.formatting import truncate
    from salvo.engine.text.terminal import table
    from salvo.engine.text.unicode_escape import printable
    from salvo.errors import NothingFoundError

    with open_for_listing() as store:
        saved = store.baselines()
    if not saved:
        raise NothingFoundError("No baseline is saved.", hint="Save one with `byop baseline set ID`.")
    if as_json:
        click.echo(json_codec.dumps([asdict(row) for row in saved], indent=2))
    else:
        header = ("ID", "SAVED", "EVALUATED", "SUBJECT", "PLAYBOOK", "CONSISTENCY", "STATUS")
        rows = [
            (
                row.evaluation_id,
                row.saved_at[:19] + "Z",
                row.evaluated_at[:19] + "Z",
                truncate(printable(row.subject), 30),
                truncate(printable(f"{row.playbook_id} {row.playbook_version}"), 40),
                "" if row.consistency is None else f"{row.consistency:.2f}",
                row.status,
            )
            for row in saved
        ]
        click.echo("\n".join(table(header, rows)))


@baseline.command
@click.argument("report_id", metavar="ID")
def clear(report_id: str) -> None:
    """Stop comparing with a report; the report itself stays.

    ID is the beginning of a report's id, or `latest`.
    """
    from salvo.cli.byop.database import open_store

    with open_store() as store:
        found = store.find(report_id)
        store.clear_baseline(found)
    click.echo(f"{found} is no baseline any more.")
