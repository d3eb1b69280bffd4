"""`byop schema`: the JSON Schemas of playbooks and reports."""

from __future__ import annotations

import json

import click

from salvo.cli.output import echo_json
from salvo.playbooks.playbook.schema import playbook_schema
from salvo.playbooks.report.report_document import json_schema


@click.command
@click.argument("kind", metavar="playbook|report", type=click.Choice(["playbook", "report"]))
def schema(kind: str) -> None:
    """Print the JSON Schema of a playbook or of a report.

    Every playbook without errors and every report file matches its schema.
    """
    echo_json(json.dumps(playbook_schema() if kind == "playbook" else json_schema(), indent=2, ensure_ascii=False))
