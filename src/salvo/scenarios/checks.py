"""Check what a scenario needs from its project: its tools, its adapter, its assertions. Nothing is run or called."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from salvo.engine.jsonio.pydantic_errors import FieldError
from salvo.errors import InputError, SalvoError
from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.result import COMMAND
from salvo.scenarios.run.adapters.factory import PROVIDER_ADAPTERS, adapter_factory
from salvo.scenarios.run.tools.discovery import missing_tools
from salvo.scenarios.spec.project import Project
from salvo.scenarios.spec.schema import Scenario


def check_scenario(
    scenario: Scenario, file: Path, project: Project, *, assertions_only: bool = False
) -> Iterator[FieldError]:
    """Yield every error of a scenario whose shape is right. A replay needs the assertions only."""
    checks = [_check_assertions] if assertions_only else [_check_tools, _check_adapter, _check_assertions]
    for check in checks:
        try:
            yield from check(scenario, file, project)
        except SalvoError as error:
            yield FieldError((), str(error))


def _check_tools(scenario: Scenario, file: Path, project: Project) -> Iterator[FieldError]:
    for path, message in missing_tools(scenario, file, project):
        yield FieldError(path, message)


def _check_adapter(scenario: Scenario, file: Path, project: Project) -> Iterator[FieldError]:
    try:
        adapter_factory(scenario, file, project)
    except InputError as error:
        yield FieldError(("adapter",), str(error))
    if scenario.adapter == COMMAND:
        # Its gateway needs aiohttp's server, which no other adapter does.
        from salvo.scenarios.run.adapters.command import check_command

        yield from check_command(scenario, file, project.root, os.environ)
    if scenario.adapter in PROVIDER_ADAPTERS and not scenario.model:
        yield FieldError(("adapter",), f"the adapter {scenario.adapter} needs a model")


def _check_assertions(scenario: Scenario, file: Path, project: Project) -> Iterator[FieldError]:
    return builtin_registry().check(scenario, lambda path: project.load(path, file))
