"""A scenario written in Python: the fields of a file, in which functions and classes may stand for their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from salvo.engine.jsonio.pydantic_errors import validate
from salvo.errors import InputError
from salvo.scenarios.run.tools.function import name_of
from salvo.scenarios.spec.loader import CheckFinding, listed
from salvo.scenarios.spec.schema import Scenario


def written(fields: Mapping[str, Any]) -> tuple[Scenario, dict[str, Any]]:
    """The scenario, and its objects by the names that stand for them in it."""
    objects = _Objects()
    document = {name: _IN_PLACE[name](value, objects) if name in _IN_PLACE else value for name, value in fields.items()}
    scenario, misfits = validate(Scenario, document)
    if scenario is None:
        raise InputError(
            f"The scenario cannot be used: {listed(CheckFinding(misfit.path, misfit.message) for misfit in misfits)}."
        )
    return scenario, objects.given


class _Objects:
    def __init__(self) -> None:
        self.given: dict[str, Any] = {}

    def path(self, thing: Any) -> str:
        """The object's own path, as a file would name it; that of a second lambda has its number behind it."""
        named = thing if hasattr(thing, "__qualname__") else type(thing)
        own = f"{named.__module__}.{named.__qualname__}"
        paths = [own, *(f"{own}-{number}" for number in range(2, len(self.given) + 2))]
        free = next(path for path in paths if self.given.get(path, thing) is thing)
        self.given[free] = thing
        return free

    def tool(self, function: Callable[..., Any]) -> str:
        name = name_of(function, getattr(function, "__name__", ""))
        if self.given.setdefault(name, function) is not function:
            raise InputError(f"The scenario cannot be used: two of its tools are called {name}.")
        return name


def _adapter(adapter: Any, objects: _Objects) -> Any:
    if inspect.isclass(adapter):
        return objects.path(adapter)
    return f"function:{objects.path(adapter)}" if callable(adapter) else adapter


def _tools(tools: Any, objects: _Objects) -> Any:
    return [objects.tool(tool) if callable(tool) else tool for tool in tools] if isinstance(tools, list) else tools


def _assertions(assertions: Any, objects: _Objects) -> Any:
    return [_assertion(of, objects) for of in assertions] if isinstance(assertions, list) else assertions


def _assertion(assertion: Any, objects: _Objects) -> Any:
    if callable(assertion):
        return {"type": "custom", "name": getattr(assertion, "__name__", None), "function": objects.path(assertion)}
    if isinstance(assertion, Mapping) and callable(assertion.get("function")):
        return {**assertion, "function": objects.path(assertion["function"])}
    return assertion


_IN_PLACE: dict[str, Callable[[Any, _Objects], Any]] = {
    "adapter": _adapter,
    "tools": _tools,
    "assertions": _assertions,
}
