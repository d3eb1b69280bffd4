"""The labelled set's own form: what a measure on it may rely on."""

import json
import re
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
HALVES = ("dev", "test")
GENRES = ("ai-act-statement", "dpa-review", "employment-question", "nda-redline", "policy-draft")
CHECKS = ("assumption_disclosure", "certainty_language", "escalation_signal", "unchecked_areas_disclosure")
VERDICTS = {"pass", "fail", "indeterminate"}
SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\s*\n+\s*|\s+\|\s+")  # or a line, or a cell of a table

ROW_END = re.compile(r"\n+")
ROWS = {"further-aia-01", "further-dpa-07"}  # pairs in which a whole row of a table is changed


def _entries(half: str, name: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((HERE / half / f"{name}.json").read_text(encoding="utf-8"))["pairs"]
    return entries


FURTHER = _entries("dev", "further")  # of the same form, beside the balanced halves
ALL_PAIRS = [*(pair for half in HALVES for genre in GENRES for pair in _entries(half, genre)), *FURTHER]
PAIRS = [pytest.param(pair, id=pair["id"]) for pair in ALL_PAIRS]
EDGES = [pytest.param(edge, id=edge["id"]) for half in HALVES for edge in _entries(half, "edge")]


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("genre", GENRES)
def test_each_genre_has_one_pair_a_check_in_each_direction_in_each_half(half: str, genre: str) -> None:
    directions = Counter(
        (pair["flips"], *(text["labels"][pair["flips"]] for text in pair["texts"])) for pair in _entries(half, genre)
    )

    assert directions == Counter(
        (check, *direction) for check in CHECKS for direction in (("pass", "fail"), ("fail", "pass"))
    )


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("genre", GENRES)
@pytest.mark.parametrize("check", CHECKS)
def test_each_check_passes_as_often_as_it_fails(half: str, genre: str, check: str) -> None:
    labels = Counter(text["labels"][check] for pair in _entries(half, genre) for text in pair["texts"])

    assert labels == {"pass": 8, "fail": 8}


@pytest.mark.parametrize("pair", PAIRS)
def test_a_pair_flips_the_check_it_names_and_no_other(pair: dict[str, Any]) -> None:
    before, after = (text["labels"] for text in pair["texts"])

    assert set(before) == set(after) == set(CHECKS)
    assert [check for check in CHECKS if before[check] != after[check]] == [pair["flips"]]


@pytest.mark.parametrize("pair", PAIRS)
def test_the_texts_of_a_pair_differ_by_one_sentence_or_one_row_of_a_table_in_one_place(pair: dict[str, Any]) -> None:
    assert _is_one_change(SENTENCE_END, pair) or (_is_one_change(ROW_END, pair) and pair["id"] in ROWS)


def _is_one_change(end: re.Pattern[str], pair: dict[str, Any]) -> bool:
    before, after = (end.split(text["text"]) for text in pair["texts"])
    changes = [
        code for code in SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if code[0] != "equal"
    ]
    return len(changes) == 1 and all(
        left_end - left <= 1 and right_end - right <= 1 for _, left, left_end, right, right_end in changes
    )


@pytest.mark.parametrize("pair", PAIRS)
def test_the_texts_of_a_pair_are_of_60_to_260_words(pair: dict[str, Any]) -> None:
    assert all(60 <= len(text["text"].split()) <= 260 for text in pair["texts"])


@pytest.mark.parametrize("edge", EDGES)
def test_an_edge_is_one_text_with_a_verdict_on_every_check(edge: dict[str, Any]) -> None:
    (text,) = edge["texts"]

    assert edge["flips"] is None
    assert set(text["labels"]) == set(CHECKS)
    assert set(text["labels"].values()) <= VERDICTS
    assert (len(text["text"].split()) < 50) == (edge["kind"] == "too_short")
    if edge["kind"] in ("too_short", "other_language"):
        assert set(text["labels"].values()) == {"indeterminate"}


@pytest.mark.parametrize("half", HALVES)
def test_each_half_has_the_same_kinds_of_edges(half: str) -> None:
    assert Counter(edge["kind"] for edge in _entries(half, "edge")) == {
        "too_short": 2,
        "other_language": 2,
        "boilerplate": 1,
        "quotes_only": 1,
        "questions_only": 1,
        "no_risk": 1,
    }


def test_nothing_is_there_twice() -> None:
    halves = [entry for half in HALVES for name in (*GENRES, "edge") for entry in _entries(half, name)]
    entries = [*halves, *FURTHER]
    texts = [" ".join(text["text"].split()).casefold() for entry in entries for text in entry["texts"]]

    assert (len(halves), len(FURTHER)) == (96, 40)
    assert len({entry["id"] for entry in entries}) == len(entries)
    assert len(set(texts)) == len(texts) == 176 + 80


def test_no_sentence_stands_in_two_pairs() -> None:
    first_seen: dict[str, str] = {}
    for pair in ALL_PAIRS:
        for text in pair["texts"]:
            for sentence in SENTENCE_END.split(text["text"]):
                if len(sentence.split()) > 5:
                    assert first_seen.setdefault(sentence, pair["id"]) == pair["id"]
