"""Score stored runs with another scenario: a new rubric, judge or assertion. Only judges are called.

Neither the agent nor a tool runs again. The one code of the project that runs is that of the assertions in the present
scenario file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

from salvo import __version__
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.pool import PoolStopped, call_blocking
from salvo.engine.runtime.pricing import UnitPrices
from salvo.errors import NothingFoundError, StoreError, TapeError, UsageError
from salvo.records import record
from salvo.scenarios.overrides import ScenarioOverrides
from salvo.scenarios.result import Batch
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.attempt import judge_or_defer
from salvo.scenarios.run.environment import PreparedScenario, RunEnvironment
from salvo.scenarios.run.judging import without_verdict
from salvo.scenarios.run.redaction import clean_scenario
from salvo.scenarios.run.stopwatch import Stopwatch
from salvo.scenarios.run.tools.toolbox import ReplayedToolBox
from salvo.scenarios.run.transcripts import TranscriptSession
from salvo.scenarios.spec.loader import from_document
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.score_store import PREFIX, RunScore, ScoreStore, Scoring
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.workspace import Calls, Workspace, cell_redactor, judged_scenario

SAME_FAULT = "every further run would meet the same fault of its judge: "
"""The beginning of the reason why runs are not scored after a wrong key, for example."""


@record
class ScorePlan:
    """Which runs are to be scored with what."""

    scoring: Scoring
    prepared: PreparedScenario
    pending: list[int]
    """The numbers of the runs that have no verdict yet."""
    notes: list[str]

    @property
    def batch(self) -> Batch:
        """The scored batch, as if it had been run with this scenario."""
        return self.scoring.as_batch(self.prepared.batch)


def plan_score(workspace: Workspace, batch: Batch, file: Path | None, *, batch_judges: bool = False) -> ScorePlan:
    """Return a new scoring of all runs of a batch, with a scenario file or else the batch's own as it is now."""
    store = workspace.store()
    numbers = sorted(store.stored_numbers(batch.batch_id))
    if not numbers:
        raise NothingFoundError(f"The batch {batch.batch_id} has no run to score.")
    scenario, source, notes = _scenario(workspace, batch, file)
    prepared = _prepare(workspace, batch, scenario, source)
    scoring = Scoring(
        score_id=f"{PREFIX}{workspace.clock.new_id()}",
        batch_id=batch.batch_id,
        created_at=workspace.clock.now().isoformat(),
        source=workspace.project.relative(source),
        scenario=clean_scenario(scenario, workspace.redactor()),
        threshold=scenario.threshold,
        min_pass_rate=scenario.min_pass_rate,
        confidence=scenario.confidence,
        runs=len(numbers),
        salvo_version=__version__,
        as_command_set=file is None,
        batch_judges=batch_judges,
    )
    if len(numbers) < batch.runs:
        notes.append(f"{len(numbers)} of the {batch.runs} runs of the batch are stored. These are scored.")
    return ScorePlan(scoring, prepared, numbers, notes)


def plan_resumed_score(workspace: Workspace, scoring: Scoring) -> ScorePlan:
    """Return the runs that an earlier scoring lacks. Raise UsageError if the scenario has changed since."""
    store = workspace.store()
    batch = store.load_batch(scoring.batch_id)
    scenario, source, notes = present_scenario(workspace, batch, scoring)
    prepared = _prepare(workspace, batch, scenario, source)
    if json_codec.plain(clean_scenario(scenario, workspace.redactor())) != scoring.scenario:
        raise UsageError(
            f"{workspace.project.relative(source)} is not the scenario of {scoring.score_id}, or has changed since.",
            hint="All runs of a scoring are scored alike: start a new one.",
        )
    scores = ScoreStore(store)
    scored = {*scores.scored_runs(scoring.score_id), *scores.waiting_runs(scoring.score_id)}
    numbers = [number for number in sorted(store.stored_numbers(batch.batch_id)) if batch.run_id(number) not in scored]
    return ScorePlan(scoring, prepared, numbers, notes)


def present_scenario(workspace: Workspace, batch: Batch, scoring: Scoring) -> tuple[Scenario, Path, list[str]]:
    """Return the scenario of an earlier scoring as its file is now, that file, and notes."""
    return _scenario(workspace, batch, None if scoring.as_command_set else _stored_file(workspace, scoring))


def _stored_file(workspace: Workspace, scoring: Scoring) -> Path:
    return workspace.project.stored_source(
        scoring.source,
        f"So {scoring.score_id} cannot be resumed: a store does not choose where code comes from.",
        f"Start a new one: salvo score {scoring.batch_id} FILE",
    )


def _scenario(workspace: Workspace, batch: Batch, file: Path | None) -> tuple[Scenario, Path, list[str]]:
    """Return the scenario to score with, and its file. What the agent was asked is that of the batch."""
    overrides = ScenarioOverrides()
    if file is None:
        file = workspace.project.stored_source(
            batch.source,
            "A store does not choose where code comes from.",
            f"Name the scenario to score with: salvo score {batch.batch_id} FILE",
        )
        overrides = ScenarioOverrides.from_batch(batch)
    scenario = workspace.read(file, overrides, scenario_id=batch.scenario_id, calls=Calls.JUDGES)
    # Stored runs have placeholders for private values, so the assertions that score them need them, too.
    scenario = judged_scenario(scenario) or scenario
    notes = []
    if scenario.scenario != batch.scenario_id:
        notes.append(f"The runs are of the scenario {batch.scenario_id}; {scenario.scenario} only scores them.")
    stored = from_document(batch.scenario)
    prompts = {"user_message": stored.user_message, "system_prompt": stored.system_prompt}
    if any(getattr(scenario, name) != text for name, text in prompts.items()) or _asks(scenario) != _asks(stored):
        notes.append("The file has another user_message or system_prompt. The runs are judged by what they were asked.")
    return scenario.model_copy(update=prompts), file, notes


def _asks(scenario: Scenario) -> object:
    """Return what the user of a conversation says, or how they decide it."""
    return [turn.user for turn in scenario.turns], scenario.user


def _prepare(workspace: Workspace, batch: Batch, scenario: Scenario, file: Path) -> PreparedScenario:
    endpoints = workspace.register_judges(scenario)
    load = partial(workspace.project.load, near=file)
    return PreparedScenario(batch, scenario, [], BaseAdapter, load, {}, judge_endpoints=endpoints)


@record
class ScoreSession:
    """Scores runs and stores each verdict as soon as it is there."""

    transcripts: TranscriptSession
    store: RunStore
    on_scored: Callable[[float | None], None]
    unreadable: list[str] = field(default_factory=list)
    """What is wrong with runs that cannot be read, and so have no verdict."""

    async def score(self, plan: ScorePlan) -> list[PoolStopped]:
        """Score what is pending. Return what was stopped."""
        return await self.transcripts.evaluate_each(plan.pending, partial(self._once, plan))

    async def _once(self, plan: ScorePlan, number: int) -> None:
        session = self.transcripts
        try:
            run_id = plan.prepared.batch.run_id(number)
            stored = await call_blocking(self.store.load_run, run_id, in_thread=self.store.is_shared)
        except (StoreError, TapeError) as error:
            self.unreadable.append(str(error))
            return
        environment = RunEnvironment(
            prepared=plan.prepared,
            wire=session.wire,
            toolbox=ReplayedToolBox([], [], session.clock, session.redactor),
            journal=session.journal(),
            judging=session.journal(),
            stopwatch=Stopwatch(session.clock),
            clock=session.clock,
            number=stored.number,
            timestamp=stored.timestamp,
            latency=stored.metrics.latency,
        )
        result = without_verdict(stored)
        redactor = cell_redactor(plan.prepared.scenario, session.redactor)
        questions = await judge_or_defer(
            result, environment, session.registry, redactor, defer=plan.scoring.batch_judges
        )
        score = RunScore.from_result(result, known_prices(environment.judging.prices))
        await call_blocking(self._save, plan.scoring.score_id, score, questions, in_thread=self.store.is_shared)
        self.on_scored(result.judge_cost)
        if fault := next((fault for fault, _ in environment.faults if fault.is_permanent), None):
            session.pool.stop(f"{SAME_FAULT}{fault.message}")

    def _save(self, score_id: str, score: RunScore, questions: bytes | None) -> None:
        scores = ScoreStore(self.store)
        if questions is None:
            scores.save_run(score_id, score)
        else:
            scores.save_pending(score_id, score, questions)


def known_prices(prices: Mapping[str, UnitPrices | None]) -> dict[str, Any]:
    return {name: price for name, price in prices.items() if price is not None}
