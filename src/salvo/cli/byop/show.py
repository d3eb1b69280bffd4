"""`byop show`: a stored report, on the screen or as files."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from salvo.cli.byop.database import load_report, open_store
from salvo.cli.byop.signing_option import read_signing_key, sign_option
from salvo.cli.output import echo, echo_json
from salvo.playbooks.report import export, terminal


@click.command
@click.argument("evaluation_id", metavar="ID")
@click.option(
    "-o",
    "--output",
    "outputs",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Write the report to FILE: .json, .html, .md or .xml (JUnit). May be given several times.",
    metavar="FILE",
)
@sign_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(evaluation_id: str, outputs: tuple[Path, ...], signing_key: str | None, as_json: bool) -> None:
    """Show a stored report, and write it to files.

    ID is a report's id, a prefix of it, or `latest`. The audit log records every file. Signatures are not stored:
    --sign creates a new one.
    """
    for output in outputs:
        export.check(output)
    key = read_signing_key(signing_key)
    with open_store() as store:
        stored, report = load_report(store, evaluation_id)
        if as_json:
            echo_json(export.signed_json(report, key))
        else:
            width = shutil.get_terminal_size().columns
            echo("\n".join(terminal.lines(report, colour=True, width=width)))
        for output in outputs:
            store.record_export(stored.id, output.suffix[1:].lower(), export.write(output, report, stored.inputs, key))
