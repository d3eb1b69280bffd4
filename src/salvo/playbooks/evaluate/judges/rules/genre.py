"""What a text is: an analysis, or a draft or a neutral summary, which has no conclusions of its own to judge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from salvo.playbooks.evaluate.judges.rules.sentences import Sentence


class Genre(Enum):
    ANALYSIS = "analysis"
    DRAFT = "draft"
    """Wording of a contract, at most with a few sentences that describe it."""
    SUMMARY = "summary"
    """It restates a document and adds next to nothing."""


_TITLE_SENTENCES = 4
_OPENING_SENTENCES = 2
_MIN_LEGAL_SHARE = 0.15
_MIN_ASSESSING_SHARE = 0.03
_MAX_ASSESSING_SHARE = 0.25
_MIN_DRAFTED_SHARE = 0.2
_MIN_ASSESSMENTS = 4
"""Sentences that assess, advise or warn which make a draft or a summary an analysis as well."""


def find_genre(sentences: Sequence[Sentence]) -> Genre:
    if _is_summary(sentences):
        enough = _is_enough(sum(map(_assesses_a_document, sentences)), sentences)
        return Genre.ANALYSIS if enough else Genre.SUMMARY
    if sum(map(_wording, sentences)) >= _MIN_DRAFTED_SHARE * sum(s.end - s.start for s in sentences):
        enough = _is_enough(sum(map(_assesses, sentences)), sentences)
        return Genre.ANALYSIS if enough else Genre.DRAFT
    return Genre.ANALYSIS


def _is_enough(assessments: int, sentences: Sequence[Sentence]) -> bool:
    return assessments >= max(_MIN_ASSESSMENTS, _MIN_ASSESSING_SHARE * len(sentences))


def assessing_sentences(sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Return the sentences with the restating ones marked as drafted, if the text mostly summarises a document.

    What a summary says of a contract is what the contract says.
    """
    own = [sentence for sentence in sentences if sentence.is_authors]
    if not _is_summary(sentences) or sum(map(_assesses_a_document, own)) > _MAX_ASSESSING_SHARE * len(own):
        return sentences
    return [sentence if _assesses_a_document(sentence) else replace(sentence, drafted=True) for sentence in sentences]


def declines(sentences: Sequence[Sentence]) -> bool:
    """Return whether the text opens with a refusal to answer."""
    return any(_REFUSAL.search(sentence.plain) for sentence in sentences[:_OPENING_SENTENCES])


def is_hardly_legal(sentences: Sequence[Sentence]) -> bool:
    """Return whether next to none of the author's sentences speaks of the law or of what may go wrong."""
    own = [sentence for sentence in sentences if sentence.is_authors]
    return sum(bool(_LEGAL.search(sentence.plain)) for sentence in own) < _MIN_LEGAL_SHARE * len(own)


def _wording(sentence: Sentence) -> int:
    """Return how many characters of the sentence are wording of a contract, drafted or quoted."""
    return sentence.end - sentence.start if sentence.drafted else sentence.quoted_wording


def _is_summary(sentences: Sequence[Sentence]) -> bool:
    return any(
        _SUMMARY_TITLE.match(sentence.plain) or _SUMMARY_INTRODUCTION.match(sentence.plain)
        for sentence in sentences[:_TITLE_SENTENCES]
    )


def _assesses(sentence: Sentence) -> bool:
    return sentence.is_authors and bool(_ASSESSMENT.search(sentence.plain))


def _assesses_a_document(sentence: Sentence) -> bool:
    """Return whether a sentence of a summary goes beyond restating: it flags, doubts or recommends something."""
    if not sentence.is_authors:
        return False
    return bool(
        _FLAGS.search(sentence.plain) or _FLAG_HEADING.search(sentence.heading) or _FLAG_HEADING.search(sentence.lead)
    )


_SUMMARY_TITLE = re.compile(
    r"(?:\W*\w{0,3}[.):] )?(?:[\w'-]+ ){0,5}?(?:executive summary|key terms|contract summary|agreement summary"
    r"|term sheet|summary)"
    r"(?: of (?!changes|(?:the )?(?:changes|modifications|revisions|findings|issues|recommendations|analysis"
    r"|review))[^.]{0,80}|(?: –|:) .{0,120})?$"
)
_SUMMARY_INTRODUCTION = re.compile(
    r"(?:here|below|the following|this)(?: is|:)? (?:an? |the )?(?:[\w-]+ ){0,4}summary of (?!changes|findings"
    r"|issues)(?:the |this |key )?[^.]{3,120}"
)
_ASSESSMENT = re.compile(
    r"\b(?:recommend\w*|appropriate|standard|common(?:ly)?|typical(?:ly)?|market|industry|reasonabl[ey]"
    r"|(?:un)?enforceab\w+|complian(?:t|ce)"
    r"|lawful|illegal|sound|risks?|risky|may want|might want|consider|should|concern\w*|ambigu\w+|inconsisten\w+"
    r"|defensible|courts?"
    r"|potential\w*|negotiat\w+|noticed|unclear|vague|crucial|critical|necessary|unfair|burden\w*|exposes?"
    r"|advisable|important|caution"
    r"|could|might|however|disput\w+)\b"
)
_FLAGS = re.compile(
    r"\b(?:ambigu\w+|inconsisten\w+|discrepanc\w+|unclear|recommend\w*|clarif\w+|template error|should be"
    r"|warrants?|consider|contradict\w*)\b"
)
_REFUSAL = re.compile(
    r"\b(?:i|we) (?:can not|can't|will not|am (?:not able|unable) to|must decline|do not) (?:help|comply|provide"
    r"|assist|give|offer|support|advise|fulfil)\w*\b"
    r"|\bi am sorry, but\b"
)
_LEGAL = re.compile(
    r"\b(?:(?:il|para)?legal(?:ly|ity)?|(?:un)?lawful\w*|(?:un)?enforce\w*|complian\w+|compl(?:y|ies)|liab\w+"
    r"|courts?|laws?|lawsuits?|statut\w+"
    r"|jurisdiction\w*|fraud\w*|violat\w+|sued?|penalt\w+|void|invalid\w*|felony|crim(?:e|es|inal)|regulat\w+"
    r"|breach\w*|unfair\w*"
    r"|ambigu\w+|risk\w*|concern\w*|expos\w+|clauses?|agreements?|contracts?|sections?|articles?|gdpr|act"
    r"|directive|rights?)\b"
)
_FLAG_HEADING = re.compile(
    r"\b(?:ambigu\w+|issues?|flags?|flagged|concerns?|recommend\w+|observations?|attention|red flags|comments?"
    r"|analysis|risks? (?:and|for|to))\b"
)
