"""`byop collect`: complete evaluations whose questions went through a provider's batch API."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.byop.batch_evaluations import collect_jobs, collectable, is_waiting
from salvo.cli.byop.evaluation_session import EvaluationJob
from salvo.cli.byop.evaluator_configs import ServerOptions, stored_config
from salvo.cli.byop.evaluator_options import evaluator_options
from salvo.cli.byop.lazy_store import LazyStore
from salvo.cli.byop.run_command import ReportOutput, present
from salvo.cli.byop.signing_key import read_signing_key
from salvo.cli.byop.signing_option import sign_option
from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo
from salvo.cli.output_options import json_option, output_option
from salvo.cli.wait_options import wait_options
from salvo.errors import UsageError
from salvo.playbooks.enums import Status
from salvo.playbooks.evaluate.request import stored_request
from salvo.playbooks.report import export


@click.command
@click.argument("report_id", metavar="[REPORT]", required=False)
@wait_options
@evaluator_options
@click.option("--save-baseline", is_flag=True, help="Save the report as the baseline of its subject.")
@click.option("--fail-on", type=click.Choice(["alert", "review", "observe"]), default="review", show_default=True)
@sign_option
@output_option("Also write a file: .json, .html, .md or .xml (JUnit).")
@json_option
def collect(
    report_id: str | None,
    wait: bool,
    interval: float,
    base_url: str | None,
    key_variables: tuple[str, ...],
    timeout: float | None,
    save_baseline: bool,
    fail_on: str,
    signing_key: str | None,
    outputs: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Complete evaluations that `byop run --batch-api` started.

    REPORT is the id of an evaluation, a prefix of it, or `latest`; without it, all that wait are completed. Votes are
    asked for once: an answer that failed, expired, was cancelled or cannot be read is no vote. Calling it again is
    free, and continues after a crash.

    Exits as `byop run` does: 0 for STABLE and OBSERVE, 1 for REVIEW and ALERT (see --fail-on), 2 on bad usage, 3 if
    something could not be judged or still waits.
    """
    for output in outputs:
        export.check(output)
    key = read_signing_key(signing_key)
    lazy_store = click.get_current_context().with_resource(LazyStore())
    store = lazy_store.store()
    evaluations = collectable(store, report_id)
    if not evaluations:
        echo("No evaluation waits for a provider's batch.", err=True)
        return
    if outputs and len(evaluations) > 1:
        raise UsageError(
            f"{len(evaluations)} evaluations wait, and -o is for one report.", hint="Name it: byop collect REPORT"
        )
    jobs = []
    for stored in evaluations:
        if not is_waiting(stored):
            raise UsageError(
                f"The evaluation {stored.id} waits for no batch.", hint=f"Its report: byop show {stored.id}"
            )
        config = stored_config(stored, ServerOptions(base_url, key_variables, timeout))
        votes = [vote for _, vote in store.votes(stored.id) if vote.answer.result is not None]
        jobs.append((EvaluationJob(config, stored_request(stored), votes, already_stored=True), stored))
    results = collect_jobs(jobs, lazy_store, interval if wait else None)
    if results.jobs:
        present(results, lazy_store, ReportOutput(outputs, as_json, Status(fail_on.upper()), save_baseline), key)
    code = results.exit_code(fail_on)
    has_waiting = len(results.jobs) < len(jobs)
    raise SystemExit(ExitCode.NOT_JUDGED if has_waiting and code is ExitCode.OK else code)
