"""An evaluation again, from its recorded calls: the same code, no network, and the same report or the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from salvo.engine.jsonio.json_diff import Difference, differences
from salvo.engine.runtime.pool import gather
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.offline import offline
from salvo.engine.wire.replay import ReplayWire
from salvo.engine.wire.tape import Tape
from salvo.errors import NotReplayableError
from salvo.playbooks.evaluate.judges.base import Judge
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.runner import build_case, judged_by, redact_answer, scan
from salvo.playbooks.evaluate.votes import JudgeAnswer, Vote
from salvo.playbooks.report.builder import BaselineReport, build_report
from salvo.playbooks.report.report import Report


@dataclass(frozen=True, slots=True)
class EvaluationReplay:
    report: Report
    differences: tuple[Difference, ...]
    """Apart from times and ids; none where the report was reproduced."""


async def replay(
    order: EvaluationRequest,
    stored: Report,
    votes: Sequence[Vote],
    judge: Judge,
    *,
    baseline: BaselineReport | str,
    redactor: Redactor,
) -> EvaluationReplay:
    """Asks the same judge again, every question that was answered then, with the tape in the provider's place."""
    scanned = scan(order)
    tape = ReplayWire(Tape(exchanges=[exchange for vote in votes for exchange in vote.exchanges]), redactor)
    by_id = {check.id: check for check in order.playbook.checks}

    async def again(vote: Vote) -> Vote:
        if vote.check_id not in by_id:
            raise NotReplayableError(f"The stored playbook has no check {vote.check_id}, which was voted on.")
        ballot = await judge.judge(build_case(order, scanned, by_id[vote.check_id], vote.run), tape)
        return Vote(vote.check_id, vote.run, _as_paid(redact_answer(ballot, redactor), vote.answer))

    with offline():
        recast = await gather(map(again, votes))
    report = build_report(order, recast, scanned, judged_by(judge), timestamp=stored.timestamp, baseline=baseline)
    return EvaluationReplay(report, tuple(differences(_comparable(stored), _comparable(report))))


def _as_paid(ballot: JudgeAnswer, then: JudgeAnswer) -> JudgeAnswer:
    """What a call cost is what it cost then: a new price table changes nothing."""
    if ballot.measured.usage != then.measured.usage:
        return ballot
    return replace(ballot, measured=replace(ballot.measured, cost_usd=then.measured.cost_usd))


def _comparable(report: Report) -> dict[str, Any]:
    """Without what a second time must differ in: the hash over the times, and how long things took."""
    document = report.document()
    document["integrity"].pop("report_hash")
    document["spent"].pop("seconds")
    for check in document["check_results"]:
        for run in check["raw_runs"]:
            run.pop("seconds")
    return document


def baseline_then(stored: Report, compared_with: Report | None) -> BaselineReport | str:
    """What the report was compared with when it was made, or why it was not; None where that is gone."""
    drift = stored.drift_summary
    if drift.baseline_id is None:
        return drift.notes[0]
    if compared_with is None:
        raise NotReplayableError(
            f"The report {drift.baseline_id}, which this one was compared with, is no longer stored.",
            hint="Its votes are still here: byop show prints them.",
        )
    return BaselineReport(compared_with, saved=bool(drift.baseline_saved))
