"""`byop collect`: complete evaluations whose questions went through a provider's batch API."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.byop.evaluator_options import evaluator_options
from salvo.cli.byop.signing_option import sign_option
from salvo.cli.wait_options import wait_options

FILE = click.Path(path_type=Path)


@click.command
@click.argument("report_id", metavar="[REPORT]", required=False)
@wait_options
@evaluator_options
@click.option("--save-baseline", is_flag=True, help="Save the report as the baseline of its subject.")
@click.option("--fail-on", type=click.Choice(["alert", "review", "observe"]), default="review", show_default=True)
@sign_option
@click.option(
    "-o", "--output", "outputs", multiple=True, type=FILE, help="Also write a file: .json, .html, .md or .xml (JUnit)."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout; everything else goes to stderr.")
def collect(**options: object) -> None:
    """Complete evaluations that `byop run --batch-api` started.

    REPORT is the id of an evaluation, a prefix of it, or `latest`; without it, all that wait are completed. Votes are
    asked for once: an answer that failed, expired, was cancelled or cannot be read is no vote. Calling it again is
    free, and continues after a crash.

    Exits as `byop run` does: 0 for STABLE and OBSERVE, 1 for REVIEW and ALERT (see --fail-on), 2 on bad usage, 3 if
    something could not be judged or still waits.
    """
    from salvo.cli.byop import collect_command  # takes several times as long as everything that --help needs

    collect_command.collect(**options)  # type: ignore[arg-type]  # the options above
