"""List the Python code and the commands that scenarios name, without importing or starting anything.

A stranger's project can be read before it is run. What the listed modules import in turn is not followed.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any, Literal

from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.engine.runtime.files import read_regular
from salvo.engine.text.messages import display_path
from salvo.errors import Problem
from salvo.records import record
from salvo.scenarios.evaluators.registry import entry_point_target, is_users_code
from salvo.scenarios.result import COMMAND, OWN_ADAPTERS
from salvo.scenarios.spec.env_variables.variables import expand_variables
from salvo.scenarios.spec.loader import LoadedFile, load_scenarios, merge_problems
from salvo.scenarios.spec.project import Project
from salvo.scenarios.spec.schema import Scenario

_MAX_SOURCE = 1_000_000
_NAMES_CODE = {"adapter", "adapter_options", "tools", "assertions", "mcp_servers", "turns", "user"}


@record
class CodeReference:
    """Code that a scenario names, where it names it, and the file that would be imported or started."""

    file: str
    line: int
    field: str
    kind: Literal["python", "command", "allowed_path"]
    """An allowed path is no code: it is a path of the provider that the command may use with the user's key."""
    name: str
    path: str | None
    """None if nothing of this name is found."""
    path_line: int | None
    """The line of the function or class, if the file defines it in so many words."""
    in_project: bool


def list_code(project: Project, files: Sequence[Path]) -> tuple[list[CodeReference], list[Problem]]:
    """Return what the scenarios would run, and the problems of files that cannot be read completely."""
    importlib.invalidate_caches()
    references: list[CodeReference] = []
    problems: list[Problem] = []
    for file in files:
        scenarios = load_scenarios(file, root=project.root)
        contents: set[str] = set()
        for loaded in scenarios:
            scenario = loaded.draft()
            # Cells of a file mostly name the same code.
            if scenario is not None and (content := scenario.model_dump_json(include=_NAMES_CODE)) not in contents:
                contents.add(content)
                references += _ScenarioCode(project, file, loaded).references(scenario)
        problems += merge_problems(scenarios)
    return list(dict.fromkeys(references)), problems


@record
class _ScenarioCode:
    project: Project
    file: Path
    loaded: LoadedFile[Scenario]

    def references(self, scenario: Scenario) -> Iterator[CodeReference]:
        if scenario.adapter == COMMAND:
            yield self._command(scenario.adapter_options)
            yield from self._allowed_paths(scenario.adapter_options)
        elif scenario.adapter not in OWN_ADAPTERS:
            yield from self._python(("adapter",), scenario.adapter, scenario.adapter.removeprefix("function:"))
        if scenario.user is not None and scenario.user.python is not None:
            yield from self._python(("user", "python"), scenario.user.python, scenario.user.python)
        yield from self._servers(scenario)
        if names := [tool for tool in scenario.tools if isinstance(tool, str)]:
            # Every tools.py up to the root may be imported: each is searched until it has all the names.
            for folder in self.project.folders_above(self.file):
                if (folder / "tools.py").is_file():
                    yield self._reference(("tools",), "python", ", ".join(names), folder / "tools.py")
        for field, assertion in scenario.all_assertions():
            if not is_users_code(assertion.type):
                continue
            if assertion.type == "custom":
                path = str(assertion.fields.get("function", assertion.fields.get("path", "")))
                yield from self._python(field, path, path)
            else:
                target = entry_point_target(assertion.type)
                yield from self._python(field, f"{assertion.type} ({target})", target)

    def _python(self, field: FieldPath, name: str, path: str) -> Iterator[CodeReference]:
        """Yield the packages that are imported first, then the module itself."""
        modules, attributes = find_modules(path, self.project.import_folders(self.file))
        for module in modules[:-1]:
            yield self._reference(field, "python", name, module)
        yield self._reference(field, "python", name, modules[-1] if modules else None, attributes)

    def _command(self, options: dict[str, Any], field: FieldPath = ("adapter_options", "command")) -> CodeReference:
        command = options.get("command", "")
        try:
            words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
        except (ValueError, TypeError):
            words = []
        cwd = options.get("cwd")
        folder = self.file.parent / cwd if isinstance(cwd, str) else self.project.root
        env = options.get("env")
        variables = {name: str(value) for name, value in env.items()} if isinstance(env, dict) else {}
        program = find_program(words[0], folder, variables.get("PATH")) if words else None
        # In front of the command, as for a shell: PATH, LD_PRELOAD and others decide what code runs.
        settings = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
        name = " ".join([*settings, command if isinstance(command, str) else shlex.join(words)])
        return self._reference(field, "command", name, program)

    def _servers(self, scenario: Scenario) -> Iterator[CodeReference]:
        for name, server in scenario.mcp_servers.items():
            if server.command is not None:
                yield self._command(server.model_dump(exclude_none=True), ("mcp_servers", name, "command"))

    def _allowed_paths(self, options: dict[str, Any]) -> Iterator[CodeReference]:
        paths = options.get("allow_paths")
        for path in paths if isinstance(paths, list) else []:
            yield self._reference(("adapter_options", "allow_paths"), "allowed_path", str(path), None)

    def _reference(
        self,
        field: FieldPath,
        kind: Literal["python", "command", "allowed_path"],
        name: str,
        origin: Path | str | None,
        attributes: Sequence[str] = (),
    ) -> CodeReference:
        position = self.loaded.position(field)
        is_file = isinstance(origin, Path)
        return CodeReference(
            file=display_path(position.file),
            line=position.line,
            field=".".join(map(str, field)),
            kind=kind,
            name=name,
            path=display_path(origin) if isinstance(origin, Path) else origin,
            path_line=_definition_line(origin, attributes) if isinstance(origin, Path) and attributes else None,
            in_project=is_file and Path(str(origin)).resolve().is_relative_to(self.project.root.resolve()),
        )


def find_program(word: str, folder: Path, path: str | None) -> Path | None:
    """Return the program that a run in the folder would start, with this PATH or else our own."""
    word, path = expand_variables(word, os.environ), expand_variables(path, os.environ)
    if "\0" in word:
        return None
    # A relative folder in PATH is one of the folder in which the program runs.
    places = os.environ.get("PATH", os.defpath) if path is None else path
    absolute = os.pathsep.join(str(folder / place) for place in places.split(os.pathsep))
    program = shutil.which(str(folder / word) if "/" in word else word, path=absolute)
    return None if program is None else Path(program)


def find_modules(path: str, folders: Sequence[Path]) -> tuple[list[Path | str], list[str]]:
    """Return what the import of a dotted path executes, its packages first, and the names inside the last module."""
    module_path, colon, attributes = path.partition(":")
    names = module_path.split(".")
    if not all(name.isidentifier() for name in names):
        return [], []
    limit = len(names) if colon else len(names) - 1
    spec = _find_top(names[0], folders)
    specs = [] if spec is None else [spec]
    while specs and len(specs) < limit and specs[-1].submodule_search_locations is not None:
        # By its last name: with the whole one, a folder without __init__.py is looked up in its imported parent.
        inner = PathFinder.find_spec(names[len(specs)], list(specs[-1].submodule_search_locations))
        if inner is None:
            break
        specs.append(inner)
    inside = [*names[len(specs) :], *(attributes.split(".") if colon else [])]
    # A folder without __init__.py executes nothing.
    origins = [Path(spec.origin) if spec.has_location else spec.origin for spec in specs if spec.origin]
    return origins, inside


def _find_top(name: str, folders: Sequence[Path]) -> ModuleSpec | None:
    """Find a module without importing it: in the folders first, then among the installed ones."""
    spec = None if name == "salvo" else PathFinder.find_spec(name, list(map(str, folders)))
    if spec is not None and spec.has_location:
        return spec
    try:
        return importlib.util.find_spec(name) or spec
    except ValueError:  # a module without a spec, such as __main__
        return spec


def _definition_line(file: Path, names: Sequence[str]) -> int | None:
    """Return the line on which the file defines a function or class; None if it does it in another way."""
    try:
        body: Sequence[ast.stmt] = ast.parse(read_regular(file, _MAX_SOURCE)).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    line = None
    for name in names:
        definitions = [
            item
            for item in body
            if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and item.name == name
        ]
        if not definitions:
            return None
        line, body = definitions[-1].lineno, definitions[-1].body
    return line
