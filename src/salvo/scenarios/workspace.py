"""The one place that puts things together: sessions, evaluators, adapters. Commands and workers start from here."""

from __future__ import annotations

import inspect
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from salvo import __version__
from salvo.engine.chat import catalog
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.pydantic_errors import validate
from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.runtime.pool import Budget, Pool
from salvo.engine.runtime.redact import Redactor, secrets_of
from salvo.engine.wire.http import Endpoint, HttpWire, preload
from salvo.engine.wire.retry import RetryingWire, Wait
from salvo.errors import InputError, UsageError
from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.result import COMMAND, CUSTOM, AgentRunResult, Batch
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.adapters.function import FunctionAdapter
from salvo.scenarios.run.environment import PreparedScenario
from salvo.scenarios.run.redaction import clean_scenario
from salvo.scenarios.run.runner import Session, run_all
from salvo.scenarios.run.tools.discovery import changed_tools, find_tools, missing_tools
from salvo.scenarios.spec.loader import (
    Check,
    CheckFinding,
    ScenarioFileError,
    listed,
    read,
    read_all,
    scenario_document,
)
from salvo.scenarios.spec.paths import shown
from salvo.scenarios.spec.project import Project
from salvo.scenarios.spec.schema import NEVER_SHOWN, Scenario
from salvo.scenarios.spec.variables import expand_variables
from salvo.scenarios.store.store import RunStore

if TYPE_CHECKING:
    from salvo.engine.wire.record import RecordingOptions
    from salvo.scenarios.analysis.rejudge import RejudgeSession
    from salvo.scenarios.analysis.summary import BatchSummary
    from salvo.scenarios.replay import Replayer
    from salvo.scenarios.store.rejudge_store import Rejudgement, RejudgeStore

ADAPTERS = {
    "openai": "salvo.scenarios.run.adapters.openai:OpenAIAdapter",
    "anthropic": "salvo.scenarios.run.adapters.anthropic:AnthropicAdapter",
}
"""Those of a provider. `command` runs a program, whichever providers that uses."""
_KEY_OPTION = "api_key"


def checks(project: Project, *, will_call: bool = True) -> list[Check]:
    """What a scenario's shape cannot tell: its tools, its adapter, its assertions. No call is made.

    Where none will be made later either, the assertions alone matter.
    """
    registry = builtin_registry()

    def tools(scenario: Scenario, file: Path) -> Iterator[CheckFinding]:
        for path, message in missing_tools(scenario, file, project):
            yield CheckFinding(path, message)

    def adapter(scenario: Scenario, file: Path) -> Iterator[CheckFinding]:
        try:
            make_adapter(scenario, file, project)
        except InputError as fault:
            yield CheckFinding(("adapter",), str(fault))
        if scenario.adapter == COMMAND:
            from salvo.scenarios.run.adapters import command

            yield from (CheckFinding(*found) for found in command.findings(scenario, file, project.root, os.environ))
        if scenario.adapter in ADAPTERS and not scenario.model:
            yield CheckFinding(("adapter",), f"the adapter {scenario.adapter} needs a model")

    def assertions(scenario: Scenario, file: Path) -> Iterator[CheckFinding]:
        for path, message in registry.findings(scenario, lambda dotted: project.load(dotted, file)):
            yield CheckFinding(path, message)

    return [tools, adapter, assertions] if will_call else [assertions]


def make_adapter(
    scenario: Scenario, file: Path, project: Project, environ: Mapping[str, str] = os.environ
) -> Callable[[], BaseAdapter]:
    """Built-in adapters by their name, others by the path the user gave."""
    named = scenario.adapter
    if named in ADAPTERS:
        module, _, name = ADAPTERS[named].partition(":")
        kind: type[BaseAdapter] = getattr(import_module(module), name)
        return kind
    if named == COMMAND:
        from salvo.scenarios.run.adapters.command import CommandAdapter

        return lambda: CommandAdapter(file, project.root, environ)
    if named.startswith("function:"):
        function = project.load(named.removeprefix("function:"), file)
        if not callable(function):
            raise InputError(f"{named} is not callable")
        return lambda: FunctionAdapter(function)
    custom = project.load(named, file)
    if not (inspect.isclass(custom) and issubclass(custom, BaseAdapter)):
        raise InputError(f"{named} is no class derived from salvo.BaseAdapter")
    return custom


class ScenarioOverrides(NamedTuple):
    """What a command may decide instead of the scenario's file."""

    runs: int | None = None
    model: str | None = None
    adapter: str | None = None
    threshold: float | None = None
    min_pass_rate: float | None = None
    confidence: float | None = None

    @property
    def chosen(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if value is not None}

    def apply(self, scenario: Scenario) -> Scenario:
        chosen = self.chosen
        confidence, least = (chosen.get(name, getattr(scenario, name)) for name in ("confidence", "min_pass_rate"))
        if confidence is not None and least == 1:
            raise UsageError(
                f"{scenario.scenario}: --confidence cannot be asked for, because {NEVER_SHOWN}.",
                hint="Set min_pass_rate in the scenario, or --min-pass-rate. Nothing was run, and nothing was spent.",
            )
        if not chosen:
            return scenario
        changed, misfits = validate(Scenario, {**scenario.model_dump(), **chosen})
        if changed is None:
            said = "; ".join(f"--{str(misfit.path[0]).replace('_', '-')} {misfit.message}" for misfit in misfits)
            raise UsageError(f"{said}.", hint="Nothing was run, and nothing was spent.")
        return changed


def _changed(batch: Batch, what: str, plural: str) -> UsageError:
    return UsageError(
        f"{what} has changed since the batch {batch.batch_id} was begun, so it cannot go on.",
        hint=f"Two different {plural} make no one batch: run it anew.",
    )


@dataclass(slots=True)
class Workspace:
    """A project's scenarios, read and made ready, with what they must share: keys, redaction, the clock."""

    project: Project
    clock: Clock = field(default_factory=SystemClock)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    patterns: tuple[str, ...] = ()
    endpoints: dict[str, Endpoint] = field(default_factory=dict)

    def read(self, file: Path, settings: ScenarioOverrides, *, will_call: bool = True) -> Scenario:
        if file.suffix == ".py":
            raise UsageError(
                f"This scenario is written in Python, in {shown(file)}: only its test can run it.",
                hint="Run that again, or name a scenario's file.",
            )
        what = checks(self.project, will_call=will_call)
        return settings.apply(
            read(file, checks=what, environ=self.environ, root=self.project.root, will_call=will_call)
        )

    def read_all(self, path: Path | None, settings: ScenarioOverrides) -> list[tuple[Path, Scenario]]:
        """Every scenario below a path; the problems of all files at once."""
        files = self.project.scenario_files(path)
        found, problems = read_all(files, checks=checks(self.project), environ=self.environ, root=self.project.root)
        if problems:
            raise ScenarioFileError(problems)
        return [(file, settings.apply(scenario)) for file, scenario in found]

    def written(self, fields: Mapping[str, Any], file: Path, settings: ScenarioOverrides) -> tuple[Workspace, Scenario]:
        """A scenario that is written in Python, and a workshop that knows its functions. The file is its author's."""
        from salvo.scenarios.spec.python_scenario import written

        scenario, given = written(fields)
        workshop = replace(self, project=replace(self.project, given=given))
        findings = [finding for check in checks(workshop.project) for finding in check(scenario, file)]
        if findings:
            raise InputError(f"The scenario {scenario.scenario} cannot be used: {listed(findings)}.")
        return workshop, settings.apply(scenario)

    def store(self) -> RunStore:
        return RunStore(self.project.store)

    def redactor(self) -> Redactor:
        keys = [endpoint.key for endpoint in self.all_endpoints().values() if endpoint.key]
        return Redactor([*secrets_of(self.environ), *keys], self.patterns)

    def all_endpoints(self) -> dict[str, Endpoint]:
        return {**catalog.endpoints(self.environ), **self.endpoints}

    def options_of(self, scenario: Scenario) -> dict[str, Any]:
        options: dict[str, Any] = expand_variables(scenario.adapter_options, self.environ)
        return options

    def endpoint_of(self, scenario: Scenario) -> str | None:
        """The name of the scenario's own endpoint, where its options say one."""
        options = self.options_of(scenario)
        if scenario.adapter not in ADAPTERS or not (options.get("base_url") or options.get(_KEY_OPTION)):
            return None
        provider = catalog.providers()[scenario.adapter]
        name = f"{scenario.adapter} of {scenario.scenario}"
        self.endpoints[name] = catalog.endpoint(
            provider, self.environ, base_url=options.get("base_url"), key=options.get(_KEY_OPTION)
        )
        return name

    def prepare_again(self, batches: Sequence[Batch]) -> list[PreparedScenario]:
        """Earlier batches, to go on with them: as they were begun, or not at all.

        Their scenarios are read from their files, for what is stored is redacted.
        """
        scenarios = [
            self.read(self.project.root / batch.source, ScenarioOverrides(**batch.settings.get("overrides", {})))
            for batch in batches
        ]
        # Endpoints first: their keys must be known before anything is redacted.
        for scenario in scenarios:
            self.endpoint_of(scenario)
        return [self._prepare_again(batch, scenario) for batch, scenario in zip(batches, scenarios, strict=True)]

    def _prepare_again(self, batch: Batch, scenario: Scenario) -> PreparedScenario:
        if json_codec.plain(clean_scenario(scenario_document(scenario), self.redactor())) != batch.scenario:
            raise _changed(batch, batch.source, "scenarios")
        prepared = self.prepare(scenario, self.project.root / batch.source, recorded=batch.recorded, batch=batch)
        if changed := changed_tools(batch.tools, prepared.tools):
            raise _changed(batch, f"The tool {changed[0]}", "tools")
        return prepared

    def prepare(
        self,
        scenario: Scenario,
        file: Path,
        *,
        recorded: bool,
        batch: Batch | None = None,
        settings: Mapping[str, Any] | None = None,
        command: str = "",
    ) -> PreparedScenario:
        """Everything a scenario needs, looked up once. `batch` is an earlier one that goes on."""
        if scenario.adapter == COMMAND:
            from salvo.engine.gateway import server

            server.preload()
        tools = find_tools(scenario, file, self.project)
        endpoint = self.endpoint_of(scenario)
        if batch is None:
            batch = Batch(
                batch_id=self.clock.new_id(),
                scenario_id=scenario.scenario,
                created_at=self.clock.now().isoformat(),
                adapter=scenario.adapter,
                provider=scenario.adapter if scenario.adapter in ADAPTERS else CUSTOM,
                model=scenario.model,
                runs=scenario.runs,
                seed=scenario.seed,
                threshold=scenario.threshold,
                min_pass_rate=scenario.min_pass_rate,
                confidence=scenario.confidence,
                recorded=recorded,
                scenario=clean_scenario(scenario_document(scenario), self.redactor()),
                source=self.project.relative(file),
                tools={tool.name: tool.fingerprint for tool in tools},
                settings=dict(settings or {}),
                salvo_version=__version__,
                command=command,
            )
        return PreparedScenario(
            batch=batch,
            scenario=scenario,
            file=file,
            tools=tools,
            make_adapter=make_adapter(scenario, file, self.project, self.environ),
            load=lambda path: self.project.load(path, file),
            options=self.options_of(scenario),
            endpoint=endpoint,
        )

    def replayer(self) -> Replayer:
        from salvo.scenarios.replay import Replayer

        return Replayer(
            store=self.store(),
            registry=builtin_registry(),
            redactor=self.redactor(),
            root=self.project.root,
            make_adapter=lambda scenario, file: make_adapter(scenario, file, self.project, self.environ),
            load=self.project.load,
            read=lambda file, overrides: self.read(file, ScenarioOverrides(**overrides), will_call=False),
            tools=lambda scenario, file: find_tools(scenario, file, self.project),
            environ=self.environ,
        )

    async def run(self, prepared: PreparedScenario, recording: RecordingOptions | None) -> BatchSummary:
        """All runs of one scenario, with nobody watching."""
        from salvo.scenarios.analysis.summary import summarise

        preload()
        async with self.session(recording=recording) as session:
            session.store.prepare()
            session.store.save_batch(prepared.batch)
            numbers = list(range(1, prepared.batch.runs + 1))
            [ran] = await run_all([(prepared, numbers)], session, more=lambda _: [])
        return summarise(prepared.batch, ran.entries, ran.unmade)

    @asynccontextmanager
    async def session(
        self,
        *,
        concurrency: int = 10,
        max_cost: float | None = None,
        recording: RecordingOptions | None = None,
        stop_at_first_failure: bool = False,
        on_start: Callable[[PreparedScenario, int], None] | None = None,
        on_wait: Callable[[Wait], None] | None = None,
        on_result: Callable[[PreparedScenario, AgentRunResult], None] | None = None,
    ) -> AsyncIterator[Session]:
        redactor = self.redactor()
        async with HttpWire(self.all_endpoints(), redactor, clock=self.clock) as wire:
            yield Session(
                wire=wire,
                store=self.store(),
                registry=builtin_registry(),
                redactor=redactor,
                clock=self.clock,
                pool=Pool(concurrency, Budget(max_cost)),
                recording=recording,
                stop_at_first_failure=stop_at_first_failure,
                on_start=on_start,
                on_wait=on_wait,
                on_result=on_result,
            )

    @asynccontextmanager
    async def judging_bench(
        self,
        judgings: RejudgeStore,
        file: Path,
        *,
        concurrency: int,
        max_cost: float | None,
        version: str,
        on_judged: Callable[[Rejudgement], None],
        on_wait: Callable[[Wait], None],
    ) -> AsyncIterator[RejudgeSession]:
        """For judging stored runs again. `file` is their scenario's: what an evaluator loads is found from there."""
        from salvo.scenarios.analysis.rejudge import RejudgeSession

        redactor = self.redactor()
        async with HttpWire(self.all_endpoints(), redactor, clock=self.clock) as wire:
            yield RejudgeSession(
                wire=RetryingWire(wire, clock=self.clock, listener=on_wait),
                registry=builtin_registry(),
                redactor=redactor,
                clock=self.clock,
                pool=Pool(concurrency, Budget(max_cost)),
                judgings=judgings,
                load=lambda path: self.project.load(path, file),
                version=version,
                on_judged=on_judged,
            )
