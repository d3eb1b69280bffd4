"""Replay an evaluation from its recorded calls, with the same code and no network, and compare the reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from salvo.engine.jsonio.json_diff import Difference, differences
from salvo.engine.runtime.pool import gather
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.network_guard import offline
from salvo.engine.wire.replay import ReplayWire
from salvo.engine.wire.tape import Tape
from salvo.errors import NotReplayableError
from salvo.playbooks.evaluate.judges.base import Judge
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.runner import build_case, judged_by, redact_answer, scan
from salvo.playbooks.evaluate.votes import JudgeAnswer, Vote
from salvo.playbooks.report.builder import BaselineReport, build_report
from salvo.playbooks.report.report import Report


async def replay(
    request: EvaluationRequest,
    stored: Report,
    votes: Sequence[Vote],
    judge: Judge,
    *,
    baseline: BaselineReport | str,
    redactor: Redactor,
) -> list[Difference]:
    """Ask the judge every question that was answered, with the recorded replies in place of the provider.

    Return how the new report differs from the stored one, apart from times and ids.
    """
    prompt_id = stored.model_fingerprints.evaluator.system_prompt_id
    if prompt_id != judge.prompt_id:
        raise NotReplayableError(
            f"The report {stored.report_id} was made with other instructions or rules for its evaluator ({prompt_id}) "
            f"than this version has ({judge.prompt_id}), so it cannot be replayed.",
            hint="Its votes and recorded calls are still stored: byop show prints the report, byop verify checks it.",
        )
    scan_result = scan(request)
    wire = ReplayWire(Tape(exchanges=[exchange for vote in votes for exchange in vote.exchanges]), redactor)
    checks = {check.id: check for check in request.playbook.checks}

    async def vote_again(vote: Vote) -> Vote:
        if vote.check_id not in checks:
            raise NotReplayableError(f"There is a vote on {vote.check_id}, but the stored playbook has no such check.")
        answer = await judge.judge(build_case(request, scan_result, checks[vote.check_id], vote.run), wire)
        return Vote(vote.check_id, vote.run, _with_stored_cost(redact_answer(answer, redactor), vote.answer))

    with offline():
        new_votes = await gather(map(vote_again, votes))
    report = build_report(
        request, new_votes, scan_result, judged_by(judge), timestamp=stored.timestamp, baseline=baseline
    )
    return list(differences(_comparable(stored), _comparable(report)))


def _with_stored_cost(answer: JudgeAnswer, stored: JudgeAnswer) -> JudgeAnswer:
    """Return the answer with the cost of the recorded call: a new price table must change nothing."""
    if answer.measured.usage != stored.measured.usage:
        return answer
    return replace(answer, measured=replace(answer.measured, cost_usd=stored.measured.cost_usd))


def _comparable(report: Report) -> dict[str, Any]:
    """Return the report without what a replay cannot repeat: durations, and the hash that covers the times."""
    document = report.document()
    document["integrity"].pop("report_hash")
    document["integrity"].pop("report_hash_method", None)
    for duration in ("seconds", "wall_seconds"):
        document["spent"].pop(duration, None)
    for check in document["check_results"]:
        for run in check["raw_runs"]:
            run.pop("seconds")
    return document


def recorded_baseline(stored: Report, baseline: Report | None) -> BaselineReport | str:
    """Return what the stored report was compared with, or the reason why it was not."""
    drift = stored.drift_summary
    if drift.baseline_id is None:
        return drift.notes[0] if drift.notes else ""
    if baseline is None:
        raise NotReplayableError(
            f"The baseline of this report, {drift.baseline_id}, is no longer stored.",
            hint="Its votes are still stored: byop show prints them.",
        )
    return BaselineReport(baseline, saved=bool(drift.baseline_saved))
