"""`byop judge`: a stored text judged again, to see how far the judge agrees with itself."""

from __future__ import annotations

import click

from salvo.cli.exit_codes import ExitCode


@click.command
@click.argument("evaluation_id", metavar="ID")
@click.option("--times", type=click.IntRange(min=1, max=100), default=5, show_default=True, help="How often.")
@click.option("--base-url", help="Where a server compatible with the evaluator's provider listens.")
@click.option("--key-variable", metavar="NAME", help="The environment variable that holds the key for --base-url.")
@click.option("-j", "--concurrency", type=click.IntRange(min=1), default=16, show_default=True, help="Calls at once.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout; everything else goes to stderr.")
def judge(
    evaluation_id: str, times: int, base_url: str | None, key_variable: str | None, concurrency: int, as_json: bool
) -> None:
    """Judge a stored text again, to see how far the judge agrees with itself.

    The same text, playbook, evaluator and number of votes, as often as --times says. Each judging is stored as an
    evaluation of its own, under the subject "judging of ID", so that it changes no drift.
    """
    from dataclasses import replace

    from salvo.cli.byop.evaluation_session import EvaluationJob, EvaluationSession, key_in
    from salvo.cli.byop.lazy_store import LazyStore
    from salvo.cli.console import ProgressLine
    from salvo.engine.jsonio import json_codec
    from salvo.errors import UsageError
    from salvo.playbooks.evaluate.request import stored_request
    from salvo.playbooks.evaluate.session import EvaluatorConfig
    from salvo.playbooks.rejudge import lines, summarise

    place = click.get_current_context().with_resource(LazyStore())
    store = place.store()
    stored = store.load(store.find(evaluation_id))
    if stored.report is None:
        raise UsageError(f"The evaluation {stored.id} has no report: it is {stored.state}.")
    desk = EvaluatorConfig(stored.evaluator, base_url=base_url, key=key_in(key_variable))
    desk.check()
    order = stored_request(stored)
    again = replace(order, subject=f"judging of {stored.id}")
    jobs = [EvaluationJob(desk, replace(again, report_id=desk.clock.new_id())) for _ in range(times)]
    finished = EvaluationSession(jobs, place, ProgressLine()).execute(concurrency)
    if finished.reports:
        found = summarise(stored.report, finished.reports)
        click.echo(json_codec.dumps(found, indent=2).decode() if as_json else "\n".join(lines(found)))
    for line in finished.told:
        click.echo(line, err=True)
    code = ExitCode.INTERRUPTED if finished.interrupted else ExitCode.OK
    raise SystemExit(ExitCode.NOT_JUDGED if not code and not finished.reports else code)
