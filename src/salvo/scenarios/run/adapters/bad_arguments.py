"""Arguments that the schema of a tool does not allow, to see what a server does with them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_MAX_CASES = 50
_OTHER_VALUES: Mapping[str, Any] = {
    "string": {"not": "text"},
    "number": "not a number",
    "integer": 0.5,
    "boolean": "not a boolean",
    "array": "not a list",
    "object": "not an object",
    "null": "not null",
}
"""A value of another type for each type."""
_UNKNOWN = "salvo_unknown_argument"


def bad_arguments(schema: Mapping[str, Any], example: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return what is wrong and the arguments: an example with one mistake each, at most 50.

    Whether the schema allows them all the same is for the caller to check.
    """
    cases = [*_missing(schema, example), *_invalid_values(schema, example)]
    if schema.get("additionalProperties") is False:
        cases.append((f"has {_UNKNOWN}, which there is not", {**example, _UNKNOWN: 1}))
    return cases[:_MAX_CASES]


def _missing(schema: Mapping[str, Any], example: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        yield f"{name} is missing", {key: value for key, value in example.items() if key != name}


def _invalid_values(schema: Mapping[str, Any], example: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    properties = schema.get("properties")
    for name, part in properties.items() if isinstance(properties, Mapping) else ():
        if not isinstance(part, Mapping):
            continue
        if "enum" in part or "const" in part:
            yield f"{name} is none of the allowed values", {**example, name: "not an allowed value"}
        elif (kind := part.get("type")) in _OTHER_VALUES:
            yield f"{name} is no {kind}", {**example, name: _OTHER_VALUES[str(kind)]}
