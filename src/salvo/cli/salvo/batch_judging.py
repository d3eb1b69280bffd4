"""What commands with `--judges batch` and `salvo collect` share: calls to batch APIs, and what is printed of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from salvo.cli.console import ProgressLine
from salvo.engine.batches.base import BatchProgress
from salvo.engine.batches.client import QuestionBatch
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.engine.wire import http_wire
from salvo.engine.wire.base import HttpOptions, Wire
from salvo.errors import ProviderError
from salvo.scenarios.batch_judging.collector import CollectListener, Collector, PendingTranscripts
from salvo.scenarios.batch_judging.pending_judgings import PendingJudgings
from salvo.scenarios.batch_judging.pending_runs import PendingBatchRuns
from salvo.scenarios.batch_judging.pending_scores import PendingScores
from salvo.scenarios.result import Batch
from salvo.scenarios.run.call_limits import CallLimits
from salvo.scenarios.score import ScorePlan
from salvo.scenarios.workspace import Workspace

T = TypeVar("T")


class CollectOutput(CollectListener):
    """Prints what happens to the batches of questions, on stderr."""

    def __init__(self) -> None:
        self._line = ProgressLine()
        self._last: dict[str, str] = {}

    def submitted(self, batch: QuestionBatch) -> None:
        self._line.print(f"{_votes(batch)} sent to the batch API as {printable(batch.batch_id)}.")

    def waiting(self, batch: QuestionBatch, progress: BatchProgress) -> None:
        done = "" if progress.done is None else f", {progress.done} done"
        text = f"{printable(batch.batch_id)}: {printable(progress.status)}{done} ({_votes(batch)})."
        if self._last.get(batch.tag) != text:
            self._last[batch.tag] = text
            self._line.print(text)

    def ended(self, batch: QuestionBatch, progress: BatchProgress) -> None:
        self._line.print(f"{printable(batch.batch_id)}: {printable(progress.status)} ({_votes(batch)}).")

    def failed(self, batch: QuestionBatch, error: ProviderError) -> None:
        self._line.print(f"{printable(batch.batch_id) or _votes(batch)}: {printable(str(error))}")


def _votes(batch: QuestionBatch) -> str:
    return f"{pluralize(len(batch.questions), 'vote')} of {printable(batch.model)}"


def _submit_questions(workspace: Workspace, transcripts: PendingTranscripts) -> None:
    """Submit the questions of transcripts that were just stored, and that the caller holds."""
    if transcripts.waiting():
        call_provider(workspace, Collector(workspace, transcripts, CollectOutput()).submit)


def submit_runs(workspace: Workspace, batches: Sequence[Batch]) -> None:
    """Submit the questions of the runs that were just made."""
    with workspace.store().hold(batches, workspace.clock.now().isoformat()):
        _submit_questions(workspace, PendingBatchRuns(workspace, batches))


def submit_judgings(workspace: Workspace, batch: Batch) -> None:
    """Submit the questions of the judgings that were just prepared, and that the caller holds."""
    _submit_questions(workspace, PendingJudgings(workspace, batch))


def submit_scores(workspace: Workspace, plan: ScorePlan) -> None:
    """Submit the questions of the scores that were just prepared, and that the caller holds."""
    _submit_questions(workspace, PendingScores(workspace, plan.scoring, plan.prepared.batch))


def call_provider(workspace: Workspace, calls: Callable[[Wire], Awaitable[T]]) -> T:
    """Open connections, and make calls with them."""

    async def make_calls() -> T:
        limits = workspace.call_limits.over(CallLimits.from_environ(workspace.environ))
        options = HttpOptions(limits.timeouts(), _LARGEST_ANSWERS)
        async with http_wire(workspace.all_endpoints(), workspace.redactor(), workspace.clock, options) as wire:
            return await calls(wire)

    return asyncio.run(make_calls())


_LARGEST_ANSWERS = 512 * 1024 * 1024
"""All answers of a batch come in one reply."""
