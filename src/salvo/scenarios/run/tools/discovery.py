"""Where a scenario's tools are: inline, then `tools.py` from its folder up to the root, then `tools/<name>.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from salvo.engine.jsonio.canonical import stable_key
from salvo.engine.jsonio.json_schema import check
from salvo.engine.runtime.clock import Clock
from salvo.errors import InputError
from salvo.scenarios.run.tools.base import Tool
from salvo.scenarios.run.tools.fingerprint import source_of
from salvo.scenarios.run.tools.yaml_tool import ScriptedTool
from salvo.scenarios.spec.schema import Scenario, YamlTool

if TYPE_CHECKING:
    from salvo.scenarios.spec.project import Project

MakeTool: TypeAlias = Callable[[Clock], Tool]


class FoundTool(NamedTuple):
    """A tool of a scenario, before any run: `make` gives each run its own."""

    name: str
    place: str
    make: MakeTool
    fingerprint: str


def find_tools(scenario: Scenario, file: Path, project: Project) -> list[FoundTool]:
    """All of them, in the scenario's order; InputError for the first that is nowhere."""
    found: list[FoundTool] = []
    for _, outcome in _each(scenario, file, project):
        if isinstance(outcome, InputError):
            raise outcome
        found.append(outcome)
    return found


def missing_tools(scenario: Scenario, file: Path, project: Project) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What is wrong with a scenario's tools, as places in the file and sentences."""
    seen: set[str] = set()
    for index, outcome in _each(scenario, file, project):
        if isinstance(outcome, InputError):
            yield ("tools", index), str(outcome)
        elif outcome.name in seen:
            yield ("tools", index), f"the tool {outcome.name} is listed twice"
        else:
            seen.add(outcome.name)


def _each(scenario: Scenario, file: Path, project: Project) -> Iterator[tuple[int, FoundTool | InputError]]:
    for index, wanted in enumerate(scenario.tools):
        try:
            yield index, _found(wanted, file, project)
        except InputError as fault:
            yield index, fault


def _found(wanted: str | YamlTool, file: Path, project: Project) -> FoundTool:
    if isinstance(wanted, YamlTool):
        return _canned(wanted, "the scenario")
    if wanted in project.objects:
        return _function(wanted, project.objects[wanted], "the scenario")
    looked: list[str] = []
    for folder in project.folders_above(file):
        module_file = folder / "tools.py"
        looked.append(str(module_file))
        if module_file.is_file():
            from salvo.scenarios.run.tools.function import tools_in

            functions = tools_in(project.load_module(module_file))
            if wanted in functions:
                return _function(wanted, functions[wanted], str(module_file))
    for folder in project.folders_above(file):
        yaml_file = folder / "tools" / f"{wanted}.yaml"
        looked.append(str(yaml_file))
        if yaml_file.is_file():
            return _canned(_read(yaml_file, wanted), str(yaml_file))
    raise InputError(f"there is no tool {wanted!r}; looked at {_listed(looked)}")


def _listed(places: Sequence[str]) -> str:
    return ", ".join(["the scenario itself", *places])


def _read(file: Path, name: str) -> YamlTool:
    from salvo.scenarios.spec.loader import read_tool

    tool = read_tool(file)
    if tool.name != name:
        raise InputError(f"{file} defines {tool.name!r}, not {name!r}; the file and the tool must have one name")
    return tool


def _canned(spec: YamlTool, place: str) -> FoundTool:
    check(spec.parameters)
    return FoundTool(spec.name, place, partial(ScriptedTool, spec), stable_key(spec.model_dump(mode="json")))


def _function(name: str, function: Callable[..., Any], place: str) -> FoundTool:
    from salvo.scenarios.run.tools.function import FunctionTool

    tool = FunctionTool(name, function)
    fingerprint = stable_key([tool.definition, source_of(function)])

    def make(_clock: Clock) -> Tool:
        return tool

    return FoundTool(name, place, make, fingerprint)


def changed_tools(before: Mapping[str, str], now: Iterable[FoundTool]) -> list[str]:
    """The names of the tools that are no longer what they were, by their fingerprints."""
    present = {tool.name: tool.fingerprint for tool in now}
    return sorted(name for name in {*before, *present} if before.get(name) != present.get(name))
