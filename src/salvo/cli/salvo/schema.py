"""`salvo schema`: what editors need to complete and check a scenario file."""

from __future__ import annotations

import click


@click.command
def schema() -> None:
    """Print the JSON Schema of a scenario file, for editors.

    Save it, and name it in the first line of a scenario:

    \b
    # yaml-language-server: $schema=scenario.schema.json
    """
    from salvo.cli.salvo.schema_command import schema_text

    click.echo(schema_text())
