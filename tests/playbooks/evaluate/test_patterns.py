"""What a check's patterns hit, and what is said of those that could not be scanned."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.engine.runtime import safe_regex as engine
from salvo.playbooks.enums import Severity
from salvo.playbooks.evaluate.inputs import Span
from salvo.playbooks.evaluate.patterns import MAX_HITS, Hit, Scan, scan
from salvo.playbooks.playbook.definition import Check


def check(*patterns: str) -> Check:
    return Check("a", Severity.HIGH, "?", "hybrid", instructions="!", patterns=patterns)


def hits(text: str, *patterns: str) -> list[str]:
    found = scan(check(*patterns), text)
    assert found.complete
    assert found.notes == ()
    return [text[hit.span.start : hit.span.end] for hit in found.hits]


def test_every_occurrence_is_a_hit_at_its_place_in_the_order_of_the_text() -> None:
    assert scan(check("never", "legal"), "Legal? Never. Not legal.") == Scan(
        (Hit("legal", Span(0, 5)), Hit("never", Span(7, 12)), Hit("legal", Span(18, 23)))
    )


def test_a_check_without_patterns_hits_nothing() -> None:
    assert scan(check(), "legal") == Scan()


def test_words_are_found_as_whole_words_in_any_case_and_over_line_breaks() -> None:
    assert hits("LEGAL, illegal, legally, legal_", "legal") == ["LEGAL"]
    assert hits("It is legally\n  safe here", "legally safe") == ["legally\n  safe"]
    assert hits("Größe: 5 EUR", "größe", "5") == ["Größe", "5"]


def test_anything_else_is_a_regular_expression() -> None:
    assert hits("noncompliant and Compliant.", "(?:non)?compliant") == ["noncompliant", "Compliant"]
    assert hits("illegal", "legal.?") == ["legal"]


def test_the_same_pattern_twice_hits_once() -> None:
    assert hits("legal", "legal", "legal") == ["legal"]


def test_so_many_hits_of_a_pattern_are_kept_and_the_rest_is_mentioned() -> None:
    found = scan(check("legal", "never"), "legal " * (MAX_HITS + 1) + "never")
    assert len(found.hits) == MAX_HITS + 1
    assert found.complete
    assert found.notes == snapshot(('The pattern "legal" occurs more than 5,000 times; the first 5,000 are kept.',))


def test_a_pattern_that_ran_out_of_time_is_named_and_is_not_no_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "TIMEOUT", 0.5)
    found = scan(check("(a+)+$", "legal"), "legal " + "a" * 60 + "!")
    assert [hit.pattern for hit in found.hits] == ["legal"]
    assert not found.complete
    assert list(found.unscanned) == ["(a+)+$"]
    assert found.notes == snapshot(
        (
            'The regular expression "(a+)+$" did not finish on a text of 67 characters after 0.5 seconds. Whether it occurs is not known.',
        )
    )


def test_five_megabytes_in_one_line_are_scanned() -> None:
    text = "x" * 5_000_000 + " legal"
    assert hits(text, "legal", "legally safe") == ["legal"]


words = st.text("ab ", max_size=3)


@given(words, words)
def test_a_hit_is_where_the_word_stands_alone(before: str, after: str) -> None:
    text = f"{before}legal{after}"
    alone = not before[-1:].strip() and not after[:1].strip()
    assert [hit.span for hit in scan(check("legal"), text).hits] == [Span(len(before), len(before) + 5)] * alone
