"""JSON Schema: validate a value, and convert a schema to the form that a provider accepts."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import stable_text
from salvo.errors import InputError

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_BOUNDS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"}
    | {"pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"}
    | {"not"}  # without the bounds inside it, it would forbid every value
)
_MAPS_OF_SCHEMAS = ("properties", "$defs", "definitions")
_LISTS_OF_SCHEMAS = ("anyOf", "allOf", "oneOf", "prefixItems")
_SINGLE_SCHEMAS = ("items", "additionalProperties")


def problems(schema: Mapping[str, Any], value: Any) -> list[str]:
    """Return every violation, one sentence each. Raises InputError where the schema is not valid."""
    text = stable_text(schema)
    if _is_plain(text) and _fits(schema, value):
        return []  # most values are valid; the slow library is imported only to word the errors
    from referencing.exceptions import Unresolvable

    try:
        errors = list(_validator(text).iter_errors(value))
    except Unresolvable as error:
        raise InputError(
            f"This JSON Schema refers to {getattr(error, 'anchor', error.ref)!r}, which is not in it.",
            hint="Put the definition under $defs. Nothing is fetched from other places.",
        ) from error
    except (RecursionError, OverflowError) as error:
        raise InputError(
            f"This JSON Schema cannot be applied to this value: {error}.",
            hint="Look for a $ref that refers to itself, very deep nesting, and very large numbers.",
        ) from error
    errors.sort(key=lambda error: [(type(step).__name__, step) for step in error.path])
    return [f"{_place(error.path)}{error.message}" for error in errors]


def check(schema: Mapping[str, Any]) -> None:
    """Raise InputError where this is not a valid JSON Schema."""
    text = stable_text(schema)
    if not _is_plain(text):
        _validator(text)


@lru_cache(maxsize=256)
def _is_plain(text: str) -> bool:
    """Return whether the schema is valid and uses only keywords that `_fits` understands."""
    try:
        return _plain(json_codec.loads(text))
    except (ValueError, RecursionError):
        return False


def _plain(schema: Any) -> bool:
    if not isinstance(schema, dict) or not schema.keys() <= _PLAIN_KEYWORDS:
        return False
    properties, required, enum = schema.get("properties", {}), schema.get("required", []), schema.get("enum", [""])
    return (
        isinstance(kind := schema.get("type", "object"), str)
        and kind in _PLAIN_TYPES
        and isinstance(schema.get("additionalProperties", True), bool)
        and all(isinstance(words, list) and all(isinstance(word, str) for word in words) for words in (required, enum))
        and all(type(schema.get(bound, 0)) in _NUMBERS for bound in ("minimum", "maximum"))
        and isinstance(properties, dict)
        and all(map(_plain, properties.values()))
        and ("items" not in schema or _plain(schema["items"]))
    )


def _fits(schema: Mapping[str, Any], value: Any) -> bool:
    """Return whether the value is surely valid. 1.0, for instance, may be an integer: only the library knows."""
    if "type" in schema and type(value) not in _PLAIN_TYPES[schema["type"]]:
        return False
    if "enum" in schema and not (isinstance(value, str) and value in schema["enum"]):
        return False
    if type(value) in _NUMBERS and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return False
    if isinstance(value, dict):
        return _object_fits(schema, value)
    items = schema.get("items")
    return not items or not isinstance(value, list) or all(_fits(items, item) for item in value)


def _object_fits(schema: Mapping[str, Any], value: dict[str, Any]) -> bool:
    properties = schema.get("properties", {})
    if not all(name in value for name in schema.get("required", ())):
        return False
    if not schema.get("additionalProperties", True) and not value.keys() <= properties.keys():
        return False
    return all(_fits(properties[name], item) for name, item in value.items() if name in properties)


_NUMBERS = (int, float)
_PLAIN_TYPES = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": _NUMBERS,
}
_PLAIN_KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "title", "description"}
    | {"minimum", "maximum"}
)


def _place(path: Any) -> str:
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    return f"{steps}: " if steps else ""


@lru_cache(maxsize=256)
def _validator(text: str) -> Validator:
    from jsonschema import Draft202012Validator, SchemaError  # 0.1 s to import, and most values need none of it
    from referencing import Registry

    try:
        schema = json_codec.loads(text)
    except ValueError as error:
        raise InputError("This is not a JSON Schema: it contains a value that JSON cannot represent.") from error
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise InputError(f"This is not a JSON Schema: {_place(error.path)}{error.message}.") from error
    # The empty registry keeps a schema from an untrusted file from making us fetch what it refers to.
    return Draft202012Validator(schema, registry=Registry())


def without_bounds(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema without limits and with every object closed, for providers that require that."""
    return _remove_bounds(copy.deepcopy(dict(schema)))


def _remove_bounds(schema: dict[str, Any]) -> dict[str, Any]:
    for name in _BOUNDS & schema.keys():
        del schema[name]
    if _is_object(schema):
        schema["additionalProperties"] = False
    for part in _parts(schema):
        _remove_bounds(part)
    return schema


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Return whether every object in the schema is closed and requires all its properties."""
    if _is_object(schema):
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("properties", {})) != set(schema.get("required", ())):
            return False
    return all(is_strict(part) for part in _parts(schema))


def _is_object(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _parts(schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the schemas directly inside this one."""
    parts: list[Any] = [schema.get(name) for name in _SINGLE_SCHEMAS]
    for name in _MAPS_OF_SCHEMAS:
        if isinstance(schemas := schema.get(name), dict):
            parts += schemas.values()
    for name in _LISTS_OF_SCHEMAS:
        if isinstance(items := schema.get(name), list):
            parts += items
    return (part for part in parts if isinstance(part, dict))
