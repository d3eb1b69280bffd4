"""The body of `byop collect`: continue the evaluations that wait for a provider's batch, and show their reports."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.byop.batch_evaluations import collect_jobs, collectable, is_waiting
from salvo.cli.byop.evaluation_session import EvaluationJob
from salvo.cli.byop.evaluator_configs import stored_config
from salvo.cli.byop.lazy_store import LazyStore
from salvo.cli.byop.run_command import ReportOutput, present
from salvo.cli.byop.signing_key import read_signing_key
from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo
from salvo.errors import UsageError
from salvo.playbooks.enums import Status
from salvo.playbooks.evaluate.request import stored_request
from salvo.playbooks.report import export


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
        config = stored_config(stored, base_url, key_variables, timeout)
        votes = [vote for _, vote in store.votes(stored.id) if vote.answer.result is not None]
        jobs.append((EvaluationJob(config, stored_request(stored), votes, already_stored=True), stored))
    results = collect_jobs(jobs, lazy_store, interval if wait else None)
    if results.jobs:
        present(results, lazy_store, ReportOutput(outputs, as_json, Status(fail_on.upper()), save_baseline), key)
    code = results.exit_code(fail_on)
    has_waiting = len(results.jobs) < len(jobs)
    raise SystemExit(ExitCode.NOT_JUDGED if has_waiting and code is ExitCode.OK else code)
