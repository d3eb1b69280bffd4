"""A text is folded as a reader sees it, and everything in the folded text knows where it came from."""

# ruff: noqa: RUF001 - the look-alikes are the subject

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.playbooks.evaluate.folded_text import FoldedText
from tests.support.look_alikes_table import FILE, look_alikes_table

SPECIAL = "ab I1. \n\u200b\u00ad\ufeff\u202eаеіІѕпвжοαℌﬁ𝐦æé一ا"


@pytest.mark.parametrize(
    "text, folded",
    [
        ("al\u200bways and ne\u00adver", "always and never"),
        ("аlwауs", "always"),
        ("Іt ѕhаll", "It shall"),
        ("Ϝully ϲompliant", "Fully compliant"),
        ("𝐚𝐥𝐰𝐚𝐲𝐬 ｎｅｖｅｒ ﬁnal", "always never final"),
        ("аѕ а ruӏе", "as a ruie"),
        ("a\u200bl\u200bwаys", "always"),
    ],
)
def test_zero_width_characters_go_and_look_alikes_become_latin(text: str, folded: str) -> None:
    assert FoldedText(text).text == folded


@pytest.mark.parametrize(
    "text",
    [
        "По договору сор не вывозят.",
        "Under the law (“по закону”) the fee is due.",
        "Σύμφωνα με το νόμο",
        "Große Änderungen, façade, naïve, ło, ø, ţară și țară",
        "العقد APIالعقد",
        "10² and nº 5",
        "契約一",
    ],
)
def test_words_of_other_languages_stay_as_they_are(text: str) -> None:
    folded = FoldedText(text)
    assert folded.text == text
    assert not folded.mixed_words


def test_only_words_that_mix_scripts_are_reported() -> None:
    text = "The fee is аlways due (по закону); see ﬁle α and pаrt 𝐗."
    assert [text[start:end] for start, end in FoldedText(text).mixed_words] == ["аlways", "pаrt"]


def test_a_part_is_folded_like_the_whole() -> None:
    russian = FoldedText("По закону сор вывозят.")
    assert FoldedText("сор").text == "cop"
    assert FoldedText("сор", like=russian).text == "сор"


@given(st.text(SPECIAL, max_size=40) | st.text(max_size=40))
def test_every_folded_character_knows_where_it_came_from(text: str) -> None:
    folded = FoldedText(text)
    before = 0
    for index, character in enumerate(folded.text):
        start, end = folded.origin(index, index + 1)
        assert 0 <= start < end <= len(text)
        assert start >= before or folded.origin(index - 1, index) == (start, end), "in order, or of one letter"
        before = end
        if text[start].isascii():
            assert text[start:end] == character


@pytest.mark.parametrize("size", [100_000, pytest.param(1_000_000, marks=pytest.mark.load)])
@pytest.mark.parametrize("unit", ["\u200b", "а", "aа", "a\u200b", "сор ", "aа ", "ﬁ", "жa"])
def test_a_long_text_of_look_alikes_takes_one_walk(unit: str, size: int) -> None:
    text = unit * (size // len(unit))  # quadratic would take minutes
    folded = FoldedText(text)
    assert not folded.text or folded.origin(0, len(folded.text)).end <= len(text)


def test_the_table_is_unicodes_own() -> None:
    assert FILE.read_text(encoding="utf-8") == look_alikes_table(), "run `make look-alikes`"
