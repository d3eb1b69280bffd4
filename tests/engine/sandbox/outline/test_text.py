"""The outline of a text file: paragraphs, and the headings of Markdown."""

import pytest

from salvo.engine.sandbox.outline.text import heading_words, text_outline


def parts(text: str, *, markdown: bool) -> list[str]:
    """Each part as its kind, its level if it is a heading, and its words."""
    return [
        f"{item.kind[0]}{item.level or ''} {text[item.start : item.end]}"
        for item in text_outline(text, markdown=markdown)
    ]


def test_the_paragraphs_of_a_plain_text_are_separated_by_empty_lines() -> None:
    text = "# No heading here\nsecond line\n\n  \nNext\n- item\n\n\n"
    assert parts(text, markdown=False) == ["p # No heading here\nsecond line", "p Next\n- item"]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("# One\nText\n### Three ###\nMore", ["h1 # One", "p Text", "h3 ### Three ###", "p More"]),
        ("Title\n=====\nA\nB\n---\nText", ["h1 Title", "h2 A\nB", "p Text"]),
        ("Text\n\n---\n\nMore", ["p Text", "p More"]),
        ("- a\n- b\n  goes on\n---\n1. c", ["p - a", "p - b\n  goes on", "p 1. c"]),
        ("```sh\n# a comment\n\nmore\n```\n\n# Real", ["p ```sh\n# a comment\n\nmore\n```", "h1 # Real"]),
        ("#hashtag\n\n    # code", ["p #hashtag", "p     # code"]),
        ("---\ntitle: x\n---\n# A\nText", ["h1 # A", "p Text"]),
        ("", []),
    ],
)
def test_markdown_has_headings_paragraphs_and_list_items(text: str, expected: list[str]) -> None:
    assert parts(text, markdown=True) == expected


@pytest.mark.parametrize(
    "text, level, words",
    [
        ("## 2  Liability ##", 2, "2 Liability"),
        ("Liability\nand fees", 1, "Liability and fees"),
        ("# 3", 2, "# 3"),
        ("C#", 1, "C#"),
        ("### **(b) Financial Terms**", 3, "(b) Financial Terms"),
        ("## 2 __Term__ of **[*****]** years", 2, "2 Term of **[*****]** years"),
        ("**No heading of Markdown**", 1, "**No heading of Markdown**"),
    ],
)
def test_the_words_of_a_heading_have_no_marks(text: str, level: int, words: str) -> None:
    assert heading_words(text, level) == words
