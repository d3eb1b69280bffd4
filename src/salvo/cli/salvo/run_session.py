"""Running scenarios, as `salvo run` and `salvo compare --run` do: what is to be run, and one execution of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from salvo.cli.console import ProgressLine
from salvo.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from salvo.engine.wire.record import RecordingOptions
    from salvo.engine.wire.retry import Wait
    from salvo.scenarios.analysis.summary import BatchSummary
    from salvo.scenarios.result import AgentRunResult, Batch
    from salvo.scenarios.run.environment import PreparedScenario
    from salvo.scenarios.run.runner import ScenarioRuns
    from salvo.scenarios.spec.project import Project
    from salvo.scenarios.spec.schema import Scenario
    from salvo.scenarios.store.index import IndexEntry
    from salvo.scenarios.workspace import Workspace

Work: TypeAlias = "list[tuple[PreparedScenario, list[int]]]"

CONFIDENCE = 0.95
"""Of --until-sure, where nobody says another."""
_GARBAGE = 20_000
"""Objects made and not yet gone, after which the collector looks for those that keep each other alive."""
_HEAD_START = 0.05
"""Seconds for the first requests to go out, before anything else is loaded beside them."""


def recording_options(asked: Mapping[str, Any]) -> RecordingOptions | None:
    if not asked.get("record"):
        return None
    from salvo.engine.wire.record import RecordingOptions

    limit = asked.get("record_max_bytes")
    return RecordingOptions(
        max_request_bytes=RecordingOptions().max_request_bytes if limit is None else limit,
        hashes_only=bool(asked.get("record_hashes")),
    )


def collect_work(workshop: Workspace, path: Path | None, keyword: str | None, asked: Mapping[str, Any]) -> Work:
    """The scenarios below a path, each with all its runs to do."""
    from salvo.errors import NothingFoundError
    from salvo.scenarios.workspace import ScenarioOverrides

    found = [
        (file, scenario)
        for file, scenario in workshop.read_all(path, ScenarioOverrides(**asked["overrides"]))
        if keyword is None or keyword in scenario.scenario
    ]
    if not found:
        raise NothingFoundError(f"No scenario's name contains {keyword!r}.")
    return prepare_work(workshop, ((file, scenario, asked) for file, scenario in found))


def prepare_work(workshop: Workspace, found: Iterable[tuple[Path, Scenario, Mapping[str, Any]]]) -> Work:
    """Scenarios of one command, each with what was asked of it."""
    wanted = [_until_sure(file, scenario, asked) for file, scenario, asked in found]
    # Endpoints first: their keys must be known before anything is redacted.
    for _, scenario, _ in wanted:
        workshop.endpoint_of(scenario)
    command = workshop.clock.new_id()
    work = []
    for file, scenario, asked in wanted:
        item = workshop.prepare(scenario, file, recorded=bool(asked["record"]), settings=asked, command=command)
        if asked.get("max_runs"):
            item.batch.max_runs = asked["max_runs"]
            item.batch.runs = min(scenario.concurrency or asked["at_once"], asked["max_runs"])
        work.append((item, list(range(1, item.batch.runs + 1))))
    return work


def _until_sure(file: Path, scenario: Scenario, asked: Mapping[str, Any]) -> tuple[Path, Scenario, Mapping[str, Any]]:
    """Whoever wants to be sure, and does not say how sure, is asked to be as sure as people mostly are."""
    from salvo.scenarios.workspace import ScenarioOverrides

    if not asked.get("max_runs") or scenario.confidence is not None:
        return file, scenario, asked
    overrides = {**asked["overrides"], "confidence": CONFIDENCE}
    return file, ScenarioOverrides(confidence=CONFIDENCE).apply(scenario), {**asked, "overrides": overrides}


def resume_work(project: Project, wanted: str) -> tuple[Workspace, Work, list[Batch]]:
    """The missing runs of an earlier batch, or of all that the newest command began; and these batches.

    The scenarios are the same, recorded and redacted as they were begun.
    """
    from salvo.scenarios.run.sequential import is_unsettled
    from salvo.scenarios.store.store import LATEST, RunStore
    from salvo.scenarios.workspace import Workspace

    store = RunStore(project.store)
    batch = store.load_batch(store.find_batch(wanted))
    batches = store.begun_with(batch) if wanted == LATEST else [batch]
    missing = {
        each.batch_id: sorted({*range(1, each.runs + 1)} - store.numbers_done(each.batch_id)) for each in batches
    }
    workshop = Workspace(project, patterns=tuple(batch.settings.get("redact", ())))
    unfinished = workshop.prepare_again(
        [each for each in batches if missing[each.batch_id] or is_unsettled(each, store.entries_of(each.batch_id))]
    )
    if not unfinished:
        click.echo("Nothing is missing: every run was made.", err=True)
    return workshop, [(item, missing[item.batch.batch_id]) for item in unfinished], batches


def _load_what_comes_later(*, records: bool) -> None:
    """Loads what is needed later while the first answers are on their way: the prices, recordings, the report."""
    import sys

    patience = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)  # answers come first: this thread must let go of the interpreter at once
    try:
        from salvo.engine.runtime import pricing

        pricing.preload()
        if records:
            import salvo.scenarios.run.keeping
        import salvo.scenarios.report.terminal  # noqa: F401 - to be there when it is needed
    finally:
        sys.setswitchinterval(patience)


class RunSession:
    """One execution: what it is doing, and what came of it."""

    def __init__(
        self,
        workshop: Workspace,
        work: Work,
        batches: list[Batch],
        *,
        resumed: bool = False,
    ) -> None:
        self._workshop = workshop
        self._work = work
        self._batches = batches
        self._resumed = resumed
        self._progress = ProgressLine()
        self._total = sum(len(numbers) for _, numbers in work)
        self._done = self._passed = 0
        self._cost = 0.0
        self._ran: list[ScenarioRuns] = []
        self._before: dict[str, list[IndexEntry]] = {}

    async def execute(
        self, recording: RecordingOptions | None, concurrency: int, max_cost: float | None, exitfirst: bool
    ) -> ExitCode:
        import asyncio
        import gc
        import signal

        from salvo.engine.wire import http
        from salvo.scenarios.run.runner import INTERRUPTED, run_all
        from salvo.scenarios.run.sequential import SequentialRuns

        http.preload()  # now, and once: with the first request it would be counted as the agent's time
        async with self._workshop.session(
            concurrency=concurrency,
            max_cost=max_cost,
            recording=recording,
            stop_at_first_failure=exitfirst,
            on_start=self._started,
            on_wait=self._waiting,
            on_result=self._finished,
        ) as session:
            session.store.prepare()
            for prepared, _ in self._work:
                session.store.save_batch(prepared.batch)
            rounds = SequentialRuns(
                session.store, concurrency, {batch.batch_id: self._earlier(batch) for batch in self._batches}
            )

            def more(ran: ScenarioRuns) -> list[int]:
                numbers = rounds.next(ran)
                self._total += len(numbers)
                return numbers

            loop, interrupted = asyncio.get_running_loop(), False

            def interrupt() -> None:
                nonlocal interrupted
                interrupted = True
                session.pool.cancel(INTERRUPTED)

            # What was imported stays: the collector need not look at it again with every run. And runs leave next to
            # nothing for it to find, so it may look far less often than it would.
            gc.freeze()
            gc.set_threshold(_GARBAGE)
            gc.enable()
            loop.add_signal_handler(signal.SIGINT, interrupt)
            warming = asyncio.create_task(self._warm_up(records=recording is not None))
            try:
                self._ran = await run_all(self._work, session, more)
            finally:
                warming.cancel()  # what it has not begun is loaded where it is needed
                loop.remove_signal_handler(signal.SIGINT)
                self._progress.clear()
            if max_cost is not None and (unpriced := session.pool.budget.unpriced):
                self._progress.print(f"--max-cost could not count {unpriced} runs: what they cost is not known.")
        return ExitCode.INTERRUPTED if interrupted else ExitCode.OK

    async def _warm_up(self, *, records: bool) -> None:
        """Only where a provider is waited for: beside an agent that computes here, it would be the agent's time."""
        import asyncio

        if any(prepared.batch.provider != "custom" for prepared, _ in self._work):
            await asyncio.sleep(_HEAD_START)
            await asyncio.to_thread(_load_what_comes_later, records=records)

    def _started(self, _prepared: PreparedScenario, _number: int) -> None:
        self._line()

    def _waiting(self, wait: Wait) -> None:
        self._line(str(wait), milestone=wait.seconds >= 1)

    def _finished(self, _prepared: PreparedScenario, result: AgentRunResult) -> None:
        self._done += 1
        self._passed += result.passed
        self._cost += (result.metrics.cost or 0.0) + (result.judge_cost or 0.0)
        tenth = max(1, self._total // 10)
        self._line(milestone=self._done % tenth == 0 or self._done == self._total)

    def _line(self, note: str = "", *, milestone: bool = False) -> None:
        cost = f", ${self._cost:.4f}" if self._cost else ""
        text = f"{self._done}/{self._total} runs done, {self._passed} passed{cost}"
        self._progress.update(f"{text} ({note})" if note else text, milestone=milestone)

    @cached_property
    def results(self) -> list[AgentRunResult]:
        """Whole, from the store: only where they are asked for, because there may be very many."""
        store = self._workshop.store()
        return [result for batch in self._batches for result in store.runs_of(batch.batch_id)]

    @cached_property
    def summaries(self) -> list[BatchSummary]:
        from salvo.scenarios.analysis.summary import summarise

        unmade = {ran.prepared.batch.batch_id: ran.unmade for ran in self._ran}
        return [summarise(batch, self.entries_of(batch), unmade.get(batch.batch_id)) for batch in self._batches]

    def entries_of(self, batch: Batch) -> list[IndexEntry]:
        """All runs of a batch: what a resumed one had done before, too."""
        made = [ran.entries for ran in self._ran if ran.prepared.batch.batch_id == batch.batch_id]
        return [*self._earlier(batch), *(entry for entries in made for entry in entries)]

    def _earlier(self, batch: Batch) -> list[IndexEntry]:
        if self._resumed and batch.batch_id not in self._before:
            self._before[batch.batch_id] = self._workshop.store().entries_of(batch.batch_id)
        return self._before.get(batch.batch_id, [])
