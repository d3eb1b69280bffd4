"""`byop schema`: what editors and auditors need to check a playbook or a report."""

from __future__ import annotations

import json

import click


@click.command
@click.argument("of", metavar="playbook|report", type=click.Choice(["playbook", "report"]))
def schema(of: str) -> None:
    """Print the JSON Schema of a playbook or of a report.

    Every playbook without an error fits it, and so does every report's file.
    """
    from salvo.playbooks.playbook.validate import playbook_schema
    from salvo.playbooks.report.report import json_schema

    shown = playbook_schema() if of == "playbook" else json_schema()
    click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
