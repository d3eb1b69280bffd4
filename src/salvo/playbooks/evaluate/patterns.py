"""Where the patterns of a playbook occur in a text. Neither a pattern nor a text can hang the program.

They are searched in the text and in the text as a reader sees it (`folded_text`), so that an invisible character or a
look-alike letter hides no word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from salvo.engine.runtime.safe_regex import Occurrences, occurrences
from salvo.engine.text.messages import excerpt
from salvo.playbooks.evaluate.folded_text import FoldedText
from salvo.playbooks.evaluate.inputs import Span
from salvo.playbooks.playbook.definition import Check
from salvo.records import record

MAX_HITS = 5_000
"""Hits of one pattern that are kept for the judge and the report: a pattern may match every letter of a text."""


class Hit(NamedTuple):
    """Where a pattern occurs."""

    pattern: str
    span: Span


@record
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
            f"The pattern {excerpt(pattern)} occurs more than {MAX_HITS:,} times; the first {MAX_HITS:,} are kept."
            for pattern in self.truncated
        )
        return (*reasons, *more)


def scan(check: Check, text: str, folded: FoldedText | None = None) -> Scan:
    """Return where the patterns of a check occur in the text. May block, for twice `safe_regex.TIMEOUT` at most.

    `folded` is the text folded, if the caller has it.
    """
    if not check.patterns:
        return Scan()
    patterns = dict.fromkeys(check.patterns)
    by_pattern = dict(zip(patterns, _search(list(patterns), text, folded or FoldedText(text)), strict=True))
    hits = [Hit(pattern, Span(*span)) for pattern, result in by_pattern.items() for span in result.spans]
    return Scan(
        hits=tuple(sorted(hits, key=lambda hit: hit.span)),
        unscanned={pattern: result.problem for pattern, result in by_pattern.items() if result.problem},
        truncated=tuple(pattern for pattern, result in by_pattern.items() if result.more),
    )


def _search(patterns: Sequence[str], text: str, folded: FoldedText) -> list[Occurrences]:
    """Search the text and the folded text: a pattern may ask for what folding replaces."""
    regexes = list(map(_regex, patterns))
    in_original = occurrences(regexes, text, most=MAX_HITS, flags=re.IGNORECASE)
    if folded.text == text:
        return in_original
    in_folded = occurrences(regexes, folded.text, most=MAX_HITS, flags=re.IGNORECASE)
    return [_combined(*results, folded) for results in zip(in_original, in_folded, strict=True)]


def _combined(in_original: Occurrences, in_folded: Occurrences, folded: FoldedText) -> Occurrences:
    origins = [folded.origin(*span) for span in in_folded.spans]
    spans = list(_without_overlaps([*origins, *(Span(*span) for span in in_original.spans)]))
    return Occurrences(
        spans[:MAX_HITS],
        more=in_original.more or in_folded.more or len(spans) > MAX_HITS,
        problem=in_original.problem or in_folded.problem,
    )


def _without_overlaps(spans: Sequence[Span]) -> Iterator[Span]:
    """Yield the spans in order. Of spans that overlap, only the one that begins first, or the longest of those."""
    end = 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.start >= end:
            yield span
            end = span.end


def _regex(pattern: str) -> str:
    """Return the regular expression; a hint of words only matches whole words, with any white space between them."""
    words = pattern.split()
    if not all(word.isalnum() for word in words):
        return pattern
    return rf"\b{_GAP.join(map(re.escape, words))}\b"


_GAP = r"\s{1,40}"
"""Bounded, so that the time of a match is bounded too: see `salvo.engine.runtime.safe_regex.steps`."""
