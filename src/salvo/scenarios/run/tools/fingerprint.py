"""The source of a tool function: its own lines, and those of its file that it uses."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any


def tool_source(function: Callable[..., Any]) -> str:
    """Return the source, because bytecode differs between Python versions. Other files are ignored."""
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
