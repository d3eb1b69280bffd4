"""What a text is: an analysis, or a draft or a neutral summary, which has no conclusions of its own to judge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from salvo.playbooks.evaluate.judges.rules.blocks import Kind
from salvo.playbooks.evaluate.judges.rules.sentences import QUOTED, Sentence


class Genre(Enum):
    ANALYSIS = "analysis"
    DRAFT = "draft"
    """Wording of a contract, at most with a few sentences that describe it."""
    SUMMARY = "summary"
    """It restates a document and adds next to nothing."""


_TITLE_SENTENCES = 4
_MIN_DRAFTED_SHARE = 0.2
_MIN_ASSESSMENTS = 4
"""Sentences that assess, advise or warn which make a draft or a summary an analysis as well."""


def find_genre(sentences: Sequence[Sentence]) -> Genre:
    if _is_summary(sentences):
        enough = sum(map(_assesses_a_document, sentences)) >= _MIN_ASSESSMENTS
        return Genre.ANALYSIS if enough else Genre.SUMMARY
    if sum(map(_wording, sentences)) >= _MIN_DRAFTED_SHARE * sum(s.end - s.start for s in sentences):
        enough = sum(map(_assesses, sentences)) >= _MIN_ASSESSMENTS
        return Genre.ANALYSIS if enough else Genre.DRAFT
    return Genre.ANALYSIS


def _wording(sentence: Sentence) -> int:
    """Return how many characters of the sentence are wording of a document, drafted or quoted."""
    length = sentence.end - sentence.start
    if sentence.drafted or sentence.kind is Kind.QUOTATION:
        return length
    return max(0, length - len(sentence.own)) if QUOTED in sentence.own else 0


def _is_summary(sentences: Sequence[Sentence]) -> bool:
    return any(_SUMMARY_TITLE.search(sentence.plain) for sentence in sentences[:_TITLE_SENTENCES])


def _assesses(sentence: Sentence) -> bool:
    return sentence.is_authors and bool(_ASSESSMENT.search(sentence.plain))


def _assesses_a_document(sentence: Sentence) -> bool:
    """Return whether a sentence of a summary goes beyond restating: it flags, doubts or recommends something."""
    if not sentence.is_authors:
        return False
    return bool(_FLAGS.search(sentence.plain) or _FLAG_HEADING.search(sentence.heading) or _FLAG_HEADING.search(sentence.lead))


_SUMMARY_TITLE = re.compile(r"\b(?:executive summary|summary of (?:the |key )?(?!changes)|key terms|summary – |contract summary)")
_ASSESSMENT = re.compile(
    r"\b(?:recommend\w*|appropriate|standard|common(?:ly)?|typical(?:ly)?|market|industry|reasonabl[ey]|(?:un)?enforceab\w+|complian(?:t|ce)"
    r"|lawful|illegal|sound|risks?|risky|may want|might want|consider|should|concern\w*|ambigu\w+|inconsisten\w+|defensible|courts?"
    r"|potential\w*|negotiat\w+|noticed|unclear|vague|crucial|critical|necessary|unfair|burden\w*|exposes?|advisable|important|caution"
    r"|could|might|however|disput\w+)\b"
)
_FLAGS = re.compile(
    r"\b(?:ambigu\w+|inconsisten\w+|discrepanc\w+|unclear|recommend\w*|clarif\w+|template error|should be|warrants?|consider|contradict\w*)\b"
)
_FLAG_HEADING = re.compile(
    r"\b(?:ambigu\w+|issues?|flags?|flagged|concerns?|recommend\w+|observations?|attention|red flags|comments?|analysis|risks? (?:and|for|to))\b"
)
