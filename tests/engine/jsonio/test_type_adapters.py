"""Plain data becomes typed values."""

from dataclasses import dataclass

import pytest
from pydantic import ValidationError

from salvo.engine.jsonio.type_adapters import first_error, type_adapter


@dataclass
class Point:
    x: int
    tags: list[str]


def test_an_adapter_reads_values_and_is_built_once() -> None:
    adapter = type_adapter(Point)
    assert adapter.validate_python({"x": 1, "tags": ["a"]}) == Point(1, ["a"])
    assert type_adapter(Point) is adapter


def test_the_first_error_has_a_path_and_a_message() -> None:
    with pytest.raises(ValidationError) as error:
        type_adapter(Point).validate_python({"x": 1, "tags": ["a", 2], "y": 3})
    assert first_error(error.value) == ("tags.1", "Input should be a valid string")
