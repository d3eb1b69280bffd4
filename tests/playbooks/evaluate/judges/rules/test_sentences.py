"""Text to sentences: where each starts and ends, of what kind it is, and what it stands under."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.playbooks.evaluate.judges.rules.blocks import Kind
from salvo.playbooks.evaluate.judges.rules.folding import fold
from salvo.playbooks.evaluate.judges.rules.sentences import read


def cut(text: str) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in read(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Under Art. 28 GDPR a contract is needed.",
        "See Sec. 5.2 and No. 3 of the annex.",
        "Some vendors, e.g. Acme Inc. and others, refuse.",
        "The law of the U.S. Congress applies.",
        "It costs 3.5 million, cf. the annex.",
        'The clause says "We comply. Always. Everywhere." in bold.',
        "Clause 4 (a. and b.) is new.",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_end_it(text: str) -> None:
    assert cut(text) == [text]


def test_sentences_end_at_stops_and_questions() -> None:
    assert cut("It is new. Is it good? Yes! See no. 4. Done.") == [
        "It is new.",
        "Is it good?",
        "Yes!",
        "See no. 4.",
        "Done.",
    ]


def test_the_parts_of_a_markdown_text_have_their_kinds() -> None:
    text = (
        "# Review\n\nFirst line\ngoes on here.\n\n**Open points**\n\n- one\n2) two\n   more\n\n> quoted\n\n"
        "| Clause | Status |\n|---|---|\n| 5 | Fine |\n\n```\ncode\n```\n\n3. Scope\nThe rest follows.\n"
    )
    assert [(sentence.kind, text[sentence.start : sentence.end]) for sentence in read(text)] == [
        (Kind.HEADING, "Review"),
        (Kind.PROSE, "First line\ngoes on here."),
        (Kind.HEADING, "**Open points**"),
        (Kind.ITEM, "one"),
        (Kind.ITEM, "two\n   more"),
        (Kind.QUOTATION, "quoted"),
        (Kind.HEADING, "Clause"),
        (Kind.HEADING, "Status"),
        (Kind.CELL, "5"),
        (Kind.CELL, "Fine"),
        (Kind.QUOTATION, "code"),
        (Kind.HEADING, "Scope"),
        (Kind.PROSE, "The rest follows."),
    ]


def test_each_paragraph_heading_and_cell_of_a_word_file_stands_alone_without_blank_lines() -> None:
    lines = [
        "Advice on the supply agreement",
        "We assume that the customer is established in France.",
        "Findings",
        "The liability cap is valid.",
        "The warranty clause may be void under French law; have counsel review it.",
        "Clause",
        "Opinion",
        "4",
        "The indexation is fully compliant with the law.",
    ]
    assert cut("\n".join(lines)) == lines


def test_a_wrapped_sentence_goes_on_in_the_next_line() -> None:
    text = "The cap of the agreement was agreed by\nNorthwind Analytics and it may be too low\nhere, so counsel should review it."
    assert cut(text) == [text]


def test_an_item_knows_its_heading_and_its_lead_in_and_a_cell_its_column() -> None:
    items = read("## Scope\n\nThe vendor says this:\n\n- It is new.\n")
    assert (items[-1].heading, items[-1].lead) == ("scope", "the vendor says this:")
    assert read("| Clause | Status |\n|---|---|\n| 5 | Fine |\n")[-1].heading == "status"


def test_what_is_quoted_is_masked_and_a_short_term_stays_readable() -> None:
    (sentence,) = read('“Annex II” is «safe», says "the vendor of the whole tool".')
    assert sentence.plain == "annex ii is safe, says qqq ."
    assert sentence.own == "qqq is qqq , says qqq ."


def test_an_apostrophe_opens_no_quotation() -> None:
    (sentence,) = read("The employees' rights and the parties' duties don't change.")
    assert sentence.own == "the employees' rights and the parties' duties do not change."


def test_folding_drops_emphasis_links_and_invisible_characters() -> None:
    assert (
        fold("It’s **fully** com\u200bpliant – see\u00a0[here](https://x.test/a).")
        == "it is fully compliant – see here."
    )


def test_windows_line_ends_are_line_ends() -> None:
    assert cut("One line\r\ngoes on.\r\n\r\nAnother one.") == ["One line\r\ngoes on.", "Another one."]


@given(st.text(alphabet=st.characters(codec=None), max_size=300))
def test_sentences_are_slices_of_the_text_in_order(text: str) -> None:
    end = 0
    for sentence in read(text):
        assert end <= sentence.start < sentence.end <= len(text)
        assert text[sentence.start : sentence.end].strip() == text[sentence.start : sentence.end]
        end = sentence.end


def test_a_sentence_without_end_is_cut() -> None:
    assert all(sentence.end - sentence.start <= 900 for sentence in read("word " * 1000 + "x" * 5000))
