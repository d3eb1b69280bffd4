"""No spreadsheet takes a cell for a formula, whether it separates cells by commas, semicolons or tabs."""

import csv
import io
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.text.csv_cells import safe_cell

FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
hostile_text = st.text(st.sampled_from("=+-@\uff1d;,\t\r\n \"'ab\0"), max_size=12)


def rows_in_a_spreadsheet(content: str, separator: str) -> Sequence[Sequence[str]]:
    return list(csv.reader(io.StringIO(content, newline=""), delimiter=separator))


@given(st.lists(st.lists(hostile_text, min_size=3, max_size=3), min_size=1, max_size=3), st.sampled_from(",;\t"))
@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
def test_no_cell_is_a_formula_whatever_separates_cells(quoting: Any, texts: list[list[str]], separator: str) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, quoting=quoting).writerows([map(safe_cell, row) for row in texts])
    for row in rows_in_a_spreadsheet(buffer.getvalue(), separator):
        for cell in row:
            assert not cell.lstrip(" ").startswith(FORMULA), buffer.getvalue()


@given(hostile_text)
def test_only_apostrophes_are_added(text: str) -> None:
    assert safe_cell(text).replace("'", "") == text.replace("'", "").replace("\0", "")


@pytest.mark.parametrize("text", ["", "Lease 7; from May", "a-b = c", "'quoted'", "first\nsecond", "1 + 1"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert safe_cell(text) == text


def test_a_list_in_a_transcript_gets_apostrophes_too() -> None:
    assert safe_cell("[output]\n- one\n=cmd|' /C calc'!A0") == "[output]\n'- one\n'=cmd|' /C calc'!A0"
