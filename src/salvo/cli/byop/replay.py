"""`byop replay`: run an evaluation again from its recorded calls."""

from __future__ import annotations

import asyncio
import json
import os

import click

from salvo.cli.byop.database import open_store
from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.engine.text.formatting import pluralize
from salvo.errors import NotReplayableError, UnknownIdError
from salvo.playbooks.evaluate.request import stored_request
from salvo.playbooks.evaluate.session import EvaluatorConfig
from salvo.playbooks.replay import recorded_baseline
from salvo.playbooks.replay import replay as replay_evaluation
from salvo.playbooks.report.report import Report
from salvo.playbooks.store.store import EvaluationStore


@click.command
@click.argument("evaluation_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def replay(evaluation_id: str, as_json: bool) -> None:
    """Run an evaluation again from its recorded calls.

    It needs no network and no key, and compares the new report with the stored one. ID is a report's id, a prefix of
    it, or `latest`. Exits 0 if the report is reproduced apart from times and ids, and 1 if it is not.
    """
    with open_store() as store:
        stored = store.load(store.find(evaluation_id))
        if stored.report is None:
            raise NotReplayableError(
                f"The evaluation {stored.id} has no report: it is {stored.state}.",
                hint=f"Continue it with `byop run --resume {stored.id}`.",
            )
        votes = [vote for _, vote in store.votes(stored.id)]
        baseline = recorded_baseline(stored.report, _load_report(store, stored.report.drift_summary.baseline_id))
    config = EvaluatorConfig(stored.evaluator, environ=os.environ)
    replayed = asyncio.run(
        replay_evaluation(
            stored_request(stored),
            stored.report,
            votes,
            config.judge(),
            baseline=baseline,
            redactor=config.redactor(),
        )
    )
    differences = [difference.text("stored", "replayed") for difference in replayed]
    if as_json:
        result = {"id": stored.id, "identical": not differences, "differences": differences}
        echo_json(json.dumps(result, indent=2))
    elif differences:
        echo(f"The replay of {stored.id} differs from its report in {pluralize(len(differences), 'place')}:")
        for difference in differences:
            echo(f"  {difference}")
    else:
        calls = sum(len(vote.exchanges) for vote in votes)
        echo(
            f"Identical: {stored.id} was reproduced from {pluralize(len(votes), 'vote')} and "
            f"{pluralize(calls, 'recorded call')}, apart from times and ids. Nothing was sent."
        )
    raise SystemExit(ExitCode.FAILED if differences else ExitCode.OK)


def _load_report(store: EvaluationStore, report_id: str | None) -> Report | None:
    try:
        return None if report_id is None else store.load(report_id).report
    except UnknownIdError:
        return None  # it was deleted
