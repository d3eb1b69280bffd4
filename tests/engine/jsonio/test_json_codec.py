"""JSON that the fast reader and writer refuse is read and written all the same."""

import json
import math
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from salvo.engine.jsonio import json_codec

awkward_text = st.text(st.characters(exclude_categories=()))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**400), 10**400)
    | st.floats(allow_nan=False, allow_infinity=False)
    | awkward_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(awkward_text, inner, max_size=4),
    max_leaves=15,
)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@given(json_values, st.sampled_from([None, 1]))
def test_what_is_written_reads_back_the_same(value: Any, indent: int | None) -> None:
    assert json_codec.loads(json_codec.dumps(value, indent=indent)) == value


@given(json_values)
@example("\ud800")
def test_what_anyone_else_writes_is_read(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        assert json_codec.loads(text) == value


@pytest.mark.parametrize(
    "value, text",
    [
        ({"a": [1, "é"]}, '{"a":[1,"é"]}'.encode()),
        ("\ud800", rb'"\ud800"'),
        (10**4000, b"1" + b"0" * 4000),
        (math.inf, b'"Infinity"'),
        ({}, b"{}"),
    ],
    ids=["plain", "lone surrogate", "long integer", "infinity", "empty"],
)
def test_values_are_written_compactly(value: Any, text: bytes) -> None:
    assert json_codec.dumps(value) == text


@pytest.mark.parametrize("beside", ["plain", "\ud800"], ids=["fast writer", "standard library"])
def test_what_is_no_number_in_json_is_written_as_its_name(beside: str) -> None:
    written = json_codec.dumps([math.nan, -math.inf, beside])
    assert json.loads(written, parse_constant=pytest.fail) == ["NaN", "-Infinity", beside]


@pytest.mark.parametrize("text", ["[NaN]", "[-Infinity]", r'[Infinity, "\ud800"]'])
def test_what_is_no_number_in_json_is_read_only_by_those_who_ask_for_it(text: str) -> None:
    with pytest.raises(ValueError):
        json_codec.loads(text)
    assert not math.isfinite(json_codec.loads(text, nan=True)[0])


@pytest.mark.parametrize(
    "value, plain",
    [({"a": (1, math.nan)}, {"a": [1, "NaN"]}), ({1: b"x"}, {"1": "x"})],
)
def test_plain_is_what_everybody_will_read(value: Any, plain: Any) -> None:
    assert json_codec.plain(value) == plain


@dataclass
class Leaf:
    text: str


@pytest.mark.parametrize("text", ["plain", "lone \udfff"])
def test_dataclasses_are_written_alike_by_both_writers(text: str) -> None:
    assert json_codec.loads(json_codec.dumps({"leaf": [Leaf(text)]})) == {"leaf": [{"text": text}]}


def test_what_no_writer_has_a_form_for_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="JSON has no form for object"):
        json_codec.dumps({"a": object()})


@pytest.mark.parametrize(
    "content", [b"", b"{", b"{} {}", b"nope", b"'a'", b'"\xff"', b"[1,]", b"\xfe\xff", "{", b"1" * 5000]
)
def test_what_is_not_json_is_a_value_error(content: bytes | str) -> None:
    with pytest.raises(ValueError):
        json_codec.loads(content)


@pytest.mark.parametrize("depth", [150, 250, json_codec.MAX_DEPTH])
def test_what_is_nested_deeply_can_be_read_and_written_again(depth: int) -> None:
    assert json_codec.dumps(json_codec.loads(nested(depth))) == nested(depth).encode()


def test_what_could_be_read_can_be_read_inside_a_file_of_ours() -> None:
    content = json_codec.dumps({"a": [{"b": [{"c": [json_codec.loads(nested(json_codec.MAX_DEPTH))]}]}]}, indent=1)
    json_codec.loads(content, max_depth=json_codec.MAX_DEPTH_STORED)
    with pytest.raises(ValueError, match="nested too deeply"):
        json_codec.loads(content)


@pytest.mark.parametrize("depth", [json_codec.MAX_DEPTH + 1, 900, 100_000])
@pytest.mark.parametrize("text", ["{}", '{{"a": {}}}'], ids=["list", "dict"])
def test_what_is_nested_deeper_than_anyone_means_is_a_value_error(depth: int, text: str) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        json_codec.loads(text.format(nested(depth)))
