"""Variables as {{ name }} in a scenario with cases or a matrix. No other syntax; a value is never a template.

A text that is exactly one variable becomes its value, with its type. In other texts a value is inserted as text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.pydantic_errors import FieldPath, leaves

_VARIABLE = re.compile(r"\{\{[ \t]*([^{}\n]*?)[ \t]*\}\}")

_Fill: TypeAlias = Callable[[Mapping[str, Any]], Any]


class TemplateUse(NamedTuple):
    """A variable in a text."""

    path: FieldPath
    name: str
    is_whole: bool
    """Whether the text is nothing but this variable, so that the value keeps its type."""


class Template:
    """Data with variables in its texts. Parts without variables are shared by everything that is filled from it."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self._fill = _compile(data)
        self._uses = Counter(use.name for use in find_uses(data))
        self._characters = _template_characters(data)

    def length(self, values: Mapping[str, Any]) -> int:
        """Return about how many characters the filled texts have. Values that are not text do not count."""
        lengths = (
            count * len(value) for name, count in self._uses.items() if isinstance(value := values.get(name), str)
        )
        return self._characters + sum(lengths)

    def fill(self, values: Mapping[str, Any]) -> Any:
        """Return the data with the values in place of the variables, which must all have one."""
        return self._data if self._fill is None else self._fill(values)


def find_uses(data: Any, path: FieldPath = ()) -> Iterator[TemplateUse]:
    """Yield each variable in the data."""
    for part_path, part in leaves(data, path):
        if isinstance(part, str):
            for match in _VARIABLE.finditer(part):
                yield TemplateUse(part_path, match[1], match[0] == part)


def _template_characters(data: Any) -> int:
    """Return the length of all texts with variables."""
    if isinstance(data, dict | list):
        return sum(map(_template_characters, data.values() if isinstance(data, dict) else data))
    return len(data) if isinstance(data, str) and _VARIABLE.search(data) else 0


def _compile(data: Any) -> _Fill | None:
    """Return a function that fills the data, or None if there is nothing to fill."""
    if isinstance(data, dict):
        return _compile_mapping(data)
    if isinstance(data, list):
        return _compile_list(data)
    return _compile_text(data) if isinstance(data, str) else None


def _compile_mapping(data: dict[str, Any]) -> _Fill | None:
    parts = {name: fill for name, part in data.items() if (fill := _compile(part)) is not None}
    if not parts:
        return None
    return lambda values: {**data, **{name: fill(values) for name, fill in parts.items()}}


def _compile_list(data: list[Any]) -> _Fill | None:
    fills = [_compile(part) for part in data]
    if not any(fills):
        return None
    return lambda values: [part if fill is None else fill(values) for part, fill in zip(data, fills, strict=True)]


def _compile_text(text: str) -> _Fill | None:
    # Every second part is the name of a variable.
    parts = _VARIABLE.split(text)
    if len(parts) == 1:
        return None
    if parts[0] == parts[2] == "" and len(parts) == 3:
        name = parts[1]
        return lambda values: values[name]
    return lambda values: "".join(
        part if index % 2 == 0 else json_codec.as_text(values[part]) for index, part in enumerate(parts)
    )
