"""Tell commentary from drafted text: which passages are wording of a contract, and not what the author says.

A text that drafts or redlines a contract contains both: clauses, and sentences about them. Only the sentences about
them are the author's own statements, so only they are judged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from salvo.playbooks.evaluate.judges.rules.blocks import Kind
from salvo.records import record


@record
class BlockText:
    """A block of the text: as it stands there, and folded with its quotations masked."""

    kind: Kind
    text: str
    own: str
    marker: str = ""
    after_rule: bool = False


def find_drafted(passages: Sequence[BlockText]) -> list[bool]:
    """Return for each passage whether it is drafted wording.

    A passage shows by its words what it is. One that does not show it belongs to a drafted region if it follows
    drafted wording directly and no line, heading or comment ends the region.
    """
    drafted: list[bool] = []
    in_region = False
    # Where several passages have formulas, each of them is wording; one formula in a whole text may be the author's.
    with_formulas = (passage for passage in passages if _FORMULA.search(passage.own))
    enough = 1 if len(list(islice(with_formulas, _MIN_CLAUSES))) == _MIN_CLAUSES else 2
    for passage in passages:
        if passage.after_rule or (passage.kind is Kind.HEADING and _ends_region(passage)):
            in_region = False
        if passage.kind is Kind.QUOTATION:
            drafted.append(is_contract_wording(passage.text))
            continue
        if _is_comment(passage):
            in_region = False
        elif _is_wording(passage, enough, in_region=in_region):
            in_region = True
        drafted.append(in_region)
    return drafted


def is_contract_wording(text: str) -> bool:
    """Return whether quoted text has a formula of contracts or the mark of a redline."""
    folded = text.lower()
    return bool(_FORMULA.search(folded) or _REDLINE_MARK.search(folded))


def _is_wording(passage: BlockText, enough: int, *, in_region: bool) -> bool:
    """Return whether it reads as a contract: marks of a redline, enough formulas, capitals, signatures, blanks."""
    if _REDLINE_MARK.match(passage.own) or _is_in_capitals(passage.text):
        return True
    words = len(passage.own.split())
    if words <= _SHORT_PASSAGE and _SIGNATURE.search(passage.own):
        return True
    formulas = len(_FORMULA.findall(passage.own))
    is_numbered = bool(_CLAUSE_NUMBER.match(f"{passage.marker} {passage.text}".strip()))
    if formulas:
        is_dense = formulas * _WORDS_PER_FORMULA >= words
        return in_region or is_numbered or (is_dense and (formulas >= enough or is_clause(passage.own)))
    return is_numbered and bool(_OBLIGATION.search(passage.own)) and in_region


def is_clause(own: str) -> bool:
    """Return whether a folded sentence is an obligation of a party: "the supplier shall not assign ..."."""
    return bool(_PARTY_SHALL.match(own))


def _is_comment(passage: BlockText) -> bool:
    """Return whether it speaks about the wording or to the reader."""
    return bool(_COMMENT_LABEL.match(passage.own) or _COMMENTS.search(passage.own))


def _ends_region(passage: BlockText) -> bool:
    return bool(_COMMENT_HEADING.search(passage.own))


def _is_in_capitals(text: str) -> bool:
    sample = text[:600]
    if _LOWER_CASE_WORD.search(sample, 0, 60):
        return False
    letters = [character for character in sample if character.isalpha()]
    return len(letters) > 60 and sum(character.isupper() for character in letters) > 0.7 * len(letters)


_LOWER_CASE_WORD = re.compile(r"\b[a-z]{3}")
_SHORT_PASSAGE = 40
"""Words of a passage that a blank or a signature shows to be a form."""
_WORDS_PER_FORMULA = 70
_MIN_CLAUSES = 4

_REDLINE_MARK = re.compile(
    r"\W{0,20}\[?(?:add|end add|delete|end delete|modify|insert|new|re-?number|added|deleted|modified|remove"
    r"|strike)\b[^\]]{0,60}\]"
)
_SIGNATURE = re.compile(
    r"(?:^|\s)(?:by|name|title|date): ?(?:/s/|_{3,})|_{6,}|/s/ ?\w|\bin witness whereof\b|\bwhereas,"
)
# Formulas of contracts. A sentence about a contract uses "shall" only in quotations, which are masked.
_FORMULA = re.compile(
    r"\bshall\b|\bhereby\b|\bhereinafter\b|\bherein\b|\bhereto\b|\bhereof\b|\bhereunder\b|\bthereof\b|\bthereto\b"
    r"|\bnotwithstanding (?:the foregoing|anything|any other)\b|\backnowledges and agrees\b|\brepresents and warrants\b"
    r"|\bin consideration of\b|\bthe parties (?:hereto|agree|acknowledge)\b|\bis entered into\b"
    r"|\b(?:company|customer|consultant|recipient|supplier|distributor|provider|licensee|licensor) (?:agrees to"
    r"|authori[sz]es)\b"
)
_PARTY_SHALL = re.compile(
    r"\W*(?:\(?\w{1,3}[.)] )?(?:(?:the|each|either|neither|any|no|such|both|this|all) )?(?:[\w'-]+ ){0,2}?"
    r"(?:suppliers?|customers?|compan(?:y|ies)|consultant|provider|vendor|buyer|seller|licensee|licensor"
    r"|recipient|discloser|distributor"
    r"|contractor|client|tenant|landlord|lender|borrower|part(?:y|ies)|agreement|section|liability|purchaser"
    r"|reseller|principal|agent"
    r"|receiving party|disclosing party)\b[^.;]{0,40}? shall\b"
)
_CLAUSE_NUMBER = re.compile(
    r"\W{0,4}(?:(?:section|article|clause)\s+)?(?:\d{1,3}(?:\.\d{1,3}){1,3}|\d{1,3}[A-Z]?\.\d{1,3}|\([a-z]\)"
    r"|\([ivx]{1,5}\))",
    re.IGNORECASE,
)
_OBLIGATION = re.compile(r"\b(?:may|must|will|agrees?|is liable|is entitled|remains? in effect)\b")
_COMMENT_HEADING = re.compile(
    r"\b(?:analysis|rationale|explanations?|considerations?|notes?|summary|recommend\w*|comments?|issues?"
    r"|next steps|key"
    r"|overview|changes made|impact|risks?|why|implementation|review|conclusion|placement|advice)\b"
)
_COMMENT_LABEL = re.compile(
    r"\W*(?:\([a-z]\) )?(?:explanation|rationale|analysis|comment|note|reason|why"
    r"|why it.{0,3}s? (?:is )?concerning|why concerning"
    r"|issue|issue for [\w ]{1,20}|suggested revision|placement|risk mitigation|drafter's note|recommendation"
    r"|effect|purpose)\b[^:.]{0,30}:"
)
_COMMENTS = re.compile(
    r"(?<![(\w.])(?:i|my)(?= [a-z])|\bwe (?:recommend|suggest|propose|have (?:added|included|drafted)|would)\b"
    r"|\b(?:this|the|these|each|our) (?:proposed |new |added |suggested |above |redlined |revised "
    r"|modified )?(?:clause|provision|addition|modification|revision|change|redline|language|wording|draft"
    r"|amendment|approach|insertion|exception|adjustment)s? "
    r"(?:also |now |thus |directly |effectively |explicitly |clearly |significantly )?(?:\w+[^s]s\b(?! (?:shall"
    r"|set|of|in)\b)|ensure|provide|protect|aim|would|should|could|may|might|is|are|has|have|was|were|can"
    r"|will)\b(?! (?:be )?deemed)"
    r"|\b(?:this|these) (?:addition|change|modification|revision|redline|clause|amendment)s?:$|\bwould you like\b"
    r"|\blet me know\b|\bplease (?:advise|let|review|note)\b|\byou (?:may|might) (?:want|wish|consider)\b"
    r"|\bconsider (?:adding|whether|including)\b"
    r"|\b(?:above|below|following|here) (?:is|are) (?:the|a|an)\b|\bthe user\b|\bas (?:you )?requested\b"
)
