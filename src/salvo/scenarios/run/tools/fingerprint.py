"""What a function is, as it is written: its own lines, and those of its file that it uses."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any


def source_of(function: Callable[..., Any]) -> str:
    """Not as it is compiled, for that differs from one Python to the next. Other files are not looked at."""
    function = inspect.unwrap(function)
    try:
        lines, _ = inspect.findsource(function)
        statements = _statements("".join(lines))
    except (OSError, SyntaxError):  # made by code, or its file is not what it was: its definition is all there is
        return ""
    used = {function.__name__}
    wanted: set[ast.stmt] = set()
    while more := {each for each in statements if each not in wanted and not used.isdisjoint(_bound(each))}:
        wanted |= more
        used.update(_names(more))
    return "".join(line for each in statements if each in wanted for line in lines[_first(each) - 1 : each.end_lineno])


@lru_cache(maxsize=8)
def _statements(text: str) -> list[ast.stmt]:
    """Remembered, for several tools stand in one file."""
    return ast.parse(text).body


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement gives a meaning to."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _names(statements: Iterable[ast.stmt]) -> Iterator[str]:
    return (node.id for each in statements for node in ast.walk(each) if isinstance(node, ast.Name))


def _first(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
