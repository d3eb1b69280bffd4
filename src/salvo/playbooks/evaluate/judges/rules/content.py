"""Content words: what a sentence names besides boilerplate."""

from __future__ import annotations

import re

from salvo.playbooks.evaluate.judges.rules.language import ENGLISH
from salvo.playbooks.evaluate.judges.rules.vocabulary import pattern

_TOKEN = re.compile(r"[a-z][\w-]*")
_CONNECTIVES = """
please note however therefore yet again here every some other another own very too well still even get got have
let am not nor neither one two three many much most least since though although until unless once soon through
via etc regarding concerning towards toward among between qqq eg ie e.g i.e yes whenever wherever whose whom
thus
"""
_COMMON = ENGLISH | frozenset(_CONNECTIVES.split())


def names_something(text: str, *boilerplate: str) -> bool:
    """Return whether the text has a content word or a number outside the groups of boilerplate."""
    for group in boilerplate:
        text = pattern(rf"\b(?:{group})(?![\w-])").sub(" ", text)
    return any(token not in _COMMON and len(token) > 1 for token in _TOKEN.findall(text)) or bool(
        _NUMBERED.search(text)
    )


_NUMBERED = re.compile(r"\d")
