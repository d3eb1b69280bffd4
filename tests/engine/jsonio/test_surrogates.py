"""Texts that UTF-8 cannot hold are written so that no two of them are alike, and come back as they were."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from salvo.engine.jsonio import surrogates

# Mostly what the escaping is about: backslashes, hexadecimal digits, surrogates.
texts = st.text(st.sampled_from("\\ud8009afFé \ud800\udbff\udc00\udfff"), max_size=30) | st.text(
    st.characters(), max_size=20
)
pieces = st.lists(
    st.sampled_from(["\\", "\\\\", "\\ud800", "ud800", "ud7ff", "\\uD800", "\ud800", "\udfff", "u", "d8", "00", "😀"]),
    max_size=12,
).map("".join)


@given(texts | pieces)
@example("\\\ud800")
@example("\\\\ud800")
@example("\\ud8\ud800")
def test_every_text_can_be_encoded_and_comes_back(text: str) -> None:
    escaped = surrogates.escape(text)
    assert re.search("[\ud800-\udfff]", escaped) is None
    assert surrogates.unescape(escaped) == text


@given(pieces, pieces)
def test_different_texts_are_written_differently(one: str, other: str) -> None:
    assert (surrogates.escape(one) == surrogates.escape(other)) == (one == other)


@given(st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: "\\ud" not in text))
def test_ordinary_texts_are_written_as_they_are(text: str) -> None:
    assert surrogates.escape(text) == text


@given(pieces)
def test_names_and_values_at_any_depth_come_back(text: str) -> None:
    value = {text: [text, {"a": text}, 1, None]}
    assert surrogates.unescape_in(surrogates.escape_in(value)) == value


def test_how_the_documentation_says_it() -> None:
    assert [surrogates.escape(text) for text in ("\ud800", "\\ud800", "\\\ud800", "\\\\ud800", "\\uD800")] == [
        "\\ud800",
        "\\\\ud800",
        "\\\\\\ud800",
        "\\\\\\\\ud800",
        "\\uD800",
    ]


def test_long_runs_of_backslashes_do_not_hang() -> None:
    for end in ("", "ud800", "\ud800", "ud8"):
        text = "\\" * 300_000 + end
        assert surrogates.unescape(surrogates.escape(text)) == text
        alternating = ("\\" * 50 + end) * 5_000
        assert surrogates.unescape(surrogates.escape(alternating)) == alternating


def test_halves_that_belong_together_are_one_character() -> None:
    assert surrogates.join_pairs("a\ud83d\ude00b \ude00\ud83d") == "a😀b \ude00\ud83d"
