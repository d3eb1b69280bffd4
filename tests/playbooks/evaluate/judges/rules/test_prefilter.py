"""The prefilter skips a pattern only where it cannot match."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from salvo.playbooks.evaluate.judges.rules.checks import assumptions, certainty, escalation, unchecked
from salvo.playbooks.evaluate.judges.rules.prefilter import Prefilter, pattern_needs, split_alternatives
from salvo.playbooks.evaluate.judges.rules.sentences import read
from salvo.playbooks.evaluate.judges.rules.vocabulary import groups, pattern

DEVELOPMENT = Path(__file__).parents[4] / "playbooks" / "labelled" / "dev"
SENTENCES = sorted(
    {
        sentence.plain
        for path in DEVELOPMENT.glob("*.json")
        for pair in json.loads(path.read_text(encoding="utf-8"))["pairs"]
        for text in pair["texts"]
        for sentence in read(text["text"])
    }
)
TEMPLATES = sorted(
    {
        value
        for module in (assumptions, certainty, escalation, unchecked)
        for value in vars(module).values()
        if isinstance(value, str) and re.search(r"<[a-z_]+>", value)
    }
    | {rf"\b<{name}>\b" for name in groups()}
)


def _source(template: str) -> str:
    while re.search(r"(?<!\?P)<([a-z_]+)>", template):
        template = re.sub(r"(?<!\?P)<([a-z_]+)>", lambda slot: groups()[slot[1]].alternation, template)
    return template


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template[:40])
def test_a_template_finds_what_its_whole_pattern_finds(template: str) -> None:
    whole = re.compile(_source(template))
    matcher = pattern(template)
    differ = [
        sentence
        for sentence in SENTENCES
        if (matcher.search(sentence) is None) != (whole.search(sentence) is None)
        or any(matcher.finditer(sentence)) != (whole.search(sentence) is not None)
    ]
    assert differ == []


@pytest.mark.parametrize(
    "source,text,may_match",
    [
        (r"\bassum(?:e|es)\b", "we assume it", True),
        (r"\bassum(?:e|es)\b", "we resume it", False),
        (r"(?:the |a )?counsel", "ask counsel", True),
        (r"(?:is|are) (?:not )?void", "it is null and avoided", False),
        (r"(?:is|are) (?:not )?void", "it is here", False),
        (r"\w+ing", "anything", True),
        (r"[^.]{1,20}? only", "the fee only", True),
        (r"no risk|zero\x20risk", "zero risk", True),
        (r"risk(?! of)|chance", "a matter of chance", True),
    ],
)
def test_words_that_a_match_needs(source: str, text: str, may_match: bool) -> None:
    needs = pattern_needs(source, lambda _: [])
    assert bool(Prefilter([needs]).candidates(text)) is may_match


def test_alternatives_are_split_outside_groups_and_classes() -> None:
    assert split_alternatives(r"a|(?:b|c)|[|]|\|d") == ["a", "(?:b|c)", "[|]", r"\|d"]
