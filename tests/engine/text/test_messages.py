"""How what somebody wrote is named in a sentence."""

from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.text.messages import did_you_mean, nearest, printable, shown


def test_a_value_is_shown_as_json_and_cut_where_it_is_long() -> None:
    assert shown({"a": [1, "é"]}) == '{"a":[1,"é"]}'
    assert shown("x" * 300) == f'"{"x" * 199}… (302 characters)'
    assert shown("abcdef", 3) == '"ab… (8 characters)'


def test_the_word_that_was_likely_meant_is_named() -> None:
    assert did_you_mean("hihg", ["high", "medium"]) == '; did you mean "high"?'
    assert did_you_mean("other", ["high", "medium"]) == "."


def test_nobody_means_a_word_by_a_page_of_text() -> None:
    assert nearest("medium" * 100_000, ["medium" * 99_999]) == ""


def test_what_would_move_the_cursor_or_stay_unseen_is_spelled_out() -> None:
    assert printable("a\x1b[2J\x9b\u202e\u200b\ud800\u2028b") == r"a\x1b[2J\x9b\u202e\u200b\ud800\u2028b"
    assert printable("Größe\t5\u00a0€ 🙂\n") == "Größe\t5\u00a0€ 🙂\n"


@given(st.text())
def test_what_is_printable_can_be_written_and_stays_as_it_is(text: str) -> None:
    once = printable(text)
    once.encode()
    assert printable(once) == once
