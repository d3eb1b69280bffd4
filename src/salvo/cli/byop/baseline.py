"""`byop baseline`: the reports that later ones are compared with."""

from __future__ import annotations

from dataclasses import asdict

import click

from salvo.cli.byop.database import open_for_listing, open_store
from salvo.cli.output import echo, echo_json
from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import truncate
from salvo.engine.text.terminal import table
from salvo.engine.text.unicode_escape import printable
from salvo.errors import NothingFoundError
from salvo.playbooks.report.labels import baseline_saved, listed_consistency


@click.group
def baseline() -> None:
    """Choose the reports that later ones are compared with.

    A report is compared with the saved baseline of the same playbook and subject. If none was saved, it is compared
    with the newest earlier full report. Reports whose subject nobody named are not compared.
    """


@baseline.command(name="set")
@click.argument("report_id", metavar="ID")
@click.option("--reason", default="", help="Why, for the audit log: of interest if the report is not STABLE.")
def set_(report_id: str, reason: str) -> None:
    """Save a full, complete report as the baseline of its subject and playbook, in place of another one.

    ID is a report's id, a prefix of it, or `latest`.
    """
    with open_store() as store:
        full_id = store.find(report_id)
        store.set_baseline(full_id, reason)
        subject = store.load(full_id).subject
    echo(baseline_saved(full_id, subject))


@baseline.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """List the saved baselines, newest first."""
    with open_for_listing() as store:
        baselines = store.baselines()
    if not baselines:
        raise NothingFoundError("No baseline is saved.", hint="Save one with `byop baseline set ID`.")
    if as_json:
        echo_json(json_codec.dumps([asdict(row) for row in baselines], indent=2))
        return
    header = ("ID", "SAVED", "EVALUATED", "SUBJECT", "PLAYBOOK", "CONSISTENCY", "STATUS")
    rows = [
        (
            row.evaluation_id,
            row.saved_at[:19] + "Z",
            row.evaluated_at[:19] + "Z",
            truncate(printable(row.subject), 30),
            truncate(printable(f"{row.playbook_id} {row.playbook_version}"), 40),
            listed_consistency(row.consistency, row.evaluator),
            row.status,
        )
        for row in baselines
    ]
    echo("\n".join(table(header, rows)))


@baseline.command
@click.argument("report_id", metavar="ID")
def clear(report_id: str) -> None:
    """Stop comparing with a report. The report itself stays.

    ID is a report's id, a prefix of it, or `latest`.
    """
    with open_store() as store:
        full_id = store.find(report_id)
        store.clear_baseline(full_id)
    echo(f"{full_id} is no longer a baseline.")
