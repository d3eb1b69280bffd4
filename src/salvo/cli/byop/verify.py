"""`byop verify`: whether anything was altered."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salvo.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from salvo.playbooks.audit.verify import VerificationFinding
    from salvo.playbooks.store.store import EvaluationStore


@click.command
@click.argument("report", required=False, metavar="[ID|FILE]")
@click.option("--public-key", metavar="KEY|FILE", help="Who must have signed the file: a public key, or a file of it.")
@click.option("--head", metavar="HASH", help="A hash that `byop audit --head` printed: it must still be in the log.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(report: str | None, public_key: str | None, head: str | None, as_json: bool) -> None:
    """Say what holds of a report, and what was altered.

    Hashes, votes, quotes, signature, audit log. ID is the beginning of a report's id, or `latest`: everything stored of
    it is hashed again and compared with the audit log. FILE is an exported report: its hash and its signature are
    checked, and it is compared with the database if that knows it. Without either, the audit log alone is checked. Exit
    codes: 0 all holds, 1 something was altered, 2 there is no such report.
    """
    from salvo.errors import UsageError

    if report is not None and Path(report).is_file():
        findings = _of_file(Path(report), public_key)
    elif public_key is not None:
        raise UsageError("--public-key is for a report's file: what is stored is not signed.")
    elif report is not None:
        findings = _of_stored(report)
    else:
        findings = []
    if head is not None or report is None:
        findings = [*(finding for finding in findings if finding.part != "audit log"), _log(head)]
    _show(findings, as_json)
    if any(finding.standing == "altered" for finding in findings):
        raise click.exceptions.Exit(ExitCode.FAILED)


def _of_file(file: Path, public_key: str | None) -> list[VerificationFinding]:
    from salvo.errors import InputError, StoreError, UnknownIdError
    from salvo.playbooks.audit import verify as check
    from salvo.playbooks.audit.signing import read_public_key

    key = None if public_key is None else read_public_key(public_key)
    try:
        content = file.read_bytes()
    except OSError as fault:
        raise InputError(f"{file} cannot be read: {fault.strerror}.", hint="Check its permissions.") from fault
    name = str(file)
    findings = check.file(content, name, public_key=key)
    report_id = check.report_id_of(content, name)
    try:
        with _store() as store:
            return [*findings, *check.against_database(content, store.load_raw(report_id), store.audit_log())]
    except UnknownIdError:
        return [*findings, *check.against_database(content, None, [])]
    except StoreError as fault:
        # A file is verified without any database; that there was none to ask is worth saying, and no more.
        return [*findings, check.not_asked(str(fault))]


def _of_stored(text: str) -> list[VerificationFinding]:
    from salvo.errors import UnknownIdError
    from salvo.playbooks.audit import verify as check

    with _store() as store:
        log = store.audit_log()
        try:
            report_id = store.find(text)
        except UnknownIdError:
            # What was deleted, or removed, is in the log all the same.
            if text not in {entry.report_id for entry in log}:
                raise
            report_id = text
        return check.stored(report_id, store.load_raw(report_id), log)


def _log(head: str | None) -> VerificationFinding:
    from salvo.playbooks.audit import verify as check

    with _store() as store:
        return check.chain(store.audit_log(), head)


def _store() -> EvaluationStore:
    from salvo.cli.byop.database import open_store

    return open_store()


def _show(findings: Sequence[VerificationFinding], as_json: bool) -> None:
    from salvo.engine.jsonio import json_codec
    from salvo.engine.text.formatting import pluralize
    from salvo.engine.text.unicode_escape import printable

    altered = sum(finding.standing == "altered" for finding in findings)
    if as_json:
        click.echo(json_codec.dumps({"altered": altered, "findings": [asdict(each) for each in findings]}, indent=2))
        return
    colours = {"holds": "green", "altered": "red", "unknown": "yellow"}
    for finding in findings:
        word = click.style(f"{finding.standing:<8}", fg=colours[finding.standing], bold=finding.standing == "altered")
        click.echo(f"{word} {finding.part:<10} {printable(finding.message)}")
    untold = "" if all(finding.standing == "holds" for finding in findings) else ", as far as can be told"
    click.echo(
        f"\n{pluralize(altered, 'part was', 'parts were')} altered." if altered else f"\nNothing was altered{untold}."
    )
