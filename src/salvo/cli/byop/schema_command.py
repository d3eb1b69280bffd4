"""The body of `byop schema`."""

from __future__ import annotations

import json

import click

from salvo.playbooks.playbook.validate import playbook_schema
from salvo.playbooks.report.report import json_schema


def schema(kind: str) -> None:
    click.echo(json.dumps(playbook_schema() if kind == "playbook" else json_schema(), indent=2, ensure_ascii=False))
