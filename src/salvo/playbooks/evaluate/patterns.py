"""Where the patterns of a playbook occur in a text. Neither a pattern nor a text can hang the program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from salvo.engine.runtime.safe_regex import occurrences
from salvo.engine.text.messages import excerpt
from salvo.playbooks.evaluate.inputs import Span
from salvo.playbooks.playbook.definition import Check

MAX_HITS = 100
"""Hits of one pattern that are kept for the judge and the report."""


class Hit(NamedTuple):
    """Where a pattern occurs."""

    pattern: str
    span: Span


@dataclass(frozen=True, slots=True)
class Scan:
    """The hits of a check's patterns. If some are `unscanned`, having no hit does not mean that none occurs."""

    hits: tuple[Hit, ...] = ()
    """In the order of the text."""
    unscanned: Mapping[str, str] = field(default_factory=dict)
    """The patterns that could not be searched to the end, each with a sentence that says why."""
    truncated: tuple[str, ...] = ()
    """The patterns with more hits than were kept."""

    @property
    def complete(self) -> bool:
        return not self.unscanned

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader of the hits must know, as sentences."""
        reasons = (f"{reason} Whether it occurs is not known." for reason in self.unscanned.values())
        more = (
            f"The pattern {excerpt(pattern)} occurs more than {MAX_HITS} times; the first {MAX_HITS} are kept."
            for pattern in self.truncated
        )
        return (*reasons, *more)


def scan(check: Check, text: str) -> Scan:
    """Return where the patterns of a check occur in the text. May block, for `safe_regex.TIMEOUT` at most."""
    if not check.patterns:
        return Scan()
    patterns = dict.fromkeys(check.patterns)
    results = occurrences(list(map(_regex, patterns)), text, most=MAX_HITS, flags=re.IGNORECASE)
    by_pattern = dict(zip(patterns, results, strict=True))
    hits = [Hit(pattern, Span(*span)) for pattern, result in by_pattern.items() for span in result.spans]
    return Scan(
        hits=tuple(sorted(hits, key=lambda hit: hit.span)),
        unscanned={pattern: result.problem for pattern, result in by_pattern.items() if result.problem},
        truncated=tuple(pattern for pattern, result in by_pattern.items() if result.more),
    )


def _regex(pattern: str) -> str:
    """Return the regular expression; a hint of words only matches whole words, with any white space between them."""
    words = pattern.split()
    if not all(word.isalnum() for word in words):
        return pattern
    return rf"\b{_GAP.join(map(re.escape, words))}\b"


_GAP = r"\s{1,40}"
"""Bounded, so that the time of a match is bounded too: see `salvo.engine.runtime.safe_regex.steps`."""
