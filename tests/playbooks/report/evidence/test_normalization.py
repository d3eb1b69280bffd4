"""Folding: what goes, what stays, and that every folded character knows where it came from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.playbooks.report.evidence.normalization import Folded

SPECIAL = "ab1. \n\t\u00a0\u200b\u00ad-*•–“”’\"'….#>()\ud800"
texts = st.text(SPECIAL, max_size=40) | st.text(max_size=40)


@pytest.mark.parametrize(
    "text, folded",
    [
        ("one  two\tthree\u00a0four\r\n five\u2009six", "one two three four five six"),
        ("Items:\n• one\n  - two\n\n* three\n– four", "Items: one two three four"),
        ("# Scope\n> quoted\n+ added", "Scope quoted added"),
        ("well-known–or—not", "well-known-or-not"),
        ("“It’s «fine»”", "'It's 'fine''"),
        ("wait… what... ever", "wait… what… ever"),
        ("le\u200bgal\u00adly \u2060safe\ufeff", "legally safe"),
        ("**Bold** and x**y** but 2 ** 3 and ***", "Bold and xy but 2 ** 3 and ***"),
        ("*one* _two_ 3*4", "*one* _two_ 3*4"),
        ("Items: • one - two", "Items: one two"),
        ("a > b + c # d", "a > b + c # d"),
        ("it ends in\n2025. The rest", "it ends in 2025. The rest"),
        ("a \ud800 b", "a \\ud800 b"),
        ("PASS pass", "PASS pass"),
    ],
)
def test_what_differs_between_a_passage_and_a_faithful_copy_is_folded_and_words_are_not(text: str, folded: str) -> None:
    assert Folded(text).text == folded


@pytest.mark.parametrize(
    "text, folded",
    [
        ("Steps:\n1. Read;\n(b) Sign.\n\niv) File", "Steps: Read; Sign. File"),
        ("1. First\n2. Second", "First 2. Second"),
        ("it ends in\n2025. The rest", "it ends in 2025. The rest"),
        ("it ends in\n20. The rest", "it ends in 20. The rest"),
        ("Section 2. The rest", "Section 2. The rest"),
        ("done.\n- 3) - rest", "done. rest"),
    ],
)
def test_numbers_are_marks_only_where_a_list_can_be_told_from_a_sentence(text: str, folded: str) -> None:
    assert Folded(text, numbers=True).text == folded


@given(text=texts, numbers=st.booleans())
def test_every_folded_character_knows_where_it_came_from(text: str, numbers: bool) -> None:
    folded = Folded(text, numbers=numbers)
    before = 0
    for index, character in enumerate(folded.text):
        start, end = folded.origin(index, index + 1)
        assert 0 <= start < end <= len(text)
        assert start >= before or folded.origin(index - 1, index) == (start, end), "in order, or of one token"
        before = end
        if character.isalnum() and text[start].isascii():
            assert text[start:end] == character


@given(text=st.text(SPECIAL.replace("\ud800", ""), max_size=40))
def test_no_letter_or_digit_is_lost_or_moved(text: str) -> None:
    def words(of: str) -> str:
        return "".join(character for character in of if character.isalnum())

    assert words(Folded(text).text) == words(text)


@pytest.mark.parametrize("size", [30_000, pytest.param(300_000, marks=pytest.mark.load)])
@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize(
    "unit", [" ", "\n", "\n- ", "- ", "\n1. ", ".\n \n x", " \u200b", "\u200b\n", "*", ".", "# ", "\n> "]
)
def test_repeats_of_anything_that_is_folded_take_one_walk(unit: str, numbers: bool, size: int) -> None:
    text = unit * (size // len(unit))  # quadratic would take minutes
    assert len(Folded(text, numbers=numbers).text) <= len(text)
