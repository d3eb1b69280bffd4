"""A scenario written in Python: the fields of a file, with functions and classes in place of their names."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from salvo.engine.jsonio.pydantic_errors import validate
from salvo.errors import InputError
from salvo.scenarios.run.tools.function import tool_name
from salvo.scenarios.spec.loader import join_errors
from salvo.scenarios.spec.schema import Scenario


def python_scenario(fields: Mapping[str, Any]) -> tuple[Scenario, dict[str, Any]]:
    """Return the scenario, and its functions and classes by the names that stand for them in it."""
    names = _ObjectNames()
    document = dict(fields)
    if callable(adapter := document.get("adapter")):
        document["adapter"] = names.add(adapter) if inspect.isclass(adapter) else f"function:{names.add(adapter)}"
    if isinstance(document.get("tools"), list):
        document["tools"] = [names.add_tool(tool) if callable(tool) else tool for tool in document["tools"]]
    if isinstance(document.get("assertions"), list):
        document["assertions"] = [_assertion(assertion, names) for assertion in document["assertions"]]
    if isinstance(document.get("turns"), list):
        document["turns"] = [_turn(turn, names) for turn in document["turns"]]
    user = document.get("user")
    if isinstance(user, Mapping) and callable(user.get("python")):
        document["user"] = {**user, "python": names.add(user["python"])}
    scenario, errors = validate(Scenario, document)
    if scenario is None:
        raise InputError(f"The scenario cannot be used: {join_errors(errors)}")
    return scenario, names.objects


class _ObjectNames:
    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}

    def add(self, item: Any) -> str:
        """Return the object's dotted path, as in a file, with a number if another object has the same path."""
        source = item if hasattr(item, "__qualname__") else type(item)
        own = f"{source.__module__}.{source.__qualname__}"
        paths = [own, *(f"{own}-{number}" for number in range(2, len(self.objects) + 2))]
        path = next(path for path in paths if self.objects.get(path, item) is item)
        self.objects[path] = item
        return path

    def add_tool(self, function: Any) -> str:
        name = tool_name(function, getattr(function, "__name__", ""))
        if self.objects.setdefault(name, function) is not function:
            raise InputError(f"The scenario cannot be used: two of its tools are called {name}.")
        return name


def _turn(turn: Any, names: _ObjectNames) -> Any:
    """Return a turn as in a file. A text is a turn without assertions."""
    if isinstance(turn, str):
        return {"user": turn}
    if not isinstance(turn, Mapping) or not isinstance(turn.get("assertions"), list):
        return turn
    return {**turn, "assertions": [_assertion(assertion, names) for assertion in turn["assertions"]]}


def _assertion(assertion: Any, names: _ObjectNames) -> Any:
    if callable(assertion):
        return {"type": "custom", "name": getattr(assertion, "__name__", None), "function": names.add(assertion)}
    if not isinstance(assertion, Mapping):
        return assertion
    document = dict(assertion)
    if callable(document.get("function")):
        document["function"] = names.add(document["function"])
    if isinstance(document.get("assertions"), list):
        document["assertions"] = [_assertion(part, names) for part in document["assertions"]]
    if "assertion" in document:
        document["assertion"] = _assertion(document["assertion"], names)
    return document
