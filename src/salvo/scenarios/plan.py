"""What a command is going to run: new batches of scenarios, or the missing runs of earlier batches."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from salvo.engine.wire.base import RecordingOptions
from salvo.errors import UsageError
from salvo.records import record
from salvo.scenarios.analysis.confidence_gate import is_unsettled
from salvo.scenarios.overrides import ScenarioOverrides, read_settings
from salvo.scenarios.result import Batch
from salvo.scenarios.run.call_limits import DEFAULT_LIMITS, CallLimits
from salvo.scenarios.run.runner import ScenarioRuns
from salvo.scenarios.run.sharing.shared_rounds import SharedRounds
from salvo.scenarios.shards import BatchName, Shard, continue_batch, is_named
from salvo.scenarios.spec.project import Project
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.location import open_store
from salvo.scenarios.store.run_entries import RunEntries
from salvo.scenarios.workspace import Workspace

T = TypeVar("T")
UNTIL_SURE_CONFIDENCE = 0.95
"""The confidence of --until-sure where neither the scenario nor the command sets one."""


class EnterContext(Protocol):
    """Enters a context that is left when the command ends, and returns its value."""

    def __call__(self, context: AbstractContextManager[T], /) -> T: ...


@record
class RunSettings:
    """How a command runs its scenarios. Stored with each batch, so that it can be resumed in the same way."""

    overrides: ScenarioOverrides
    record: bool = False
    record_hashes: bool = False
    record_max_bytes: int | None = None
    redact: tuple[str, ...] = ()
    max_runs: int | None = None
    """With --until-sure: the most runs of each scenario."""
    at_once: int = 10
    cache: bool = False
    """Whether replies of earlier runs are used again."""
    one_sided: bool = False
    """Whether the confidence is that of each bound, and not of the interval."""
    batch_judges: bool = False
    """Whether judges are asked through the providers' batch APIs."""

    @classmethod
    def from_batch(cls, batch: Batch) -> RunSettings:
        names = {item.name for item in fields(cls)}
        stored = {name: value for name, value in batch.settings.items() if name in names}
        stored["overrides"] = ScenarioOverrides.from_batch(batch)
        return read_settings(cls, stored, batch)

    def document(self) -> dict[str, Any]:
        """Return the settings as they are stored with a batch."""
        document = {**asdict(self), "overrides": self.overrides.values}
        if not self.batch_judges:
            del document["batch_judges"]  # as in the batches of earlier versions
        return document

    @property
    def recording(self) -> RecordingOptions | None:
        if not (self.record or self.record_hashes):
            return None
        limit = {} if self.record_max_bytes is None else {"max_request_bytes": self.record_max_bytes}
        return RecordingOptions(hashes_only=self.record_hashes, **limit)


def plan_runs(
    workspace: Workspace, scenarios: Iterable[tuple[Path, Scenario, RunSettings]], command: str = "", shards: int = 1
) -> list[ScenarioRuns]:
    """Return a new batch for each scenario, with all its runs (or those of the first round) to do.

    A round has as many runs as all shards make at once.
    """
    items = [(file, *_with_confidence(scenario, settings)) for file, scenario, settings in scenarios]
    # All of them first: their keys and secrets must be known before anything is redacted.
    for _, scenario, _ in items:
        workspace.register(scenario)
    command = command or workspace.clock.new_id()
    work = []
    for file, scenario, settings in items:
        recorded = settings.recording is not None
        prepared = workspace.prepare(scenario, file, recorded=recorded, settings=settings.document(), command=command)
        batch = prepared.batch
        if settings.max_runs is not None:
            batch.max_runs = settings.max_runs
            batch.runs = min((scenario.concurrency or settings.at_once) * shards, settings.max_runs)
            batch.rounds = [batch.runs]
        batch.one_sided = settings.one_sided
        work.append(ScenarioRuns(batch, prepared, range(1, batch.runs + 1)))
    return work


def plan_named_runs(
    workspace: Workspace,
    scenarios: Iterable[tuple[Path, Scenario, RunSettings]],
    name: str,
    shard: Shard | None,
    *,
    enter: EnterContext,
) -> list[ScenarioRuns]:
    """Return the runs of a named batch, or of its shard, that are not stored yet.

    The same command makes what is missing when it is called again. `enter` gets the locks of the batches, as in
    `plan_resume`.
    """
    chosen = list(scenarios)
    batch_name = BatchName.at_commit(workspace.project, name, workspace.commit())
    shards = 1 if shard is None else shard.count
    work = plan_runs(workspace, chosen, batch_name.command_id, shards)
    for index, runs in enumerate(work):
        runs.batch.batch_id = batch_name.batch_id(index, runs.batch.scenario_id)
    store = workspace.store()
    now = workspace.clock.now().isoformat()
    free_numbers = None
    if shard is None:
        enter(store.hold([runs.batch for runs in work], now))
    else:
        free_numbers = enter(store.hold_runs(_shard_numbers(work, shard), now))
    for index, (runs, settings) in enumerate(zip(work, (item[2] for item in chosen), strict=True)):
        batch = runs.batch
        runs.shard = shard
        if store.has_batch(batch.batch_id):
            continue_batch(batch, store.load_batch(batch.batch_id))
            runs.earlier = RunEntries(store.read_entries(batch.batch_id))
        numbers = range(1, batch.runs + 1) if free_numbers is None else free_numbers[batch.batch_id]
        runs.pending = sorted({*numbers} - store.stored_numbers(batch.batch_id))
        if shard is not None and batch.max_runs is not None:
            runs.shared_rounds = _shared_rounds(shard, index, settings.at_once)
    return work


def _shared_rounds(shard: Shard, index: int, at_once: int) -> SharedRounds:
    return SharedRounds(shard, index, at_once)


def _shard_numbers(work: Iterable[ScenarioRuns], shard: Shard) -> dict[str, list[int]]:
    """Return the runs of a shard, by batch, whether they are stored or not; none of --until-sure, before its rounds."""
    numbers, offset = {}, 0
    for runs in work:
        numbers[runs.batch.batch_id] = [] if runs.batch.max_runs is not None else shard.numbers(runs.pending, offset)
        offset += len(runs.pending)
    return numbers


def plan_resume(
    project: Project,
    batch_id: str,
    adapter: str | None = None,
    allow_env: frozenset[str] = frozenset(),
    call_limits: CallLimits = DEFAULT_LIMITS,
    *,
    enter: EnterContext,
) -> tuple[Workspace, RunSettings, list[ScenarioRuns]]:
    """Return the missing runs of a batch; for `latest` those of all batches of the newest command.

    The scenarios must be unchanged. They are recorded and redacted as they were at first. An adapter with code, if the
    command named one instead of the scenario's, must be named again, and so must
    the variables of --allow-env: a stranger's project can contain any stored batch. `enter` gets the locks of the
    batches: they must be held from before we look at what is missing until that is made.
    """
    store = open_store(project)
    batches = store.find_batches(batch_id)
    if any(is_named(batch.batch_id) for batch in batches):
        raise UsageError(
            f"The batch {batches[0].batch_id} has a name, and other commands may be making its runs.",
            hint="Call the command again that started it, with the same --batch or --shard: it makes what is missing.",
        )
    settings = RunSettings.from_batch(batches[-1])
    workspace = Workspace(project, patterns=settings.redact, allow_env=allow_env, call_limits=call_limits)
    enter(store.hold(batches, workspace.clock.now().isoformat()))
    work = []
    for item in batches:
        missing = sorted({*range(1, item.runs + 1)} - store.stored_numbers(item.batch_id))
        work.append(ScenarioRuns(item, None, missing, earlier=RunEntries(store.read_entries(item.batch_id))))
    unfinished = [runs for runs in work if runs.pending or is_unsettled(runs.batch, runs.earlier)]
    prepared = workspace.prepare_again([runs.batch for runs in unfinished], adapter)
    for runs, scenario in zip(unfinished, prepared, strict=True):
        runs.prepared = scenario
    return workspace, settings, work


def _with_confidence(scenario: Scenario, settings: RunSettings) -> tuple[Scenario, RunSettings]:
    """Set the confidence of --until-sure where none is set."""
    if settings.max_runs is None or scenario.confidence is not None:
        return scenario, settings
    overrides = ScenarioOverrides(**{**settings.overrides.values, "confidence": UNTIL_SURE_CONFIDENCE})
    changed = ScenarioOverrides(confidence=UNTIL_SURE_CONFIDENCE).apply(scenario)
    return changed, replace(settings, overrides=overrides)
