"""What is wrong with a value, said in sentences, and schemas in the form that providers take."""

import datetime as dt
import re
import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.engine.jsonio import json_schema
from salvo.engine.jsonio.canonical import stable_text
from salvo.engine.jsonio.json_schema import check, is_strict, problems, problems_in_time, without_bounds
from salvo.engine.jsonio.schema_library import valid_schema
from salvo.errors import InputError

ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"count": {"type": "integer"}}}},
        "note": {"type": "string", "maxLength": 5},
    },
    "required": ["id"],
    "additionalProperties": False,
}


def test_a_value_that_fits_has_no_problems() -> None:
    assert problems(ORDER, {"id": "a", "lines": [{"count": 1}], "note": "short"}) == []


def test_every_problem_is_said_with_its_place() -> None:
    value = {"lines": [{"count": 1}, {"count": "two"}], "note": "far too long", "extra": 1}
    assert problems(ORDER, value) == snapshot(
        [
            "Additional properties are not allowed ('extra' was unexpected)",
            "'id' is a required property",
            "lines[1].count: 'two' is not of type 'integer'",
            "note: 'far too long' is too long",
        ]
    )


def test_problems_come_in_the_order_of_their_places() -> None:
    found = problems({"items": {"type": "string"}}, list(range(12)))
    assert [problem.partition(":")[0] for problem in found] == [f"[{index}]" for index in range(12)]


def test_references_inside_the_schema_are_followed() -> None:
    schema = {
        "$defs": {"tree": {"type": "object", "properties": {"child": {"$ref": "#/$defs/tree"}}}},
        "$ref": "#/$defs/tree",
    }
    assert problems(schema, {"child": {"child": {}}}) == []
    assert problems(schema, {"child": {"child": 1}}) == ["child.child: 1 is not of type 'object'"]


@pytest.mark.parametrize("where", ["$ref", "$dynamicRef"])
def test_a_reference_to_elsewhere_is_an_error_and_never_fetched(where: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        address = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/schema.json"
        with pytest.raises(InputError, match=re.escape(f"refers to '{address}', which is not in it")):
            problems({"properties": {"a": {where: address}}}, {"a": 1})
        elsewhere.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody knocked
            elsewhere.accept()


@pytest.mark.parametrize(
    "schema, message",
    [
        ({"type": "strnig"}, "not a JSON Schema: type: 'strnig' is not valid"),
        ({"properties": {"a": {"minimum": "1"}}}, "not a JSON Schema: properties.a.minimum: '1' is not of type"),
        ({"pattern": "("}, "not a JSON Schema: pattern: '(' is not a 'regex'"),
        ({"default": dt.date(2026, 1, 2)}, "not a JSON Schema: it contains a value that JSON cannot represent"),
        ({"default": 10**5000}, "not a JSON Schema: it contains a value that JSON cannot represent"),
        ({"$ref": "#/$defs/missing"}, "refers to '/$defs/missing', which is not in it"),
        ({"$ref": "#missing"}, "refers to 'missing', which is not in it"),
        ({"$ref": "#"}, "cannot be applied to this value"),
    ],
)
def test_a_schema_that_cannot_be_used_is_an_error_of_ours(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        problems(schema, "value")


def test_a_number_beyond_all_bounds_is_an_error_of_ours() -> None:
    with pytest.raises(InputError, match="cannot be applied"):
        problems({"multipleOf": 0.5}, 10**400)


def test_without_bounds_a_schema_keeps_its_shape_and_closes_its_objects() -> None:
    schema = {
        "type": "object",
        "minProperties": 1,
        "properties": {
            "score": {"type": "number", "minimum": 0, "maximum": 1, "description": "0 to 1"},
            "tags": {"type": "array", "maxItems": 3, "items": {"type": "string", "pattern": "^a", "enum": ["a", "b"]}},
            "either": {"anyOf": [{"type": "integer", "multipleOf": 2}, {"type": ["object", "null"], "properties": {}}]},
            "whatever": {"not": {"maximum": 3}},
            "always": True,
        },
        "required": ["score"],
        "$defs": {"part": {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}}},
    }
    before = repr(schema)
    assert without_bounds(schema) == snapshot(
        {
            "type": "object",
            "properties": {
                "score": {"type": "number", "description": "0 to 1"},
                "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
                "either": {
                    "anyOf": [
                        {"type": "integer"},
                        {"type": ["object", "null"], "properties": {}, "additionalProperties": False},
                    ]
                },
                "whatever": {},
                "always": True,
            },
            "required": ["score"],
            "$defs": {"part": {"type": "object", "additionalProperties": False}},
            "additionalProperties": False,
        }
    )
    assert repr(schema) == before


@pytest.mark.parametrize("holder", ["properties", "$defs", "definitions"])
@pytest.mark.parametrize("name", ["minimum", "maxLength", "pattern", "not", "items"])
def test_a_property_that_is_called_like_a_bound_is_kept(holder: str, name: str) -> None:
    schema = {holder: {name: {"type": "integer", "minimum": 3}}, "required": [name], "enum": [{name: 1}]}
    assert without_bounds(schema) == {holder: {name: {"type": "integer"}}, "required": [name], "enum": [{name: 1}]}


@given(st.integers() | st.floats(allow_nan=False) | st.text() | st.lists(st.integers()))
def test_what_fits_a_schema_still_fits_without_its_bounds(value: Any) -> None:
    schema = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "maxLength": 2}, {"type": "array"}]}
    assert problems(schema, value) or not problems(without_bounds(schema), value)


CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
LAX = {**CLOSED, "required": []}


@pytest.mark.parametrize(
    "schema, strict",
    [
        (CLOSED, True),
        (OPEN, False),
        (LAX, False),
        ({**OPEN, "additionalProperties": True}, False),
        ({**OPEN, "additionalProperties": {"type": "string"}}, False),
        ({**OPEN, "type": ["object", "null"]}, False),
        ({**CLOSED, "type": ["object", "null"]}, True),
        ({"type": "object"}, False),
        ({"type": "object", "additionalProperties": False}, True),
        ({"type": "string"}, True),
        ({"type": "array", "items": CLOSED}, True),
        ({"type": "array", "items": OPEN}, False),
        ({"anyOf": [CLOSED, LAX]}, False),
        ({"$defs": {"x": OPEN}}, False),
        ({"prefixItems": [CLOSED, True]}, True),
    ],
)
def test_a_schema_is_strict_where_every_object_is_closed_and_requires_all(schema: dict[str, Any], strict: bool) -> None:
    assert is_strict(schema) is strict


NAMES = st.sampled_from(["a", "b", "c"])
KINDS = st.sampled_from(["object", "array", "string", "boolean", "null", "integer", "number"])
BOUNDS = st.integers(-3, 3) | st.floats(-3, 3)
PLAIN_SCHEMAS = st.recursive(
    st.one_of(
        st.just({}),
        st.fixed_dictionaries({"type": KINDS}),
        st.fixed_dictionaries({"enum": st.lists(NAMES, min_size=1, unique=True)}),
        st.fixed_dictionaries({}, optional={"type": KINDS, "minimum": BOUNDS, "maximum": BOUNDS}),
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": KINDS,
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": st.lists(NAMES, unique=True, max_size=2),
            "additionalProperties": st.booleans(),
            "items": inner,
        },
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@given(schema=PLAIN_SCHEMAS, value=VALUES)
def test_the_short_way_never_says_that_something_fits_which_does_not(schema: dict[str, Any], value: Any) -> None:
    check(schema)
    library = list(valid_schema(stable_text(schema)).validator.iter_errors(value))
    assert (problems(schema, value) == []) == (not library)
    if json_schema._fits(schema, value):
        assert not library


def test_what_an_answer_of_a_judge_is_held_to_is_told_without_the_library() -> None:
    schema = {"type": "object", "properties": {"confidence": {"type": "number", "minimum": 0, "maximum": 1}}}
    assert json_schema._is_plain(stable_text(schema))
    assert [json_schema._fits(schema, {"confidence": value}) for value in (0, 0.5, 1, 1.01, -1)] == [
        *[True] * 3,
        *[False] * 2,
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objct"},
        {"type": ["string", 7]},
        {"properties": []},
        {"required": "a"},
        {"minimum": "one"},
        {"items": 5},
    ],
)
def test_what_is_no_schema_is_an_error_whether_or_not_a_value_is_there(schema: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="not a JSON Schema"):
        check(schema)


ENDLESS = {"properties": {"name": {"type": "string", "pattern": "(a+)+$"}}}
_TWICE = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
MULTIPLIED = {"$defs": {**_TWICE, "d40": {"type": "integer"}}, "$ref": "#/$defs/d0"}
IN_CIRCLES = {
    "$defs": {"a": {"anyOf": [{"properties": {"b": {"$ref": "#/$defs/a"}}}] * 2 + [False]}},
    "$ref": "#/$defs/a",
}


@pytest.mark.parametrize("schema, value", [(ENDLESS, {"name": "a" * 60 + "!"}), (MULTIPLIED, "x")])
async def test_a_schema_that_never_ends_is_ended(
    schema: dict[str, Any], value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_schema, "TIMEOUT", 1.0)
    with pytest.raises(InputError, match="validation by a JSON Schema did not finish after 1 seconds"):
        await problems_in_time(schema, value)


@pytest.mark.parametrize(
    "schema, quick",
    [
        (ORDER, True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}, True),
        ({"$defs": {"a": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/a"}}}, True),
        ({"properties": {"pattern": {"type": "string"}}}, True),
        (ENDLESS, False),
        ({"items": {"patternProperties": {"^a": {}}}}, False),
        (MULTIPLIED, False),
        (IN_CIRCLES, False),
        ({"$ref": "#/$defs/missing"}, False),
        ({"anyOf": [{"type": "string"}] * 3_000}, False),
    ],
)
def test_only_a_schema_that_is_surely_quick_is_applied_here(schema: dict[str, Any], quick: bool) -> None:
    assert json_schema._is_quick(stable_text(schema), {"a": [1, 2]}) is quick


def test_a_large_value_of_a_large_schema_is_not_validated_here() -> None:
    text = stable_text({"items": {"anyOf": [{"type": "string"}] * 500}})
    assert json_schema._is_quick(text, [1])
    assert not json_schema._is_quick(text, [1] * 10_000)


@pytest.mark.parametrize("keyword", ["required", "enum"])
async def test_each_name_of_a_list_counts_for_each_part_of_a_value(
    keyword: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = {"type": "array", "items": {keyword: [f"name {number}" for number in range(1_000)]}}
    value = [{} if keyword == "required" else "name 999"] * 100_000
    assert not json_schema._is_quick(stable_text(schema), value)
    monkeypatch.setattr(json_schema, "_fits", None)  # nor is a plain schema applied here
    monkeypatch.setattr(json_schema, "TIMEOUT", 0.01)
    with pytest.raises(InputError, match="did not finish"):
        await problems_in_time(schema, value)


@given(st.text("ab1", max_size=8))
def test_a_worker_says_what_the_library_says(text: str) -> None:
    schema = {"type": "object", "properties": {"a": {"pattern": "^a+b?$", "maxLength": 4}}}
    check(schema)
    assert problems(schema, {"a": text}) == valid_schema(stable_text(schema)).problems({"a": text})


def test_a_pattern_that_is_none_is_an_error_before_any_value() -> None:
    for _ in range(2):
        with pytest.raises(InputError, match="not a JSON Schema: pattern: '\\(' is not a 'regex'"):
            check({"pattern": "("})
