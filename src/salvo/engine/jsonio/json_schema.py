"""JSON Schema: validate a value, and convert a schema to the form that a provider accepts."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import stable_text
from salvo.engine.sandbox import workers
from salvo.errors import InputError

if TYPE_CHECKING:
    from salvo.engine.jsonio.schema_library import ValidSchema

TIMEOUT = 10.0
"""Seconds for a validation in a worker process. Most of it is for starting that process on a busy machine."""
MAX_PARTS = 2_000
MAX_STEPS = 200_000
"""Parts of a schema, and parts of a schema times parts of a value, for a validation in this process."""

_BOUNDS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"}
    | {"pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"}
    | {"not"}  # without the bounds inside it, it would forbid every value
)
_MAPS_OF_SCHEMAS = ("properties", "$defs", "definitions")
_LISTS_OF_SCHEMAS = ("anyOf", "allOf", "oneOf", "prefixItems")
_SINGLE_SCHEMAS = ("items", "additionalProperties")
_SLOW_KEYWORDS = frozenset(
    {"pattern", "patternProperties", "uniqueItems", "unevaluatedProperties", "unevaluatedItems"}
    | {"$dynamicRef", "$recursiveRef", "$id"}
)
_VALUES = frozenset({"const", "default", "examples", "title", "description", "$comment"})
"""Keywords that hold no schema, and take no more time for a longer value. Each name in `required` is looked up."""


def problems(schema: Mapping[str, Any], value: Any) -> list[str]:
    """Return every violation, one sentence each. Raises InputError where the schema is not valid.

    May block for TIMEOUT if the schema has patterns, or references that multiply, or if it and the value are large.
    """
    text = stable_text(schema)
    if _is_quick(text, value):
        return _quick_problems(schema, text, value)
    return _ask_worker("problems", {"schema": text, "value": value})


async def problems_in_time(schema: Mapping[str, Any], value: Any) -> list[str]:
    """Return what `problems` does without blocking the event loop. Cancelling this ends the validation."""
    text = stable_text(schema)
    if _is_quick(text, value):
        return _quick_problems(schema, text, value)
    return await workers.in_killable_thread(problems, schema, value)


def _quick_problems(schema: Mapping[str, Any], text: str, value: Any) -> list[str]:
    if _is_plain(text) and _fits(schema, value):
        return []  # most values are valid; the slow library is imported only to word the errors
    return _read_by_library(text).problems(value)


def check(schema: Mapping[str, Any]) -> None:
    """Raise InputError where this is not a valid JSON Schema. May block for TIMEOUT."""
    text = stable_text(schema)
    if _is_plain(text):
        return
    if _is_quick(text, None):
        _read_by_library(text)
    elif text not in _checked:
        _ask_worker("check", {"schema": text})
        if len(_checked) >= _MAX_CHECKED:
            _checked.clear()
        _checked.add(text)


_MAX_CHECKED = 256
_checked: set[str] = set()
"""Schemas that a worker found valid."""


def _read_by_library(text: str) -> ValidSchema:
    from salvo.engine.jsonio.schema_library import valid_schema  # 0.1 s to import, and most schemas need none of it

    return valid_schema(text)


def _ask_worker(operation: str, arguments: dict[str, Any]) -> list[str]:
    try:
        answer = workers.run("schema", operation, arguments, seconds=TIMEOUT)
    except (ValueError, RecursionError, TypeError) as error:
        raise InputError(f"This JSON Schema cannot be applied to this value: {error}.") from error
    if answer.failure:
        raise InputError(
            f"The validation by a JSON Schema did not finish{answer.failure}.",
            hint="Look for a pattern with repetitions inside repetitions, as in (a+)+, and for a $ref to itself.",
        )
    [result] = answer.results
    if "error" in result:
        raise InputError(result["error"], hint=result["hint"])
    violations: list[str] = result["problems"]
    return violations


def _is_quick(text: str, value: Any) -> bool:
    """Return whether the library surely needs little time for this value."""
    parts = _count_parts(text)
    return parts is not None and parts * _size(value, MAX_STEPS // parts) <= MAX_STEPS


@lru_cache(maxsize=256)
def _count_parts(text: str) -> int | None:
    """Return how many schemas this one consists of, each counted where it is referred to; None if that is too many.

    None also if a part may take more than one step for each part of a value: patterns, references in a circle, and
    keywords that look at a value again.
    """
    try:
        root = json_codec.loads(text)
        parts = _parts_with_references(root, root, frozenset())
    except (ValueError, RecursionError, _NotQuickError):
        return None
    return parts


class _NotQuickError(Exception):
    """The time that a schema takes has no simple bound."""


def _parts_with_references(schema: Any, root: Any, above: frozenset[str]) -> int:
    if isinstance(schema, list):
        return 1 + sum(_parts_with_references(item, root, above) for item in schema)
    if not isinstance(schema, dict):
        return 1
    if not schema.keys().isdisjoint(_SLOW_KEYWORDS):
        raise _NotQuickError
    count = 1
    for name, part in schema.items():
        if name in _MAPS_OF_SCHEMAS and isinstance(part, dict):
            count += sum(_parts_with_references(item, root, above) for item in part.values())
        elif name == "$ref":
            count += _referred_parts(part, root, above)
        elif name not in _VALUES:
            count += _parts_with_references(part, root, above)
        if count > MAX_PARTS:
            raise _NotQuickError
    return count


def _referred_parts(reference: Any, root: Any, above: frozenset[str]) -> int:
    if not isinstance(reference, str) or not reference.startswith("#/") or reference in above:
        raise _NotQuickError
    schema = root
    for step in reference.removeprefix("#/").split("/"):
        if not isinstance(schema, dict) or step not in schema:
            raise _NotQuickError
        schema = schema[step]
    return _parts_with_references(schema, root, above | {reference})


def _size(value: Any, limit: int) -> int:
    """Return how many parts a value has, and something beyond the limit if it has more."""
    count, level = 0, [value]
    while level and count <= limit:
        count += len(level)
        level = json_codec.next_level(level)
    return count


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
