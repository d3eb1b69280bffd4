"""A quote stands in the text, at exact offsets, or it does not: nothing in between."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from salvo.playbooks.report.evidence.normalization import Folded
from salvo.playbooks.report.evidence.quotes import MAX_LOCATIONS, MIN_LETTERS, Locator

TEXT = """\
Summary – “Draft 3”

The processor’s duties are “clear”;  they apply\u00a0to:
• sub-processors,
• affiliates.

1. Transfers need a DPIA.
2. Audits are **annual**…

This is illegal. The rest is legal."""


def stands(quote: str, text: str = TEXT) -> str | None:
    places = Locator(text).find(quote).places
    return text[slice(*places[0])] if places else None


@pytest.mark.parametrize(
    "quote, there",
    [
        ("Transfers need a DPIA.", "Transfers need a DPIA."),
        (
            'The processor\'s duties are "clear"; they apply to:',
            "The processor’s duties are “clear”;  they apply\u00a0to:",
        ),
        ("The processor's duties are 'clear'", "The processor’s duties are “clear”"),
        ("they apply to:\n- sub-processors,\n- affiliates.", "they apply\u00a0to:\n• sub-processors,\n• affiliates."),
        ("they apply to: - sub-processors, - affiliates.", "they apply\u00a0to:\n• sub-processors,\n• affiliates."),
        ("they apply to: sub-processors, affiliates.", "they apply\u00a0to:\n• sub-processors,\n• affiliates."),
        ("• sub-processors, affiliates.", "sub-processors,\n• affiliates."),
        ("affiliates. Transfers need a DPIA. Audits", "affiliates.\n\n1. Transfers need a DPIA.\n2. Audits"),
        ("1. Transfers need a DPIA. 2. Audits", "1. Transfers need a DPIA.\n2. Audits"),
        ("Audits are annual", "Audits are **annual"),
        ("Audits are **annual**...", "Audits are **annual**…"),
        ('"Transfers need a DPIA."', "Transfers need a DPIA."),
        ("“Transfers need a DPIA…”", "Transfers need a DPIA"),
        ("…need a DPIA. [...]", "need a DPIA."),
        ("  Transfers need\u200b a DPIA.\n", "Transfers need a DPIA."),
        ("Draft 3", "Draft 3"),
        ("Summary - 'Draft 3'", "Summary – “Draft 3”"),
        ("legal", "legal"),
    ],
)
def test_a_faithful_copy_is_found(quote: str, there: str) -> None:
    assert stands(quote) == there


@pytest.mark.parametrize(
    "quote",
    [
        "Transfers need a DPA.",
        "transfers need a dpia.",
        "Transfers a need DPIA.",
        "Transfers need DPIA.",
        "The processor’s duties … affiliates.",
        "Transfers need […] DPIA.",
        "2. Transfers need a DPIA. 3. Audits",
        "Audits are annualised",
        "This is legal.",
        "Transfersneed a DPIA.",
    ],
)
def test_a_quote_with_any_word_altered_left_out_or_swapped_is_not_found(quote: str) -> None:
    assert stands(quote) is None


@pytest.mark.parametrize(
    "quote", ["", " ", "\n", "“”", "…", "...", "3", "is", "a b", "- ", "\u200b\u200b\u200b", "1234"]
)
def test_what_stands_in_any_text_proves_nothing(quote: str) -> None:
    assert not Locator(f"{TEXT} {quote}").find(quote).total


def test_a_whole_word_is_found_before_a_part_of_another() -> None:
    [place] = Locator(TEXT).find("legal").places
    assert place.start == TEXT.index("legal.", TEXT.index("rest"))


def test_every_occurrence_is_found_whatever_its_line_breaks_and_quotation_marks() -> None:
    text = "The cap “applies”. Later:\n- The cap\n  'applies'. So the cap applies. The cap “applies”."
    found = Locator(text).find("The cap “applies”.")
    assert [text[slice(*place)] for place in found.places] == [
        "The cap “applies”.",
        "The cap\n  'applies'.",
        "The cap “applies”.",
    ]
    assert found.total == 3
    assert [place.start for place in found.places] == [0, text.index("The cap\n"), text.rindex("The cap")]


def test_occurrences_do_not_overlap() -> None:
    assert Locator("abab abab ababab").find("abab").total == 2
    assert [tuple(place) for place in Locator("xab ab ab").find("ab ab").places] == [(4, 9)]


def test_a_lone_surrogate_is_found_as_the_judge_was_shown_it() -> None:
    assert stands("an odd \\ud800 one", "It is an odd \ud800 one.") == "an odd \ud800 one"


def test_an_ellipsis_of_the_text_itself_may_be_quoted() -> None:
    assert stands("the fee ... is due", "So the fee… is due.") is None
    assert stands("the fee... is due", "So the fee… is due.") == "the fee… is due"


words = st.text("abcdefghäßж", min_size=2, max_size=6)
gaps = st.sampled_from([" ", "  ", "\n", "\n- ", "\n\n• ", " – ", " “", "” ", "\u00a0", ", ", ". ", "\u200b ", "…\n"])


@st.composite
def prose(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.tuples(words, gaps), min_size=4, max_size=25))
    return "".join(word + gap for word, gap in parts).strip()


@st.composite
def cuts(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> tuple[str, str]:
    text = draw(texts)
    start = draw(st.integers(0, len(text)))
    quote = text[start : draw(st.integers(start, len(text)))]
    assume(sum(map(str.isalpha, quote)) >= MIN_LETTERS)
    return text, quote


@given(cuts(prose() | st.text(min_size=3)))
def test_any_quote_cut_from_the_text_is_found_and_is_what_stands_there(cut: tuple[str, str]) -> None:
    text, quote = cut
    assert quote in [text[slice(*place)] for place in Locator(text).find(quote).places]


COPIES = (
    (" ", "\n"),
    (" ", "  "),
    ("\n", " "),
    ("\u00a0", " "),
    ("“", '"'),
    ("”", '"'),
    (" – ", " - "),
    ("…", "..."),
    ("\n- ", "\n• "),
    ("\n\n• ", " "),
    ("\u200b", ""),
)


@given(prose(), st.lists(st.sampled_from(COPIES), min_size=1, max_size=4), st.data())
def test_any_faithful_copy_of_whole_words_is_found_and_folds_to_what_stands_there(
    text: str, copies: list[tuple[str, str]], data: st.DataObject
) -> None:
    starts = [0, *(at + 1 for at, character in enumerate(text) if character == " ")]
    start = data.draw(st.sampled_from(starts))
    quote = text[start:]
    for old, new in copies:
        quote = quote.replace(old, new)
    assume(sum(map(str.isalpha, quote)) >= MIN_LETTERS)
    there = stands(quote, text)
    assert there is not None
    assert Folded(there).text.strip(" '…") == Folded(quote).text.strip(" '…")


@given(st.lists(words, min_size=5, max_size=15), st.data())
def test_any_altered_quote_is_not_found_unless_it_stands_elsewhere(of: list[str], data: st.DataObject) -> None:
    text = " ".join(of)
    at = data.draw(st.integers(1, len(of) - 2))
    altered = data.draw(
        st.sampled_from(
            [
                [*of[:at], "zzz", *of[at + 1 :]],
                [*of[:at], *of[at + 1 :]],
                [*of[: at - 1], of[at], of[at - 1], *of[at + 1 :]],
                [*of[:at], of[at] + "z", *of[at + 1 :]],
                [*of[:at], of[at].upper(), *of[at + 1 :]],
            ]
        )
    )
    quote = " ".join(altered)
    assert bool(Locator(text).find(quote).places) == (quote in text)


@pytest.mark.parametrize("repeats", [20_000, pytest.param(200_000, marks=pytest.mark.load)])
def test_one_text_is_folded_once_for_many_quotes_and_repeats_are_not_walked_again_and_again(repeats: int) -> None:
    locator = Locator("legal " * repeats + "illegal" * repeats)
    assert not locator.find("legal “x”").places
    assert not any(locator.find("illegal" * 1_000 + str(number)).places for number in range(50))
    assert locator.find("illegal" * 1_000).total == repeats // 1_000
    assert locator.find("legal").total == repeats
    assert len(locator.find("legal").places) == MAX_LOCATIONS
