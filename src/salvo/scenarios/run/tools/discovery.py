"""Find a scenario's tools: inline, then in `tools.py` from its folder up to the root, then in `tools/<name>.yaml`.

MCP servers are another source of tools. What checks and prepares them is loaded for scenarios that have some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from salvo.engine.jsonio.canonical import stable_key
from salvo.engine.jsonio.json_schema import check
from salvo.engine.jsonio.pydantic_errors import FieldError
from salvo.engine.runtime.clock import Clock
from salvo.errors import InputError
from salvo.records import record
from salvo.scenarios.run.tools.function import FunctionTool, tool_source, tools_in
from salvo.scenarios.run.tools.toolbox import Tool
from salvo.scenarios.run.tools.yaml_tool import ScriptedTool
from salvo.scenarios.spec.loader import read_tool
from salvo.scenarios.spec.project import Project
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.spec.tool_schema import YamlTool

if TYPE_CHECKING:
    from salvo.scenarios.run.tools.mcp_settings import ScenarioServers


@record
class FoundTool:
    """A tool of a scenario before any run: `make` returns the tool of one run."""

    name: str
    make: Callable[[Clock], Tool]
    fingerprint: str


def find_tools(scenario: Scenario, file: Path, project: Project) -> list[FoundTool]:
    """Return all tools in the scenario's order. Raise InputError for the first that does not exist."""
    return [_find(reference, file, project) for reference in scenario.tools]


def check_tools(scenario: Scenario, file: Path, project: Project) -> Iterator[FieldError]:
    """Yield what is wrong with a scenario's tools."""
    names: set[str] = set()
    for index, reference in enumerate(scenario.tools):
        try:
            name = _find(reference, file, project).name
        except InputError as error:
            yield FieldError(("tools", index), str(error))
            continue
        if name in names:
            yield FieldError(("tools", index), f"the tool {name} is listed twice")
        names.add(name)


def find_servers(scenario: Scenario, file: Path, project: Project) -> ScenarioServers | None:
    """Return what checks and prepares the MCP servers of a scenario; None if it has none."""
    if not scenario.mcp_servers:
        return None
    from salvo.scenarios.run.tools.mcp_settings import ScenarioServers  # most scenarios have none

    return ScenarioServers(scenario, file, project.root)


def _find(reference: str | YamlTool, file: Path, project: Project) -> FoundTool:
    if isinstance(reference, YamlTool):
        return _yaml_tool(reference)
    if reference in project.objects:
        return _function_tool(reference, project.objects[reference])
    places: list[str] = []
    for folder in project.folders_above(file):
        module_file = folder / "tools.py"
        places.append(str(module_file))
        if module_file.is_file():
            functions = tools_in(project.load_module(module_file))
            if reference in functions:
                return _function_tool(reference, functions[reference])
    for folder in project.folders_above(file):
        yaml_file = folder / "tools" / f"{reference}.yaml"
        places.append(str(yaml_file))
        if yaml_file.is_file():
            tool = read_tool(yaml_file)
            if tool.name != reference:
                message = f"{yaml_file} defines {tool.name!r}, not {reference!r}"
                raise InputError(f"{message}; the file and the tool must have the same name")
            return _yaml_tool(tool)
    raise InputError(f"there is no tool {reference!r}; looked in the scenario, {', '.join(places)}")


def _yaml_tool(spec: YamlTool) -> FoundTool:
    check(spec.parameters)
    return FoundTool(spec.name, partial(ScriptedTool, spec), stable_key(spec.model_dump(mode="json")))


def _function_tool(name: str, function: Callable[..., Any]) -> FoundTool:
    tool = FunctionTool(name, function)
    return FoundTool(name, lambda _clock: tool, stable_key([tool.definition, tool_source(function)]))


def changed_tools(before: Mapping[str, str], now: Iterable[FoundTool]) -> list[str]:
    """Return the names of the tools whose fingerprints have changed."""
    present = {tool.name: tool.fingerprint for tool in now}
    return sorted(name for name in {*before, *present} if before.get(name) != present.get(name))
