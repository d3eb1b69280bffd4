"""The body of `byop drift`."""

from __future__ import annotations

import click

from salvo.cli.byop.database import open_store
from salvo.engine.jsonio import json_codec
from salvo.playbooks.report import timeline


def drift(subject: str, as_json: bool) -> None:
    with open_store() as store:
        points = store.timeline(subject)
    if as_json:
        click.echo(json_codec.dumps(points, indent=2).decode())
    else:
        click.echo("\n".join(timeline.lines(subject, points, colour=True)))
