"""The patterns of a playbook on the text under evaluation: where they occur. Neither can hang the program."""

from __future__ import annotations

import re
from dataclasses import dataclass

from salvo.engine.runtime.safe_regex import occurrences
from salvo.engine.text.messages import shown
from salvo.playbooks.evaluate.inputs import Span
from salvo.playbooks.playbook.schema import Check

MOST = 100
"""Hits of one pattern that are kept: a judge is shown them, and the report holds them."""


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a pattern occurs."""

    pattern: str
    span: Span


@dataclass(frozen=True, slots=True)
class Unscanned:
    """A pattern of which it is not known whether it occurs, and why, as a sentence."""

    pattern: str
    reason: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What a check's patterns hit. No hit means that nothing occurs only where nothing is `unscanned`."""

    hits: tuple[Hit, ...] = ()
    """In the order of the text."""
    unscanned: tuple[Unscanned, ...] = ()
    cut: tuple[str, ...] = ()
    """The patterns that occur more often than the hits that were kept."""

    @property
    def complete(self) -> bool:
        return not self.unscanned

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the hits must know, a sentence each."""
        reasons = (f"{unscanned.reason} Whether it occurs is not known." for unscanned in self.unscanned)
        more = (
            f"The pattern {shown(pattern)} occurs more than {MOST} times; the first {MOST} are kept."
            for pattern in self.cut
        )
        return (*reasons, *more)


def scan(check: Check, text: str) -> Scan:
    """Return where the patterns of a check occur in the text. May block, for `safe_regex.SECONDS` at most."""
    if not check.patterns:
        return Scan()
    patterns = dict.fromkeys(check.patterns)
    found = dict(
        zip(patterns, occurrences(list(map(_regex, patterns)), text, most=MOST, flags=re.IGNORECASE), strict=True)
    )
    hits = [Hit(pattern, Span(*span)) for pattern, result in found.items() for span in result.spans]
    return Scan(
        hits=tuple(sorted(hits, key=lambda hit: hit.span)),
        unscanned=tuple(Unscanned(pattern, result.problem) for pattern, result in found.items() if result.problem),
        cut=tuple(pattern for pattern, result in found.items() if result.more),
    )


def _regex(pattern: str) -> str:
    """A hint of words only is meant as these words: not inside others, and wherever a line breaks between them."""
    words = pattern.split()
    if not all(word.isalnum() for word in words):
        return pattern
    return rf"\b{_GAP.join(map(re.escape, words))}\b"


_GAP = r"\s{1,40}"
"""Bounded, so that the time of a match is: see `salvo.engine.runtime.safe_regex.steps`."""
