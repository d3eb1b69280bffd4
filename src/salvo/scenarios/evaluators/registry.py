"""The types of assertions by name, and what is wrong with a scenario's assertions.

Built-in types are registered exactly as a user's are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import metadata
from typing import Any, TypeAlias

from pydantic import BaseModel, create_model

from salvo.engine.jsonio.pydantic_errors import FieldError, validate
from salvo.engine.text.messages import did_you_mean, install_command
from salvo.errors import SalvoError, UsageError
from salvo.scenarios.evaluators.base import EvaluatorType, LoadObject
from salvo.scenarios.evaluators.builtin.custom import function_type
from salvo.scenarios.evaluators.turns import check_turns
from salvo.scenarios.spec.schema import Assertion, Scenario

GROUP = "salvo.evaluators"
"""The entry-point group in which an installed package may offer types of its own."""

_PACKAGE = "salvo.scenarios.evaluators.builtin"
BUILT_IN: Mapping[str, str] = {
    "jmespath": f"{_PACKAGE}.jmespath:TYPE",
    "json_schema": f"{_PACKAGE}.json_schema:TYPE",
    "text": f"{_PACKAGE}.text:TYPE",
    "similarity": f"{_PACKAGE}.similarity:TYPE",
    "tool_sequence": f"{_PACKAGE}.tool_sequence:TYPE",
    "must_not_call": f"{_PACKAGE}.must_not_call:TYPE",
    "cost_limit": f"{_PACKAGE}.cost_limit:TYPE",
    "latency_limit": f"{_PACKAGE}.latency_limit:TYPE",
    "llm_judge": f"{_PACKAGE}.llm_judge:TYPE",
    "all_of": f"{_PACKAGE}.composition:ALL_OF",
    "any_of": f"{_PACKAGE}.composition:ANY_OF",
    "not": f"{_PACKAGE}.composition:NOT",
    "mcp_server": f"{_PACKAGE}.mcp_server:TYPE",
    "tool_choice": f"{_PACKAGE}.tool_choice:TYPE",
    "custom": f"{_PACKAGE}.custom:TYPE",
}
"""Where each built-in type is. It is imported when a scenario uses it."""

Target: TypeAlias = EvaluatorType | Callable[..., Any] | str
"""A type, a plain function `(scenario, assertion, result)`, or either as "module:attribute", imported when needed."""

_DISTRIBUTION = "salvo-ai"
_STALE_METADATA = (
    "The installed metadata of Salvo is older than its code, so types such as playbook are missing. "
    f"Install it again: in the folder of its source, run {install_command()} (or pip install --editable .)."
)


class Registry:
    """The types that are registered here, and those that installed packages offer.

    Entry points are only looked up for a name that is not registered, or to list all names: the lookup reads the
    metadata of every installed package.
    """

    def __init__(self) -> None:
        self._targets: dict[str, Target] = {}
        self._types: dict[str, EvaluatorType] = {}

    def register(self, name: str, target: Target) -> None:
        if name in self._targets:
            raise UsageError(f'The assertion type "{name}" is already registered.', hint="Choose another name.")
        self._targets[name] = target

    def names(self) -> list[str]:
        """Return the names of all types, those of installed packages included."""
        return sorted({*self._targets, *_entry_points().names})

    def types(self) -> dict[str, EvaluatorType]:
        """Import and return all types, for the JSON Schema of a scenario file."""
        if is_metadata_stale():
            raise UsageError("The assertion types cannot be listed.", hint=_STALE_METADATA)
        return {name: self.find(name) for name in self.names()}

    def find(self, name: str) -> EvaluatorType:
        """Return the type of this name; raise UsageError if there is none."""
        if name not in self._types:
            target = self._targets[name] if name in self._targets else self._entry_point(name)
            self._types[name] = _as_type(name, target)
        return self._types[name]

    def _entry_point(self, name: str) -> str:
        for entry_point in _entry_points().select(name=name):
            return f"{entry_point.module}:{entry_point.attr}"
        names = self.names()
        hint = f"Types: {', '.join(names)}."
        if is_metadata_stale():
            hint = f"{hint} {_STALE_METADATA}"
        raise UsageError(f'There is no assertion type "{name}"{did_you_mean(name, names)}', hint=hint)

    def check(self, scenario: Scenario, load: LoadObject) -> Iterator[FieldError]:
        """Yield every error of a scenario's assertions, with paths such as ("assertions", 2, "operator")."""
        numbers: dict[str, int] = {}
        scored = scenario.scored_assertions()
        for index, (path, assertion) in enumerate(scored):
            if assertion.name is not None:
                number = numbers.setdefault(assertion.name, index + 1)
                if number != index + 1:
                    message = f'Assertion {number} is already called "{assertion.name}".'
                    yield FieldError((*path, "name"), message)
            for error in self._check_assertion(scenario, assertion, load):
                yield error._replace(path=(*path, *error.path))
        if any(assertion.at is not None for _, assertion in scored):
            yield from check_turns(scenario)

    def _check_assertion(self, scenario: Scenario, assertion: Assertion, load: LoadObject) -> Iterator[FieldError]:
        try:
            evaluator_type = self.find(assertion.type)
        except UsageError as error:
            yield FieldError(("type",), str(error))
            return
        try:
            yield from _check_fields(evaluator_type, scenario, assertion.fields, load)
        except Exception as error:  # noqa: BLE001 - a user's check may raise anything; the other errors still matter
            yield FieldError((), f"{assertion.type} cannot be checked: {type(error).__name__}: {error}")
        for path, part in assertion.parts:
            for part_error in self._check_assertion(scenario, part, load):
                yield part_error._replace(path=(*path, *part_error.path))


def _check_fields(
    evaluator_type: EvaluatorType, scenario: Scenario, fields: Mapping[str, Any], load: LoadObject
) -> Iterator[FieldError]:
    corrections: dict[str, str] = {}
    if evaluator_type.fields is not None and validate(evaluator_type.fields, fields)[1]:
        model = _with_common_fields(evaluator_type.fields)
        _, errors = validate(model, fields)
        yield from errors
        # A misspelt field is checked under the name it likely stands for, so that all errors are found at once.
        corrections = {
            str(error.path[0]): error.suggestion for error in errors if error.unknown and len(error.path) == 1
        }
        renamed = {corrections.get(name, name): value for name, value in fields.items()}
        fields = {name: value for name, value in renamed.items() if name and name not in Assertion.model_fields}
        if validate(model, fields)[1]:
            return
    if evaluator_type.check is not None:
        original_names = {suggestion: name for name, suggestion in corrections.items()}
        for path, message in evaluator_type.check(scenario, fields, load):
            name, *rest = (path,) if isinstance(path, str) else path
            yield FieldError((original_names.get(str(name), name), *rest), message)


@cache
def _with_common_fields(fields: type[BaseModel]) -> type[BaseModel]:
    """Return the model with the fields that all assertions have, so that a misspelt `weight` gets its suggestion."""
    common: dict[str, Any] = {name: (Any, None) for name in Assertion.model_fields if name not in fields.model_fields}
    return create_model(fields.__name__, __base__=fields, **common)


def builtin_registry() -> Registry:
    """Return a registry with the built-in types."""
    registry = Registry()
    for name, target in BUILT_IN.items():
        registry.register(name, target)
    return registry


def is_users_code(name: str) -> bool:
    """Return whether an assertion of this type runs code that is not part of Salvo."""
    if name in BUILT_IN:
        return name == "custom"
    entry_point = next(iter(_entry_points().select(name=name)), None)
    return entry_point is not None and (entry_point.dist is None or entry_point.dist.name != _DISTRIBUTION)


def entry_point_target(name: str) -> str:
    """Return where an installed package has the type of this name, as "module:attribute"; empty if there is none."""
    return next((f"{item.module}:{item.attr}" for item in _entry_points().select(name=name)), "")


def is_metadata_stale() -> bool:
    """Return whether Salvo's installed metadata is missing or older than its entry points."""
    try:
        return not metadata.distribution(_DISTRIBUTION).entry_points.select(group=GROUP)
    except metadata.PackageNotFoundError:
        return True


def _entry_points() -> metadata.EntryPoints:
    return metadata.entry_points(group=GROUP)


def _as_type(name: str, target: Target) -> EvaluatorType:
    if isinstance(target, str):
        try:
            target = metadata.EntryPoint(name, target, GROUP).load()
        except SalvoError:
            raise
        except Exception as error:
            raise UsageError(
                f'The assertion type "{name}" cannot be imported from {target}: {type(error).__name__}: {error}.',
                hint="Fix the package that offers it, or remove it.",
            ) from error
    if isinstance(target, EvaluatorType):
        return target
    if callable(target):
        return function_type(name, target)
    raise UsageError(
        f'The assertion type "{name}" is registered as {target!r}.',
        hint="It must be an EvaluatorType or a function (scenario, assertion, result) -> EvalResult.",
    )
