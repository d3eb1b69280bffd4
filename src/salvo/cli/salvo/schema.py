"""`salvo schema`: what editors need to complete and check a scenario file."""

from __future__ import annotations

import json

import click

from salvo.cli.output import echo_json
from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.spec.json_schema import scenario_schema


@click.command
def schema() -> None:
    """Print the JSON Schema of a scenario file, for editors.

    Save it, and name it in the first line of a scenario:

    \b
    # yaml-language-server: $schema=scenario.schema.json
    """
    echo_json(schema_text())


def schema_text() -> str:
    return json.dumps(scenario_schema(builtin_registry().types()), indent=2, ensure_ascii=False)
