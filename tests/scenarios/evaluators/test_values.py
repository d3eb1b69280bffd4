"""JSON values: equality, kinds and limits."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.scenarios.evaluators.values import at_most, first_non_json, json_equal, json_kind


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    )
)
def test_a_value_equals_itself_and_never_a_list_with_it(value: Any) -> None:
    assert json_equal(value, value)
    assert not json_equal(value, [value])
    assert not json_equal([True, value], [1, value])


@pytest.mark.parametrize(
    "one, other, equal",
    [
        (1, 1.0, True),
        (1, True, False),
        (1, "1", False),
        (None, False, False),
        ({"a": [1]}, {"a": [1.0]}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1, 2], [1], False),
    ],
)
def test_values_are_equal_as_json(one: Any, other: Any, equal: bool) -> None:
    assert json_equal(one, other) is json_equal(other, one) is equal


def test_a_kind_is_the_word_for_a_value() -> None:
    values: list[Any] = [None, True, 1, 1.5, "x", [], {}, date(2026, 3, 15)]
    assert [json_kind(value) for value in values] == [
        "null", "boolean", "number", "number", "string", "list", "object", "date",
    ]  # fmt: skip


def test_the_first_part_that_is_not_json_is_found_in_keys_and_values() -> None:
    day = date(2026, 3, 15)
    assert first_non_json({"a": [1, {"b": day}]}) is first_non_json({day: 1}) is day
    assert first_non_json({"a": [1, None, "x"]}) is None


def test_a_limit_is_not_exceeded_by_the_last_bit_of_a_float() -> None:
    assert at_most(0.1 + 0.2, 0.3)
    assert not at_most(0.3001, 0.3)
