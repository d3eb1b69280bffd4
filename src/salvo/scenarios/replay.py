"""Replay a run from its recording: the same adapter code, without network or tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from salvo.engine.jsonio.json_diff import Difference
from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.text.messages import display_path, excerpt
from salvo.engine.wire.base import CallSpan
from salvo.engine.wire.call_order import RecordedOrder
from salvo.engine.wire.network_guard import offline
from salvo.engine.wire.replay import ReplayWire
from salvo.engine.wire.tape import Exchange, Tape
from salvo.errors import InputError, NotReplayableError, TapeCorruptError, TapeError
from salvo.records import record
from salvo.scenarios.evaluators.base import LoadObject, refuse_to_load
from salvo.scenarios.evaluators.registry import builtin_registry, is_users_code
from salvo.scenarios.overrides import ScenarioOverrides
from salvo.scenarios.replay_comparison import NOT_COMPARED, result_differences
from salvo.scenarios.result import OWN_ADAPTERS, AgentRunResult, Batch, Cause
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.adapters.factory import find_adapter
from salvo.scenarios.run.attempt import AttemptResult, build_result, run_agent
from salvo.scenarios.run.conversation.user_factory import replayed_user_factory
from salvo.scenarios.run.environment import PreparedScenario, RunEnvironment
from salvo.scenarios.run.journal import Journal
from salvo.scenarios.run.judging import judge, without_verdict
from salvo.scenarios.run.stopwatch import Stopwatch
from salvo.scenarios.run.tools.discovery import changed_tools, find_tools
from salvo.scenarios.run.tools.toolbox import ReplayedToolBox
from salvo.scenarios.spec.loader import from_document, load_scenarios
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.recordings.recording import Recording
from salvo.scenarios.store.recordings.recording_files import HASHES_ONLY
from salvo.scenarios.workspace import Calls, Workspace, find_cell, judged_scenario

_JUDGE_LANE = "judge/"


class ReplayClock(SystemClock):
    """A clock that stands still at the time of the recording, and does not wait."""

    def __init__(self, timestamp: str) -> None:
        super().__init__()
        try:
            self._timestamp = datetime.fromisoformat(timestamp)
        except ValueError:
            raise TapeCorruptError(f"The recording is damaged: {excerpt(timestamp)} is not a time.") from None

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

    @property
    def first_difference(self) -> str:
        """Where the replay diverged first; empty where it is identical."""
        if self.divergence or not self.differences:
            return self.divergence
        first, *rest = self.differences
        return first.text("recorded", "now") + (f" and {len(rest)} more differences" if rest else "")


@dataclass(slots=True)
class EvaluatedAgain:
    """Runs before and after another evaluation, with notes on what else has changed."""

    batch: Batch
    scenario: Scenario
    notes: list[str]
    runs: list[tuple[AgentRunResult, AgentRunResult]] = field(default_factory=list)


@record
class NamedCode:
    """What the user names instead of the present scenario file: where it is now, or another adapter than the file's."""

    source: Path | None = None
    adapter: str | None = None


class Replayer:
    """Replays stored runs.

    A recording is data and may come from someone else. What code runs is decided by the present scenario file of the
    project, or by the user (NamedCode). A recording says only what the code gets and what it must do.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.store = workspace.store()
        self._workspace = workspace
        self._project = workspace.project
        self._redactor = workspace.redactor()

    async def replay(self, run_id: str, code: NamedCode | None = None) -> RunReplay:
        """Run the adapter again with the recorded replies and tool results."""
        recording = self._recording(run_id)
        if recording is None and self.store.pending.has(run_id):
            raise InputError(
                f"The run {run_id} waits for its judges, so it has no recording yet.",
                hint=f"Fetch their votes: salvo collect {run_id.rpartition('-')[0]}",
            )
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
        replayed = RunReplay(stored, stored.replayable, None, warnings=list(dict.fromkeys(recording.tape.ambiguous)))
        if stored.replayable == "model-only":
            replayed.warnings.append(stored.replay_note)
        with offline():
            await self._run_again(recording, replayed, code or NamedCode())
        return replayed

    async def _run_again(self, recording: Recording, replayed: RunReplay, code: NamedCode) -> None:
        stored = recording.result
        order = _recorded_order(recording)
        environment = self._environment(recording, stored, self._prepare_replay(recording, code), order)
        try:
            replayed.result = await run_agent(environment, self._redactor)
        except NotReplayableError as error:
            if stored.cause not in (Cause.TIMEOUT, Cause.MCP):
                replayed.divergence = str(error)
                return
            # The recording ends at the agent's timeout, or where an MCP server failed.
            attempted = AttemptResult(None, stored.cause, stored.error)
            replayed.result = build_result(attempted, environment)
        except TapeError as error:
            replayed.divergence = str(error)
            return
        if stored.cause is Cause.MCP and replayed.result.cause is None:
            # The list of a server changed while the agent ran, which no replay can see.
            replayed.result = replayed.result.model_copy(update={"cause": stored.cause, "error": stored.error})
        if stored.cause is Cause.SIMULATOR and _is_python_user(recording):
            # The class does not run again, so only what it said is the same.
            replayed.result = replayed.result.model_copy(update={"cause": stored.cause, "error": stored.error})
        if unused := _unused_records(environment):
            replayed.divergence = f"The agent no longer makes {len(unused)} of the recorded calls: {unused[0]}."
        elif order.early is not None:
            replayed.divergence = (
                f"The agent now makes {_describe_call(recording, order.early)} before other calls that had been "
                "answered by then when it was recorded."
            )
        unordered = {"trace", "tool_calls"} - environment.reported
        replayed.differences += result_differences(stored, replayed.result, unordered=unordered)
        # A replay judges nothing.
        verdict = {name: getattr(stored, name) for name in NOT_COMPARED}
        replayed.result = replayed.result.model_copy(update=verdict)

    def _prepare_replay(self, recording: Recording, code: NamedCode) -> PreparedScenario:
        batch, scenario = recording.batch, from_document(recording.batch.scenario)
        file = self._project.root
        if scenario.adapter not in OWN_ADAPTERS:  # these run Salvo's own code only
            file = code.source or self._source(batch)
            scenario = self._with_present_code(scenario, file, code.adapter)
        return PreparedScenario(
            batch=batch,
            scenario=scenario,
            tools=[],
            make_adapter=find_adapter(scenario, file, self._project, self._workspace.environ).make,
            load=refuse_to_load,
            options=self._workspace.adapter_options(scenario),
            endpoint=recording.endpoint,
            make_user=replayed_user_factory(scenario, [turn.user for turn in recording.result.turns]),
        )

    def _source(self, batch: Batch) -> Path:
        """Return the present scenario file of a batch. Raise NotReplayableError if the project has none."""
        return self._project.stored_source(
            batch.source,
            "The recording alone does not decide which code runs, so nothing was started.",
            "Restore the scenario file, or say where it is: --source FILE",
            NotReplayableError,
        )

    def _with_present_code(self, recorded: Scenario, file: Path, adapter: str | None) -> Scenario:
        """Return the recorded scenario with the options of the present file.

        Raise NotReplayableError if its adapter or its options are not those of the file. Nothing is imported here.
        """
        options: dict[str, Any] = {}
        if file.suffix == ".py":
            where = f"the scenario is written in Python, in {display_path(file)}"
        else:
            where = f"{display_path(file)} does not"
            models = [loaded.valid_model() for loaded in load_scenarios(file, root=self._project.root)]
            present = find_cell(models, file, recorded.scenario)
            # What its variables are now must be redacted as it was in the recording.
            self._workspace.register(present)
            self._redactor = self._workspace.redactor()
            adapter, options = adapter or present.adapter, present.adapter_options
        if adapter != recorded.adapter:
            difference = f"the adapter {recorded.adapter}"
            hint = f"If that is your agent, name it: --adapter {recorded.adapter}"
        elif self._redactor.json({"": options}) != self._redactor.json({"": recorded.adapter_options}):
            # Both are redacted now: an earlier version may have redacted less.
            difference, hint = "other adapter_options", "Restore the file, or record the run again."
        else:
            return recorded.model_copy(update={"adapter_options": options})
        raise NotReplayableError(f"The recording names {difference}, and {where}, so nothing was started.", hint=hint)

    async def evaluate_again(
        self, run_ids: Sequence[str], file: Path | None = None, source: Path | None = None
    ) -> EvaluatedAgain:
        """Evaluate runs of one batch with its present scenario file, another file, or else the recorded scenario.

        Neither the agent, nor a tool, nor a judge whose votes were recorded is called. `source` is where the batch's
        own file is now: what its command set instead still applies, which it does not to another file.
        """
        batch = self._stored_run(run_ids[0])[1]
        prepared, notes = self._prepare_evaluation(batch, file, source)
        again = EvaluatedAgain(batch, prepared.scenario, notes)
        registry = builtin_registry()
        for run_id in run_ids:
            stored, _, recording = self._stored_run(run_id)
            result = without_verdict(stored)
            with offline():
                await judge(result, self._environment(recording, stored, prepared), registry)
            again.runs.append((stored, result))
        return again

    def _prepare_evaluation(
        self, batch: Batch, file: Path | None, source: Path | None
    ) -> tuple[PreparedScenario, list[str]]:
        """Return what is evaluated, and notes on it."""
        load: LoadObject = refuse_to_load
        try:
            file, overrides = (
                (file, ScenarioOverrides())
                if file is not None
                else (source or self._source(batch), ScenarioOverrides.from_batch(batch))
            )
        except NotReplayableError as error:
            scenario = from_document(batch.scenario)
            if names := [item.label for _, item in scenario.all_assertions() if is_users_code(item.type)]:
                raise NotReplayableError(
                    f"{error.message} Python code judges {', '.join(names)}.",
                    hint="Restore the scenario file, say where it is (--source FILE), or evaluate with another: "
                    "--scenario FILE",
                ) from error
            notes = [f"{error.message} The recorded assertions are evaluated."]
        else:
            scenario = self._workspace.read(file, overrides, scenario_id=batch.scenario_id, calls=Calls.NONE)
            notes, load = self._notes(batch, scenario, file), partial(self._project.load, near=file)
        options = self._workspace.adapter_options(scenario)
        evaluated = judged_scenario(scenario)
        return PreparedScenario(batch, scenario, [], BaseAdapter, load, options, judged_scenario=evaluated), notes

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

    def _environment(
        self,
        recording: Recording | None,
        stored: AgentRunResult,
        prepared: PreparedScenario,
        order: RecordedOrder | None = None,
    ) -> RunEnvironment:
        clock: Clock = ReplayClock(stored.timestamp)
        prices = recording.prices if recording else {}
        tools, calls = (recording.tools, recording.calls) if recording else ([], [])
        return RunEnvironment(
            prepared=prepared,
            number=stored.number,
            timestamp=stored.timestamp,
            wire=ReplayWire(recording.tape if recording else Tape(), self._redactor, order=order),
            toolbox=ReplayedToolBox(tools, calls, clock, self._redactor, order=order),
            journal=Journal(clock, prices),
            judging=Journal(clock, prices),
            stopwatch=Stopwatch(clock),
            clock=clock,
            latency=stored.metrics.latency,
            listings=recording.mcp_servers if recording else {},
        )


def _is_python_user(recording: Recording) -> bool:
    user = recording.batch.scenario.get("user")
    return isinstance(user, dict) and user.get("python") is not None


def _recorded_order(recording: Recording) -> RecordedOrder:
    """Return the order of the agent's calls. Those of judges are not made again."""
    exchanges = (item.span for item in recording.tape.exchanges if not item.lane.startswith(_JUDGE_LANE))
    return RecordedOrder([*exchanges, *(call.span for call in recording.calls)])


def _describe_call(recording: Recording, span: CallSpan) -> str:
    tools = (f"the call {call.name}({call.arguments})" for call in recording.calls if call.span == span)
    requests = (_describe_request(item) for item in recording.tape.exchanges if item.span == span)
    return next(chain(tools, requests))


def _describe_request(exchange: Exchange) -> str:
    return f"a request to {exchange.request.path.partition('?')[0]}"


def _unused_records(environment: RunEnvironment) -> list[str]:
    """Return the recorded calls of the agent, without those of judges, that were not made again."""
    requests = environment.wire.unused if isinstance(environment.wire, ReplayWire) else []
    unused = [_describe_request(item) for item in requests if not item.lane.startswith(_JUDGE_LANE)]
    return unused + (environment.toolbox.unused if isinstance(environment.toolbox, ReplayedToolBox) else [])
