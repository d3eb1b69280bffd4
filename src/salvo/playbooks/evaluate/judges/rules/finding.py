"""What a rule comes to."""

from __future__ import annotations

from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """The verdict on one check, the sentences it rests on, and the rule that fired.

    `confidence` says how clearly the evidence supports the verdict, and nothing about the law. It is a property of
    the rule, in three steps: 0.9 where words of the text say it outright, 0.7 where the verdict follows from what is
    absent, 0.5 where the rules could not decide.
    """

    result: str
    confidence: float
    spans: tuple[Span, ...]
    rule: str
    notes: str


SAID = 0.9
ABSENT = 0.7
UNDECIDED = 0.5
