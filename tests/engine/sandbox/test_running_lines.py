"""What is taken for a running header, a footer or a page number, and what is not."""

import pytest

from salvo.engine.sandbox.running_lines import split_running_lines


def body(number: int) -> str:
    return f"Clause {number} of the agreement.\nThe parties agree on matter {number * 7}."


@pytest.mark.parametrize(
    "header, footer",
    [
        ("ACME Ltd – confidential", "- {page} -"),
        ("Review of the DPA   {page}", "acme.example"),
        ("{page} | Review of the DPA", ""),
        ("Draft of 16.11.2026", "Seite {page} von 5"),
        ("Privileged", "{page}/5"),
        ("AB\n\nCD 12\n{page}", "Prepared by ACME\nDo not distribute\n[{page}]"),
    ],
)
def test_what_most_pages_have_at_their_ends_is_not_text(header: str, footer: str) -> None:
    def page(number: int) -> str:
        return f"{header}\n{body(number)}\n{footer}\n".replace("{page}", str(number + 8)).replace("of 5", "of 13")

    kept, lines = split_running_lines([page(number) for number in range(1, 6)])
    assert [text.strip() for text in kept] == [body(number) for number in range(1, 6)]
    assert {line.pages for line in lines} == {5}
    # A title page without them changes nothing.
    kept, _ = split_running_lines(["Memorandum", *(page(number) for number in range(2, 6))])
    assert [text.strip() for text in kept] == ["Memorandum", *(body(number) for number in range(2, 6))]


@pytest.mark.parametrize(
    "top",
    [
        "Section {page}",
        "{page}. Liability",
        "{page}.",
        "({page})",
        "Annex {page}",
        "Article {page} of the agreement",
        "In {page} of 10 cases",
        "Question {page} of 10",
        "Fee: {page}",
    ],
)
def test_a_heading_with_its_own_number_is_text(top: str) -> None:
    pages = [f"{top}\n{body(number)}".replace("{page}", str(number)) for number in (1, 2, 3, 4)]
    assert split_running_lines(pages) == (pages, [])


@pytest.mark.parametrize(
    "pages",
    [
        ["one\nHeader\ntwo", "three\nHeader\nfour", "five\nHeader\nsix"],  # not at an end
        ["Header\none", "Header\ntwo", "three", "four", "five"],  # not on most pages
        ["one\n1", "two\n1", "three\n1"],  # the number does not count
        ["one\n3", "two\n4"],  # two cells of a table may follow each other
        ["the same", "the same", "the same"],  # nothing else would be left
        ["a1\nb2\nc3\nd4\ne5\nf6\ng7\nh8\ni9\nj10\nk11"] * 3,  # the pages are the same
        ["•\none", "•\ntwo", "•\nthree"],
        ["one page"],
        [],
    ],
)
def test_everything_else_is_text(pages: list[str]) -> None:
    assert split_running_lines(pages) == (pages, [])


def test_small_roman_page_numbers_are_not_text() -> None:
    pages = [f"{body(number)}\n{roman}" for number, roman in enumerate(("iv", "v", "vi"), start=4)]
    assert split_running_lines(pages)[0] == [body(number) for number in (4, 5, 6)]
    pages = [f"{roman}\n{body(number)}" for number, roman in enumerate(("I", "II", "III"), start=1)]
    assert split_running_lines(pages) == (pages, [])


def test_pages_with_one_and_the_same_line_keep_it_without_their_ends() -> None:
    pages = [f"ACME Ltd\nThe clause is valid.\nPage {number}" for number in (1, 2, 3)]
    assert split_running_lines(pages)[0] == ["The clause is valid."] * 3
