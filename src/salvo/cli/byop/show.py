"""`byop show`: a stored report, on the screen or as files."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from salvo.cli.byop.database import load_report, open_store
from salvo.cli.byop.signing_key import read_signing_key
from salvo.cli.byop.signing_option import sign_option
from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.cli.output_options import output_option
from salvo.playbooks.enums import Status
from salvo.playbooks.report import export, terminal
from salvo.playbooks.review.build_section import deciding_report, review_section

_JUNIT_DEFAULT = "review"
"""The status from which on a file in JUnit has failures, if --fail-on does not say."""


@click.command
@click.argument("evaluation_id", metavar="ID")
@output_option(
    "Write the report to FILE: .json, .html, .md or .xml (JUnit). May be given several times.", metavar="FILE"
)
@sign_option
@click.option("--reviewed", is_flag=True, help="Let the reviewers' results count instead of the evaluator's.")
@click.option(
    "--fail-on",
    type=click.Choice(["alert", "review", "observe"]),
    help="Exit 1 if the status is at least this severe; 3 if votes are missing. Without it: 0.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(
    evaluation_id: str,
    outputs: tuple[Path, ...],
    signing_key: str | None,
    reviewed: bool,
    fail_on: str | None,
    as_json: bool,
) -> None:
    """Show a stored report, and write it to files.

    ID is a report's id, a prefix of it, or `latest`. The audit log records every file. Signatures are not stored:
    --sign creates a new one. What reviewers decided (`byop review`) is shown beside the evaluator's own results; with
    --reviewed it decides over the status, the exit code of --fail-on, and the failures in JUnit.
    """
    for output in outputs:
        export.check(output)
    key = read_signing_key(signing_key)
    with open_store() as store:
        stored, report = load_report(store, evaluation_id)
        review = review_section(report, store.review_events(stored.id), decides=reviewed)
        if as_json:
            echo_json(export.signed_json(report, key, review))
        else:
            width = shutil.get_terminal_size().columns
            echo("\n".join(terminal.lines(report, colour=True, width=width, review=review)))
        threshold = Status((fail_on or _JUNIT_DEFAULT).upper())
        for output in outputs:
            content = export.write(output, report, stored.inputs, key, fail_on=threshold, review=review)
            store.record_export(stored.id, output.suffix[1:].lower(), content)
    deciding = deciding_report(report, review)
    if fail_on is not None and deciding.incomplete:
        raise SystemExit(ExitCode.NOT_JUDGED)
    if fail_on is not None and deciding.summary.overall_status.reaches(threshold):
        raise SystemExit(ExitCode.FAILED)
