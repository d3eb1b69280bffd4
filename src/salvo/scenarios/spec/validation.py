"""What does not fit a model, in sentences for the person who wrote the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from salvo.scenarios.spec.schema import NAME_RULES
from salvo.scenarios.spec.yaml_document import Steps

Model = TypeVar("Model", bound=BaseModel)

_MOST = 200
"""Nobody reads more, and the search for what was meant takes its time for each."""


class FieldError(NamedTuple):
    """What does not fit, the way to it, and what would mend it: `meant` is the field that a misspelt one stands for."""

    path: Steps
    message: str
    unknown: bool = False
    meant: str = ""


def validate(model: type[Model], data: Any) -> tuple[Model | None, list[FieldError]]:
    """The model, or everything that keeps the data from being one. A number in quotes is text, and no number."""
    try:
        return model.model_validate(data, strict=True), []
    except ValidationError as fault:
        return None, list(_misfits(model, data, fault))


def _misfits(model: type[BaseModel], data: Any, fault: ValidationError) -> Iterator[FieldError]:
    """One for each place; where several shapes were possible, the sentence names them all."""
    found: dict[Steps, list[FieldError]] = {}
    for error in fault.errors(include_url=False)[:_MOST]:
        misfit = _misfit(model, data, error)
        found.setdefault(misfit.path, []).append(misfit)
    meant = {(*path[:-1], misfits[0].meant) for path, misfits in found.items() if misfits[0].meant}
    # Of the shapes that a value might have had, the one that fits in part is the one that was meant.
    inside = {path[:depth] for path in found for depth in range(len(path))}
    for path, misfits in found.items():
        if path not in meant and path not in inside:
            sentences = dict.fromkeys(misfit.message for misfit in misfits)
            yield misfits[0]._replace(message=", or ".join(sentences))


def _misfit(model: type[BaseModel], data: Any, error: ErrorDetails) -> FieldError:
    steps = _steps(data, error)
    inside = steps[:-1]
    fields = _fields_at(model, inside)
    around = _value(data, inside) if steps else None
    if error["type"] == "extra_forbidden":
        [meant] = get_close_matches(str(steps[-1]), fields, n=1) or [""]
        said = f'did you mean "{meant}"?' if meant else f"there are {', '.join(fields)}"
        taken = isinstance(around, dict) and meant in around
        return FieldError(steps, f"no such field; {said}", unknown=True, meant="" if taken else meant)
    if error["type"] == "missing" and isinstance(around, dict):
        wanted = str(steps[-1])
        # Where other fields are allowed, a misspelt one shows only in what is missing.
        if close := get_close_matches(wanted, [name for name in around if name not in fields], n=1):
            return FieldError(
                (*inside, close[0]), f'no such field; did you mean "{wanted}"?', unknown=True, meant=wanted
            )
    return FieldError(steps, _sentence(error))


def _steps(data: Any, error: ErrorDetails) -> Steps:
    """The way to the value in the data. A union puts the names of its members in between: these lead nowhere."""
    steps: list[str | int] = []
    location = error["loc"]
    for number, step in enumerate(location, start=1):
        missing = number == len(location) and error["type"] == "missing"
        within = _has(data, step)
        if within or missing:
            steps.append(step)
        if within:
            data = data[step]
    return tuple(steps)


def _has(data: Any, step: str | int) -> bool:
    if isinstance(data, dict):
        return step in data
    return isinstance(data, list) and isinstance(step, int) and step < len(data)


def _value(data: Any, steps: Steps) -> Any:
    for step in steps:
        data = data[step]
    return data


def _fields_at(model: type[BaseModel], steps: Steps) -> list[str]:
    models = [model]
    for step in steps:
        if isinstance(step, str):
            models = [
                inner
                for outer in models
                if step in outer.model_fields
                for inner in _models_in(outer.model_fields[step].annotation)
            ]
    return [name for each in models for name in each.model_fields]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)


_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "union_tag_not_found": "a name or a definition",
}
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}


def _sentence(error: ErrorDetails) -> str:
    """Values are never repeated: what stands in a file, or was filled into it, may be a secret."""
    kind, given, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind in _WANTED and isinstance(given, float) and "int" in kind:
        return f"must be {_WANTED[kind]}, not a number with a decimal point"
    if kind in _WANTED:
        quotes = "; put it in quotes" if kind == "string_type" and isinstance(given, bool | int | float) else ""
        return f"must be {_WANTED[kind]}, not {_kind(given)}{quotes}"
    if kind in _BOUNDS:
        words, name = _BOUNDS[kind]
        return f"must be {words} {context[name]:,.15g}"
    if kind in ("too_short", "string_too_short") and context["min_length"] == 1:
        return "must not be empty"
    if kind == "string_pattern_mismatch":
        return NAME_RULES.get(context["pattern"], f"must match {context['pattern']}")
    if kind in ("literal_error", "enum"):
        return _choice(given, context["expected"])
    message = error["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _choice(given: Any, expected: str) -> str:
    known = re.findall(r"'([^']*)'", expected)
    close = get_close_matches(given, known, n=1) if isinstance(given, str) else []
    return f"must be one of {', '.join(known) or expected}" + (f'; did you mean "{close[0]}"?' if close else "")


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a mapping"
    return {str: "text", int: "a number", float: "a number", list: "a list"}.get(type(value), "this")
