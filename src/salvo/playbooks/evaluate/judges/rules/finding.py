"""The result of a rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from salvo.records import record

if TYPE_CHECKING:
    from salvo.playbooks.evaluate.judges.rules.sentences import Sentence

Span = tuple[int, int]


@record
class RuleFinding:
    """The verdict on one check, the sentences that support it, and the rule that fired.

    `confidence` is a guess by the kind of rule: 0.9 if the text says it outright, 0.7 if the verdict follows from what
    is absent, 0.5 if the rules could not decide. It is replaced where the rate of agreement was measured.
    """

    result: str
    confidence: float
    spans: tuple[Span, ...]
    rule: str
    notes: str
    abstained: bool = False
    """Nothing was judged: the rules do not know the check, or do not cover the language."""


SAID = 0.9
ABSENT = 0.7

REMEMBERED = 20_000
"""Sentences whose reading is kept, because long texts repeat themselves."""


def undecided(rule: str, notes: str, *spans: Span) -> RuleFinding:
    return RuleFinding("indeterminate", 0.5, spans, rule, notes)


def decided(result: str, confidence: float, sentences: Sequence[Sentence], rule: str, reading: str) -> RuleFinding:
    """Return a verdict with the sentences it is about. `reading` continues "The rules read the quoted passage as"."""
    count = len(sentences)
    passages = "quoted passage" if count == 1 else f"{count:,} quoted passages"
    spans = tuple(sentence.span for sentence in sentences)
    return RuleFinding(result, confidence, spans, rule, f"The rules read the {passages} as {reading}")


def abstention(rule: str, notes: str) -> RuleFinding:
    """Return the finding for a check or a language that the rules do not cover: nothing was judged."""
    return RuleFinding("indeterminate", 0.0, (), rule, notes, abstained=True)
