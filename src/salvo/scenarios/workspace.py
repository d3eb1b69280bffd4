"""A project's scenarios, read and made ready to run. Commands, the pytest plugin and workers start from here."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Any

from salvo import __version__
from salvo.engine.chat import catalog
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.pydantic_errors import FieldError, FieldPath, validate
from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.runtime.git import GitState, read_state
from salvo.engine.runtime.pricing import PriceBook
from salvo.engine.runtime.redact import Redactor, environment_secrets
from salvo.engine.text.messages import display_path
from salvo.engine.wire.base import Endpoint, RecordingOptions
from salvo.errors import InputError, Problem, ScenarioFileError, UsageError
from salvo.scenarios.agent_code import agent_fingerprint
from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.judge_endpoints import judge_endpoints, user_endpoint
from salvo.scenarios.overrides import ScenarioOverrides
from salvo.scenarios.result import COMMAND, CUSTOM, OWN_ADAPTERS, PROVIDER_ADAPTERS, Batch, CodeVersion
from salvo.scenarios.run.adapters.factory import find_adapter
from salvo.scenarios.run.call_limits import DEFAULT_LIMITS, CallLimits
from salvo.scenarios.run.conversation.user_factory import user_factory
from salvo.scenarios.run.environment import JudgeEndpoints, PreparedScenario
from salvo.scenarios.run.executors.base import OpenWorkers
from salvo.scenarios.run.redaction import clean_document, clean_scenario
from salvo.scenarios.run.runner import RunLimits, RunListener, Runner
from salvo.scenarios.run.tools.discovery import changed_tools, find_servers, find_tools
from salvo.scenarios.scenario_checks import check_scenario
from salvo.scenarios.spec.env_variables.env_grants import EnvGrants, grant_errors, judge_grant_errors, refused_variables
from salvo.scenarios.spec.env_variables.mcp_variables import (
    expand_servers,
    server_endpoints,
    server_grant_errors,
    server_secrets,
)
from salvo.scenarios.spec.env_variables.variables import expand_variables, option_secrets
from salvo.scenarios.spec.judge_server import JudgeServer
from salvo.scenarios.spec.loader import LoadedFile, join_errors, load_scenarios, merge_problems
from salvo.scenarios.spec.prices import read_price_book
from salvo.scenarios.spec.project import Project
from salvo.scenarios.spec.python_scenario import python_scenario
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.location import open_store
from salvo.scenarios.store.store import RunStore

if TYPE_CHECKING:
    from salvo.scenarios.run.tools.mcp_tools import PreparedServer


_UNCHECKED = {"scenario", "description", "user_message", "system_prompt", "tags"}
"""Fields that nothing but a run reads. Cells that differ only in these have the same errors."""


def suite_name(scenario: Scenario) -> str:
    """Return the name in the scenario's file, which all cells of the file share."""
    return scenario.scenario if scenario.cell is None else scenario.cell.suite


def cell_redactor(scenario: Scenario, redactor: Redactor) -> Redactor:
    """Return the redactor for what belongs to this scenario: it replaces the private values of its case, too."""
    private = scenario.cell.private if scenario.cell else {}
    return redactor.with_private(private) if private else redactor


def judged_scenario(scenario: Scenario) -> Scenario | None:
    """Return a scenario with private values as it is judged: with placeholders, which its results have, too."""
    if scenario.cell is None or not scenario.cell.private:
        return None
    document = clean_scenario(scenario, cell_redactor(scenario, Redactor()))
    judged, errors = validate(Scenario, document)
    if judged is None:
        raise InputError(
            f"{scenario.scenario}: a private column cannot be used in a field that is not text: {join_errors(errors)}"
        )
    return judged.with_cell(scenario.cell)


def find_cell(scenarios: Sequence[Scenario], file: Path, scenario_id: str | None) -> Scenario:
    """Return the scenario of a file by its id. If the file has only one scenario, any id is right."""
    if scenarios[0].cell is None:
        return scenarios[0]
    for scenario in scenarios:
        if scenario.scenario == scenario_id:
            return scenario
    message = f"{display_path(file)} has cases or a matrix, and none of its cells is {scenario_id or 'named'}."
    raise UsageError(message, hint=f"There are {scenarios[0].scenario} and {len(scenarios) - 1} others.")


class Calls(Enum):
    """What a command calls of a scenario that it reads."""

    ALL = auto()
    JUDGES = auto()
    NONE = auto()


_NEW_FIELDS: Mapping[str, Any] = {"mcp_servers": {}, "record": {"ignore": []}}
"""The defaults of fields that the scenarios of earlier versions do not have."""


def _changed_error(batch: Batch, name: str, kind: str) -> UsageError:
    return UsageError(
        f"{name} has changed since the batch {batch.batch_id} was started, so the batch cannot be resumed.",
        hint=f"A batch has one version of its {kind}: start a new one.",
    )


@dataclass(slots=True)
class Workspace:
    """Reads a project's scenarios and prepares them, with what they share: endpoints, redaction, the clock."""

    project: Project
    clock: Clock = field(default_factory=SystemClock)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    patterns: tuple[str, ...] = ()
    endpoints: dict[str, Endpoint] = field(default_factory=dict)
    allow_env: frozenset[str] = frozenset()
    """Credentials that the user lets a scenario file send to an address of its choice."""
    call_limits: CallLimits = DEFAULT_LIMITS
    """What the command says about calls. It counts before the scenario's options and the environment."""
    price_file: Path | None = None
    """A file with prices that the user names, besides those of the project."""
    secrets: set[str] = field(default_factory=set)
    """What the options of the scenarios so far contain, and no file may."""
    _git: list[GitState | None] = field(default_factory=list)
    """The state of the repository, once it was asked for."""
    _store: RunStore | None = None
    """The store, once it was asked for."""
    _agents: dict[tuple[str, ...], str | None] = field(default_factory=dict)
    """The hash of each agent's code, by what it depends on."""

    @property
    def grants(self) -> EnvGrants:
        return EnvGrants(self.project.root, self.environ, self.allow_env)

    def read(
        self,
        file: Path,
        overrides: ScenarioOverrides,
        *,
        scenario_id: str | None = None,
        calls: Calls = Calls.ALL,
    ) -> Scenario:
        """Return the scenario of a file, or raise ScenarioFileError with everything that is wrong in it.

        In a file with cases or a matrix, `scenario_id` says which cell. If the agent is not called, as in a replay,
        only its assertions must be usable now.
        """
        return find_cell(self.read_file(file, overrides, calls=calls), file, scenario_id)

    def read_file(self, file: Path, overrides: ScenarioOverrides, *, calls: Calls = Calls.ALL) -> list[Scenario]:
        """Return every scenario of a file: one for each cell if it has cases or a matrix."""
        if file.suffix == ".py":
            raise UsageError(
                f"This scenario is written in Python, in {display_path(file)}: only its test can run it.",
                hint="Run that test again, or name a scenario file.",
            )
        loaded = self._load(file, calls)
        if problems := merge_problems(loaded):
            raise ScenarioFileError(problems)
        return [overrides.apply(item.valid_model()) for item in loaded]

    def read_all(self, paths: Sequence[Path] = ()) -> list[tuple[Path, Scenario]]:
        """Return every scenario below these paths, or raise ScenarioFileError with the problems of all files."""
        scenarios, problems = self.validate_all(self.project.scenario_files(paths))
        if problems:
            raise ScenarioFileError(problems)
        return scenarios

    def validate_all(self, files: Iterable[Path]) -> tuple[list[tuple[Path, Scenario]], list[Problem]]:
        """Return the scenarios that are valid, and the problems of the other files.

        Two files whose scenarios have the same name are a problem of the second one.
        """
        scenarios: list[tuple[Path, Scenario]] = []
        problems: list[Problem] = []
        files_by_name: dict[str, Path] = {}
        for file in files:
            loaded = self._load(file)
            if not (file_problems := merge_problems(loaded)):
                models = [item.valid_model() for item in loaded]
                name = suite_name(models[0])
                first = files_by_name.setdefault(name, file)
                if first is file:
                    scenarios += [(file, model) for model in models]
                else:
                    message = f'"{name}" is also the name of {display_path(first)}'
                    loaded[0].report([FieldError(("scenario",), message)])
                    file_problems = loaded[0].problems
            problems += file_problems
        return scenarios, problems

    def model_warnings(self, scenarios: Iterable[tuple[Path, Scenario]]) -> Iterator[Problem]:
        """Yield each model that its provider may not have, because the catalog does not know it."""
        warnings_by_file: dict[Path, dict[str, list[FieldError]]] = {}
        for file, scenario in scenarios:
            warnings = [
                FieldError(
                    path,
                    f"Salvo does not know the model {model} of {provider.title}; it may be misspelt, or newer. "
                    + provider.about(model),
                )
                for path, provider, model in self._provider_models(scenario)
                if not provider.facts(model).is_known
            ]
            if warnings:
                warnings_by_file.setdefault(file, {})[scenario.scenario] = warnings
        for file, by_scenario in warnings_by_file.items():
            loaded = load_scenarios(file, root=self.project.root)
            for item in loaded:
                if item.model is not None:
                    item.report(by_scenario.get(item.model.scenario, []))
            yield from merge_problems(loaded)

    def _provider_models(self, scenario: Scenario) -> Iterator[tuple[FieldPath, catalog.Provider, str]]:
        """Yield the models of a scenario that are called at their provider's own address, with their field."""
        own = {
            name: provider
            for name, provider in catalog.providers().items()
            if catalog.endpoint(provider, self.environ).base_url == provider.base_url
        }
        if scenario.adapter in own and not scenario.adapter_options.get("base_url"):
            yield ("model",), own[scenario.adapter], scenario.model
        if scenario.user is not None and scenario.user.model and not scenario.user.base_url:
            provider, model = catalog.find(scenario.user.model)
            if provider.name in own:
                yield ("user", "model"), provider, model
        registry = builtin_registry()
        for path, assertion in scenario.all_assertions():
            judge_model = registry.find(assertion.type).judge_model
            if judge_model is not None and (name := judge_model(scenario, assertion.fields)) is not None:
                provider, model = catalog.find(name)
                if provider.name in own and not assertion.fields.get("base_url"):
                    yield (*path, "model"), provider, model

    def _load(self, file: Path, calls: Calls = Calls.ALL) -> list[LoadedFile[Scenario]]:
        """Read a file, then check what it needs from the project."""
        environ = None if calls is Calls.NONE else self.environ
        only_judges = calls is Calls.JUDGES
        loaded_scenarios = load_scenarios(file, environ=environ, root=self.project.root, only_judges=only_judges)
        errors_by_content: dict[str, list[FieldError]] = {}
        for loaded in loaded_scenarios:
            draft = loaded.draft()
            if draft is None:
                continue
            # Cells differ in little. What is the same in many of them is checked once.
            key = draft.model_dump_json(exclude=_UNCHECKED) if len(loaded_scenarios) > 1 else ""
            if key not in errors_by_content:
                errors = list(check_scenario(draft, file, self.project, assertions_only=calls is not Calls.ALL))
                if calls is not Calls.NONE:
                    errors += (judge_grant_errors if only_judges else grant_errors)(draft, self.grants)
                if calls is Calls.ALL:
                    errors += server_grant_errors(draft, self.grants)
                errors_by_content[key] = errors
            loaded.report(errors_by_content[key])
        return loaded_scenarios

    def with_python_scenario(
        self, fields: Mapping[str, Any], file: Path, overrides: ScenarioOverrides
    ) -> tuple[Workspace, Scenario]:
        """Return a scenario that is written in Python in this file, and a workspace that knows its functions."""
        scenario, objects = python_scenario(fields)
        project = replace(self.project, objects=objects)
        grants = (*grant_errors(scenario, self.grants), *server_grant_errors(scenario, self.grants))
        if errors := [*check_scenario(scenario, file, project), *grants]:
            raise InputError(f"The scenario {scenario.scenario} cannot be used: {join_errors(errors)}")
        return replace(self, project=project, _agents={}), overrides.apply(scenario)

    def price_book(self) -> PriceBook:
        """Return what models cost. Raise UsageError if the project or the user's file sets an invalid price."""
        return read_price_book(self.project.root, self.price_file, self.clock.now())

    def store(self) -> RunStore:
        if self._store is None:
            self._store = open_store(self.project)
        return self._store

    def redactor(self) -> Redactor:
        keys = [endpoint.key for endpoint in self.all_endpoints().values() if endpoint.key]
        return Redactor([*environment_secrets(self.environ), *keys, *self.secrets], self.patterns)

    def all_endpoints(self) -> dict[str, Endpoint]:
        return {**catalog.endpoints(self.environ), **self.endpoints}

    def adapter_options(self, scenario: Scenario) -> dict[str, Any]:
        """Return the adapter's options with the values of variables. A credential without a grant is not filled in."""
        if not scenario.adapter_options:
            return {}
        refused = {use.name for use in refused_variables(scenario, self.grants)}
        environ = {name: value for name, value in self.environ.items() if name not in refused}
        return {name: expand_variables(value, environ) for name, value in scenario.adapter_options.items()}

    def register(self, scenario: Scenario) -> str | None:
        """Add what the scenario's options hold: secrets, and an endpoint, whose name is returned if there is one."""
        self.register_judges(scenario)
        self._register_user(scenario)
        self.secrets.update(option_secrets(scenario.adapter_options, self.environ))
        if scenario.mcp_servers:
            self.secrets.update(server_secrets(scenario, self.environ))
            self.endpoints |= server_endpoints(scenario, expand_servers(scenario, self.grants))
        options = self.adapter_options(scenario)
        base_url, key = options.get("base_url"), options.get("api_key")
        if scenario.adapter not in PROVIDER_ADAPTERS or not (base_url or key):
            return None
        provider = catalog.providers()[scenario.adapter]
        endpoint = catalog.endpoint(provider, self.environ, base_url=base_url, key=key)
        # Cells share the endpoint of their file. One that a cell has to itself is named after the cell.
        name = f"{scenario.adapter} of {suite_name(scenario)}"
        if self.endpoints.setdefault(name, endpoint) != endpoint:
            name = f"{scenario.adapter} of {scenario.scenario}"
            self.endpoints[name] = endpoint
        return name

    def register_judges(self, scenario: Scenario) -> JudgeEndpoints:
        """Add the secrets and endpoints of judges with a server of their own, and return the endpoints' names."""
        names: dict[tuple[str, JudgeServer], str] = {}
        for judge in judge_endpoints(scenario, self.grants):
            self.secrets.update(judge.secrets)
            names[judge.provider, judge.server] = judge.name
            self.endpoints[judge.name] = judge.endpoint
        return names

    def _register_user(self, scenario: Scenario) -> str | None:
        """Add the secrets and the endpoint of a simulated user with a server of its own, and return its name."""
        endpoint = user_endpoint(scenario, self.grants)
        if endpoint is None:
            return None
        self.secrets.update(endpoint.secrets)
        self.endpoints[endpoint.name] = endpoint.endpoint
        return endpoint.name

    def prepare_again(self, batches: Sequence[Batch], adapter: str | None = None) -> list[PreparedScenario]:
        """Prepare earlier batches to be resumed. Raise UsageError if a scenario or a tool has changed since.

        The scenarios are read from their files, because the stored ones are redacted, and because a stored batch does
        not choose code: an adapter that its command named instead of the file's must be named again.
        """
        return self.prepare_batches(batches, [self._file_to_resume(batch, adapter) for batch in batches])

    def prepare_batches(self, batches: Sequence[Batch], files: Sequence[Path]) -> list[PreparedScenario]:
        """Prepare batches that were planned by another process, from these files. Raise UsageError as above."""
        by_file: dict[tuple[Path, str], dict[str, Scenario]] = {}
        scenarios = []
        for file, batch in zip(files, batches, strict=True):
            overrides = ScenarioOverrides.from_batch(batch)
            # A file of many cells is read once.
            key = (file, repr(overrides))
            if key not in by_file:
                by_file[key] = {item.scenario: item for item in self.read_file(file, overrides)}
            present = by_file[key]
            scenarios.append(present.get(batch.scenario_id) or find_cell([*present.values()], file, batch.scenario_id))
        # All of them first: their keys must be known before any text is redacted.
        for scenario in scenarios:
            self.register(scenario)
        work: list[PreparedScenario] = []
        for batch, file, scenario in zip(batches, files, scenarios, strict=True):
            redactor = cell_redactor(scenario, self.redactor())
            # An earlier version may have redacted less.
            stored = {**_NEW_FIELDS, **clean_document(batch.scenario, redactor)}
            if json_codec.plain(clean_scenario(scenario, redactor)) != stored:
                raise _changed_error(batch, batch.source, "scenario")
            prepared = self.prepare(scenario, file, recorded=batch.recorded, batch=batch)
            if changed := changed_tools(batch.tools, prepared.tools):
                raise _changed_error(batch, f"The tool {changed[0]}", "tools")
            if batch.code.agent not in (None, self._agent_fingerprint(scenario, file)):
                raise _changed_error(batch, "The agent's code", "agent")
            work.append(prepared)
        return work

    def _file_to_resume(self, batch: Batch, adapter: str | None) -> Path:
        """Return the scenario file of a batch. Raise UsageError if the store alone would choose the code that runs."""
        file = self.project.stored_source(
            batch.source,
            f"So the batch {batch.batch_id} cannot be resumed: a store does not choose where code comes from.",
            "Restore the file, or start a new batch.",
        )
        override = ScenarioOverrides.from_batch(batch).adapter
        if adapter is not None and adapter != override:
            raise UsageError(
                f"The batch {batch.batch_id} was not started with --adapter {adapter}.",
                hint="--resume continues a batch as it was started.",
            )
        if override not in (None, adapter, *OWN_ADAPTERS):
            raise UsageError(
                f"The batch {batch.batch_id} was started with --adapter {override}, which names code.",
                hint="A stored batch does not choose code. If that is your agent, name it again: "
                f"salvo run --resume {batch.batch_id} --adapter {shlex.quote(override)}",
            )
        return file

    def code_version(self, scenario: Scenario, file: Path) -> CodeVersion:
        """Return which code a scenario would run now."""
        state = self._git_state()
        agent = self._agent_fingerprint(scenario, file)
        return CodeVersion(state.commit, state.dirty, agent) if state else CodeVersion(agent=agent)

    def commit(self) -> str | None:
        """Return the commit that is checked out in the project, if there is one."""
        state = self._git_state()
        return state.commit if state else None

    def _git_state(self) -> GitState | None:
        """Return the state of the repository, which is asked once for all scenarios."""
        if not self._git:
            self._git.append(read_state(self.project.root))
        return self._git[0]

    def _agent_fingerprint(self, scenario: Scenario, file: Path) -> str | None:
        if scenario.adapter in PROVIDER_ADAPTERS:
            return None
        key = (scenario.adapter, str(file.resolve().parent), repr(scenario.adapter_options))
        if key not in self._agents:
            self._agents[key] = agent_fingerprint(scenario, file, self.project)
        return self._agents[key]

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
        """Find everything that a scenario needs. `batch` is an earlier batch that is resumed."""
        tools = find_tools(scenario, file, self.project)
        endpoint = self.register(scenario)
        private = scenario.cell.private if scenario.cell else {}
        if batch is None:
            batch = Batch(
                batch_id=self.clock.new_id(),
                scenario_id=scenario.scenario,
                created_at=self.clock.now().isoformat(),
                adapter=scenario.adapter,
                provider=scenario.adapter if scenario.adapter in PROVIDER_ADAPTERS else CUSTOM,
                model=scenario.model,
                runs=scenario.runs,
                seed=scenario.seed,
                threshold=scenario.threshold,
                min_pass_rate=scenario.min_pass_rate,
                confidence=scenario.confidence,
                recorded=recorded,
                scenario=clean_scenario(scenario, cell_redactor(scenario, self.redactor())),
                source=self.project.relative(file),
                tools={tool.name: tool.fingerprint for tool in tools},
                settings=dict(settings or {}),
                salvo_version=__version__,
                command=command,
                code=self.code_version(scenario, file),
                suite=scenario.cell.suite if scenario.cell else "",
                parameters=dict(scenario.cell.parameters) if scenario.cell else {},
            )
        return PreparedScenario(
            batch=batch,
            scenario=scenario,
            tools=tools,
            make_adapter=find_adapter(scenario, file, self.project, self.environ).make,
            load=lambda path: self.project.load(path, file),
            options=self.adapter_options(scenario),
            endpoint=endpoint,
            call_limits=self._call_limits(scenario),
            judge_endpoints=self.register_judges(scenario),
            servers=self._servers(scenario, file),
            user_endpoint=self._register_user(scenario),
            make_user=user_factory(scenario, lambda path: self.project.load(path, file)),
            private=private,
            judged_scenario=judged_scenario(scenario),
        )

    def _servers(self, scenario: Scenario, file: Path) -> list[PreparedServer]:
        servers = find_servers(scenario, file, self.project)
        return [] if servers is None else servers.prepare(expand_servers(scenario, self.grants), self.environ)

    def _call_limits(self, scenario: Scenario | None = None) -> CallLimits:
        """Return the limits of the scenario's calls, or those of calls that belong to no agent."""
        from_environ = CallLimits.from_environ(self.environ)
        # The options of a user's own adapter are its own affair, whatever their names are.
        if scenario is None or scenario.adapter not in (*PROVIDER_ADAPTERS, COMMAND):
            return self.call_limits.over(from_environ)
        options = CallLimits.from_options(self.adapter_options(scenario))
        return self.call_limits.over(options).over(from_environ)

    def runner(
        self,
        limits: RunLimits | None = None,
        recording: RecordingOptions | None = None,
        listener: RunListener | None = None,
        *,
        use_cache: bool = False,
        open_workers: OpenWorkers | None = None,
        has_keys: bool = True,
    ) -> Runner:
        return Runner(
            endpoints=self.all_endpoints(),
            store=self.store(),
            redactor=self.redactor(),
            clock=self.clock,
            limits=limits or RunLimits(),
            recording=recording,
            listener=listener or RunListener(),
            call_limits=self._call_limits(),
            price_book=self.price_book(),
            use_cache=use_cache,
            open_workers=open_workers,
            has_keys=has_keys,
        )
