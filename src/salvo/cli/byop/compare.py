"""`byop compare`: two reports side by side."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from salvo.cli.byop.database import load_report, open_store
from salvo.cli.output import echo, echo_json
from salvo.engine.jsonio import json_codec
from salvo.playbooks.audit.report_file import parse_json, read_report_file
from salvo.playbooks.report import terminal
from salvo.playbooks.report.compare import compare as compare_reports
from salvo.playbooks.report.report import Report


@click.command
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(before: str, after: str, as_json: bool) -> None:
    """Compare two reports: what changed, and whether the text or the judge changed.

    The comparison covers statuses, checks, consistency and evidence. A and B are ids of stored reports, prefixes of
    them, `latest`, or files of reports.
    """
    comparison = compare_reports(_report(before), _report(after))
    if as_json:
        echo_json(json_codec.dumps(comparison, indent=2))
        return
    echo("\n".join(terminal.comparison(comparison, colour=True, width=shutil.get_terminal_size().columns)))


def _report(name: str) -> Report:
    if Path(name).is_file():
        return parse_json(read_report_file(Path(name)), name).report
    with open_store() as store:
        return load_report(store, name)[1]
