"""The words that the rules look for, from `vocabulary.toml`. Patterns are compiled on first use."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from salvo.playbooks.evaluate.judges.rules.prefilter import Need, Prefilter, pattern_needs, split_alternatives


class VocabularyEntry(NamedTuple):
    """A pattern, a sentence in which it fires, and optionally a similar sentence in which it must not."""

    say: str
    fires: str
    quiet: str | None = None


class VocabularyGroup(NamedTuple):
    """Entries with one purpose. A text that contains `fires` gets the verdict `judged`; with `quiet` it does not."""

    name: str
    check: str
    purpose: str
    judged: str
    entries: Sequence[VocabularyEntry]

    @property
    def alternation(self) -> str:
        return "(?:" + "|".join(entry.say for entry in self.entries) + ")"


@cache
def groups() -> dict[str, VocabularyGroup]:
    """Return every group by name, in the order of the file."""
    data = tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text(encoding="utf-8"))
    return {
        name: VocabularyGroup(
            name, check, table["purpose"], table["judged"], [VocabularyEntry(**entry) for entry in table["entries"]]
        )
        for check, tables in data.items()
        for name, table in tables.items()
    }


class Matcher:
    """A template of which only the alternatives are searched for whose words are in the text."""

    def __init__(self, template: str) -> None:
        self._template = template
        self._alternatives = _alternatives(template)
        self._prefilter = Prefilter([pattern_needs(source, _slot_needs) for source in self._alternatives])

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match."""
        matches = (
            _compile(self._alternatives[number]).search(text, start, end) for number in self._prefilter.candidates(text)
        )
        return min(filter(None, matches), key=lambda match: match.start(), default=None)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches of one alternative after the other."""
        for number in self._prefilter.candidates(text):
            yield from _compile(self._alternatives[number]).finditer(text)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        return _compile(self._template).match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return _compile(self._template).fullmatch(text)

    def sub(self, replacement: str, text: str) -> str:
        return _compile(self._template).sub(replacement, text) if self._prefilter.candidates(text) else text


@cache
def pattern(template: str) -> Matcher:
    """Return the matcher of a template in which `<group>` stands for any entry of the group."""
    return Matcher(template)


def _alternatives(template: str) -> list[str]:
    """Return the template once for each alternative of the groups that it consists of, between its ends."""
    parts = _ENDS_AND_GROUPS.fullmatch(template)
    if not parts:
        return split_alternatives(template)
    names = _SLOT.findall(parts["groups"])
    return [
        f"{parts['before']}{alternative}{parts['after']}"
        for name in names
        for entry in groups()[name].entries
        for alternative in split_alternatives(entry.say)
    ]


@cache
def _slot_needs(name: str) -> list[Need]:
    return pattern_needs(groups()[name].alternation, _slot_needs)


@cache
def _compile(template: str) -> re.Pattern[str]:
    while _SLOT.search(template):
        template = _SLOT.sub(lambda slot: groups()[slot[1]].alternation, template)
    return re.compile(template)


_SLOT = re.compile(r"(?<!\?P)<([a-z_]+)>")
_ENDS_AND_GROUPS = re.compile(
    r"(?P<before>(?:\\b|\(\?<!\\w\))?)(?P<groups><[a-z_]+>|\(\?:<[a-z_]+>(?:\|<[a-z_]+>)*\))(?P<after>(?:\\b)?)"
)
