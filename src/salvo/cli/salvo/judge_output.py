"""What `salvo judge` and `salvo collect` print of judgings."""

from __future__ import annotations

from typing import Any

from salvo import __version__
from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.errors import NothingFoundError
from salvo.scenarios.analysis.rejudge import is_transcript, stored_verdicts
from salvo.scenarios.evaluators.builtin.llm_judge import JudgeFields
from salvo.scenarios.report import rejudge_report
from salvo.scenarios.result import AgentRunResult, Batch
from salvo.scenarios.spec.loader import from_document
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.rejudge_store import Rejudgement, RejudgeStore
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.stored_judges import stored_judges


def completed_judgings(judgings: RejudgeStore, batch: Batch, scenario: Scenario) -> list[Rejudgement]:
    """Return the judgings that this version made with all judges of the scenario."""
    stored = judgings.load(batch.batch_id, __version__)
    return [judging for judging in stored if len(judging.verdicts) == len(scenario.assertions)]


def show_judgings(store: RunStore, batch: Batch, times: int | None, *, as_json: bool) -> ExitCode:
    """Print what the judgings of a batch show, at most so many of each transcript; None for all that are stored.

    Return 3 if some are missing, wait for their votes or gave no verdict, else 0.
    """
    judgings = RejudgeStore(store)
    scenario = stored_judges(batch)
    runs = store.load_runs(batch.batch_id)
    transcripts = [run for run in runs if is_transcript(run)]
    completed = [
        judging for judging in completed_judgings(judgings, batch, scenario) if times is None or judging.time <= times
    ]
    keys = {judging.key for judging in completed if judging.voted}
    pending = [
        key
        for key in judgings.pending(batch.batch_id)
        if (times is None or key.judging.time <= times) and key.judging not in keys
    ]
    if not completed and not pending:
        raise NothingFoundError(
            f"No judgings of the batch {batch.batch_id} are stored.",
            hint=f"Make some with: salvo judge {batch.batch_id} --times {times or 3}",
        )
    expected = len(completed) + len(pending) if times is None else times * len(transcripts)
    votes = [assertion.typed_fields(JudgeFields).votes for assertion in scenario.assertions]
    summaries = []
    if completed:
        as_run = from_document(batch.scenario)
        verdicts = {run.run_id: stored_verdicts(as_run, run) for run in transcripts}
        labels = [assertion.label for assertion in scenario.assertions]
        summaries = rejudge_report.summarise(labels, votes, completed, verdicts, _average_cost(transcripts))
    unjudged = len(runs) - len(transcripts)
    if as_json:
        document: dict[str, Any] = {
            "salvo_judging": 1,
            "batch_id": batch.batch_id,
            "scenario_id": batch.scenario_id,
            "judgings": len(completed),
            "wanted": expected,
            "pending": len(pending),
            "runs_never_judged": unjudged,
            "assertions": [rejudge_report.document(summary) for summary in summaries],
        }
        echo_json(json_codec.dumps(document, indent=2))
    else:
        if summaries:
            echo("\n".join(rejudge_report.lines(summaries, votes)) + "\n")
        note = f" {pluralize(unjudged, 'run')} ended before there was anything to judge." if unjudged else ""
        total = "" if len(completed) == expected else f" of {expected}"
        echo(f"{printable(batch.scenario_id)}, batch {batch.batch_id}: {len(completed)}{total} judgings.{note}")
        if pending:
            wait = "waits for its votes" if len(pending) == 1 else "wait for their votes"
            echo(
                f"{pluralize(len(pending), 'judging')} {wait}, which were asked for through a provider's batch API.\n"
                f"  salvo collect {batch.batch_id}"
            )
    is_complete = len(completed) >= expected and not pending and not any(item.no_verdict for item in summaries)
    return ExitCode.OK if is_complete else ExitCode.NOT_JUDGED


def _average_cost(runs: list[AgentRunResult]) -> float | None:
    costs = [run.metrics.cost for run in runs if run.metrics.cost is not None]
    return sum(costs) / len(costs) if len(costs) == len(runs) else None
