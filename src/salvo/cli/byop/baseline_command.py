"""The body of `byop baseline`."""

from __future__ import annotations

from dataclasses import asdict

import click

from salvo.cli.byop.database import open_for_listing, open_store
from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import truncate
from salvo.engine.text.terminal import table
from salvo.engine.text.unicode_escape import printable
from salvo.errors import NothingFoundError


def set_baseline(report_id: str) -> None:
    with open_store() as store:
        full_id = store.find(report_id)
        store.set_baseline(full_id)
    click.echo(f"{full_id} is now a baseline. Later reports of its playbook and subject are compared with it.")


def list_baselines(as_json: bool) -> None:
    with open_for_listing() as store:
        baselines = store.baselines()
    if not baselines:
        raise NothingFoundError("No baseline is saved.", hint="Save one with `byop baseline set ID`.")
    if as_json:
        click.echo(json_codec.dumps([asdict(row) for row in baselines], indent=2))
        return
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
        for row in baselines
    ]
    click.echo("\n".join(table(header, rows)))


def clear_baseline(report_id: str) -> None:
    with open_store() as store:
        full_id = store.find(report_id)
        store.clear_baseline(full_id)
    click.echo(f"{full_id} is no longer a baseline.")
