"""`byop schema`: the JSON Schemas of playbooks and reports."""

from __future__ import annotations

import click


@click.command
@click.argument("kind", metavar="playbook|report", type=click.Choice(["playbook", "report"]))
def schema(kind: str) -> None:
    """Print the JSON Schema of a playbook or of a report.

    Every playbook without errors and every report file matches its schema.
    """
    from salvo.cli.byop import schema_command

    schema_command.schema(kind)
