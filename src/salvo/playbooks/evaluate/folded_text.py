"""A text as a reader sees it: without characters that have no width, and with Latin letters for their look-alikes.

Patterns and quotes are searched in the folded text, and what is found is located in the original. The look-alikes are
Unicode's own (`look_alikes.json`; `make look-alikes` writes it).

A letter of another script is replaced only in a word that consists of Latin letters otherwise, or if the text has no
other use for that script: a Russian word in a text that quotes Russian stays as it is.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from salvo.playbooks.evaluate.inputs import Span

INVISIBLE = (
    "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f"
)
"""For use in a character class: zero-width and bidi characters, the soft hyphen, variation selectors, tags."""


class Replacement(NamedTuple):
    """A part of the original text, and what stands in its place in the folded text."""

    start: int
    end: int
    text: str


class OffsetMap:
    """Maps positions in a text with replacements to positions in the original. The replacements are in order."""

    __slots__ = ("_ends", "_lengths", "_places", "_starts")

    def __init__(self, replacements: Sequence[Replacement]) -> None:
        # One entry per replacement: its position and length in the new text, and its position in the original.
        self._places: list[int] = []
        self._lengths = [len(replacement.text) for replacement in replacements]
        self._starts = [replacement.start for replacement in replacements]
        self._ends = [replacement.end for replacement in replacements]
        shift = 0
        for replacement, length in zip(replacements, self._lengths, strict=True):
            self._places.append(replacement.start + shift)
            shift += length - (replacement.end - replacement.start)

    def origin(self, start: int, end: int) -> Span:
        """Return the original position of a part of the new text (at least one character)."""
        return Span(self._place(start)[0], self._place(end - 1)[1])

    def _place(self, index: int) -> tuple[int, int]:
        """Return the original position of one new character; in a replacement, that of all that it replaces."""
        last = bisect_right(self._places, index) - 1
        if last < 0:
            return index, index + 1
        beyond = index - self._places[last] - self._lengths[last]
        if beyond < 0:
            return self._starts[last], self._ends[last]
        start = self._ends[last] + beyond
        return start, start + 1


def with_replacements(text: str, replacements: Sequence[Replacement]) -> str:
    pieces: list[str] = []
    copied_to = 0
    for start, end, replacement in replacements:
        pieces += (text[copied_to:start], replacement)
        copied_to = end
    pieces.append(text[copied_to:])
    return "".join(pieces)


class FoldedText:
    """A text without invisible characters and with Latin letters for their look-alikes, and the way back."""

    __slots__ = ("_map", "genuine_scripts", "mixed_words", "text")

    def __init__(self, text: str, like: FoldedText | None = None) -> None:
        """Fold the text. A part of a text is folded `like` the whole, because that shows which scripts it uses."""
        self.genuine_scripts: frozenset[str] = like.genuine_scripts if like else _genuine_scripts(text)
        """The scripts whose words are left alone, unless they mix scripts."""
        replacements, mixed_words = _replacements(text, self.genuine_scripts)
        self._map = OffsetMap(replacements)
        self.text = with_replacements(text, replacements) if replacements else text
        self.mixed_words: Sequence[Span] = mixed_words
        """Where the original has words of Latin letters with look-alikes of another script among them."""

    def origin(self, start: int, end: int) -> Span:
        """Return the original position of a part of the folded text (at least one character)."""
        return self._map.origin(start, end)


class _LookAlikes(NamedTuple):
    same_letter: Mapping[str, str]
    """Latin letters and digits in another style: mathematical, full-width, ligatures. Replaced everywhere."""
    all: Mapping[str, str]
    """These, and the letters of other scripts."""


@cache
def _look_alikes() -> _LookAlikes:
    table = json.loads(files(__package__).joinpath("look_alikes.json").read_text(encoding="utf-8"))
    return _LookAlikes(table["same_letter"], {**table["same_letter"], **table["other_script"]})


_WORD_END = re.compile(rf"[\w{INVISIBLE}]*+")
_INVISIBLE_RUN = re.compile(rf"[{INVISIBLE}]++")
_IN_WORD = re.compile(rf"[\w{INVISIBLE}]")


def _replacements(text: str, genuine: frozenset[str]) -> tuple[list[Replacement], list[Span]]:
    """Return what is replaced, and the words that mix scripts, both in order. Takes linear time."""
    replacements: list[Replacement] = []
    mixed_words: list[Span] = []
    if text.isascii():
        return replacements, mixed_words
    table = _look_alikes()
    # A class of the few characters that occur is searched faster than one of the whole table.
    candidates = [letter for letter in set(text) if letter in table.all or _INVISIBLE_RUN.match(letter)]
    if not candidates:
        return replacements, mixed_words
    candidate_letter = re.compile(f"[{''.join(map(re.escape, sorted(candidates)))}]")
    folded_words: dict[str, tuple[list[Replacement], bool]] = {}
    position = 0
    while candidate := candidate_letter.search(text, position):
        start = candidate.start()
        while start > position and _IN_WORD.match(text, start - 1):
            start -= 1
        word_end = _WORD_END.match(text, candidate.end())
        position = word_end.end() if word_end else candidate.end()
        word = text[start:position]
        if word not in folded_words:
            folded_words[word] = _fold_word(word, table, genuine)
        parts, is_mixed = folded_words[word]
        replacements += (Replacement(start + part.start, start + part.end, part.text) for part in parts)
        if is_mixed:
            mixed_words.append(Span(start, position))
    return replacements, mixed_words


def _fold_word(word: str, table: _LookAlikes, genuine: frozenset[str]) -> tuple[list[Replacement], bool]:
    """Return the replacements in a word, and whether the word mixes scripts."""
    scripts = {_script(letter) for letter in set(word) if letter.isalpha() and letter not in table.same_letter}
    others = scripts - {_LATIN}
    becomes_latin = all(letter in table.all or is_latin_letter(letter) for letter in set(word) if letter.isalpha())
    is_mixed = bool(others) and _LATIN in scripts and becomes_latin
    is_disguised = bool(others) and not others & genuine and becomes_latin
    letters = table.all if is_mixed or is_disguised else table.same_letter
    return list(_word_replacements(word, letters)), is_mixed


def _word_replacements(word: str, letters: Mapping[str, str]) -> Iterator[Replacement]:
    index = 0
    while index < len(word):
        unseen = _INVISIBLE_RUN.match(word, index)
        if unseen:
            yield Replacement(index, unseen.end(), "")
            index = unseen.end()
            continue
        if word[index] in letters:
            yield Replacement(index, index + 1, letters[word[index]])
        index += 1


def _genuine_scripts(text: str) -> frozenset[str]:
    """Return the scripts of which the text has a letter that looks like no letter of English."""
    if text.isascii():
        return frozenset()
    table = _look_alikes()
    return frozenset(
        _script(letter)
        for letter in set(text)
        if not letter.isascii() and letter.isalpha() and not table.all.get(letter, letter).isascii()
    )


def is_latin_letter(letter: str) -> bool:
    return _script(letter) == _LATIN


_LATIN = "LATIN"


@cache
def _script(letter: str) -> str:
    """Return the script of a letter: the first word of its name, such as LATIN or CYRILLIC."""
    return unicodedata.name(letter, "UNKNOWN").split(maxsplit=1)[0]
