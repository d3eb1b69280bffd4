"""The words that the rules look for, from `vocabulary.toml`. Patterns are compiled on first use."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple


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


@cache
def pattern(template: str) -> re.Pattern[str]:
    """Compile a template in which `<group>` stands for any entry of the group."""
    all_groups = groups()
    while _SLOT.search(template):
        template = _SLOT.sub(lambda slot: all_groups[slot[1]].alternation, template)
    return re.compile(template)


_SLOT = re.compile(r"(?<!\?P)<([a-z_]+)>")
