"""escalation_signal: does the text say who should review what, or when to escalate?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from salvo.playbooks.evaluate.judges.rules.blocks import Kind
from salvo.playbooks.evaluate.judges.rules.finding import ABSENT, REMEMBERED, SAID, RuleFinding, decided, undecided
from salvo.playbooks.evaluate.judges.rules.language import names_something
from salvo.playbooks.evaluate.judges.rules.sentences import Sentence, select
from salvo.playbooks.evaluate.judges.rules.vocabulary import pattern


def judge_escalation(sentences: Sequence[Sentence]) -> RuleFinding:
    """PASS if a reviewer is named with an object or a condition, FAIL if something is at risk and none is named."""
    sentences = _without_parties(sentences)
    signals = select(sentences, _names_a_review)
    if signals:
        return decided(
            "pass",
            SAID,
            signals,
            "escalation.named-review",
            "saying who should review something, or under which condition a human should be brought in.",
        )
    at_risk = [sentence for sentence in sentences if _is_at_risk(sentence.plain) and sentence.is_statement]
    if at_risk:
        return decided(
            "fail",
            ABSENT,
            at_risk,
            "escalation.risk-without-review",
            f"uncertain or risky, and found nobody named who should review {'it' if len(at_risk) == 1 else 'them'}. "
            "A general contact or consult-a-lawyer line does not count.",
        )
    return undecided(
        "escalation.nothing-at-risk",
        "The rules found nothing uncertain or risky, so they have nothing that a human would have to review.",
    )


@lru_cache(maxsize=REMEMBERED)
def _is_at_risk(text: str) -> bool:
    return pattern(r"\b<at_risk>\b").search(text) is not None and not any(_candidates(text))


def _without_parties(sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Return the sentences with words that name a party of the contract masked: "the Consultant" reviews nothing."""
    counts = Counter(
        match[1] for sentence in sentences for match in _PARTY.finditer(sentence.plain) if not sentence.is_question
    )
    words = [word for word, count in counts.items() if count >= _PARTY_MENTIONS]
    party = re.compile(rf"\b(?:{'|'.join(words)})(?:'?s)?\b") if words else None

    def mask(text: str) -> str:
        text = _NO_REVIEWER.sub(" ", text)
        if _AGENCY.search(text):
            text = text.replace("your attorney", "your agent")
        return party.sub("party", text) if party else text

    return [
        replace(sentence, plain=mask(sentence.plain), lead=mask(sentence.lead), heading=mask(sentence.heading))
        if _CUE.search(sentence.plain) or sentence.lead
        else sentence
        for sentence in sentences
    ]


@lru_cache(maxsize=REMEMBERED)
def _names_a_review(sentence: Sentence, introduces_list: bool) -> bool:
    if not sentence.is_authors:
        return False
    text = sentence.plain
    if _is_escalation_column(sentence):
        return True
    if _CONTACT_LINE.search(text) or _OFFER.search(text):
        return False
    context = sentence.lead or (sentence.heading if sentence.kind is Kind.ITEM else "")
    if context and (_calls(context) or pattern(_FOR_REVIEW).search(context)) and names_something(text, *_BOILERPLATE):
        return True
    return any(introduces_list or _is_meant_for(text, call) for call in _calls(text))


def _is_escalation_column(sentence: Sentence) -> bool:
    asks = pattern(
        r"\b(?:escalat\w+|reviewer|review by|who (?:reviews|decides|should)|refer to|sign-?off|owner|action)\b"
    )
    return sentence.kind is Kind.CELL and bool(
        asks.search(sentence.heading) and pattern(r"\b<reviewer>\b").search(sentence.plain)
    )


def _calls(text: str) -> list[re.Match[str]]:
    """Return the wordings that call for a reviewer, except those that say no review is needed."""
    return [match for match in _candidates(text) if not _is_needless(text, match)]


def _candidates(text: str) -> Iterator[re.Match[str]]:
    if not _CUE.search(text):
        return
    if pattern(_CALLS_TO_ACT).search(text):
        yield from (match for match in pattern(r"\b<reviewer>\b").finditer(text) if not _is_not_asked(text, match))
    for template in _TEMPLATES:
        yield from pattern(template).finditer(text)


def _is_not_asked(text: str, reviewer: re.Match[str]) -> bool:
    if _DECIDES.match(text, reviewer.end()):
        return False
    before = text[max(0, reviewer.start() - 150) : reviewer.start()]
    if _MAY_HELP.match(text, reviewer.end()) and not _ALONE.search(before):
        return True
    return bool(pattern(r"\b<not_asked> ?$").search(before) or pattern(_PAST).match(text, reviewer.end()))


def _is_needless(text: str, match: re.Match[str]) -> bool:
    start = max(text.rfind(mark, 0, match.start()) for mark in (";", ". ", ", but ", " but ", ", so ")) + 1
    leading = text[max(start, 0) : match.start()]
    if pattern(r"\b<theirs> ?$").search(leading) or _DISPUTE.search(leading):
        return True
    theirs = pattern(r" (?:for|of|at) (?:the )?<theirs>\b")
    if theirs.match(text, match.end()) or _OF_A_DISPUTE.match(text, match.end()):
        return True
    around = leading + match[0] + text[match.end() : match.end() + 40]
    return bool(pattern(r"\b<needless>\b").search(around)) and not pattern(_GATED).search(text)


def _is_meant_for(text: str, call: re.Match[str]) -> bool:
    """Return whether the call has its own object or condition, beyond boilerplate."""
    part = _part(text, call)
    if names_something(part, *_BOILERPLATE):
        return True
    refers_back = _REFERS_BACK.search(part) and not _GENERIC_REVIEWER.search(part)
    return bool(_THIS_POINT.search(part) or refers_back)


def _part(text: str, call: re.Match[str]) -> str:
    """Return the part of the sentence with the call; the whole sentence if "it" or "this" refers back."""
    starts = [match.end() for match in _PART.finditer(text, 0, call.start())]
    end = _PART.search(text, call.end())
    # "Subject to review by counsel: clauses 8 and 11": the object comes after the colon.
    if end and end[0] == ": " and not _SAYS.search(text, end.end()):
        end = None
    part = text[starts[-1] if starts else 0 : end.start() if end else len(text)]
    return text if _POINTS_BACK.search(part) and starts else part


_PARTY_MENTIONS = 3
_PARTY = re.compile(
    r"\b(?:the|each|such|by|from|to|for|if|of) (consultant|advis[eo]r|representative|specialist|expert|agent"
    r"|auditor|manager)(?:'s)?\b"
)
# "As an expert legal assistant", "power of attorney", "notarise": nobody is asked to review anything.
_NO_REVIEWER = re.compile(
    r"\bas an? (?:expert|experienced|professional|ai)[\w ,-]{0,30} (?:assistant|model|lawyer|attorney|expert"
    r"|advis[eo]r|i)\b"
    r"|\bpowers? of attorney\b|\bexpert (?:reports?|witness\w*|testimony|opinions?)\b"
    r"|\bi am (?:not )?an? (?:[\w-]+ )?(?:attorney|lawyer)\b"
    r"|\b(?:appoint|empower|designate|grant|name|ensure that|ensure|lets?|allows?)\w* (?:[\w'-]+ ){0,5}?your attorney\b"
    r"|\bregulatory scrutiny\b|\b(?:not|no) (?:an? )?substitute for [^.;]{3,80}|\bkey specialists\b"
    r"|\bthe (?:consultant|representative|agent)(?:'s)?\b|\b(?:to|and) advocate\b|\bwitness(?:es)? (?:and/?or|or"
    r"|and) an? notary\b"
)
# An attorney who is given a power to decide is an agent, and reviews nothing.
_AGENCY = re.compile(
    r"\b(?:agents?|proxy|appoint\w*|guardian|authority to|control over|make medical decisions|direct care"
    r"|your attorney to have)\b"
)
# "If you file a claim, your lawyer can ask for the files": it says what a lawyer does, not when to ask one.
_MAY_HELP = re.compile(r" (?:can|could|may|might|would) (?:also |then )?(?!be (?:asked|consulted|involved))\w+")
_ALONE = re.compile(r"\bonly (?:[\w-]+ ){0,3}$")
_CONTACT_LINE = re.compile(
    r"\b(?:contact|reach(?: out)?|write to|e-?mail|get in touch|phone|call)\b.{0,80}(?:@|\b(?:questions?|queries"
    r"|further information|more information|assistance)\b)"
    r"|\b(?:questions?|queries|further information|more information|assistance)\b.{0,60}\b(?:contact|reach out"
    r"|write to|e-?mail|get in touch)\b"
)
_OFFER = re.compile(
    r"\b(?:would you like|if you would like|let me know|i can (?:also )?(?:help|point|provide|draft))\b"
)
_FOR_REVIEW = r"\b(?:for|requiring|requires?|needs?) (?:further |immediate |closer )?<human_review>\b"
_CUE = re.compile(
    r"counsel|lawyer|attorney|solicitor|barrister|law firm|legal|dpo|officer|privacy|protection|compliance|specialist"
    r"|expert|advis|human|escalat|professional|review|committee|board|\bgc\b|\bclo\b|ciso|team|partner|notar"
    r"|practitioner|qualified|union|head of|function|lead|desk|department|panel|consultant|coordinator|manager|office"
    r"|unit|director|\bc[fetro]o\b|litigator|underwriter|handler|worker|folks|people|anyone|assessor|analyst|clinician"
    r"|engineer|actuar|broker|\bip\b|tax|control|audit|\bhr\b|human res|financ|treasur|safety|quality|physician|ombuds"
    r"|infosec|\brisk\b|litigation|employment|insurance|safeguarding|procurement|patent|licensing|regulatory"
    r"|whoever|someone|somebody|colleague|avocat|abogad|rechtsanw|advo|person|member|affairs|advice|opinion"
)
_BOILERPLATE = (
    *("<reviewer>", "<human_review>", "<reviewing>", "<instruct>"),
    *("<directive>", "<called_for>", "<generic>", "<needless>"),
)
_CALLS_TO_ACT = (
    r"\b<directive>\b|(?:^|[,;:–(] |\b(?:and|or|then|please|also|to|not|i|we|you|instead|so|but|can) )(?:<instruct>)\b"
)
# "... informs the officer, who decides": the officer is informed in order to act.
_DECIDES = re.compile(
    r",? (?:who|which) (?:then |alone )?(?:decides?|must|should|reviews?|approves?|gives?|makes?|weighs?|has the)\b"
)
_PAST = (
    r" (?:must be (?:copied|named|listed)|(?:has|have|had) (?:already|since|now)|(?:can|may) be (?:reached|contacted)"
    r"|(?:was|were|wrote|drafted|attended|sent|prepared|sits?|sat)\b)"
)
# "Do not sign before counsel has ...", "only after the DPO has approved it": the negation is part of the call.
_GATED = (
    r"\b(?:not|no|never|hold|wait|waits|pause|stop|defer|only|nobody|postpone|refrain|avoid|stays?|remains?|until"
    r"|unless|before)\b[^.;]{0,120}?"
    r"\b(?:before|until|unless|without|after|once|pending|till)\b[^.;]{0,80}? (?:<reviewer>|<human_review>)\b"
)
_TEMPLATES = (
    _GATED,
    r"\b<called_for>\b(?: [\w\x27-]+){0,6}? <human_review>\b",
    r"\b<human_review>\b(?: [\w\x27()-]+){0,8}? (?:is|are|be|seems|remains|looks|becomes)(?: [\w-]+)? <called_for>\b",
    r"(?:^|[,;:–(] |\b(?:should|must|please|to|then|and|would|i|we|shall|be) )escalated?\b",
    r"^\W*(?:review|discuss|confirm|verify|check|clear|validate)\b[^.;:]{0,40}? with (?:[\w-]+ ){0,2}?<reviewer>\b",
)
_OF_A_DISPUTE = re.compile(r" (?:any |all |unresolved |such )?(?:disputes?|disagreements?|deadlocks?)\b")
_DISPUTE = re.compile(
    r"\b(?:refers?|sends?|submits?) (?:any |all )?(?:disputes?|disagreements?)\b"
    r"|\b(?:disputes?|disagreements?|deadlocks?) (?:are|is|will|shall|must|go|goes|should)\b[^,;]{0,40}$"
)
_PART = re.compile(r"; |: | – |, (?:and|but|so) (?!(?:if|where|when|before)\b)| but ")
_SAYS = re.compile(
    r"\b(?:is|are|was|were|may|might|can|could|has|have|do|does|should|will|would|must|var(?:y|ies)|differs?"
    r"|changes?|please)\b"
)
_POINTS_BACK = re.compile(r"\b(?:it|this|that|them|these|those|both|which|one|point|issue|question)\b")
_THIS_POINT = re.compile(
    r"\bwhether (?:to|the|an?) \w+"
    r"|\b(?:this|that|these|those|each|both|the) (?:\w+ )?(?:points?|issues?|questions?|items?|clauses?|risks?|gaps?"
    r"|matters?)\b"
)
_REFERS_BACK = re.compile(r"\b(?:it|this|that|them|these|those|both)\b")
_GENERIC_REVIEWER = re.compile(
    r"\b(?:an?|any|your|qualified|licensed)(?: [\w-]+){0,2} (?:lawyer|attorney|solicitor|professional|counsel"
    r"|advis[eo]r)\b|legal (?:advice|professionals?)"
)
