"""The orchestrator: load, run, evaluate, score, store. It holds no detail that a neighbour could own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pool import Pool, PoolStopped, gather
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.http import Wire
from salvo.engine.wire.retry import Wait
from salvo.errors import StoreError
from salvo.scenarios.evaluators.evaluate import evaluate_all
from salvo.scenarios.evaluators.registry import Registry
from salvo.scenarios.evaluators.scoring import score
from salvo.scenarios.result import CUSTOM, UNFINISHED, AgentRunResult, Cause, Outcome, SkippedRun
from salvo.scenarios.run.attempt import AttemptResult, as_stored, attempt, describe_exception, request_for, result_of
from salvo.scenarios.run.environment import PreparedScenario, RunEnvironment, live_environment
from salvo.scenarios.run.redaction import redact_verdicts, redacted
from salvo.scenarios.store.index import IndexEntry, entry_of
from salvo.scenarios.store.store import RunStore

if TYPE_CHECKING:
    from salvo.engine.wire.record import RecordingOptions


@dataclass(slots=True)
class Session:
    """What all runs of a process share. Built by assembly, never pickled."""

    wire: Wire
    store: RunStore
    registry: Registry
    redactor: Redactor
    clock: Clock
    pool: Pool
    recording: RecordingOptions | None = None
    stop_at_first_failure: bool = False
    on_start: Callable[[PreparedScenario, int], None] | None = None
    on_wait: Callable[[Wait], None] | None = None
    on_result: Callable[[PreparedScenario, AgentRunResult], None] | None = None


async def run_once(prepared: PreparedScenario, number: int, session: Session) -> AgentRunResult:
    """One run, from the agent's first word to the verdict; with its recording, where that is wanted."""
    seed = seed_of(prepared, number)
    timestamp = session.clock.now().isoformat()
    stage = live_environment(
        prepared,
        session.wire,
        clock=session.clock,
        redactor=session.redactor,
        recording=session.recording,
        on_wait=session.on_wait,
    )
    result = await run_agent(prepared, number, seed, timestamp, stage, session.redactor)
    await judge(prepared, result, stage, session.registry)
    redact_verdicts(result, session.redactor)
    try:
        save(prepared, result, stage, session)
    except StoreError as fault:
        # It was paid for, so it is shown; but what cannot be kept must not be bought.
        result.outcome, result.passed, result.cause, result.error = Outcome.ERROR, False, Cause.STORE, str(fault)
        session.pool.stop(_NOT_STORED)
    session.pool.budget.spend(result.metrics.cost)
    session.pool.budget.spend(result.judge_cost)
    return result


async def run_agent(
    prepared: PreparedScenario, number: int, seed: int | None, timestamp: str, stage: RunEnvironment, redactor: Redactor
) -> AgentRunResult:
    """The agent acts on the stage. Replay calls this with a stage made from a recording."""
    try:
        adapter = prepared.make_adapter()
        adapter.context = stage.context(seed, prepared.endpoint)
    except (Exception, SystemExit) as fault:  # noqa: BLE001 - a user's class may raise anything when it is made
        acted = AttemptResult(None, Cause.ADAPTER, describe_exception(fault))
    else:
        acted = await attempt(adapter, request_for(prepared, stage, seed), stage)
    try:
        result = result_of(prepared.batch, number, seed, timestamp, acted, stage)
        return redacted(as_stored(result) if prepared.batch.provider == CUSTOM else result, redactor)
    except Exception as fault:  # noqa: BLE001 - what an adapter returns may be anything, also what no file can hold
        acted = AttemptResult(None, Cause.ADAPTER, f"What the adapter returned cannot be stored: {fault}.")
        return redacted(result_of(prepared.batch, number, seed, timestamp, acted, stage), redactor)


async def judge(prepared: PreparedScenario, result: AgentRunResult, stage: RunEnvironment, registry: Registry) -> None:
    """Evaluates and scores. A run that was not finished has failed, or is an error, without being asked more."""
    if result.cause in UNFINISHED:
        result.weighted_score = 0.0 if result.outcome is Outcome.FAILED else None
        return
    result.eval_results = await evaluate_all(prepared.scenario, result, registry, stage.services)
    verdict = score(result.eval_results, prepared.scenario.threshold)
    result.outcome, result.passed, result.weighted_score = verdict.outcome, verdict.passed, verdict.weighted_score
    # A refusal or a cut answer explains a failure better than the assertion that noticed it.
    result.cause = result.cause if result.cause and verdict.outcome is Outcome.FAILED else verdict.cause
    result.error = next((item.error for item in result.eval_results if item.error), None)
    result.judge_cost = stage.judging.cost if stage.judging.model_calls else 0.0


def save(prepared: PreparedScenario, result: AgentRunResult, stage: RunEnvironment, session: Session) -> None:
    """The recording first, so that a run that says it is recorded is."""
    if stage.recorder is None:
        result.replayable, result.replay_note = "no", "It was not recorded; run with --record."
    else:
        from salvo.scenarios.run.keeping import recording_of  # not loaded where nobody records

        hashes_only = session.recording is not None and session.recording.hashes_only
        recording = recording_of(prepared, result, stage, stage.recorder, hashes_only=hashes_only)
        session.store.save_recording(result.run_id, recording.to_files(session.redactor))
    session.store.save_run(result)


def seed_of(prepared: PreparedScenario, number: int) -> int | None:
    """Run i, counted from 0, gets seed + i."""
    return None if prepared.scenario.seed is None else prepared.scenario.seed + number - 1


@dataclass(slots=True)
class ScenarioRuns:
    """What a command did with one scenario: what finished, in short, and what did not and why."""

    prepared: PreparedScenario
    entries: list[IndexEntry] = field(default_factory=list)
    unmade: dict[int, SkippedRun] = field(default_factory=dict)


INTERRUPTED = "Ctrl-C was pressed"
_FIRST_FAILED = "a run failed, and -x stops at the first"
_NOT_STORED = "results cannot be stored"
_STOPS = {INTERRUPTED: Cause.INTERRUPTED, _FIRST_FAILED: Cause.STOP_FIRST, _NOT_STORED: Cause.STORE}
"""Who stops a pool, by what they say. A pool itself stops for its budget alone."""


def _unmade(stopped: PoolStopped) -> SkippedRun:
    cause = _STOPS.get(stopped.reason, Cause.BUDGET)
    return SkippedRun(Outcome.INTERRUPTED if stopped.started else Outcome.NOT_RUN, cause, stopped.reason)


async def run_all(
    work: Iterable[tuple[PreparedScenario, list[int]]], session: Session, more: Callable[[ScenarioRuns], list[int]]
) -> list[ScenarioRuns]:
    """All runs of all scenarios, through one pool. What finished is stored when it finishes.

    `more` is asked, when all runs of a scenario have ended, which further ones are wanted.
    """
    ran = [(ScenarioRuns(prepared), numbers) for prepared, numbers in work]
    await gather(_run_scenario(item, numbers, session, more) for item, numbers in ran)
    return [item for item, _ in ran]


async def _run_scenario(
    ran: ScenarioRuns, numbers: list[int], session: Session, more: Callable[[ScenarioRuns], list[int]]
) -> None:
    await _run_numbers(ran, numbers, session)
    while following := more(ran):
        await _run_numbers(ran, following, session)


_APART = 0.001
"""Seconds between the first runs. Begun in one instant, all their requests, and from then on all their answers, would
wait for one another; and a server need not take fifty connections at once."""


async def _run_numbers(ran: ScenarioRuns, numbers: list[int], session: Session) -> None:
    """As many at once as the pool or the scenario allows. Workers, not a task a run: there may be very many."""
    waiting = iter(numbers)

    async def worker(place: int) -> None:
        await session.clock.sleep(place * _APART)
        for number in waiting:
            await _run_number(ran, number, session)

    at_once = min(ran.prepared.scenario.concurrency or session.pool.limit, len(numbers))
    await gather(worker(place) for place in range(at_once))


async def _run_number(ran: ScenarioRuns, number: int, session: Session) -> None:
    async def job() -> AgentRunResult:
        if session.on_start is not None:
            session.on_start(ran.prepared, number)
        return await run_once(ran.prepared, number, session)

    outcome = await session.pool.run(job)
    if isinstance(outcome, PoolStopped):
        ran.unmade[number] = _unmade(outcome)
        return
    ran.entries.append(entry_of(outcome))
    if session.on_result is not None:
        session.on_result(ran.prepared, outcome)
    if session.stop_at_first_failure and outcome.outcome is Outcome.FAILED:
        session.pool.stop(_FIRST_FAILED)
