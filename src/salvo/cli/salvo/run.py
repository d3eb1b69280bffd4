"""`salvo run`: scenarios, N times each, scored and stored."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.progress import Progress

if TYPE_CHECKING:
    from salvo.assembly import Workshop
    from salvo.engine.record import RecordingOptions
    from salvo.engine.retry import Wait
    from salvo.scenarios.index import IndexEntry
    from salvo.scenarios.project import Project
    from salvo.scenarios.report.data import BatchSummary
    from salvo.scenarios.result import AgentRunResult, Batch
    from salvo.scenarios.runner import Ran
    from salvo.scenarios.stage import Prepared

SHARE = click.FloatRange(0, 1)
_GARBAGE = 20_000
"""Objects made and not yet gone, after which the collector looks for those that keep each other alive."""
_HEAD_START = 0.05
"""Seconds for the first requests to go out, before anything else is loaded beside them."""


@click.command
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("-n", "--runs", type=click.IntRange(min=1), help="How often to run each scenario.")
@click.option("--record", is_flag=True, help="Record every run, so that it can be replayed.")
@click.option("--model", help="Another model than the scenario's.")
@click.option("--adapter", help="Another adapter than the scenario's.")
@click.option("--threshold", type=SHARE, help="The weighted score from which a run passes.")
@click.option("--min-pass-rate", type=SHARE, help="The share of runs that must pass.")
@click.option("-k", "keyword", help="Only scenarios whose name contains this.")
@click.option("-x", "--exitfirst", is_flag=True, help="Start no more runs after the first failure.")
@click.option("-j", "--concurrency", type=click.IntRange(min=1), default=10, show_default=True, help="Runs at once.")
@click.option("--max-cost", type=click.FloatRange(min=0), help="Dollars after which no more runs are started.")
@click.option(
    "--resume",
    metavar="BATCH",
    help="Do the missing runs of an earlier batch, and only those; latest: of all batches of the newest command.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Also write a file: .json, .jsonl or .xml (JUnit).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout; everything else goes to stderr.")
@click.option("--redact", "patterns", multiple=True, metavar="REGEX", help="Also redact what this matches.")
@click.option(
    "--record-max-bytes", type=click.IntRange(min=0), help="Keep only the hash of larger requests. [default: 256 kB]"
)
@click.option("--record-hashes", is_flag=True, help="Record hashes instead of content; such runs cannot be replayed.")
def run(
    path: Path | None,
    runs: int | None,
    record: bool,
    model: str | None,
    adapter: str | None,
    threshold: float | None,
    min_pass_rate: float | None,
    keyword: str | None,
    exitfirst: bool,
    concurrency: int,
    max_cost: float | None,
    resume: str | None,
    outputs: tuple[Path, ...],
    as_json: bool,
    patterns: tuple[str, ...],
    record_max_bytes: int | None,
    record_hashes: bool,
) -> None:
    """Run scenarios N times, and say how far they can be relied on.

    PATH is a scenario file or a folder of them; without one, scenarios/ or the current folder. Exits 0 when every
    scenario passes, 1 when one fails, 2 on bad usage or an invalid file, 3 when something could not be judged or runs
    that were not made leave it open, and 130 when interrupted (what had finished is saved; --resume goes on).
    """
    import asyncio
    import gc

    gc.disable()  # until the work begins: loading modules makes no garbage, and looking for it takes a tenth longer
    from salvo.assembly import Settings, Workshop
    from salvo.scenarios.project import Project

    _check(outputs)
    project = Project.find(Path.cwd())
    if resume is not None:
        _refuse_beside_resume(path, runs, model, adapter, threshold, min_pass_rate, keyword)
        workshop, work, batches = _resumed(project, resume)
        recording = _recording_of(batches[0].settings)
    else:
        asked = {
            "overrides": Settings(runs, model, adapter, threshold, min_pass_rate).chosen,
            "record": record or record_hashes,
            "record_hashes": record_hashes,
            "record_max_bytes": record_max_bytes,
            "redact": list(patterns),
        }
        workshop = Workshop(project, patterns=patterns)
        recording = _recording_of(asked)
        work = _collected(workshop, path, keyword, asked, recorded=recording is not None)
        batches = [prepared.batch for prepared, _ in work]
    command = _Command(workshop, work, batches, as_json=as_json, resumed=resume is not None)
    code = asyncio.run(command.execute(recording, concurrency, max_cost, exitfirst))
    command.show(outputs)
    gc.freeze()  # an interpreter that ends would look for garbage among all there is, when all of it goes
    raise SystemExit(code if code is ExitCode.INTERRUPTED else command.exit_code())


def _check(outputs: tuple[Path, ...]) -> None:
    """A file that cannot be written is said before money is spent."""
    if outputs:
        import os

        from salvo.errors import UsageError
        from salvo.scenarios.report import documents

        for output in outputs:
            documents.check(output)
            if not os.access(output.absolute().parent, os.W_OK):
                raise UsageError(
                    f"{output} cannot be written: there is no folder for it, or none that may be written to.",
                    hint="Nothing was run, and nothing was spent.",
                )


def _refuse_beside_resume(*options: object) -> None:
    if any(option is not None for option in options):
        raise click.UsageError("--resume goes on with a batch as it was begun: it takes no PATH and no other scenario.")


def _recording_of(asked: Mapping[str, Any]) -> RecordingOptions | None:
    from salvo.engine.record import RecordingOptions

    if not asked.get("record"):
        return None
    limit = asked.get("record_max_bytes")
    return RecordingOptions(
        max_request_bytes=RecordingOptions().max_request_bytes if limit is None else limit,
        hashes_only=bool(asked.get("record_hashes")),
    )


def _collected(
    workshop: Workshop, path: Path | None, keyword: str | None, asked: Mapping[str, Any], *, recorded: bool
) -> list[tuple[Prepared, list[int]]]:
    """The scenarios below a path, each with all its runs to do."""
    from salvo.assembly import Settings
    from salvo.errors import NothingFoundError

    found = [
        (file, scenario)
        for file, scenario in workshop.read_all(path, Settings(**asked["overrides"]))
        if keyword is None or keyword in scenario.scenario
    ]
    if not found:
        raise NothingFoundError(f"No scenario's name contains {keyword!r}.")
    # Endpoints first: their keys must be known before anything is redacted.
    for _, scenario in found:
        workshop.endpoint_of(scenario)
    command = workshop.clock.new_id()
    prepared = [
        workshop.prepare(scenario, file, recorded=recorded, settings=asked, command=command) for file, scenario in found
    ]
    return [(item, list(range(1, item.batch.runs + 1))) for item in prepared]


def _resumed(project: Project, wanted: str) -> tuple[Workshop, list[tuple[Prepared, list[int]]], list[Batch]]:
    """The missing runs of an earlier batch, or of all that the newest command began; and these batches.

    The scenarios are the same, recorded and redacted as they were begun.
    """
    from salvo.assembly import Workshop
    from salvo.scenarios.store import LATEST, Store

    store = Store(project.store)
    batch = store.load_batch(store.find_batch(wanted))
    batches = store.begun_with(batch) if wanted == LATEST else [batch]
    missing = {
        each.batch_id: sorted({*range(1, each.runs + 1)} - store.numbers_done(each.batch_id)) for each in batches
    }
    workshop = Workshop(project, patterns=tuple(batch.settings.get("redact", ())))
    unfinished = workshop.prepare_again([each for each in batches if missing[each.batch_id]])
    if not unfinished:
        click.echo("Nothing is missing: every run was made.", err=True)
    return workshop, [(prepared, missing[prepared.batch.batch_id]) for prepared in unfinished], batches


def _load_what_comes_later() -> None:
    """Loads what is needed later while the first answers are on their way: the prices, the report."""
    import sys

    patience = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)  # answers come first: this thread must let go of the interpreter at once
    try:
        from genai_prices.data_snapshot import get_snapshot

        import salvo.scenarios.report.terminal  # noqa: F401 - to be there when it is needed

        get_snapshot()
    finally:
        sys.setswitchinterval(patience)


class _Command:
    """One call of the command: what it is doing, and what came of it."""

    def __init__(
        self,
        workshop: Workshop,
        work: list[tuple[Prepared, list[int]]],
        batches: list[Batch],
        *,
        as_json: bool,
        resumed: bool,
    ) -> None:
        self._workshop = workshop
        self._work = work
        self._batches = batches
        self._as_json = as_json
        self._resumed = resumed
        self._progress = Progress()
        self._total = sum(len(numbers) for _, numbers in work)
        self._done = self._passed = 0
        self._cost = 0.0
        self._ran: list[Ran] = []

    async def execute(
        self, recording: RecordingOptions | None, concurrency: int, max_cost: float | None, exitfirst: bool
    ) -> ExitCode:
        import asyncio
        import gc
        import signal

        from salvo.engine import wire
        from salvo.scenarios.runner import INTERRUPTED, run_all

        wire.preload()  # now, and once: with the first request it would be counted as the agent's time
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
            warming = asyncio.create_task(self._warm_up())
            try:
                self._ran = await run_all(self._work, session)
            finally:
                warming.cancel()  # what it has not begun is loaded where it is needed
                loop.remove_signal_handler(signal.SIGINT)
                self._progress.clear()
            if max_cost is not None and (unpriced := session.pool.budget.unpriced):
                self._progress.tell(f"--max-cost could not count {unpriced} runs: what they cost is not known.")
        return ExitCode.INTERRUPTED if interrupted else ExitCode.OK

    async def _warm_up(self) -> None:
        """Only where a provider is waited for: beside an agent that computes here, it would be the agent's time."""
        import asyncio

        if any(prepared.batch.provider != "custom" for prepared, _ in self._work):
            await asyncio.sleep(_HEAD_START)
            await asyncio.to_thread(_load_what_comes_later)

    def _started(self, _prepared: Prepared, _number: int) -> None:
        self._line()

    def _waiting(self, wait: Wait) -> None:
        self._line(str(wait), milestone=wait.seconds >= 1)

    def _finished(self, _prepared: Prepared, result: AgentRunResult) -> None:
        self._done += 1
        self._passed += result.passed
        self._cost += (result.metrics.cost or 0.0) + (result.judge_cost or 0.0)
        tenth = max(1, self._total // 10)
        self._line(milestone=self._done % tenth == 0 or self._done == self._total)

    def _line(self, note: str = "", *, milestone: bool = False) -> None:
        cost = f", ${self._cost:.4f}" if self._cost else ""
        text = f"{self._done}/{self._total} runs done, {self._passed} passed{cost}"
        self._progress.line(f"{text} ({note})" if note else text, milestone=milestone)

    def show(self, outputs: tuple[Path, ...]) -> None:
        """The table, and the files. All runs of each batch: a resumed one's earlier runs too."""
        if self._as_json:
            from salvo.scenarios.report import documents

            click.echo(documents.as_json(self._summaries, self._results))
        else:
            from salvo.scenarios.report import terminal

            click.echo("\n\n".join("\n".join(terminal.table(summary, colour=True)) for summary in self._summaries))
            if sum(summary.unmade > 0 for summary in self._summaries) > 1:
                click.echo("\nAll of them go on with: salvo run --resume latest")
        if outputs:
            from salvo.scenarios.report import documents

            for output in outputs:
                documents.write(output, self._summaries, self._results)

    def exit_code(self) -> ExitCode:
        from salvo.cli.salvo.verdict import exit_code_of

        return exit_code_of(self._summaries)

    @cached_property
    def _results(self) -> list[AgentRunResult]:
        """Whole, from the store: only where they are asked for, because there may be very many."""
        store = self._workshop.store()
        return [result for batch in self._batches for result in store.runs_of(batch.batch_id)]

    @cached_property
    def _summaries(self) -> list[BatchSummary]:
        from salvo.scenarios.report.data import summarise

        made = {ran.prepared.batch.batch_id: ran for ran in self._ran}
        return [
            summarise(
                batch,
                [*self._earlier(batch), *(ran.entries if (ran := made.get(batch.batch_id)) else ())],
                ran.unmade if ran else None,
            )
            for batch in self._batches
        ]

    def _earlier(self, batch: Batch) -> list[IndexEntry]:
        """What a resumed batch had done before."""
        return self._workshop.store().entries_of(batch.batch_id) if self._resumed else []
