"""Tables on a terminal."""

import click

from salvo.engine.text.terminal import Paint, table

HEADER = ("NAME", "RESULT")
ROWS = [("a", "passed"), ("a longer name", ""), ("", "x")]


def test_columns_are_aligned_without_trailing_spaces() -> None:
    assert table(HEADER, ROWS) == [
        "NAME           RESULT",
        "a              passed",
        "a longer name",
        "               x",
    ]


def test_the_header_is_bold_and_a_row_has_its_colour() -> None:
    lines = table(HEADER, ROWS, Paint(True), ["green", None, "red"])
    assert lines[0] == click.style("NAME           RESULT", bold=True)
    assert lines[1] == click.style("a              passed", fg="green")
    assert [click.unstyle(line) for line in lines] == table(HEADER, ROWS)


def test_a_table_may_have_no_rows() -> None:
    assert table(HEADER, []) == ["NAME  RESULT"]
