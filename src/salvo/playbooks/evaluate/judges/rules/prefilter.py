"""Find out quickly that a pattern cannot match: every match contains certain words, and the text has none of them.

The patterns of the vocabulary are long alternations, which are slow to search for. Most sentences contain none of the
words that a match needs, and looking up words is fast.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

Fragment = str
"""Text that every match contains. A NUL in it stands for a border of a word."""
Need = frozenset[Fragment]
"""Every match contains one of these."""

_BORDER = "\0"
_MIN_LENGTH = 2
"""Shorter fragments are in every sentence."""
_PREFIX = 3


class Prefilter:
    """Tells which of many patterns may match a text."""

    def __init__(self, needs: Sequence[Sequence[Need]]) -> None:
        """Take what each pattern needs; all of it must be in the text."""
        self._needs = [[[_plain(fragment) for fragment in need] for need in pattern] for pattern in needs]
        self._always: list[int] = []
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)
        self._by_prefix: defaultdict[str, list[int]] = defaultdict(list)
        for number, pattern in enumerate(needs):
            self._index(number, pattern)

    def candidates(self, text: str) -> list[int]:
        """Return the numbers of the patterns that may match, in order."""
        words, prefixes = _words(text)
        numbers = set(self._always)
        for word in words & self._by_word.keys():
            numbers.update(self._by_word[word])
        for prefix in prefixes & self._by_prefix.keys():
            numbers.update(self._by_prefix[prefix])
        return sorted([number for number in numbers if self._has_all(number, text)])

    def _has_all(self, number: int, text: str) -> bool:
        for need in self._needs[number]:
            for fragment in need:
                if fragment in text:
                    break
            else:
                return False
        return True

    def _index(self, number: int, needs: Sequence[Need]) -> None:
        """Index the pattern by the words of the need that the fewest texts meet, if each of its fragments has one."""
        for need in sorted(needs, key=weakness):
            keys = [_key(fragment) for fragment in need]
            if all(keys):
                for word, is_whole in filter(None, keys):
                    index, key = (self._by_word, word) if is_whole else (self._by_prefix, word[:_PREFIX])
                    if index[key][-1:] != [number]:
                        index[key].append(number)
                return
        self._always.append(number)


def weakness(need: Need) -> float:
    """Return a number that is the greater, the more texts meet the need."""
    return sum(_frequency(fragment) for fragment in need)


@cache
def _frequency(fragment: Fragment) -> float:
    """Return a rough guess at how many sentences contain the fragment."""
    key = _key(fragment)
    if key is None or (key[1] and key[0] in _FREQUENT):
        return 1.0
    return 1 / len(key[0]) ** 3


def pattern_needs(pattern: str, slot_needs: Callable[[str], list[Need]]) -> list[Need]:
    """Return what a match of the pattern needs. `slot_needs` says it for a `<slot>` in the pattern."""
    return _PatternParser(pattern, slot_needs).alternatives()


def split_alternatives(pattern: str) -> list[str]:
    """Return the alternatives of a pattern, as in "a|b(?:c|d)"."""
    pieces = [""]
    depth = 0
    for part in _TOKEN.findall(pattern):
        if part == "|" and depth == 0:
            pieces.append("")
            continue
        depth += (part == "(") - (part == ")")
        pieces[-1] += part
    return pieces


@lru_cache(maxsize=8)
def _words(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of the text, and what they start with."""
    words = frozenset(_WORD.findall(text))
    return words, frozenset([word[:_PREFIX] for word in words])


def _plain(fragment: Fragment) -> str:
    return fragment.replace(_BORDER, "")


def _key(fragment: Fragment) -> tuple[str, bool] | None:
    """Return the longest whole word of the fragment, else the longest start of a word, and which of them it is."""
    wholes = _WHOLE_WORD.findall(fragment)
    if wholes:
        return max(wholes, key=len), True
    starts = [start for start in _START_OF_WORD.findall(fragment) if len(start) >= _PREFIX]
    return (max(starts, key=len), False) if starts else None


class _PatternParser:
    """Reads a pattern from left to right. `left` and `right` say whether a word may not go on beyond a group."""

    def __init__(self, pattern: str, slot_needs: Callable[[str], list[Need]]) -> None:
        self._pattern = pattern
        self._slot_needs = slot_needs
        self._position = 0
        self._ends = _group_ends(pattern)

    def alternatives(self, *, left: bool = False, right: bool = False) -> list[Need]:
        """Read up to the end of the group. Of several alternatives, a match needs what one of them needs."""
        needs = [self._sequence(left=left, right=right)]
        while self._peek() == "|":
            self._position += 1
            needs.append(self._sequence(left=left, right=right))
        if len(needs) == 1:
            return needs[0]
        if not all(needs):
            return []
        return [frozenset[Fragment]().union(*(min(need, key=weakness) for need in needs))]

    def _peek(self) -> str:
        return self._pattern[self._position : self._position + 1]

    def _sequence(self, *, left: bool, right: bool) -> list[Need]:
        needs: list[Need] = []
        literal = _BORDER if left else ""
        while self._peek() not in ("", "|", ")"):
            at_border = bool(literal) and not literal[-1].isalnum()
            start = self._position
            character, inner = self._item(left=at_border)
            optional, repeated = self._quantifier()
            if character and not optional and not repeated:
                literal += character
                continue
            needs += _literal_needs(literal)
            # "(?:the )?word": the word starts at a border, whether the group is there or not.
            kept = at_border and optional and _ENDS_WITH_SPACE.search(self._pattern, start, self._position)
            literal = _BORDER if kept else ""
            if not optional:
                needs += inner
        return needs + _literal_needs(literal + _BORDER if right else literal)

    def _item(self, *, left: bool) -> tuple[str, list[Need]]:
        """Read one item. Return the character that it stands for, and what a group or a slot needs."""
        for expression in _BORDERS:
            if self._pattern.startswith(expression, self._position):
                self._position += len(expression)
                return _BORDER, []
        slot = _SLOT.match(self._pattern, self._position)
        if slot:
            self._position = slot.end()
            return "", self._slot_needs(slot[1])
        character = self._peek()
        self._position += 1
        if character == "(":
            return "", self._group(left=left)
        if character == "[":
            self._skip_class()
            return "", []
        if character == "\\":
            return self._escape(), []
        return ("", []) if character in ".^$" else (character, [])

    def _group(self, *, left: bool) -> list[Need]:
        end = self._ends[self._position - 1]
        right = _BORDER_AFTER_GROUP.match(self._pattern, end + 1) is not None
        head = _GROUP_HEAD.match(self._pattern, self._position)
        if head:
            self._position = head.end()
        needs = self.alternatives(left=left, right=right)
        self._position += 1
        # What a lookahead or a lookbehind finds is not part of the match; it may be in another place.
        return [] if head and head[0][-1] in "=!" else needs

    def _skip_class(self) -> None:
        end = _CLASS_END.match(self._pattern, self._position)
        self._position = end.end() if end else len(self._pattern)

    def _escape(self) -> str:
        character = self._peek()
        self._position += 1
        if character == "x":
            self._position += 2
            return chr(int(self._pattern[self._position - 2 : self._position], 16))
        return "" if character.isalnum() else character

    def _quantifier(self) -> tuple[bool, bool]:
        """Read a quantifier, if there is one. Return whether the item may be absent, and whether it may repeat."""
        match = _QUANTIFIER.match(self._pattern, self._position)
        if match is None:
            return False, False
        self._position = match.end()
        least = match[2] if match[2] is not None else ("1" if match[1] == "+" else "0")
        return int(least or 0) == 0, True


def _group_ends(pattern: str) -> dict[int, int]:
    """Return the position of the closing parenthesis for each opening one."""
    ends: dict[int, int] = {}
    open_groups: list[int] = []
    position = 0
    for part in _TOKEN.findall(pattern):
        if part == "(":
            open_groups.append(position)
        elif part == ")":
            ends[open_groups.pop()] = position
        position += len(part)
    return ends


def _literal_needs(literal: str) -> list[Need]:
    return [frozenset([literal])] if len(_plain(literal).strip()) >= _MIN_LENGTH else []


_FREQUENT = frozenset(
    [
        "the",
        "of",
        "and",
        "to",
        "in",
        "is",
        "that",
        "for",
        "it",
        "as",
        "with",
        "be",
        "by",
        "this",
        "are",
        "or",
        "from",
        "which",
        "not",
        "an",
        "at",
        "on",
        "was",
        "were",
        "has",
        "have",
        "had",
        "its",
        "will",
        "may",
        "should",
        "would",
        "could",
        "can",
        "must",
        "shall",
        "does",
        "do",
        "but",
        "if",
        "any",
        "such",
        "these",
        "those",
        "their",
        "there",
        "than",
        "then",
        "when",
        "where",
        "who",
        "your",
        "you",
        "we",
        "our",
        "they",
        "no",
        "been",
        "being",
        "into",
        "under",
        "before",
        "after",
        "only",
        "so",
        "because",
        "while",
        "whether",
        "what",
        "how",
        "all",
        "each",
        "a",
        "i",
        "he",
        "she",
        "his",
        "her",
        "my",
        "me",
        "out",
        "up",
        "about",
        "over",
        "between",
        "during",
        "within",
        "without",
        "upon",
        "per",
        "also",
        "clause",
        "agreement",
        "contract",
        "party",
        "parties",
        "law",
        "legal",
        "section",
        "service",
        "services",
        "data",
        "company",
        "terms",
        "term",
    ]
)
_BORDERS = (r"\b", r"(?<!\w)", r"(?![\w-])", r"(?!\w)")
_BORDER_AFTER_GROUP = re.compile(r" |\\b|\(\?: |,\?? |,|\(\?!\\w\)|\(\?=[ .,;)]")
_ENDS_WITH_SPACE = re.compile(r" \)\?\??$")
_SLOT = re.compile(r"<([a-z_]+)>")
_GROUP_HEAD = re.compile(r"\?(?:P<\w+>|<?[=!]|:)")
_CLASS_END = re.compile(r"\^?\]?(?:\\.|[^\]\\])*\]")
_QUANTIFIER = re.compile(r"([?*+]|\{(\d*),?(\d*)\})[?+]?")
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")
_WHOLE_WORD = re.compile(r"(?<=[^\w])[^\W\d_]{2,}(?=[^\w])")
_START_OF_WORD = re.compile(r"(?<=[^\w])[^\W\d_]+")
