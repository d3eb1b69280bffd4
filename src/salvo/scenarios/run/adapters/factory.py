"""Find the adapter that a scenario names."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from salvo.errors import InputError
from salvo.scenarios.result import COMMAND
from salvo.scenarios.run.adapters.anthropic import AnthropicAdapter
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.adapters.function import FunctionAdapter
from salvo.scenarios.run.adapters.openai import OpenAIAdapter
from salvo.scenarios.spec.project import Project
from salvo.scenarios.spec.schema import Scenario

PROVIDER_ADAPTERS: Mapping[str, type[BaseAdapter]] = {"openai": OpenAIAdapter, "anthropic": AnthropicAdapter}


def adapter_factory(
    scenario: Scenario, file: Path, project: Project, environ: Mapping[str, str] = os.environ
) -> Callable[[], BaseAdapter]:
    """Return what makes an adapter for each run: a built-in one by its name, else the user's own by its path."""
    name = scenario.adapter
    if name in PROVIDER_ADAPTERS:
        return PROVIDER_ADAPTERS[name]
    if name == COMMAND:
        # Its gateway needs aiohttp's server, which no other adapter does.
        from salvo.scenarios.run.adapters.command import CommandAdapter

        return lambda: CommandAdapter(file, project.root, environ)
    if name.startswith("function:"):
        function = project.load(name.removeprefix("function:"), file)
        if not callable(function):
            raise InputError(f"{name} is not callable")
        return lambda: FunctionAdapter(function)
    adapter = project.load(name, file)
    if not (inspect.isclass(adapter) and issubclass(adapter, BaseAdapter)):
        raise InputError(f"{name} is not a class derived from salvo.BaseAdapter")
    return adapter
