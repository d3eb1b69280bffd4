"""A pattern over the plain words of a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class SentencePattern:
    kind: str
    pattern: str
    needs: frozenset[str]
    """The pattern is searched only in a sentence that has one of these words."""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled pattern. Most texts need few of them, and compiling all would delay every command."""
        return re.compile(self.pattern)


def sentence_pattern(kind: str, needs: str, pattern: str) -> SentencePattern:
    return SentencePattern(kind, pattern, frozenset(needs.split()))
