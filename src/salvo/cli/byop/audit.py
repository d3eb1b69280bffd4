"""`byop audit`: the audit log."""

from __future__ import annotations

import click

from salvo.cli.byop.database import open_for_listing
from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import truncate
from salvo.engine.text.terminal import table
from salvo.engine.text.unicode_escape import printable
from salvo.errors import NothingFoundError
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.store.records import RUN_HINT


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the complete entries with their hashes.")
@click.option("--head", is_flag=True, help="Print only the hash of the newest entry, to store elsewhere.")
def audit(as_json: bool, head: bool) -> None:
    """Show the audit log: every evaluation, baseline, export and deletion.

    Each entry contains the hash of the one before it, so a changed entry is detected. The log alone cannot show that
    the newest entries were cut off: store what --head prints elsewhere, and pass it to `byop verify --head`.
    """
    with open_for_listing() as store:
        log = store.audit_log()
    if not log:
        raise NothingFoundError("The audit log is empty.", hint=RUN_HINT)
    if head:
        click.echo(log[-1].hash)
    elif as_json:
        click.echo(json_codec.dumps([{**entry.content, "hash": entry.hash} for entry in log], indent=2))
    else:
        header = ("NUMBER", "WHEN", "ACTION", "REPORT", "DETAILS", "HASH")
        click.echo("\n".join(table(header, [_cells(entry) for entry in log])))


def _cells(entry: AuditEntry) -> tuple[str, ...]:
    return (
        str(entry.sequence),
        printable(entry.at[:19]) + "Z",
        printable(entry.action),
        printable(entry.report_id),
        truncate(printable(_details(entry)), 40),
        printable(entry.hash),
    )


def _details(entry: AuditEntry) -> str:
    content = entry.content
    report = content.get("byop_report") or {}
    return str(report.get("overall_status") or content.get("format") or content.get("subject") or "")
