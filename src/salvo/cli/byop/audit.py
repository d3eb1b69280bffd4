"""`byop audit`: the log of everything that was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from salvo.playbooks.audit.audit_log import AuditEntry


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print JSON: each entry whole, with its hash.")
@click.option("--head", is_flag=True, help="Print only the hash of the newest entry, to be kept elsewhere.")
def audit(as_json: bool, head: bool) -> None:
    """Show the audit log: every evaluation, baseline, export and deletion.

    Each entry holds the hash of the one before it, so that none can be changed unseen. Only that the newest ones were
    cut off cannot be seen from inside: keep what --head prints elsewhere, and give it to `byop verify --head`.
    """
    from salvo.cli.byop.database import open_for_listing
    from salvo.engine.jsonio import json_codec
    from salvo.engine.text.terminal import table
    from salvo.errors import NothingFoundError
    from salvo.playbooks.store.records import RUN_HINT

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
        click.echo("\n".join(table(header, [*map(_cells, log)])))


def _cells(entry: AuditEntry) -> tuple[str, ...]:
    from salvo.engine.text.formatting import truncate
    from salvo.engine.text.unicode_escape import printable

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
