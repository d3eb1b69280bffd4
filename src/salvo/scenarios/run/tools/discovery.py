"""Find a scenario's tools: inline, then in `tools.py` from its folder up to the root, then in `tools/<name>.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from salvo.engine.jsonio.canonical import stable_key
from salvo.engine.jsonio.json_schema import check
from salvo.engine.runtime.clock import Clock
from salvo.errors import InputError
from salvo.scenarios.run.tools.base import Tool
from salvo.scenarios.run.tools.fingerprint import tool_source
from salvo.scenarios.run.tools.yaml_tool import ScriptedTool
from salvo.scenarios.spec.schema import Scenario, YamlTool

if TYPE_CHECKING:
    from salvo.scenarios.spec.project import Project

MakeTool: TypeAlias = Callable[[Clock], Tool]


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool of a scenario before any run: `make` returns the tool of one run."""

    name: str
    place: str
    make: MakeTool
    fingerprint: str


def find_tools(scenario: Scenario, file: Path, project: Project) -> list[FoundTool]:
    """Return all tools in the scenario's order. Raise InputError for the first that does not exist."""
    tools: list[FoundTool] = []
    for _, outcome in _find_each(scenario, file, project):
        if isinstance(outcome, InputError):
            raise outcome
        tools.append(outcome)
    return tools


def missing_tools(scenario: Scenario, file: Path, project: Project) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield what is wrong with a scenario's tools: the place in the file and a sentence."""
    names: set[str] = set()
    for index, outcome in _find_each(scenario, file, project):
        if isinstance(outcome, InputError):
            yield ("tools", index), str(outcome)
        elif outcome.name in names:
            yield ("tools", index), f"the tool {outcome.name} is listed twice"
        else:
            names.add(outcome.name)


def _find_each(scenario: Scenario, file: Path, project: Project) -> Iterator[tuple[int, FoundTool | InputError]]:
    for index, reference in enumerate(scenario.tools):
        try:
            yield index, _find(reference, file, project)
        except InputError as error:
            yield index, error


def _find(reference: str | YamlTool, file: Path, project: Project) -> FoundTool:
    if isinstance(reference, YamlTool):
        return _yaml_tool(reference, "the scenario")
    if reference in project.objects:
        return _function_tool(reference, project.objects[reference], "the scenario")
    places: list[str] = []
    for folder in project.folders_above(file):
        module_file = folder / "tools.py"
        places.append(str(module_file))
        if module_file.is_file():
            from salvo.scenarios.run.tools.function import tools_in

            functions = tools_in(project.load_module(module_file))
            if reference in functions:
                return _function_tool(reference, functions[reference], str(module_file))
    for folder in project.folders_above(file):
        yaml_file = folder / "tools" / f"{reference}.yaml"
        places.append(str(yaml_file))
        if yaml_file.is_file():
            return _yaml_tool(_read(yaml_file, reference), str(yaml_file))
    raise InputError(f"there is no tool {reference!r}; looked in the scenario, {', '.join(places)}")


def _read(file: Path, name: str) -> YamlTool:
    from salvo.scenarios.spec.loader import read_tool

    tool = read_tool(file)
    if tool.name != name:
        raise InputError(f"{file} defines {tool.name!r}, not {name!r}; the file and the tool must have the same name")
    return tool


def _yaml_tool(spec: YamlTool, place: str) -> FoundTool:
    check(spec.parameters)
    return FoundTool(spec.name, place, partial(ScriptedTool, spec), stable_key(spec.model_dump(mode="json")))


def _function_tool(name: str, function: Callable[..., Any], place: str) -> FoundTool:
    from salvo.scenarios.run.tools.function import FunctionTool

    tool = FunctionTool(name, function)
    fingerprint = stable_key([tool.definition, tool_source(function)])

    def make(_clock: Clock) -> Tool:
        return tool

    return FoundTool(name, place, make, fingerprint)


def changed_tools(before: Mapping[str, str], now: Iterable[FoundTool]) -> list[str]:
    """Return the names of the tools whose fingerprints have changed."""
    present = {tool.name: tool.fingerprint for tool in now}
    return sorted(name for name in {*before, *present} if before.get(name) != present.get(name))
