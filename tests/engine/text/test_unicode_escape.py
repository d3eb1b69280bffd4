"""Invisible characters are made visible."""

import json
import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.text.unicode_escape import INVISIBLE, printable, printable_json, visible


def test_every_character_that_steers_or_hides_is_invisible() -> None:
    hidden = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    missed = [
        f"U+{code:04X}"
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in hidden and chr(code) not in "\n\t" and not re.match(INVISIBLE, chr(code))
    ]
    assert missed == []


def test_what_can_be_read_is_left_alone() -> None:
    text = "Plain, “typographic”, 中文, עברית, é, 🙂\n\tindented"
    assert visible(text) == printable(text, multiline=True) == text


def test_documents_show_the_code_point() -> None:
    assert visible("a\u202eb\ud800\x00") == "a⟦U+202E⟧b⟦U+D800⟧⟦U+0000⟧"


@pytest.mark.parametrize(
    "text, shown",
    [
        ("grün ✓ 漢字", "grün ✓ 漢字"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\r", "a\\nb\\r"),
        ("\x9b2J", "\\x9b2J"),
        ("\u202eabc", "\\u202eabc"),
        ("half \ud83d", "half \\ud83d"),
    ],
)
def test_text_cannot_steer_a_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_lines_and_tabs_may_stay() -> None:
    assert printable("a\x1b[2J\t\u2028b\n", multiline=True) == "a\\x1b[2J\t\\u2028b\n"


@given(st.text())
def test_what_is_printable_can_be_written_and_stays_as_it_is(text: str) -> None:
    once = printable(text)
    once.encode()
    assert printable(once) == once


@given(st.text(st.characters()))
def test_printable_json_has_the_same_value(text: str) -> None:
    document = printable_json(json.dumps({text: [text]}, indent=2, ensure_ascii=False))
    document.encode()
    assert printable(document, multiline=True) == document
    assert json.loads(document) == {text: [text]}


def test_json_escapes_a_character_outside_the_basic_plane_as_two() -> None:
    assert printable_json('"\x7f\x9b\u202e\U000e0041é🙂"') == r'"\u007f\u009b\u202e\udb40\udc41é🙂"'
