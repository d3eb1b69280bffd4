"""Styles and tables on a terminal."""

import click

from salvo.engine.text.terminal import Paint, render, table

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
    lines = [render(line) for line in table(HEADER, ROWS, Paint(True), ["green", None, "red"])]
    assert lines[0] == click.style("NAME           RESULT", bold=True)
    assert lines[1] == click.style("a              passed", fg="green")
    assert [click.unstyle(line) for line in lines] == table(HEADER, ROWS)


def test_a_table_may_have_no_rows() -> None:
    assert table(HEADER, []) == ["NAME  RESULT"]


def test_only_our_own_styles_take_effect() -> None:
    foreign = click.style("foreign", fg="red")
    assert render(f"{Paint(True)('ours', 'red')} {foreign}\t\n") == "\x1b[31mours\x1b[0m \\x1b[31mforeign\\x1b[0m\t\n"
    assert render(Paint(True)(foreign, "green")) == "\x1b[32m\\x1b[31mforeign\\x1b[0m\x1b[0m"
