"""Check what a valid scenario file names: its tools, servers, adapter and assertions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from salvo.engine.chat import catalog
from salvo.engine.jsonio.pydantic_errors import FieldError, validate
from salvo.engine.wire.addresses import is_web_address
from salvo.errors import InputError, SalvoError, UsageError
from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.result import MCP, PROVIDER_ADAPTERS
from salvo.scenarios.run.adapters.factory import find_adapter
from salvo.scenarios.run.call_limits import CallLimitOptions
from salvo.scenarios.run.conversation.user_factory import user_factory
from salvo.scenarios.run.tools.discovery import check_tools, find_servers
from salvo.scenarios.spec.env_variables.variables import expand_variables, find_variables
from salvo.scenarios.spec.project import Project
from salvo.scenarios.spec.schema import Scenario


def check_scenario(
    scenario: Scenario, file: Path, project: Project, *, assertions_only: bool = False
) -> Iterator[FieldError]:
    """Yield every error of a scenario whose shape is right. Nothing is run. A replay needs the assertions only."""
    checks = (
        [_check_assertions]
        if assertions_only
        else [check_tools, _check_servers, _check_adapter, _check_user, _check_assertions]
    )
    for check in checks:
        try:
            yield from check(scenario, file, project)
        except SalvoError as error:
            yield FieldError((), str(error))


def _check_servers(scenario: Scenario, file: Path, project: Project) -> Iterator[FieldError]:
    servers = find_servers(scenario, file, project)
    if servers is not None:
        yield from servers.check()


def _check_adapter(scenario: Scenario, file: Path, project: Project) -> Iterator[FieldError]:
    try:
        adapter = find_adapter(scenario, file, project)
    except InputError as error:
        yield FieldError(("adapter",), str(error))
    else:
        yield from adapter.check()
    if scenario.adapter in PROVIDER_ADAPTERS:
        yield from _check_provider_options(scenario)


def _check_user(scenario: Scenario, file: Path, project: Project) -> Iterator[FieldError]:
    if not scenario.is_conversation:
        return
    if scenario.adapter == MCP:
        yield FieldError(("turns" if scenario.turns else "user",), "the test of MCP servers has no user")
    if scenario.user is None:
        return
    if scenario.user.model is not None:
        try:
            catalog.find(scenario.user.model)
        except UsageError as error:
            yield FieldError(("user", "model"), str(error))
    try:
        user_factory(scenario, lambda path: project.load(path, file))
    except InputError as error:
        yield FieldError(("user", "python"), str(error))


def _check_provider_options(scenario: Scenario) -> Iterator[FieldError]:
    if not scenario.model:
        yield FieldError(("adapter",), f"the adapter {scenario.adapter} needs a model")
    options = expand_variables(scenario.adapter_options, os.environ)
    limits = {name: value for name, value in options.items() if name in CallLimitOptions.model_fields}
    for error in validate(CallLimitOptions, limits)[1]:
        yield error._replace(path=("adapter_options", *error.path))
    base_url = options.get("base_url")
    # A variable that is not set is an error of its own.
    if base_url is not None and not is_web_address(str(base_url)) and not list(find_variables(base_url)):
        yield FieldError(("adapter_options", "base_url"), "is not a web address, such as http://127.0.0.1:8080/v1")


def _check_assertions(scenario: Scenario, file: Path, project: Project) -> Iterator[FieldError]:
    return builtin_registry().check(scenario, lambda path: project.load(path, file))
