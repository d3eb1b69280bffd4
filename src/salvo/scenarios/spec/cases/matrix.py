"""The matrix of a scenario file: its lines, the ids of their values, and which fields they set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.records import record
from salvo.scenarios.spec.cases.case_table import id_problem
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.spec.yaml_source import YamlDocument

MATRIX = "matrix"
_MAX_VALUE_ID = 40


class AxisValue(NamedTuple):
    id: str
    value: Any
    path: FieldPath
    """Where it is in the scenario file."""


@record
class Axis:
    """A line of the matrix. It sets the field at the path, several fields at once, or a variable."""

    name: str
    path: FieldPath
    """Empty if it does not set one field."""
    values: list[AxisValue]

    @property
    def sets_fields(self) -> bool:
        """Return whether each value is a mapping of fields, such as a model with its temperature."""
        return not self.path and all(
            isinstance(item.value, dict) and item.value and set(item.value) <= set(Scenario.model_fields)
            for item in self.values
        )

    @property
    def is_variable(self) -> bool:
        return not self.path and not self.sets_fields

    def value_problems(self) -> Iterator[tuple[FieldPath, str]]:
        """Yield the place and the message of each value that occurs twice or has no usable id."""
        ids: set[str] = set()
        contents: set[bytes] = set()
        for value in self.values:
            content = json_codec.dumps(value.value)
            if content in contents:
                yield value.path, "occurs twice"
            elif value.id in ids:
                yield value.path, f'the id "{value.id}" occurs twice; name the values: `name: value`'
            if problem := id_problem(value.id):
                yield value.path, f"the name of a value {problem}"
            ids.add(value.id)
            contents.add(content)

    def settings(self, value: AxisValue) -> Iterator[tuple[FieldPath, Any, FieldPath]]:
        """Yield each field that a value sets: its path, its content, and where it is in the file."""
        if self.path:
            yield self.path, value.value, value.path
        elif self.sets_fields:
            for name, content in value.value.items():
                yield (name,), content, (*value.path, name)


def read_axes(matrix: Mapping[str, Any], document: YamlDocument) -> Iterator[Axis]:
    for name, items in matrix.items():
        keys = list(items) if isinstance(items, dict) else list(range(len(items)))
        paths: list[FieldPath] = [(MATRIX, name, key) for key in keys]
        values = list(items.values()) if isinstance(items, dict) else items
        top, *rest = name.split(".")
        path = (top, *rest) if top in Scenario.model_fields else ()
        yield Axis(name, path, list(map(AxisValue, _value_ids(name, values, paths, document), values, paths)))


def _value_ids(name: str, values: Sequence[Any], paths: Sequence[FieldPath], document: YamlDocument) -> Iterator[str]:
    """Yield an id for each value: its key, the name of its file, its text, or else the field with a number."""
    short = [_short_id(name, value) for value in values]
    for index, (value, path) in enumerate(zip(values, paths, strict=True)):
        if isinstance(path[-1], str):
            yield path[-1]
        elif path in document.file_stems:
            yield document.file_stems[path]
        elif short.count(short[index]) == 1 and short[index]:
            yield short[index]
        elif isinstance(value, str) and _is_id(value):
            yield value
        else:
            yield f"{name}{index}"


def _short_id(name: str, value: Any) -> str:
    if isinstance(value, dict | list):
        return ""
    text = json_codec.as_text(value)
    if name == "model":
        text = text.rsplit("/", 1)[-1]
    return text if _is_id(text) else ""


def _is_id(text: str) -> bool:
    return len(text) <= _MAX_VALUE_ID and not id_problem(text)
