"""Arguments that the schema of a tool does not allow."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.jsonio.json_schema import problems
from salvo.scenarios.run.adapters.bad_arguments import bad_arguments

TYPES = {"string": "x", "number": 1.5, "integer": 2, "boolean": True, "array": [], "object": {}, "null": None}


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(list(TYPES)), min_size=1))
def test_each_mistake_violates_a_strict_schema(types: dict[str, str]) -> None:
    properties = {name: {"type": kind} for name, kind in types.items()}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": list(types), "additionalProperties": False}  # fmt: skip
    example = {name: TYPES[kind] for name, kind in types.items()}
    assert not problems(schema, example)
    cases = bad_arguments(schema, example)
    assert len(cases) == 2 * len(types) + 1
    for what, arguments in cases:
        assert problems(schema, arguments), what


def test_allowed_values_are_left_and_odd_schemas_have_no_mistakes() -> None:
    schema = {"properties": {"day": {"enum": ["Monday"]}, "any": {}, "odd": 3}, "required": "day"}
    assert bad_arguments(schema, {}) == [("day is none of the allowed values", {"day": "not an allowed value"})]


def test_a_schema_of_a_thousand_arguments_has_fifty_mistakes() -> None:
    schema = {"properties": {f"a{number}": {"type": "string"} for number in range(1000)}}
    assert len(bad_arguments(schema, {})) == 50
