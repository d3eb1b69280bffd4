"""`byop audit`: the audit log."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.byop.database import open_for_listing
from salvo.cli.output import echo, echo_json
from salvo.cli.param_types import FILE_PATH
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.clock import SystemClock
from salvo.engine.runtime.files import write_document
from salvo.engine.text.formatting import truncate
from salvo.engine.text.terminal import table
from salvo.engine.text.unicode_escape import printable
from salvo.errors import NothingFoundError
from salvo.playbooks.audit import anchors, timestamps
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.store.records import RUN_HINT


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the complete entries with their hashes.")
@click.option("--head", is_flag=True, help="Print only the hash of the newest entry, to store elsewhere.")
@click.option("--witness", type=FILE_PATH, metavar="FILE", help="Append the newest entry's number and hash to FILE.")
@click.option(
    "--git", "git_file", type=FILE_PATH, metavar="FILE", help="Do the same, and commit FILE in its git repository."
)
@click.option(
    "--timestamp-request",
    type=FILE_PATH,
    metavar="FILE",
    help="Write a request for a time stamp of the newest entry (RFC 3161) to FILE, to send to an authority.",
)
def audit(
    as_json: bool, head: bool, witness: Path | None, git_file: Path | None, timestamp_request: Path | None
) -> None:
    """Show the audit log: every evaluation, review, baseline, export and deletion.

    Each entry contains the hash of the one before it, so a changed entry is detected. The log alone cannot show that
    the newest entries were cut off, or that the whole log was rebuilt: keep its newest hash elsewhere with --head,
    --witness or --git, and pass it to the option of `byop verify` with the same name. What an authority answers to a
    --timestamp-request is for `byop verify --timestamp`.
    """
    with open_for_listing() as store:
        log = store.audit_log()
    if not log:
        raise NothingFoundError("The audit log is empty.", hint=RUN_HINT)
    if witness is not None or git_file is not None or timestamp_request is not None:
        _anchor(log, witness, git_file)
        _request_timestamp(log, timestamp_request)
    elif head:
        echo(log[-1].hash)
    elif as_json:
        echo_json(json_codec.dumps([{**entry.content, "hash": entry.hash} for entry in log], indent=2))
    else:
        header = ("NUMBER", "WHEN", "ACTION", "REPORT", "DETAILS", "HASH")
        echo("\n".join(table(header, [_cells(entry) for entry in log])))


def _anchor(log: list[AuditEntry], witness: Path | None, git_file: Path | None) -> None:
    now = SystemClock().now().isoformat(timespec="milliseconds")
    if witness is not None:
        head = anchors.append_head(witness, log, at=now)
        echo(f"Entry {head.sequence} is in {witness}. Keep it where this database's users cannot write.")
    if git_file is not None:
        head = anchors.append_head(git_file, log, at=now)
        commit = anchors.commit(git_file, head)
        echo(f"Entry {head.sequence} is in {git_file}, commit {commit[:12]}. Push it to another machine.")


def _request_timestamp(log: list[AuditEntry], file: Path | None) -> None:
    if file is not None:
        write_document(file, timestamps.encode_request(log[-1]))
        echo(f"The request for entry {log[-1].sequence} is in {file}. Send it to a time stamp authority.")


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
    if isinstance(review := content.get("review"), dict):
        about = f" {review['check_id']}" if review.get("check_id") else ""
        return f"{review.get('action')}{about} by {review.get('actor')}"
    if isinstance(saved := content.get("playbook_version"), dict):
        number = f" {saved['number']}" if "number" in saved else ""
        return f"{saved.get('playbook_id')}{number} by {saved.get('saved_by', content.get('by'))}"
    report = content.get("byop_report") or {}
    details = (
        report.get("overall_status"),
        *(content.get(name) for name in ("format", "user", "by", "subject")),
    )
    return str(next(filter(None, details), ""))
