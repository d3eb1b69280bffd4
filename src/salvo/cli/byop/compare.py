"""`byop compare`: two reports side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from salvo.playbooks.report.report import Report
    from salvo.playbooks.store.store import EvaluationStore


@click.command
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(before: str, after: str, as_json: bool) -> None:
    """Compare two reports: what changed, and who changed it.

    Statuses, checks, consistency, evidence, and whether the text or the judge is another. A and B are ids of stored
    reports, prefixes of them, or latest; or the files of reports.
    """
    import shutil

    from salvo.engine.jsonio import json_codec
    from salvo.playbooks.report import comparison_text
    from salvo.playbooks.report.compare import compare

    found = compare(*(_report(named) for named in (before, after)))
    if as_json:
        click.echo(json_codec.dumps(found, indent=2).decode())
        return
    click.echo("\n".join(comparison_text.lines(found, colour=True, width=shutil.get_terminal_size().columns)))


def _report(named: str) -> Report:
    from pathlib import Path

    from salvo.cli.byop.database import open_store
    from salvo.playbooks.report.report import read_report

    if Path(named).is_file():
        return read_report(Path(named).read_bytes(), named).byop_report
    with open_store() as store:
        return _stored(store, named)


def _stored(store: EvaluationStore, named: str) -> Report:
    from salvo.errors import UsageError

    found = store.load(store.find(named))
    if found.report is None:
        raise UsageError(f"The evaluation {found.id} has no report: it is {found.state}.")
    return found.report
