"""Turn the errors of a pydantic model into messages for the person who wrote the file.

This is the one place that words pydantic errors. Call `validate(Model, data)`: it returns the model, or a `FieldError`
for each place that is wrong. The caller adds the file, the line and the column:

    playbook, errors = validate(PlaybookModel, document, words=JSON_WORDS)
    for error in errors:
        print(json_path(error.path), error.message)

Validation is strict: "10" is text, not a number. Messages never repeat a value, because it may be a secret. A message
that is particular to a model belongs in that model: raise `ValueError` in a validator, or use `kind_discriminator`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple, TypeAlias, TypeVar, get_args, get_origin

from pydantic import BaseModel, Discriminator, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from salvo.engine.text.messages import nearest

Model = TypeVar("Model", bound=BaseModel)

FieldPath: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead to a value, such as ("assertions", 0, "weight")."""

MAX_ERRORS = 200
"""More are of no use to a reader, and looking for a suggestion takes time for each of them."""

_EXPECTED_KIND = "expected_kind"

NOT_BLANK = r"\S"
"""The pattern of a text that is not only white space."""


def kind_discriminator(tag: Callable[[Any], str | None], expected: str) -> Discriminator:
    """Return the discriminator of a union: a value without a tag is not the `expected`, "a name or a definition"."""
    return Discriminator(
        tag,
        custom_error_type=_EXPECTED_KIND,
        custom_error_message=f"must be {expected}",
        custom_error_context={"expected": expected},
    )


def leaves(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Yield each part of a value that is neither an object nor a list, with its path."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*path, name))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from leaves(part, (*path, index))
    else:
        yield path, value


class FieldError(NamedTuple):
    path: FieldPath
    message: str
    unknown: bool = False
    """Whether the model has no such field."""
    suggestion: str = ""
    """The field that a misspelt one likely stands for; empty if the data has that field as well."""


class Words(NamedTuple):
    """What a file format calls an object and null."""

    mapping: str
    null: str


YAML_WORDS = Words("a mapping", "nothing")
JSON_WORDS = Words("an object", "null")


def validate(model: type[Model], data: Any, *, words: Words = YAML_WORDS) -> tuple[Model | None, list[FieldError]]:
    """Return the model and no errors, or None and every error of the data."""
    try:
        return model.model_validate(data, strict=True), []
    except ValidationError as error:
        return None, _field_errors(model, data, error, words)


def _field_errors(model: type[BaseModel], data: Any, error: ValidationError, words: Words) -> list[FieldError]:
    """Return one error for each place; where several types were possible, its message names them all."""
    by_path: dict[FieldPath, list[FieldError]] = {}
    for details in error.errors(include_url=False)[:MAX_ERRORS]:
        field_error = _field_error(model, data, details, words)
        by_path.setdefault(field_error.path, []).append(field_error)
    suggested = {(*path[:-1], errors[0].suggestion) for path, errors in by_path.items() if errors[0].suggestion}
    # If one type of a union fits in part, that is the one the author meant, so only the errors inside it count.
    outer = {path[:depth] for path in by_path for depth in range(len(path))}
    return [
        errors[0]._replace(message=", or ".join(dict.fromkeys(error.message for error in errors)))
        for path, errors in by_path.items()
        if path not in suggested and path not in outer
    ]


def _field_error(model: type[BaseModel], data: Any, details: ErrorDetails, words: Words) -> FieldError:
    path = _path_in_data(data, details)
    models = _models_at(model, path[:-1])
    fields = [name for inner in models for name in _named_fields(inner)]
    siblings = reduce(getitem, path[:-1], data) if path else None
    if details["type"] == "extra_forbidden":
        suggestion = nearest(str(path[-1]), fields)
        hint = f'did you mean "{suggestion}"?' if suggestion else f"there are {', '.join(fields)}"
        is_taken = isinstance(siblings, dict) and suggestion in siblings
        return FieldError(path, f"no such field; {hint}", unknown=True, suggestion="" if is_taken else suggestion)
    if details["type"] == "missing" and isinstance(siblings, dict):
        # If the model allows other fields, a misspelt one is not an error itself: only the right one is missing.
        name = str(path[-1])
        if misspelt := nearest(name, [key for key in siblings if key not in fields]):
            message = f'no such field; did you mean "{name}"?'
            return FieldError((*path[:-1], misspelt), message, unknown=True, suggestion=name)
        needed = _required_fields([_named_fields(outer)[name].annotation for outer in models])
        return FieldError(path, f"is missing; it needs {' and '.join(needed)}" if needed else "is missing")
    return FieldError(path, _message(details, words))


def _path_in_data(data: Any, details: ErrorDetails) -> FieldPath:
    """Return the path without the names of union members, which pydantic puts in between."""
    path: list[str | int] = []
    location = details["loc"]
    for number, step in enumerate(location, start=1):
        exists = _contains(data, step)
        is_missing = number == len(location) and details["type"] == "missing"
        if exists or is_missing:
            path.append(step)
        if exists:
            data = data[step]
    return tuple(path)


def _contains(data: Any, step: str | int) -> bool:
    if isinstance(data, dict):
        return step in data
    return isinstance(data, list) and isinstance(step, int) and step < len(data)


def _required_fields(annotations: Sequence[Any]) -> list[str]:
    """Return the fields that an object of this type needs; none if it is not one type, and a model."""
    match annotations:
        case [type() as model] if issubclass(model, BaseModel):
            return [name for name, field in _named_fields(model).items() if field.is_required()]
    return []


def _named_fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields by their names in the data: a field may have one that a model cannot have, such as `schema`."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _models_at(model: type[BaseModel], path: FieldPath) -> list[type[BaseModel]]:
    models = [model]
    is_key = False
    for step in path:
        if not isinstance(step, str):
            continue
        if is_key:  # of a mapping, whose values are the models
            is_key = False
            continue
        fields = [named[step] for outer in models if step in (named := _named_fields(outer))]
        models = [inner for field in fields for inner in _models_in(field.annotation)]
        is_key = any(get_origin(field.annotation) is dict for field in fields)
    return models


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)


_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
}
_MAPPINGS = ("dict_type", "model_type", "model_attributes_type")
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}


def _message(details: ErrorDetails, words: Words) -> str:
    kind, value, context = details["type"], details["input"], details.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if expected := _expected(kind, context, words):
        if isinstance(value, float) and "int" in kind:
            return f"must be {expected}, not a number with a decimal point"
        quotes = "; put it in quotes" if kind == "string_type" and isinstance(value, bool | int | float) else ""
        return f"must be {expected}, not {_kind(value, words)}{quotes}"
    if kind in _BOUNDS:
        comparison, name = _BOUNDS[kind]
        return f"must be {comparison} {context[name]:,.15g}"
    if kind in ("too_short", "string_too_short") and context["min_length"] == 1:
        return "must not be empty"
    if kind == "too_long":
        return f"must have at most {context['max_length']:,} entries, not {context['actual_length']:,}"
    if kind == "string_too_long":
        return f"must have at most {context['max_length']:,} characters"
    if kind == "string_pattern_mismatch":
        pattern = context["pattern"]
        return "must not be empty" if pattern == NOT_BLANK else f"must match {pattern}"
    if kind in ("literal_error", "enum"):
        return _choice(value, context["expected"])
    message = details["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _expected(kind: str, context: Mapping[str, Any], words: Words) -> str:
    if kind == _EXPECTED_KIND:
        return str(context["expected"])
    return words.mapping if kind in _MAPPINGS else _EXPECTED.get(kind, "")


def _choice(value: Any, expected: str) -> str:
    choices = re.findall(r"'([^']*)'", expected)
    suggestion = nearest(value.strip().lower(), choices, cutoff=0.5) if isinstance(value, str) else ""
    hint = f'; did you mean "{suggestion}"?' if suggestion else ""
    return f"must be one of {', '.join(choices) or expected}{hint}"


def _kind(value: Any, words: Words) -> str:
    if value is None:
        return words.null
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return words.mapping
    return {str: "text", int: "a number", float: "a number", list: "a list"}.get(type(value), "this")
