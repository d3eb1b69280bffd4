"""What cannot be seen is spelled out."""

import sys
import unicodedata

from salvo.engine.text.unicode_escape import ODD, spelled


def test_every_character_that_steers_or_hides_is_odd() -> None:
    hidden = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    missed = [
        f"U+{code:04X}"
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in hidden and chr(code) not in "\n\t" and not ODD.match(chr(code))
    ]
    assert missed == []


def test_what_can_be_read_is_left_alone() -> None:
    text = "Plain, “typographic”, 中文, עברית, é, 🙂\n\tindented"
    assert spelled(text) == text


def test_the_spelling_is_unicodes_own() -> None:
    assert spelled("a\u202eb\ud800\x00") == "a⟦U+202E⟧b⟦U+D800⟧⟦U+0000⟧"
