"""Cells of CSV files that no spreadsheet takes for formulas, whatever separates cells where it runs. Pure.

Where decimals have a comma, spreadsheets open a CSV file as cells that are separated by semicolons; others expect tabs.
They then do not find the quotation marks in their places either: what follows a semicolon, a tab or a line break within
a text begins a cell of its own.
"""

from __future__ import annotations

import re

_FORMULA_START = re.compile(r"""(?:\A|[;\t\r\n])[ "]*(?=[=+\-@\uff1d\uff0b\uff0d\uff20])""")
"""The last four characters are full-width forms of those before."""


def safe_cell(text: str) -> str:
    """Return the text with an apostrophe before everything that could begin a formula: it may be foreign."""
    marked = _FORMULA_START.sub(r"\g<0>'", text.replace("\0", ""))
    return f"'{marked}" if marked.startswith(("\t", "\r", "\n")) else marked
