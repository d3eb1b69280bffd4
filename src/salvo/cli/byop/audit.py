"""`byop audit`: the audit log."""

from __future__ import annotations

import click


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the complete entries with their hashes.")
@click.option("--head", is_flag=True, help="Print only the hash of the newest entry, to store elsewhere.")
def audit(as_json: bool, head: bool) -> None:
    """Show the audit log: every evaluation, baseline, export and deletion.

    Each entry contains the hash of the one before it, so a changed entry is detected. The log alone cannot show that
    the newest entries were cut off: store what --head prints elsewhere, and pass it to `byop verify --head`.
    """
    from salvo.cli.byop import audit_command

    audit_command.audit(as_json, head)
