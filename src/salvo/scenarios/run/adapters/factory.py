"""Find the adapter that a scenario names."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from salvo.engine.jsonio.pydantic_errors import FieldError
from salvo.engine.runtime import user_code
from salvo.errors import InputError
from salvo.scenarios.result import COMMAND, MCP, PROVIDER_ADAPTERS, AdapterRequest, AdapterResponse
from salvo.scenarios.run.adapters.base import BaseAdapter, is_adapter
from salvo.scenarios.run.adapters.tool_loop import ProviderAdapter
from salvo.scenarios.spec.project import Project
from salvo.scenarios.spec.schema import Scenario


class FunctionAdapter(BaseAdapter):
    """`adapter: function:module.callable`: any function that takes the request and returns the final output.

    A sync function runs in a thread, so that one run does not block the others.
    """

    def __init__(self, function: Callable[[AdapterRequest], Any]) -> None:
        self._function = function

    async def run(self, request: AdapterRequest) -> AdapterResponse:
        output = await user_code.call(self._function, request)
        return output if isinstance(output, AdapterResponse) else AdapterResponse(output)


class ChosenAdapter(NamedTuple):
    """What makes the adapter for each run, and what checks the scenario's options for it without running anything."""

    make: Callable[[], BaseAdapter]
    check: Callable[[], Iterable[FieldError]] = tuple


def find_adapter(
    scenario: Scenario, file: Path, project: Project, environ: Mapping[str, str] = os.environ
) -> ChosenAdapter:
    """Return the adapter that a scenario names: a built-in one by its name, else the user's own by its path."""
    name = scenario.adapter
    if name in PROVIDER_ADAPTERS:
        return ChosenAdapter(partial(ProviderAdapter, name))
    if name == MCP:
        from salvo.scenarios.run.adapters import mcp  # few scenarios test servers without an agent

        return ChosenAdapter(mcp.McpAdapter, partial(mcp.check_mcp_test, scenario))
    if name == COMMAND:
        from salvo.scenarios.run.adapters import command  # its gateway needs aiohttp's server, as no other adapter

        return ChosenAdapter(
            partial(command.CommandAdapter, file, project.root, environ, scenario.is_conversation),
            partial(command.check_command, scenario, file, project.root, environ),
        )
    return ChosenAdapter(_load_adapter(name, file, project))


def _load_adapter(name: str, file: Path, project: Project) -> Callable[[], BaseAdapter]:
    """Return the user's own adapter. InputError if it is none."""
    if name.startswith("function:"):
        function = project.load(name.removeprefix("function:"), file)
        if not callable(function):
            raise InputError(f"{name} is not callable")
        return partial(FunctionAdapter, function)
    adapter = project.load(name, file)
    if not (inspect.isclass(adapter) and issubclass(adapter, BaseAdapter)):
        raise InputError(f"{name} is not a class derived from salvo.BaseAdapter")
    if not is_adapter(adapter):
        raise InputError(f"{name} has neither a method run(request) nor a method respond(message)")
    return adapter
