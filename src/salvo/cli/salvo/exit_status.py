"""What the verdicts of batches come to as an exit code."""

from __future__ import annotations

from collections.abc import Sequence

from salvo.cli.exit_codes import ExitCode
from salvo.scenarios.analysis.summary import BatchSummary, BatchVerdict
from salvo.scenarios.result import Cause


def batch_exit_code(summaries: Sequence[BatchSummary]) -> ExitCode:
    """By precedence: a failure tells more than what could not be judged, and that more than what passed."""
    if any(summary.verdict is BatchVerdict.FAILED or _stopped_by_a_failure(summary) for summary in summaries):
        return ExitCode.FAILED
    if any(summary.verdict in (BatchVerdict.ERROR, BatchVerdict.OPEN) or summary.errors for summary in summaries):
        return ExitCode.NOT_JUDGED
    if any(summary.verdict is BatchVerdict.INCONCLUSIVE for summary in summaries):
        return ExitCode.INCONCLUSIVE
    return ExitCode.OK


def _stopped_by_a_failure(summary: BatchSummary) -> bool:
    """Whoever wants to stop at a failure has one, also where the runs not made could still make up for it."""
    return any(group.cause is Cause.STOP_FIRST for group in summary.not_made)
