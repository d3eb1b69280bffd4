"""Where two values part, and how a person is told."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.engine.jsonio.canonical import stable_text
from salvo.engine.jsonio.json_diff import MISSING, Difference, differences

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


def test_every_place_that_differs_is_named_in_the_order_of_the_first_value() -> None:
    before = {"model": "a", "messages": [{"role": "user", "content": "hi"}, 2], "gone": 1}
    after = {"messages": [{"role": "user", "content": "ho"}, 2, 3], "model": "b", "new": None}
    assert list(differences(before, after)) == [
        Difference("model", "a", "b"),
        Difference("messages[0].content", "hi", "ho"),
        Difference("messages[2]", MISSING, 3),
        Difference("gone", 1, MISSING),
        Difference("new", MISSING, None),
    ]


@given(json_values, json_values)
def test_two_values_differ_exactly_where_a_tape_would_tell_them_apart(one: Any, other: Any) -> None:
    assert bool(list(differences(one, other))) == (stable_text(one) != stable_text(other))


@pytest.mark.parametrize(
    "before, after", [(1, 1.0), (1, True), (0.0, -0.0), (1, "1"), (None, MISSING), ([], {}), ("missing", MISSING)]
)
def test_values_that_look_alike_are_told_apart(before: Any, after: Any) -> None:
    assert list(differences({"a": before}, {"a": after})) == [Difference("a", before, after)]


def test_a_difference_shows_in_a_failing_test_what_is_missing() -> None:
    assert repr(Difference("a", 1, MISSING)) == "Difference(path='a', before=1, after=missing)"


def test_not_a_number_is_the_same_as_itself() -> None:
    assert list(differences([math.nan], [float("nan")])) == []


@pytest.mark.parametrize(
    "difference, line",
    [
        (Difference("a.b[0]", 1, MISSING), snapshot("a.b[0]: recorded 1, now missing")),
        (Difference("", {"a": 1}, [1]), snapshot('the whole: recorded {"a": 1}, now [1]')),
        (Difference("a", "été", None), snapshot('a: recorded "été", now null')),
        (Difference("é.a\nb\ud800", 1, 2), snapshot("é.a\\nb\\ud800: recorded 1, now 2")),
        (Difference("a", b"x", {1}), snapshot("a: recorded b'x', now set[1]")),
        (Difference("a", "\ud800", ""), snapshot('a: recorded "\\ud800", now ""')),
    ],
)
def test_a_difference_is_told_in_one_line(difference: Difference, line: str) -> None:
    assert difference.text("recorded", "now") == line
    assert difference.text("recorded", "now").encode()


def test_long_values_are_cut_to_where_they_part() -> None:
    same = "the quick brown fox jumps over the lazy dog " * 20
    line = Difference("prompt", f"{same}and sleeps. {same}", f"{same}and eats. {same}").text()
    assert line == snapshot(
        "prompt: before …er the lazy dog and sleeps. the quick brown fox jumps over t…, after …er the lazy dog and eats. the quick brown fox jumps over the…"
    )


def test_a_value_that_goes_on_where_the_other_ends_shows_both_ends() -> None:
    line = Difference("a", "x" * 100, "x" * 100 + "y" * 100).text()
    assert line == snapshot(
        'a: before …xxxxxxxxxxxxxxxxxxxx", after …xxxxxxxxxxxxxxxxxxxxyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…'
    )


@given(json_values, json_values)
def test_no_line_is_longer_than_a_person_reads(one: Any, other: Any) -> None:
    for difference in differences({"a": one}, {"a": other}):
        assert len(difference.text()) < len(json.dumps(difference.path)) + 2 * 60 + 30
        assert "\n" not in difference.text()
