"""A run again, from its recording: the same adapter code, no network, no tool executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.json_diff import Difference, differences
from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.offline import offline
from salvo.engine.wire.replay import ReplayWire
from salvo.engine.wire.tape import Tape
from salvo.errors import InputError, NotReplayableError, TapeError
from salvo.scenarios.evaluators.registry import Registry
from salvo.scenarios.result import COMMAND, UNFINISHED, AgentRunResult, Batch, Cause
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.attempt import AttemptResult, build_result, judge, run_agent
from salvo.scenarios.run.environment import PreparedScenario, RunEnvironment, Stopwatch
from salvo.scenarios.run.journal import Journal
from salvo.scenarios.run.redaction import clean_scenario
from salvo.scenarios.run.tools.discovery import FoundTool, changed_tools
from salvo.scenarios.run.tools.toolbox import ReplayedToolBox
from salvo.scenarios.spec.loader import from_document, scenario_document
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.spec.variables import expand_variables
from salvo.scenarios.store.recording import HASHES_ONLY, Recording
from salvo.scenarios.store.store import RunStore

MakeAdapter = Callable[[Scenario, Path], Callable[[], BaseAdapter]]
Load = Callable[[str, Path], Any]

_OWN_TO_EACH_RUN = frozenset(
    {"run_id", "batch_id", "timestamp", "recorded", "replayable", "replay_note", "salvo_version", "reported_metrics"}
    | {"eval_results", "weighted_score", "passed", "outcome", "cause", "error", "judge_cost"}
)


class ReplayClock(SystemClock):
    """The time of day stands still at the recording's, and nobody waits."""

    def __init__(self, timestamp: str) -> None:
        super().__init__()
        self._timestamp = datetime.fromisoformat(timestamp)

    def now(self) -> datetime:
        return self._timestamp

    async def sleep(self, seconds: float) -> None:
        """What took time when it was recorded takes none now."""


@dataclass(slots=True)
class RunReplay:
    """What replay found. `result` is None where the run could not be replayed to its end, and `divergence` says why."""

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
    """Each run as it was stored and as it is now, and what else is not as it was."""

    batch: Batch
    scenario: Scenario
    notes: list[str]
    runs: list[tuple[AgentRunResult, AgentRunResult]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Replayer:
    """What replaying needs, the user's code among it: looked up where the user named it, and nowhere else."""

    store: RunStore
    registry: Registry
    redactor: Redactor
    root: Path
    make_adapter: MakeAdapter
    load: Load
    read: Callable[[Path, Mapping[str, Any]], Scenario]
    tools: Callable[[Scenario, Path], list[FoundTool]]
    environ: Mapping[str, str]

    async def replay(self, run_id: str) -> RunReplay:
        """Runs the adapter again against the tape and the recorded tool results."""
        recording = self._recording(run_id)
        if recording is None:
            raise InputError(
                f"The run {run_id} was not recorded, so it cannot be replayed.",
                hint=f"Record runs with: salvo run --record. What this one did is in: salvo report {run_id}",
            )
        stored = recording.result
        if stored.replay_note == HASHES_ONLY:
            raise NotReplayableError(HASHES_ONLY, hint=f"What it did is in: salvo report {run_id}")
        if stored.replayable == "no":
            return RunReplay(stored, "reconstructed", stored, warnings=[stored.replay_note])
        replayed = RunReplay(stored, stored.replayable, None, warnings=list(recording.tape.ambiguous))
        if stored.replayable == "model-only":
            replayed.warnings.append(stored.replay_note)
        with offline():
            await self._act_again(recording, replayed)
        if replayed.result is not None:
            replayed.differences += differences(_comparable(stored), _comparable(replayed.result))
            replayed.result = _with_verdict(replayed.result, stored)
        return replayed

    async def _act_again(self, recording: Recording, replayed: RunReplay) -> None:
        stored, batch = recording.result, recording.batch
        scenario, file = from_document(batch.scenario), self.root / batch.source
        if scenario.adapter == COMMAND:
            scenario = self._with_named_program(scenario, batch, file)
        make_adapter = self.make_adapter(scenario, file)
        prepared = self._prepared(batch, scenario, file, recording.endpoint, make_adapter)
        environment = self._environment(recording, stored, prepared)
        try:
            replayed.result = await run_agent(
                prepared, stored.number, stored.seed, stored.timestamp, environment, self.redactor
            )
        except NotReplayableError as fault:
            if stored.cause is not Cause.TIMEOUT:
                replayed.divergence = str(fault)
                return
            # The recording ends where the agent's time did.
            attempted = AttemptResult(None, Cause.TIMEOUT, stored.error)
            replayed.result = build_result(batch, stored.number, stored.seed, stored.timestamp, attempted, environment)
        except TapeError as fault:
            replayed.divergence = str(fault)
            return
        left = _unasked(environment)
        if left:
            replayed.divergence = f"The agent no longer asks for {len(left)} of what was recorded: {left[0]}."

    def _with_named_program(self, scenario: Scenario, batch: Batch, file: Path) -> Scenario:
        """The recorded scenario, its program from the present file: no recording decides what is started here."""
        present = self.read(file, batch.settings.get("overrides", {})) if file.is_file() else None
        document = None if present is None else clean_scenario(scenario_document(present), self.redactor)
        named = ("adapter", "adapter_options")
        if present is None or document is None or any(document[part] != batch.scenario[part] for part in named):
            raise NotReplayableError(
                f"The recording names a program that {batch.source} does not name so, and nothing was started.",
                hint="A replay starts only what the scenario's present file says: restore it, or record the run again.",
            )
        return scenario.model_copy(update={"adapter_options": present.adapter_options})

    async def evaluate_again(self, run_ids: Sequence[str], file: Path | None = None) -> EvaluatedAgain:
        """Runs of one batch under its present scenario file, or another; without any file, under the recorded one.

        Nothing is called: not the agent, not a tool, not a judge whose votes were recorded.
        """
        batch = self._kept(run_ids[0])[1]
        source = file or self.root / batch.source
        # What the command said instead of the file, it would say again; of another file nothing is known.
        overrides = {} if file else batch.settings.get("overrides", {})
        scenario = self.read(source, overrides) if file or source.is_file() else from_document(batch.scenario)
        prepared = self._prepared(batch, scenario, source, None)
        again = EvaluatedAgain(batch, scenario, notes=self._notes(batch, scenario, source))
        for run_id in run_ids:
            stored, _, recording = self._kept(run_id)
            result = stored.model_copy(update={"cause": _agents_own(stored.cause)})
            with offline():
                await judge(prepared, result, self._environment(recording, stored, prepared), self.registry)
            again.runs.append((stored, result))
        return again

    def _kept(self, run_id: str) -> tuple[AgentRunResult, Batch, Recording | None]:
        """What there is of a run on this machine."""
        recording = self._recording(run_id)
        if recording is None or recording.result.replay_note == HASHES_ONLY:
            if recording is not None and not self.store.has_run(run_id):
                raise NotReplayableError(HASHES_ONLY, hint="What it said is not on this machine.")
            stored = self.store.load_run(run_id)
            return stored, self.store.load_batch(stored.batch_id), None
        return recording.result, recording.batch, recording

    def _notes(self, batch: Batch, scenario: Scenario, file: Path) -> list[str]:
        try:
            changed = changed_tools(batch.tools, self.tools(scenario, file))
        except InputError as fault:
            return [f"The tools are not what they were: {fault}. What is evaluated is what was done then."]
        if not changed:
            return []
        return [f"No longer what it was when this ran: {', '.join(changed)}. What is evaluated is what was done then."]

    def _recording(self, run_id: str) -> Recording | None:
        if not self.store.has_recording(run_id):
            return None
        return Recording.from_files(self.store.load_recording(run_id), run_id)

    def _prepared(
        self,
        batch: Batch,
        scenario: Scenario,
        file: Path,
        endpoint: str | None,
        make_adapter: Callable[[], BaseAdapter] = BaseAdapter,
    ) -> PreparedScenario:
        return PreparedScenario(
            batch=batch,
            scenario=scenario,
            file=file,
            tools=[],
            make_adapter=make_adapter,
            load=lambda path: self.load(path, file),
            options=expand_variables(scenario.adapter_options, self.environ),
            endpoint=endpoint,
        )

    def _environment(
        self, recording: Recording | None, stored: AgentRunResult, prepared: PreparedScenario
    ) -> RunEnvironment:
        clock: Clock = ReplayClock(stored.timestamp)
        prices = recording.prices if recording else {}
        return RunEnvironment(
            wire=ReplayWire(recording.tape if recording else Tape(), self.redactor),
            toolbox=ReplayedToolBox(
                recording.tools if recording else [],
                recording.calls if recording else [],
                clock,
                self.redactor,
            ),
            journal=Journal(clock, prices),
            judging=Journal(clock, prices),
            stopwatch=Stopwatch(clock),
            clock=clock,
            load=prepared.load,
            scenario=prepared.scenario,
            latency=stored.metrics.latency,
        )


def _with_verdict(result: AgentRunResult, stored: AgentRunResult) -> AgentRunResult:
    """A replay judges nothing: what the run came to is what was stored."""
    verdict = {name: getattr(stored, name) for name in _OWN_TO_EACH_RUN}
    return result.model_copy(update=verdict)


def _agents_own(cause: Cause | None) -> Cause | None:
    """How the agent ended, without what an earlier evaluation made of it."""
    return cause if cause in UNFINISHED | {Cause.REFUSAL, Cause.LENGTH} else None


def _unasked(environment: RunEnvironment) -> list[str]:
    """What the recording holds of the agent's, judges aside, and was not asked for again."""
    requests = environment.wire.unasked if isinstance(environment.wire, ReplayWire) else []
    asked = [f"a request to {item.request.path}" for item in requests if not item.lane.startswith("judge/")]
    return asked + (environment.toolbox.unasked if isinstance(environment.toolbox, ReplayedToolBox) else [])


def _comparable(result: AgentRunResult) -> dict[str, Any]:
    """What must be the same: all but ids, times of day, and the verdict, which is evaluation's."""
    content: dict[str, Any] = json_codec.loads(json_codec.dumps(result), max_depth=json_codec.MAX_DEPTH_STORED)
    ended = {"ended": result.cause, "error": result.error} if result.cause in UNFINISHED else {}
    # What a program writes for people has times and numbers of its own in it.
    content["details"].pop("stderr", None)
    if result.cause is Cause.EXIT:
        ended.pop("error")
    return {**{name: value for name, value in content.items() if name not in _OWN_TO_EACH_RUN}, **ended}
