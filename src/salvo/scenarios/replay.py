"""Replay a run from its recording: the same adapter code, without network or tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.json_diff import Difference, differences
from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.wire.replay import ReplayWire, offline
from salvo.engine.wire.tape import Tape
from salvo.errors import InputError, NotReplayableError, TapeError
from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.result import COMMAND, UNFINISHED, AgentRunResult, Batch, Cause
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.adapters.factory import adapter_factory
from salvo.scenarios.run.attempt import AttemptResult, build_result, judge, run_agent
from salvo.scenarios.run.environment import PreparedScenario, RunEnvironment, Stopwatch
from salvo.scenarios.run.journal import Journal
from salvo.scenarios.run.redaction import clean_scenario
from salvo.scenarios.run.tools.discovery import changed_tools, find_tools
from salvo.scenarios.run.tools.toolbox import ReplayedToolBox
from salvo.scenarios.spec.loader import from_document
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.recording import HASHES_ONLY, Recording
from salvo.scenarios.workspace import ScenarioOverrides, Workspace

_NOT_COMPARED = frozenset(
    {"run_id", "batch_id", "timestamp", "recorded", "replayable", "replay_note", "salvo_version", "reported_metrics"}
    | {"eval_results", "weighted_score", "passed", "outcome", "cause", "error", "judge_cost"}
)


class ReplayClock(SystemClock):
    """A clock that stands still at the time of the recording, and does not wait."""

    def __init__(self, timestamp: str) -> None:
        super().__init__()
        self._timestamp = datetime.fromisoformat(timestamp)

    def now(self) -> datetime:
        return self._timestamp

    async def sleep(self, seconds: float) -> None:
        """Return at once."""


@dataclass(slots=True)
class RunReplay:
    """The result of a replay. `result` is None if it did not reach its end; `divergence` says why."""

    stored: AgentRunResult
    mode: Literal["full", "model-only", "frozen-tools", "reconstructed"]
    result: AgentRunResult | None
    divergence: str = ""
    differences: list[Difference] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def identical(self) -> bool:
        return not self.divergence and not self.differences


@dataclass(slots=True)
class EvaluatedAgain:
    """Runs before and after another evaluation, with notes on what else has changed."""

    batch: Batch
    scenario: Scenario
    notes: list[str]
    runs: list[tuple[AgentRunResult, AgentRunResult]] = field(default_factory=list)


class Replayer:
    """Replays stored runs. User code is loaded only from where the user named it."""

    def __init__(self, workspace: Workspace) -> None:
        self.store = workspace.store()
        self._workspace = workspace
        self._project = workspace.project
        self._redactor = workspace.redactor()

    async def replay(self, run_id: str) -> RunReplay:
        """Run the adapter again with the recorded replies and tool results."""
        recording = self._recording(run_id)
        if recording is None:
            raise InputError(
                f"The run {run_id} was not recorded, so it cannot be replayed.",
                hint=f"Record runs with: salvo run --record. Look at this one with: salvo report {run_id}",
            )
        stored = recording.result
        if stored.replay_note == HASHES_ONLY:
            raise NotReplayableError(HASHES_ONLY, hint=f"Look at it with: salvo report {run_id}")
        if stored.replayable == "no":
            return RunReplay(stored, "reconstructed", stored, warnings=[stored.replay_note])
        replayed = RunReplay(stored, stored.replayable, None, warnings=list(recording.tape.ambiguous))
        if stored.replayable == "model-only":
            replayed.warnings.append(stored.replay_note)
        with offline():
            await self._run_again(recording, replayed)
        if replayed.result is not None:
            replayed.differences += differences(_comparable(stored), _comparable(replayed.result))
            # A replay judges nothing.
            verdict = {name: getattr(stored, name) for name in _NOT_COMPARED}
            replayed.result = replayed.result.model_copy(update=verdict)
        return replayed

    async def _run_again(self, recording: Recording, replayed: RunReplay) -> None:
        stored, batch = recording.result, recording.batch
        scenario, file = from_document(batch.scenario), self._project.root / batch.source
        if scenario.adapter == COMMAND:
            scenario = self._with_current_program(scenario, batch, file)
        environment = self._environment(recording, stored, self._prepared(batch, scenario, file, recording))
        try:
            replayed.result = await run_agent(environment, self._redactor)
        except NotReplayableError as error:
            if stored.cause is not Cause.TIMEOUT:
                replayed.divergence = str(error)
                return
            # The recording ends at the agent's timeout.
            attempted = AttemptResult(None, Cause.TIMEOUT, stored.error)
            replayed.result = build_result(attempted, environment)
        except TapeError as error:
            replayed.divergence = str(error)
            return
        if unused := _unused_records(environment):
            replayed.divergence = f"The agent no longer makes {len(unused)} of the recorded calls: {unused[0]}."

    def _with_current_program(self, scenario: Scenario, batch: Batch, file: Path) -> Scenario:
        """Return the recorded scenario with the program of the current file, the only one that may be started."""
        if file.is_file():
            current = self._read(file, batch)
            document = clean_scenario(current, self._redactor)
            if all(document[name] == batch.scenario[name] for name in ("adapter", "adapter_options")):
                return scenario.model_copy(update={"adapter_options": current.adapter_options})
        raise NotReplayableError(
            f"The recording names another program than {batch.source}, so nothing was started.",
            hint="A replay starts only the program of the scenario file: restore it, or record the run again.",
        )

    def _read(self, file: Path, batch: Batch | None) -> Scenario:
        """Return the scenario of a file, with what the command of the batch set instead."""
        overrides = {} if batch is None else batch.settings.get("overrides", {})
        return self._workspace.read(file, ScenarioOverrides(**overrides), will_call=False)

    async def evaluate_again(self, run_ids: Sequence[str], file: Path | None = None) -> EvaluatedAgain:
        """Evaluate runs of one batch with its current scenario file, another file, or else the recorded scenario.

        Neither the agent, nor a tool, nor a judge whose votes were recorded is called.
        """
        batch = self._stored_run(run_ids[0])[1]
        source = file or self._project.root / batch.source
        if file or source.is_file():
            # The overrides of the command still apply, but not to another file.
            scenario = self._read(source, None if file else batch)
        else:
            scenario = from_document(batch.scenario)
        prepared = self._prepared(batch, scenario, source)
        again = EvaluatedAgain(batch, scenario, notes=self._notes(batch, scenario, source))
        registry = builtin_registry()
        for run_id in run_ids:
            stored, _, recording = self._stored_run(run_id)
            # A cause that an earlier evaluation found does not count.
            is_agents = stored.cause in UNFINISHED | {Cause.REFUSAL, Cause.LENGTH}
            result = stored.model_copy(update={"cause": stored.cause if is_agents else None})
            with offline():
                await judge(result, self._environment(recording, stored, prepared), registry)
            again.runs.append((stored, result))
        return again

    def _stored_run(self, run_id: str) -> tuple[AgentRunResult, Batch, Recording | None]:
        """Return what is stored of a run on this machine."""
        recording = self._recording(run_id)
        if recording is None or recording.result.replay_note == HASHES_ONLY:
            if recording is not None and not self.store.has_run(run_id):
                raise NotReplayableError(HASHES_ONLY, hint="Its content is not on this machine.")
            stored = self.store.load_run(run_id)
            return stored, self.store.load_batch(stored.batch_id), None
        return recording.result, recording.batch, recording

    def _notes(self, batch: Batch, scenario: Scenario, file: Path) -> list[str]:
        try:
            changed = changed_tools(batch.tools, find_tools(scenario, file, self._project))
        except InputError as error:
            return [f"The tools have changed: {error}. The recorded calls are evaluated."]
        note = f"Changed since this ran: {', '.join(changed)}. The recorded calls are evaluated."
        return [note] if changed else []

    def _recording(self, run_id: str) -> Recording | None:
        if not self.store.has_recording(run_id):
            return None
        return Recording.from_files(self.store.load_recording(run_id), run_id)

    def _prepared(
        self, batch: Batch, scenario: Scenario, file: Path, recording: Recording | None = None
    ) -> PreparedScenario:
        """Return the scenario for an evaluation; with a recording also for another run of the adapter."""
        make_adapter: Callable[[], BaseAdapter] = BaseAdapter
        if recording is not None:
            make_adapter = adapter_factory(scenario, file, self._project, self._workspace.environ)
        return PreparedScenario(
            batch=batch,
            scenario=scenario,
            tools=[],
            make_adapter=make_adapter,
            load=lambda path: self._project.load(path, file),
            options=self._workspace.adapter_options(scenario),
            endpoint=recording.endpoint if recording else None,
        )

    def _environment(
        self, recording: Recording | None, stored: AgentRunResult, prepared: PreparedScenario
    ) -> RunEnvironment:
        clock: Clock = ReplayClock(stored.timestamp)
        prices = recording.prices if recording else {}
        tools, calls = (recording.tools, recording.calls) if recording else ([], [])
        return RunEnvironment(
            prepared=prepared,
            number=stored.number,
            timestamp=stored.timestamp,
            wire=ReplayWire(recording.tape if recording else Tape(), self._redactor),
            toolbox=ReplayedToolBox(tools, calls, clock, self._redactor),
            journal=Journal(clock, prices),
            judging=Journal(clock, prices),
            stopwatch=Stopwatch(clock),
            clock=clock,
            latency=stored.metrics.latency,
        )


def _unused_records(environment: RunEnvironment) -> list[str]:
    """Return the recorded calls of the agent, without those of judges, that were not made again."""
    requests = environment.wire.unused if isinstance(environment.wire, ReplayWire) else []
    unused = [f"a request to {item.request.path}" for item in requests if not item.lane.startswith("judge/")]
    return unused + (environment.toolbox.unused if isinstance(environment.toolbox, ReplayedToolBox) else [])


def _comparable(result: AgentRunResult) -> dict[str, Any]:
    """Return what must be the same in a replay: everything except ids, times and the verdict."""
    content: dict[str, Any] = json_codec.loads(json_codec.dumps(result), max_depth=json_codec.MAX_DEPTH_STORED)
    ending = {"ended": result.cause, "error": result.error} if result.cause in UNFINISHED else {}
    # The standard error of a program may contain times and numbers that differ.
    content["details"].pop("stderr", None)
    if result.cause is Cause.EXIT:
        ending.pop("error")
    return {**{name: value for name, value in content.items() if name not in _NOT_COMPARED}, **ending}
