"""A Python function as a tool: its JSON Schema comes from its signature, type hints and docstring.

Its source, with the lines of its file that it uses, shows whether it has changed since a run.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar, overload

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from salvo.engine.chat.base import ToolDefinition
from salvo.engine.runtime.threads import in_thread
from salvo.engine.runtime.user_code import abandonable
from salvo.errors import InputError
from salvo.scenarios.run.tools.toolbox import ToolFailure

Function = TypeVar("Function", bound=Callable[..., Any])

_MARK = "__salvo_tool__"
_SECTION = re.compile(r"^\s*(?:args|arguments|parameters)\s*:\s*$", re.IGNORECASE)
_ENTRY = re.compile(r"^\s*(?::param\s+)?(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")


@overload
def tool(function: Function) -> Function: ...
@overload
def tool(*, name: str | None = None, description: str | None = None) -> Callable[[Function], Function]: ...
def tool(
    function: Function | None = None, *, name: str | None = None, description: str | None = None
) -> Function | Callable[[Function], Function]:
    """Mark a function as a tool, optionally under another name or with another description.

    A plain function in `tools.py` is a tool without it; once one function there is marked, only marked ones are.
    """

    def mark(function: Function) -> Function:
        setattr(function, _MARK, {"name": name, "description": description})
        return function

    return mark if function is None else mark(function)


def tools_in(module: Any) -> dict[str, Callable[..., Any]]:
    """Return the functions of a module that are tools, by the name that a scenario uses."""
    own = {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    marked = {name: value for name, value in own.items() if hasattr(value, _MARK)}
    return {tool_name(value, name): value for name, value in (marked or own).items()}


def tool_name(function: Callable[..., Any], name: str) -> str:
    """Return the name of the tool in a scenario."""
    return str(getattr(function, _MARK, {}).get("name") or name)


@dataclass(frozen=True)
class FunctionTool:
    """A user's function. Sync functions run in a thread, so that a slow one does not block other runs."""

    name: str
    function: Callable[..., Any]

    @cached_property
    def definition(self) -> ToolDefinition:
        described, parameters = _docstring(inspect.getdoc(self.function) or "")
        marked = getattr(self.function, _MARK, {})
        return ToolDefinition(self.name, marked.get("description") or described, self._schema(parameters))

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        try:
            signature: Any = self.function
            return TypeAdapter(signature)
        except Exception as error:
            raise InputError(
                f"The signature of the tool {self.name} has no JSON Schema: {error}.",
                hint="Annotate its parameters with plain types, dataclasses or pydantic models.",
            ) from error

    def _schema(self, described: dict[str, str]) -> dict[str, Any]:
        schema = self._adapter.json_schema()
        if schema.get("type") != "object":
            raise InputError(
                f"The tool {self.name} has positional-only parameters, but a model passes arguments by name.",
                hint="Use ordinary or keyword-only parameters.",
            )
        properties = {
            name: {**_untitled(part), **({"description": described[name]} if name in described else {})}
            for name, part in schema.get("properties", {}).items()
        }
        return {**_untitled(schema), "properties": properties, "additionalProperties": False}

    async def answer(self, arguments: dict[str, Any]) -> Any:
        try:
            if inspect.iscoroutinefunction(self.function):
                result = await abandonable(self._adapter.validate_python(arguments))
            else:
                result = await in_thread(self._adapter.validate_python, arguments)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise ToolFailure(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
        # As JSON from here on, so that the model, the store and a replay all get the same.
        return from_json(to_json(result, fallback=str, inf_nan_mode="strings"))


def _untitled(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without the titles that pydantic adds, which only cost tokens."""
    return {
        name: {key: _untitled(item) for key, item in part.items()} if name in ("properties", "$defs") else part
        for name, part in schema.items()
        if name != "title"
    }


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """Return the text before the parameters, and the description of each (from an `Args:` section or `:param x:`)."""
    words: list[str] = []
    parameters: dict[str, str] = {}
    inside = False
    for line in text.splitlines():
        if _SECTION.match(line):
            inside = True
        elif (inside or line.lstrip().startswith(":param")) and (entry := _ENTRY.match(line)):
            parameters[entry.group(1)] = entry.group(2).strip()
        elif inside and not line.strip():
            inside = False
        elif not inside and not parameters:
            words.append(line)
    return "\n".join(words).strip(), parameters


def tool_source(function: Callable[..., Any]) -> str:
    """Return a function's lines and those of its file that it uses. Bytecode would differ between Python versions."""
    function = inspect.unwrap(function)
    try:
        lines, _ = inspect.findsource(function)
        statements = _statements("".join(lines))
    except (OSError, SyntaxError):  # generated code, or its file has changed: only its definition is known
        return ""
    used = {function.__name__}
    selected: set[ast.stmt] = set()
    while more := {
        statement for statement in statements if statement not in selected and not used.isdisjoint(_bound(statement))
    }:
        selected |= more
        used.update(node.id for statement in more for node in ast.walk(statement) if isinstance(node, ast.Name))
    source: list[str] = []
    for statement in filter(selected.__contains__, statements):
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        first_line = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        source += lines[first_line - 1 : statement.end_lineno]
    return "".join(source)


@lru_cache(maxsize=8)
def _statements(text: str) -> list[ast.stmt]:
    """Cached, because one file can have several tools."""
    return ast.parse(text).body


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds."""
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    # The body of a definition binds names of its own only.
    for node in [statement] if isinstance(statement, definitions) else ast.walk(statement):
        if isinstance(node, definitions):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
