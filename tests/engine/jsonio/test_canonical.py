"""Canonical JSON as RFC 8785 has it, and keys for values that no JSON has a form for."""

import datetime as dt
import json
import math
import os
import struct
import subprocess
import sys
import uuid
from collections.abc import Callable, ItemsView, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.jsonio import canonical
from salvo.engine.jsonio.canonical import jcs, sha256, stable_key, stable_text
from salvo.errors import InputError

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def nested(depth: int, leaf: Any = 1) -> Any:
    for _ in range(depth):
        leaf = [leaf]
    return leaf


# RFC 8785, appendix B: the bits of a double, and its text.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize("bits, text", NUMBERS.items())
def test_numbers_are_written_as_the_standard_lists_them(bits: str, text: str) -> None:
    [number] = struct.unpack(">d", bytes.fromhex(bits))
    assert jcs(number) == text.encode()


def test_the_sample_of_the_standard_comes_out_as_printed_there() -> None:
    sample = r"""{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"""
    printed = (
        r'{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        r'"string":"€$\u000f\nA' + r"'" + r'B\"\\\\\"/"}'
    )
    assert jcs(json.loads(sample)) == printed.encode()


def test_names_are_sorted_by_utf16_units_as_in_the_standard() -> None:
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    in_order = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(jcs(dict.fromkeys(names)))) == in_order


@given(json_values)
def test_canonical_json_reads_back_as_the_same_value(value: Any) -> None:
    assert json.loads(jcs(value), parse_int=float) == value


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, 2**53, -(2**53), 10**5000, "\ud800", {"\udfff": 1}, {1: 2}, b"x", nested(5_000)],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_canonical_form_is_refused_with_an_error_of_ours(value: Any) -> None:
    with pytest.raises(InputError, match="no canonical JSON form"):
        jcs([value])


def test_the_largest_safe_integers_are_not_refused() -> None:
    assert jcs([2**53 - 1, -(2**53) + 1]) == b"[9007199254740991,-9007199254740991]"


def test_a_digest_names_its_algorithm() -> None:
    assert sha256(b"abc") == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@given(json_values)
def test_the_stable_text_of_json_is_json_in_ascii(value: Any) -> None:
    text = stable_text(value)
    assert text.isascii()
    assert json.loads(text) == value


@given(st.dictionaries(st.text(), st.integers() | st.lists(st.text()), max_size=5), st.randoms(use_true_random=False))
def test_keys_do_not_depend_on_the_order_of_names(value: dict[str, Any], chance: Any) -> None:
    shuffled = list(value.items())
    chance.shuffle(shuffled)
    assert stable_key(dict(shuffled)) == stable_key(value)


@dataclass(frozen=True)
class Point:
    x: Any
    y: Any = 0


@dataclass(slots=True)
class Slotted:
    x: Any


class Holder:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


SAME: list[tuple[Any, Any]] = [
    ({1: "a", "b": 2, None: 3}, {None: 3, "b": 2, 1: "a"}),
    ({("t", 1): {"x", "y"}}, {("t", 1): frozenset({"y", "x"})}),
    (MappingProxyType({"a": {1}}), {"a": {1}}),
    ((1, [2]), [1, (2,)]),
    ([math.nan, 10**5000], [math.nan, 10**5000]),
    (Point(1, [b"x"]), Point(1, [b"x"])),
    (Slotted({1}), Slotted({1})),
    ([dt.date(2026, 1, 2), Decimal("1.5")], [dt.date(2026, 1, 2), Decimal("1.5")]),
    (Holder(a=1, b={2}), Holder(b={2}, a=1)),
]


@pytest.mark.parametrize("one, other", SAME)
def test_equal_values_have_the_same_key(one: Any, other: Any) -> None:
    assert stable_key(one) == stable_key(other)


DIFFERENT: list[Any] = [
    *[None, "null", "None", True, "true", 1, 1.0, "1", -1, 0, 0.0, "", math.nan, "NaN", math.inf, -math.inf],
    *[[], {}, set(), [[]], [None], [1], {1}, {"1"}, {1, 2}, [1, 2], [2, 1], [12], {"a": 1}, {"a": "1"}, {"b": 1}],
    *[{"a": [1]}, {"a": {1}}, {1: "a", "b": 2}, {"1": "a", "b": 2, None: 3}, {("a",): 1}, {("b",): 1}],
    *["a", b"a", b"b", "b'a'", "\ud800", "\udc00", 10**5000, 10**5000 + 1, 10**5001],
    *[dt.date(2026, 1, 2), dt.date(2026, 1, 3), Decimal(1), Decimal(2), uuid.UUID(int=1), uuid.UUID(int=2)],
    *[PurePosixPath("/a"), PurePosixPath("/b"), Point(1), Point(2), Slotted(1), Slotted(2), Holder(a=1), Holder(a=2)],
]


def test_different_values_have_different_keys() -> None:
    seen: dict[str, Any] = {}
    for value in DIFFERENT:
        assert seen.setdefault(stable_key(value), value) is value


PROGRAM = """
from salvo.engine.jsonio.canonical import stable_key
words = "one two three four five six seven eight".split()
class Thing:
    def __init__(self): self.words = set(words)
print(stable_key([dict.fromkeys(words), set(words), {1: "a", **dict.fromkeys(words)}, Thing(), object(), float("nan")]))
"""


def test_another_process_with_other_hashes_computes_the_same_key() -> None:
    keys = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(keys) == 1


@pytest.mark.parametrize("depth", [100, 900, 980, 5_000])
def test_depth_changes_nothing_about_the_text(depth: int) -> None:
    assert stable_text(nested(depth, {"b": 1, "a": None})) == "[" * depth + '{"a":null,"b":1}' + "]" * depth


def test_a_deep_call_stack_changes_nothing_about_the_text() -> None:
    def called_from(frames: int) -> str:
        return called_from(frames - 1) if frames else stable_text(nested(600))

    assert called_from(600) == called_from(0)


anything: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(4_290, 5_000).map(lambda digits: 10**digits)
    | st.sampled_from([object(), object, len, json, Ellipsis, 1j])
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
    | st.decimals()
    | st.datetimes(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.none() | st.integers() | st.text() | st.tuples(st.text()) | st.binary(), inner, max_size=3)
        | st.sets(st.integers() | st.text() | st.frozensets(st.binary(), max_size=2), max_size=3)
        | st.builds(Holder, a=inner)
        | st.builds(Point, inner)
        | st.builds(Slotted, inner)
    ),
    max_leaves=10,
)


@given(anything)
def test_any_value_at_all_has_a_key(value: Any) -> None:
    assert stable_key(value) == stable_key(value)
    assert stable_text(value).isascii()


class Secretive:
    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        raise RuntimeError("none of your business")


class Broken(Mapping[str, Any]):
    def __getitem__(self, name: str) -> Any:
        raise OSError

    def __iter__(self) -> Iterator[str]:
        raise OSError

    def __len__(self) -> int:
        return 1


class BrokenDict(dict[str, Any]):
    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        raise OSError


def list_in_itself() -> Any:
    value: list[Any] = [1]
    value.append({"again": value})
    return value


def member_of_its_own_set() -> Any:
    value = Holder()
    value.__dict__["peers"] = {value}
    return value


def key_of_its_own_dict() -> Any:
    value = Holder()
    value.__dict__["by_peer"] = {value: 1}
    return value


def sets_in_sets() -> Any:
    value: frozenset[Any] = frozenset()
    for _ in range(5_000):
        value = frozenset({value})
    return value


@pytest.mark.parametrize(
    "build",
    [
        type("Größe", (), {}),
        Secretive,
        Broken,
        lambda: BrokenDict(a=1),
        list_in_itself,
        member_of_its_own_set,
        key_of_its_own_dict,
        sets_in_sets,
    ],
    ids=["name", "attributes", "mapping", "dict", "cycle", "cycle by set", "cycle by key", "sets"],
)
def test_hostile_values_have_a_key_that_can_be_found_again(build: Callable[[], Any]) -> None:
    assert stable_key([build()]) == stable_key([build()])


def test_a_cycle_is_written_as_one() -> None:
    assert stable_text(list_in_itself()) == '[1,{"again":<cycle>}]'


def test_a_graph_with_more_paths_than_can_be_walked_has_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "_LONGEST_OUTLINE", 10_000)
    peers = [Holder() for _ in range(30)]
    for peer in peers:
        peer.__dict__["peers"] = list(peers)
    assert len(stable_text(peers[0])) < 1_000_000


def test_what_is_inside_twice_is_no_cycle() -> None:
    shared = {"a": {1}}
    assert stable_key([shared, shared]) == stable_key([{"a": {1}}, {"a": {1}}])
