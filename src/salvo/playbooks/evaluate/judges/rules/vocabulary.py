"""The words that the rules look for: data in `vocabulary.toml`, compiled once, when first asked for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class VocabularyEntry:
    """One way of saying it, a sentence in which it fires, and where useful a neighbour in which it must not."""

    say: str
    fires: str
    quiet: str | None = None


@dataclass(frozen=True, slots=True)
class VocabularyGroup:
    """Entries with one purpose. A text with `fires` in it is `judged` so; with `quiet` instead it is not."""

    name: str
    check: str
    purpose: str
    judged: str
    entries: tuple[VocabularyEntry, ...]

    @property
    def alternation(self) -> str:
        return "(?:" + "|".join(entry.say for entry in self.entries) + ")"


@cache
def groups() -> dict[str, VocabularyGroup]:
    """Every group by name, in the order of the file."""
    data = tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text(encoding="utf-8"))
    return {group.name: group for group in _groups(data)}


@cache
def pattern(template: str) -> re.Pattern[str]:
    """A template of folded text with `<group>` where any entry of the group may stand, as whole words."""
    known = groups()
    while _SLOT.search(template):
        template = _SLOT.sub(lambda slot: known[slot[1]].alternation, template)
    return re.compile(template)


_SLOT = re.compile(r"(?<!\?P)<([a-z_]+)>")


def _groups(data: dict[str, dict[str, object]]) -> Iterator[VocabularyGroup]:
    for check, tables in data.items():
        for name, table in tables.items():
            match table:
                case {"purpose": str(purpose), "judged": str(judged), "entries": list(entries)}:
                    yield VocabularyGroup(
                        name, check, purpose, judged, tuple(VocabularyEntry(**entry) for entry in entries)
                    )
                case _:
                    raise ValueError(f"vocabulary.toml: {check}.{name} lacks its purpose, its verdict or its entries")
