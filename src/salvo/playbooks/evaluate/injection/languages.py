"""What a sentence in another language says if it addresses the evaluator.

Each language has the same groups of words in `languages.toml`: commands to `ignore` something, the `rules` that a text
could mean, and which (`earlier`); how a `note` or a letter begins, who may be the `evaluator`, or a `machine`;
`you_are`, "if you are an AI"; what makes a sentence a request (`ask`), the result that is asked for (`good`), requests
not to find anything (`no_problem`), and what has a `result`. As in English, one group alone shows nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from importlib.resources import files
from typing import Any


def _pattern(template: str) -> cached_property[re.Pattern[str]]:
    """Return a property: the words of a language in this template. Most texts need few, so each is compiled late."""
    return cached_property(lambda language: re.compile(template.format_map(language.words)))


class _Language:
    """The words of one language, as patterns."""

    def __init__(self, groups: Mapping[str, Any]) -> None:
        self.function_words = frozenset(groups["function_words"].split())
        self.words = {name: words if isinstance(words, str) else "|".join(words) for name, words in groups.items()}

    any_sign = _pattern(r"\b(?:{ignore}|{note}|{you_are}|pass\b)|^\W{{0,6}}(?:{evaluator}|{machine}) ?[:,!]")
    """A quick search: no rule applies to a sentence without it."""
    override = _pattern(r"\b(?:{ignore})\b.{{0,60}}?\b(?:{rules})\b")
    earlier = _pattern(r"\b(?:{earlier})(?!\w)")
    you_are = _pattern(r"\b(?:{you_are})")
    note_to_evaluator = _pattern(
        r"\b(?:{note})[, ]{{0,2}}(?:{evaluator}|{machine})(?!\w)|^\W{{0,6}}(?:{evaluator}|{machine}) ?[:,!]"
    )
    note_to_machine = _pattern(r"\b(?:{note})[, ]{{0,2}}(?:{machine})(?!\w)")
    request = _pattern(r"\b(?:{ask})(?!\w)")
    wish = _pattern(r"\b(?:(?:{good})(?!\w)|{no_problem})|\b(?:{ignore})\b.{{0,60}}?\b(?:{rules})\b")
    """What only a text that wants to pass would say."""
    demanded_result = _pattern(r"\b(?:{result})(?!\w).{{0,60}}?['(]?\bpass\b")


def kind_of_sentence(sentence: str, words: set[str]) -> str | None:
    """Return the kind of finding that the plain sentence is, or None."""
    for language in languages().values():
        if not language.function_words.isdisjoint(words) and language.any_sign.search(sentence):
            kind = _kind(language, sentence)
            if kind:
                return kind
    return None


def _kind(language: _Language, sentence: str) -> str | None:
    if language.override.search(sentence) and language.earlier.search(sentence):
        return "instruction_override"
    if language.you_are.search(sentence):
        return "addresses_evaluator"
    wish = language.wish.search(sentence)
    if wish and language.note_to_evaluator.search(sentence):
        return "addresses_evaluator"
    if language.note_to_machine.search(sentence) and (wish or language.request.search(sentence)):
        return "addresses_evaluator"
    if language.demanded_result.search(sentence) and language.request.search(sentence):
        return "asks_for_verdict"
    return None


@cache
def languages() -> Mapping[str, _Language]:
    document = tomllib.loads(files(__package__).joinpath("languages.toml").read_text(encoding="utf-8"))
    return {name: _Language(groups) for name, groups in document.items()}
