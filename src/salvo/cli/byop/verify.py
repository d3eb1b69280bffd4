"""`byop verify`: whether a report was altered."""

from __future__ import annotations

from typing import Any

import click


@click.command
@click.argument("report", required=False, metavar="[ID|FILE]")
@click.option(
    "--public-key", metavar="KEY|FILE", help="Who must have signed the file: a public key, or a file with it."
)
@click.option("--head", metavar="HASH", help="A hash that `byop audit --head` printed; it must still be in the log.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(**options: Any) -> None:
    """Check whether a report was altered.

    The check covers hashes, votes, quotes, signature and audit log. ID is a report's id, a prefix of it, or `latest`:
    everything that is stored of it is hashed again and compared with the audit log. FILE is an exported report: its
    hash and signature are checked, and it is compared with the database if the report is there. Without an argument,
    only the audit log is checked. Exits 0 if nothing was altered, 1 if something was, and 2 if there is no such report.
    """
    from salvo.cli.byop import verify_command

    verify_command.verify(**options)
