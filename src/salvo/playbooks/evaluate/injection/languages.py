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
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple


class _Language(NamedTuple):
    function_words: frozenset[str]
    any_sign: re.Pattern[str]
    """A quick search: no rule applies to a sentence without it."""
    override: re.Pattern[str]
    earlier: re.Pattern[str]
    you_are: re.Pattern[str]
    note_to_evaluator: re.Pattern[str]
    note_to_machine: re.Pattern[str]
    request: re.Pattern[str]
    wish: re.Pattern[str]
    """What only a text that wants to pass would say."""
    demanded_result: re.Pattern[str]


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
    return {name: _compile(groups) for name, groups in document.items()}


def _compile(groups: Mapping[str, Any]) -> _Language:
    ignore, rules, earlier, note, evaluator, machine, ask, good, no_problem, result = (
        "|".join(groups[name])
        for name in (
            "ignore", "rules", "earlier", "note", "evaluator", "machine", "ask", "good", "no_problem", "result",
        )
    )  # fmt: skip
    you_are = groups["you_are"]
    return _Language(
        function_words=frozenset(groups["function_words"].split()),
        any_sign=re.compile(rf"\b(?:{ignore}|{note}|{you_are}|pass\b)|^\W{{0,6}}(?:{evaluator}|{machine}) ?[:,!]"),
        override=re.compile(rf"\b(?:{ignore})\b.{{0,60}}?\b(?:{rules})\b"),
        earlier=re.compile(rf"\b(?:{earlier})(?!\w)"),
        you_are=re.compile(rf"\b(?:{you_are})"),
        note_to_evaluator=re.compile(
            rf"\b(?:{note})[, ]{{0,2}}(?:{evaluator}|{machine})(?!\w)|^\W{{0,6}}(?:{evaluator}|{machine}) ?[:,!]"
        ),
        note_to_machine=re.compile(rf"\b(?:{note})[, ]{{0,2}}(?:{machine})(?!\w)"),
        request=re.compile(rf"\b(?:{ask})(?!\w)"),
        wish=re.compile(rf"\b(?:(?:{good})(?!\w)|{no_problem})|\b(?:{ignore})\b.{{0,60}}?\b(?:{rules})\b"),
        demanded_result=re.compile(rf"\b(?:{result})(?!\w).{{0,60}}?['(]?\bpass\b"),
    )
