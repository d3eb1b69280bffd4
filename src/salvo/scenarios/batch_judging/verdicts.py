"""The verdict on a pending run, once the answers to its judges have come.

Only assertions with such questions are evaluated again. What the others found when the agent had just run is kept: a
function that looks at a database would find something else a day later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from salvo.engine.batches.deferral import AnswerWire
from salvo.engine.runtime.pricing import UnitPrices
from salvo.engine.wire.base import RecordingOptions
from salvo.engine.wire.record import RecordingWire
from salvo.engine.wire.tape import Tape
from salvo.errors import StoreError
from salvo.scenarios.evaluators.base import LoadObject, refuse_to_load
from salvo.scenarios.evaluators.evaluate import scored_positions
from salvo.scenarios.evaluators.registry import builtin_registry, is_users_code
from salvo.scenarios.result import AgentRunResult, Batch, Cause
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.environment import PreparedScenario, RunEnvironment
from salvo.scenarios.run.journal import Journal
from salvo.scenarios.run.judging import judge, without_verdict
from salvo.scenarios.run.redaction import clean_scenario, redact_verdicts
from salvo.scenarios.run.stopwatch import Stopwatch
from salvo.scenarios.run.tools.toolbox import ReplayedToolBox
from salvo.scenarios.spec.loader import from_document
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.recordings.recording import Recording
from salvo.scenarios.workspace import Workspace, cell_redactor


class CollectedRun(NamedTuple):
    """A run that has its verdict now."""

    result: AgentRunResult
    prices: Mapping[str, UnitPrices | None]
    """The prices by which the judges were charged, by model."""
    recording: dict[str, bytes] | None = None
    """The files of its recording, if there is one."""


async def judge_pending(
    workspace: Workspace,
    prepared: PreparedScenario,
    pending: AgentRunResult,
    answered: Tape,
    recording: Recording | None = None,
    options: RecordingOptions | None = None,
) -> CollectedRun:
    """Return a pending run with its verdict, and its recording with what was asked and answered."""
    clock, price_book = workspace.clock, workspace.price_book()
    redactor = cell_redactor(prepared.scenario, workspace.redactor())
    answers = AnswerWire(answered, redactor)
    ignored = recording.tape.ignored if recording is not None and recording.tape.matching else None
    recorder = RecordingWire(answers, redactor, options, ignored=ignored) if recording is not None else None
    environment = RunEnvironment(
        prepared=prepared,
        wire=recorder or answers,
        toolbox=ReplayedToolBox([], [], clock, redactor),
        journal=Journal(clock, price_book=price_book),
        judging=Journal(clock, price_book=price_book),
        stopwatch=Stopwatch(clock),
        clock=clock,
        number=pending.number,
        timestamp=pending.timestamp,
        latency=pending.metrics.latency,
    )
    positions = [positions.start for positions in scored_positions(prepared.assertions_scenario())]
    if len(positions) != len(pending.eval_results):
        raise StoreError(f"The pending run {pending.run_id} does not have the assertions of its batch.")
    known = {
        position: item
        for position, item in zip(positions, pending.eval_results, strict=True)
        if item.cause is not Cause.JUDGE_PENDING
    }
    result = without_verdict(pending)
    result.error = None
    await judge(result, environment, builtin_registry(), known)
    redact_verdicts(result, redactor)
    if recording is None or recorder is None:
        return CollectedRun(result, environment.judging.prices)
    tape = recording.tape
    tape.ambiguous += recorder.tape.ambiguous
    tape.exchanges += recorder.tape.exchanges
    for exchange in recorder.tape.exchanges:
        exchange.span = None  # its calls come after all of the agent's, a day later
    complete = replace(recording, result=result, prices={**recording.prices, **environment.judging.prices})
    if options is not None and options.hashes_only:
        complete = complete.without_content()
    return CollectedRun(result, environment.judging.prices, complete.to_files(redactor))


def prepare_stored(
    workspace: Workspace,
    batch: Batch,
    document: Mapping[str, Any],
    load_present: Callable[[], tuple[Scenario, Path]],
) -> PreparedScenario:
    """Return a scenario as it is stored. Code of the user's comes from the present file if its assertions are the same.

    `load_present` returns the scenario as its file is now, and that file.
    """
    scenario = from_document(dict(document))
    load: LoadObject = refuse_to_load
    if any(is_users_code(assertion.type) for _, assertion in scenario.all_assertions()):
        present, file = load_present()
        redactor = cell_redactor(present, workspace.redactor())
        if clean_scenario(present, redactor)["assertions"] == document.get("assertions"):
            load = partial(workspace.project.load, near=file)
    return PreparedScenario(batch, scenario, [], BaseAdapter, load, {})
