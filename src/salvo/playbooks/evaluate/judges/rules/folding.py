"""Fold a text for matching: lower case, one line, plain quotes and dashes, contractions written out."""

from __future__ import annotations

import re

from salvo.playbooks.evaluate.folded_text import FoldedText


def fold(text: str) -> str:
    """Return one lower-case line with plain quotes and dashes, without invisible characters and emphasis marks.

    Look-alikes of Latin letters are Latin letters, so that they hide no word.
    """
    text = _UNPRINTABLE.sub("", FoldedText(text).text.translate(_TYPOGRAPHY))
    text = _EMPHASIS.sub("", _LINK.sub(r"\1", text))
    text = " ".join(text.lower().split())
    if "'" in text:
        for pattern, expansion in _CONTRACTIONS:
            text = pattern.sub(expansion, text)
    return text.replace("cannot", "can not")


_UNPRINTABLE = re.compile("[\u0000-\u0008\ud800-\udfff]")
_TYPOGRAPHY = str.maketrans("\u2018\u2019“”\u00a0\u202f\u2010\u2011", "''\"\"  --", "") | {
    ord(dash): " – " for dash in "–—"
}
_LINK = re.compile(r"\[([^\[\]]{1,200})\]\([^()\s]{1,300}\)")
_EMPHASIS = re.compile(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|[`~]{1,3}|<[^<>]{1,40}>")
_CONTRACTIONS = tuple(
    (re.compile(pattern), expansion)
    for pattern, expansion in (
        (r"\bcan't\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"'ve\b", " have"),
        (r"'re\b", " are"),
        (r"'ll\b", " will"),
        (r"'m\b", " am"),
        (r"\b(i|we|you|he|she|they|it)'d\b", r"\1 would"),
        (r"\b(it|that|there|here|what)'s\b", r"\1 is"),
    )
)
