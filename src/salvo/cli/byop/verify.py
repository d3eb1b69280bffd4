"""`byop verify`: whether a report was altered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from salvo.cli.byop.database import open_store
from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.cli.param_types import FILE_PATH
from salvo.engine.jsonio import json_codec
from salvo.engine.text.terminal import Paint
from salvo.engine.text.unicode_escape import printable
from salvo.errors import StoreError, UnknownIdError, UsageError
from salvo.playbooks.audit import anchors, chain_signatures, timestamps
from salvo.playbooks.audit.chain_signatures import KnownKeys
from salvo.playbooks.audit.head_key import list_revocations
from salvo.playbooks.audit.projection import project
from salvo.playbooks.audit.report_file import parse_json, read_report_file
from salvo.playbooks.audit.signing import read_public_key
from salvo.playbooks.audit.verification import verify as verification
from salvo.playbooks.audit.verification import verify_file, verify_results, verify_reviews, verify_store
from salvo.playbooks.audit.verification.finding import VerificationFinding, VerificationState
from salvo.playbooks.review.section import ReviewSection
from salvo.playbooks.store.store import EvaluationStore

_COLOURS = {VerificationState.HOLDS: "green", VerificationState.UNKNOWN: "yellow"}
_WORD_WIDTH = 8
"""Of the usual words; a longer one widens the column."""


@click.command
@click.argument("report", required=False, metavar="[ID|FILE]")
@click.option(
    "--public-key",
    metavar="KEY|FILE",
    help="Who must have signed the file, or else the audit log: a key, or a file with it.",
)
@click.option("--head", metavar="HASH", help="A hash that `byop audit --head` printed; it must still be in the log.")
@click.option("--witness", type=FILE_PATH, metavar="FILE", help="A file that `byop audit --witness` wrote.")
@click.option("--git", "git_file", type=FILE_PATH, metavar="FILE", help="A file that `byop audit --git` committed.")
@click.option(
    "--timestamp",
    type=FILE_PATH,
    metavar="FILE",
    help="A time stamp (RFC 3161): the answer to a request of `byop audit --timestamp-request`.",
)
@click.option(
    "--timestamp-ca",
    type=FILE_PATH,
    metavar="FILE",
    help="The certificates, in PEM, of the authorities whose time stamps you trust.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Verify everything that is stored, and find deleted evaluations."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(
    report: str | None,
    public_key: str | None,
    head: str | None,
    witness: Path | None,
    git_file: Path | None,
    timestamp: Path | None,
    timestamp_ca: Path | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Check whether a report was altered.

    The check covers hashes, votes, quotes, signature and audit log. ID is a report's id, a prefix of it, or `latest`:
    everything that is stored of it is hashed again, and every column of its rows is compared with the audit log. FILE
    is an exported report: its hash and signature are checked, and it is compared with the database if the report is
    there. --all verifies every evaluation, playbook, vote, baseline and user, and tells evaluations that were deleted
    from those that were erased with `byop delete`. Without an argument, only the audit log is checked. Exits 0 if no
    part failed, 1 if one did (it was altered, is contradicted by the votes, or is not signed by the key that you
    named), and 2 if there is no such report.
    """
    if (timestamp is None) != (timestamp_ca is None):
        raise UsageError("--timestamp and --timestamp-ca belong together: a time stamp, and whom you trust to make it.")
    is_anchored = any(file is not None for file in (witness, git_file, timestamp))
    if everything:
        if report is not None:
            raise UsageError("--all verifies everything that is stored: it takes no report.")
        with open_store() as store:
            findings = verify_store.verify_all(store)
    elif report is not None and Path(report).is_file():
        findings = _verify_file(Path(report), public_key)
    elif report is not None:
        findings = _verify_stored(report)
    else:
        findings = []
    has_log = any(finding.part == "audit log" for finding in findings)
    if head is not None or (report is None and not everything) or (is_anchored and not has_log):
        with open_store() as store:
            log_finding = verification.chain(store.audit_log(), head)
        findings = [*(finding for finding in findings if finding.part != "audit log"), log_finding]
    is_file = report is not None and Path(report).is_file()
    if any(finding.part == "audit log" for finding in findings):
        findings += _verify_log_signatures(None if is_file or public_key is None else read_public_key(public_key))
    findings += _verify_anchors(witness, git_file)
    if timestamp is not None and timestamp_ca is not None:
        with open_store() as store:
            findings.append(timestamps.check_timestamp(timestamp, timestamp_ca, store.audit_log()))
    _show(findings, as_json, is_file=is_file)
    if any(finding.failed for finding in findings):
        raise SystemExit(ExitCode.FAILED)


def _verify_anchors(witness: Path | None, git_file: Path | None) -> list[VerificationFinding]:
    if witness is None and git_file is None:
        return []
    with open_store() as store:
        log = store.audit_log()
    findings = [] if witness is None else [anchors.check_file(witness, log)]
    return findings if git_file is None else [*findings, anchors.check_git(git_file, log)]


def _verify_log_signatures(public_key: str | None) -> list[VerificationFinding]:
    with open_store() as store:
        log, signatures = store.audit_log(), store.head_signatures()
    return chain_signatures.check(log, signatures, public_key=public_key, revocation_list=list_revocations())


def _known_keys(public_key: str | None) -> KnownKeys:
    """Return what is known about keys here. A file can be verified without a database."""
    try:
        with open_store() as store:
            log = store.audit_log()
    except (UnknownIdError, StoreError):
        log = []
    return chain_signatures.known_keys(log, list_revocations(), public_key)


def _verify_file(file: Path, public_key: str | None) -> list[VerificationFinding]:
    key = None if public_key is None else read_public_key(public_key)
    content = read_report_file(file)
    keys = _known_keys(key)
    if not verify_file.is_json(file):
        findings = verify_file.document_file(content, file, public_key=key, keys=keys)
        findings.append(verify_results.check_document())
        return [*findings, *_against_database(lambda store: verify_file.document_in_log(content, store.audit_log()))]
    parsed = parse_json(content, str(file))
    report_id = parsed.report.report_id
    return [
        *verify_file.json_file(parsed, public_key=key, keys=keys),
        verify_results.check_file(parsed.report),
        *([] if parsed.review is None else [verify_reviews.check_section(parsed.report, parsed.review)]),
        *_against_database(
            lambda store: verification.against_database(parsed.document, store.load_raw(report_id), store.audit_log())
        ),
        *([] if parsed.review is None else _verify_review(report_id, parsed.review)),
    ]


def _verify_review(report_id: str, review: ReviewSection) -> list[VerificationFinding]:
    """Compare the review events of a file with the database, if it has the report."""
    try:
        with open_store() as store:
            logged = project(store.audit_log()).evaluations.get(report_id)
            rows = store.raw_rows(report_id)
    except (UnknownIdError, StoreError):
        return []
    return [] if logged is None else [verify_reviews.check_section_in_log(review, rows, logged)]


def _against_database(check: Callable[[EvaluationStore], list[VerificationFinding]]) -> list[VerificationFinding]:
    """Return what the database shows, if there is one. A file can be verified without a database."""
    try:
        with open_store() as store:
            return check(store)
    except UnknownIdError:
        return [verification.not_in_database()]
    except StoreError as error:
        return [verification.database_unavailable(str(error))]


def _verify_stored(name: str) -> list[VerificationFinding]:
    with open_store() as store:
        log = store.audit_log()
        try:
            report_id = store.find(name)
        except UnknownIdError:
            if name not in {entry.report_id for entry in log}:  # the log still has deleted reports
                raise
            report_id = name
        return verify_store.verify_one(store, report_id, log)


def _show(findings: Sequence[VerificationFinding], as_json: bool, *, is_file: bool) -> None:
    failed = sum(finding.failed for finding in findings)
    if as_json:
        altered = sum(finding.standing is VerificationState.ALTERED for finding in findings)
        result = {"altered": altered, "failed": failed, "findings": [asdict(finding) for finding in findings]}
        echo_json(json_codec.dumps(result, indent=2))
        return
    paint = Paint(True)
    words = [finding.standing.replace("_", " ") for finding in findings]
    width = max([_WORD_WIDTH, *map(len, words)])
    for finding, word in zip(findings, words, strict=True):
        colour = "red" if finding.failed else _COLOURS[finding.standing]
        echo(f"{paint(word.ljust(width), colour, bold=finding.failed)} {finding.part:<10} {printable(finding.message)}")
    if failed:
        echo(f"\n{verify_store.failure(failed)}")
    elif not is_file:
        echo(f"\n{verify_store.conclusion(findings)}")
    elif all(finding.standing == "holds" or finding.part == verify_results.PART for finding in findings):
        echo("\nNothing was altered.")
    else:
        echo("\nNothing was altered, as far as this can be checked.")
