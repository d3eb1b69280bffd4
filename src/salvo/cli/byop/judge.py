"""`byop judge`: judge a stored text again."""

from __future__ import annotations

from dataclasses import replace

import click

from salvo.cli.byop.database import load_report
from salvo.cli.byop.evaluation_session import EvaluationJob, run_evaluations
from salvo.cli.byop.evaluator_configs import ServerOptions, stored_config
from salvo.cli.byop.evaluator_options import evaluator_options
from salvo.cli.byop.lazy_store import LazyStore
from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.cli.output_options import json_option
from salvo.engine.jsonio import json_codec
from salvo.playbooks.evaluate.request import requested_by, stored_request
from salvo.playbooks.rejudge import lines, summarise


@click.command
@click.argument("evaluation_id", metavar="ID")
@click.option("--times", type=click.IntRange(min=1, max=100), default=5, show_default=True, help="How many times.")
@evaluator_options
@click.option(
    "-j", "--concurrency", type=click.IntRange(min=1), default=16, show_default=True, help="Calls at the same time."
)
@json_option
def judge(
    evaluation_id: str,
    times: int,
    base_url: str | None,
    key_variables: tuple[str, ...],
    timeout: float | None,
    concurrency: int,
    as_json: bool,
) -> None:
    """Judge a stored text again, to measure how consistent the judge is.

    The text, playbook, evaluator and number of votes stay the same. Each repetition is stored as an evaluation under
    the subject "judging of ID", so it does not affect drift.
    """
    lazy_store = click.get_current_context().with_resource(LazyStore())
    stored, report = load_report(lazy_store.store(), evaluation_id)
    config = stored_config(stored, ServerOptions(base_url, key_variables, timeout))
    request = replace(requested_by(stored_request(stored), None), subject=f"judging of {stored.id}")
    jobs = [EvaluationJob(config, replace(request, report_id=config.clock.new_id())) for _ in range(times)]
    results = run_evaluations(jobs, lazy_store, concurrency)
    if results.reports:
        summary = summarise(report, results.reports)
        if as_json:
            echo_json(json_codec.dumps(summary, indent=2))
        else:
            echo("\n".join(lines(summary)))
    for notice in results.notices:
        echo(notice, err=True)
    if results.interrupted:
        raise SystemExit(ExitCode.INTERRUPTED)
    raise SystemExit(ExitCode.OK if results.reports else ExitCode.NOT_JUDGED)
