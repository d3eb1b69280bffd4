"""`byop replay`: an evaluation again from its recorded calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from salvo.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from salvo.playbooks.report.report import Report
    from salvo.playbooks.store.store import EvaluationStore


@click.command
@click.argument("evaluation_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def replay(evaluation_id: str, as_json: bool) -> None:
    """Run an evaluation again from its recorded calls.

    Without network or key; the two reports are compared. ID is a report's id, a prefix of it, or latest. Exits 0 when
    the report is reproduced apart from times and ids, and 1 when it is not.
    """
    import asyncio
    import json
    import os

    from salvo.cli.byop.database import open_store
    from salvo.errors import NotReplayableError
    from salvo.playbooks.evaluate.request import stored_request
    from salvo.playbooks.evaluate.session import EvaluatorConfig
    from salvo.playbooks.replay import recorded_baseline, replay

    with open_store() as store:
        stored = store.load(store.find(evaluation_id))
        if stored.report is None:
            raise NotReplayableError(
                f"The evaluation {stored.id} has no report: it is {stored.state}.",
                hint=f"byop run --resume {stored.id} goes on with it.",
            )
        votes = [vote for _, vote in store.votes(stored.id)]
        baseline = recorded_baseline(stored.report, _report(store, stored.report.drift_summary.baseline_id))
    desk = EvaluatorConfig(stored.evaluator, environ=os.environ)
    replayed = asyncio.run(
        replay(stored_request(stored), stored.report, votes, desk.judge(), baseline=baseline, redactor=desk.redactor())
    )
    told = [difference.text("stored", "replayed") for difference in replayed.differences]
    if as_json:
        click.echo(json.dumps({"id": stored.id, "identical": not told, "differences": told}, indent=2))
    elif told:
        click.echo(f"The replay of {stored.id} differs from its report in {len(told)} places:")
        for line in told:
            click.echo(f"  {line}")
    else:
        calls = sum(len(vote.exchanges) for vote in votes)
        click.echo(
            f"Identical: {stored.id} was reproduced from {len(votes)} votes and {calls} recorded calls, "
            "apart from times and ids. Nothing was sent."
        )
    raise SystemExit(ExitCode.FAILED if told else ExitCode.OK)


def _report(store: EvaluationStore, report_id: str | None) -> Report | None:
    from salvo.errors import UnknownIdError

    try:
        return None if report_id is None else store.load(report_id).report
    except UnknownIdError:
        return None  # deleted since
