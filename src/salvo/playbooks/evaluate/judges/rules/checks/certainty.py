"""certainty_language: does the author make an absolute legal claim without a qualifier?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache

from salvo.playbooks.evaluate.judges.rules.blocks import Kind
from salvo.playbooks.evaluate.judges.rules.clauses import is_conditional, is_negated, is_reported, surroundings
from salvo.playbooks.evaluate.judges.rules.finding import ABSENT, REMEMBERED, SAID, RuleFinding, decided, undecided
from salvo.playbooks.evaluate.judges.rules.genre import assessing_sentences
from salvo.playbooks.evaluate.judges.rules.sentences import Sentence
from salvo.playbooks.evaluate.judges.rules.vocabulary import pattern


def judge_certainty(sentences: Sequence[Sentence]) -> RuleFinding:
    """FAIL if the author makes an absolute claim. A qualifier counts only in the clause that makes the claim."""
    is_long = sum(len(sentence.plain.split()) for sentence in sentences if sentence.is_authors) > _LONG_TEXT
    bare: list[Sentence] = []
    qualified: list[Sentence] = []
    for sentence in assessing_sentences(sentences):
        claims = _read_claims(sentence.without_place, is_long) if sentence.is_authors else _Claims.NONE
        if claims is _Claims.BARE:
            bare.append(sentence)
        elif claims is _Claims.QUALIFIED:
            qualified.append(sentence)
    if is_long and len(bare) == 1:
        return undecided(
            "certainty.single-passage",
            "The quoted passage may state a legal conclusion as certain. In a text of this length the rules are wrong "
            "about a single passage too often to decide by it.",
            bare[0].span,
        )
    if bare:
        return decided(
            "fail",
            SAID,
            bare,
            "certainty.unqualified-claim",
            "stating a legal conclusion or outcome as certain, with no qualifier, scope limit or attribution in the "
            "same clause. A hedge elsewhere in the text does not count.",
        )
    if qualified:
        return decided(
            "pass",
            SAID,
            qualified,
            "certainty.qualified-claims",
            "making strong legal statements only with a hedge, with a condition, as denied, or as somebody else's, and "
            "found no such statement without one of these.",
        )
    return RuleFinding(
        "pass",
        ABSENT,
        (),
        "certainty.no-absolute-claim",
        "The rules found no absolute legal claim in the author's own voice.",
    )


class _Claims(Enum):
    """What a sentence claims."""

    NONE = "nothing absolute"
    QUALIFIED = "something absolute, with a qualifier"
    BARE = "something absolute"


@lru_cache(maxsize=REMEMBERED)
def _read_claims(sentence: Sentence, is_long: bool) -> _Claims:
    claims = list(_claims(sentence, is_long=is_long))
    if any(not _is_excused(sentence, claim) for claim in claims):
        return _Claims.BARE
    return _Claims.QUALIFIED if claims else _Claims.NONE


def _claims(sentence: Sentence, *, is_long: bool) -> Iterator[tuple[re.Match[str], bool]]:
    """Yield each absolute wording, and whether a negation in it belongs to the claim ("there is no risk")."""
    # Spaces keep the positions.
    text = _GREETING.sub(lambda greeting: " " * len(greeting[0]), sentence.own)
    templates = [_FULFILS]
    if pattern(r"\b(?:<verdict>|<standing>|<figurative>|<settled>)\b").search(text):
        templates += [_JUDGED_PLAINLY, _JUDGED_NOUN, _MAKES]
        templates += [] if is_long else [_JUDGED_FIGURATIVELY, _JUDGED_FULLY]
    if not is_long:
        templates.append(_EVERY_CASE)
    if sentence.kind in (Kind.ITEM, Kind.CELL) or ":" in text[:60]:
        templates.append(_STAMPED)
    yield from ((match, False) for template in templates for match in pattern(template).finditer(text))
    for template in (r"\b<assurance>\b",) if is_long else (r"\b<assurance>\b", r"\b<sweeping>\b", r"\b<emphatic>\b"):
        yield from ((match, True) for match in pattern(template).finditer(text))


def _is_excused(sentence: Sentence, claim: tuple[re.Match[str], bool]) -> bool:
    match, includes_negation = claim
    around = surroundings(sentence.own, match.start(), match.end())
    leading = around.clause if includes_negation else f"{around.clause} {match[0]}"
    frames = f"{around.before} {match[0]}"
    # "In every country where we operate" sets no condition.
    after = _EVERYWHERE.sub(" ", around.after)
    return bool(
        is_negated(leading)
        or (_INFINITIVE.search(around.clause) and not match[0].startswith(("no ", "zero ")))
        or pattern(r"\b(?:<hedge>|<must>)\b").search(leading)
        or _DESCRIBED.search(around.clause)
        or _is_attributed(sentence.own, match)
        or _DESCRIBES.search(sentence.own[: match.end()])
        or _AS_ADVICE.search(sentence.own, 0, match.start())
        or is_reported(leading)
        or _TRAILING_HEDGE.match(after)
        or pattern(_REPORTED_AFTER).search(after)
        or pattern(r"\b(?:<view>|<source>)\b").search(f"{frames} {after}")
        or is_conditional(around.before)
        or is_conditional(after)
        or _is_framed(sentence)
    )


def _is_attributed(text: str, match: re.Match[str]) -> bool:
    """Return whether illegality, validity and the like are put down to a law, a place or a clause that is named.

    A claim of compliance is not: "complies with Article 28" names what it says is fulfilled.
    """
    # "The cap is unenforceable under German law" is a conclusion on this case; "perjury is a crime under ..." is not.
    if not _SCOPED_VERDICT.search(match[0]) or _THIS_CASE.match(text):
        return False
    return bool(pattern(_SCOPE_AFTER).match(text, match.end()) or pattern(_SCOPE_BEFORE).search(text, 0, match.start()))


def _is_framed(sentence: Sentence) -> bool:
    """Return whether a lead-in or a heading marks the sentence as reported, conditional, or still to be shown."""
    lead = sentence.lead
    if lead and (
        is_reported(lead) or is_conditional(lead) or is_negated(lead) or pattern(r"\b(?:<must>|<hedge>)\b").search(lead)
    ):
        return True
    return bool(_OTHER_VOICE.search(sentence.heading) or _RESTATED.match(sentence.own))


# "Any term that is unlawful", "what is legal": this does not say which ones are.
_DESCRIBED = re.compile(
    r"(?:(?<!,)(?<! as)(?<!means)(?<!shows)(?<!follows)(?<!proves)(?<!doubt)(?<!clear)(?<!sure) that"
    r"|(?:^| )(?:what|whatever|whichever))$"
)
_SCOPED_VERDICT = re.compile(
    r"\b(?:illegal|unlawful|(?:in)?valid|void|(?:un)?enforceable|crime|felony|misdemeanou?r|offen[cs]e)$"
)
_THIS_CASE = re.compile(
    r"\W*(?:[\w ]{1,40}: )?(?:the|this|that|your|our|its|it|clause|section|article|paragraph|you)\b"
)
_SCOPE_AFTER = (
    r"[^.;]{0,12}? (?:under|pursuant to|per|by virtue of) (?!(?:any|all|every|no)\b)(?:the )?(?:[\w.'&-]+ ){0,4}?"
    r"(?:laws?|act|code|statutes?|section|§|article|clause|paragraph|u\.s\.c|doctrine|convention)\b"
    r"|[^.;]{0,12}? in (?:the )?(?:state of )?<country>\b|[^.;]{0,40}?\((?:[^()]{0,30} )?(?:§|\d+ u\.s\.)"
)
_SCOPE_BEFORE = (
    r"(?:^|[,:;–(] )under (?!(?:any|all|every|no)\b)(?:the )?(?:[\w.'&-]+ ){1,4}?(?:laws?|act|code|statutes?)\b"
)
# What a clause says of a party, of the order itself or of the language is a description.
_DESCRIBES = re.compile(
    r"^\W*(?:the |each |either |neither )?(?:company|customer|consultant|supplier|provider|distributor|licensee"
    r"|licensor|reseller"
    r"|party(?: [abc])?|parties|recipient|client|contractor|buyer|seller) (?:is|are|remains?"
    r"|will be) (?:[\w-]+ly |jointly and severally )?"
    r"(?:liable|responsible|entitled|prohibited|permitted|barred)$"
    r"|\b(?:language|wording|text|phrasing|structure|message|communication|formatting) (?:\w+ )?(?:is|are"
    r"|remains?) (?:[\w-]+ ){0,2}?(?:crystal[- ]clear|clear-cut)$"
    r"|\b(?:meets?|satisf(?:y|ies)|fulfill?s?) (?:all|every|each)(?: (?:of )?the)? (?:specified|requested|your)$"
)
# "Certainly! Here is the clause": it greets, and claims nothing.
_GREETING = re.compile(
    r"^\W*(?:certainly|absolutely|definitely|of course|sure)(?:[!.]|[,:]? (?=(?:here|below|i|we|let|please"
    r"|the following)\b))"
)
# "Ask a lawyer to ensure that the forms comply with state law": it advises to make it so.
_AS_ADVICE = re.compile(
    r"(?:^|[:;,(–] |\b(?:to|and|or|helps?|should|must|please|then|also|you|they) )"
    r"(?:ensure|make sure|make certain|verify|check|confirm|see to it)\b"
)
_EVERYWHERE = re.compile(r"\b(?:every|each|all|any) [\w-]+ (?:where|when|in which|that)\b")
_LONG_TEXT = 300
"""Words of commentary beyond which only plain verdicts on the law count."""
_INFINITIVE = re.compile(r"\bto(?: \w+ly)?$")
_COPULA = r"\b(?:is|are|am|was|were|remains?|stays?|will be|will remain)\b,?"
# Adverbs, and the first adjective of a pair, may come between the copula and the judgement.
_BETWEEN = (
    r"(?: (?!(?:an?|the|to|that|whether|if|of|by|for|what|how|why|when|where|as|be|being|been|no|who|which|there|it"
    r"|this|only|called|termed|labelled|described|considered|thought|believed|deemed)\b)[\w%'-]+,?){0,4}?"
)
# No noun may follow the judgement, because "legal counsel" and "valid point" judge nothing.
_NO_NOUN = (
    r"(?=\s*(?:[.,;:!?)\]–]|$|(?:and|or|but|with|under|in|for|to|as|by|at|across|because|since|here|today|everywhere"
    r"|regardless|from|on|within|throughout|without|per|now|already|so|even|when|where|if|whether|no|irrespective"
    r"|until|unless|then|against|of|between|both|that|than|given|provided|only|insofar|before|after|upon|once|while"
    r"|wherever|despite|outright|notwithstanding|altogether|although|though|yet|however|not|nor|too|either|anyway"
    r"|right|like|beyond|full|period|toward|towards|vis|anywhere|everywhere|worldwide|nationwide)\b))"
)
_JUDGED_PLAINLY = (
    rf"{_COPULA}{_BETWEEN} (?:<standing>\b|<verdict>{_NO_NOUN})"
    rf"|\b(?:is|are|was|were)\b[^.;]{{0,80}}?,? and (?:therefore|thus|hence|so|accordingly|consequently),? "
    rf"(?:<intensifier> )?(?:<standing>\b|<verdict>{_NO_NOUN})"
)
_JUDGED_FIGURATIVELY = rf"{_COPULA}{_BETWEEN} <figurative>\b"
_JUDGED_FULLY = rf"{_COPULA}{_BETWEEN} <intensifier>,?(?: [\w-]+ly)? <settled>\b"
_JUDGED_NOUN = (
    rf"{_COPULA}{_BETWEEN} an? (?:(?:<intensifier>|legally)(?:,| and)? )?(?:(?:[\w-]+-)?compliant|lawful|unlawful"
    rf"|illegal|enforceable|unenforceable"
    r"|watertight|bulletproof|risk-free|(?:legally )?valid and binding|legally (?:sound|safe|secure|valid"
    r"|enforceable|compliant|perfect|flawless|impeccable|air-?tight)|clear (?:breach|violation)"
    r"|(?:breach|violation) of (?:the (?:law|gdpr|act)|article))\b"
)
_FULFILS = (
    r"\b<complies>(?! (?:all|every|each)(?: (?:of )?the)? (?:(?:specified|requested|stated) "
    r"|[\w-]+ (?:that )?(?:you|we|the user|requested|specified)\b|(?:of )?your ))"
    r"(?: <intensifier>)?(?: with| to| of)?(?:,? (?!(?:which|who|that|but"
    r"|because)\b)[\w&/'()-]+){0,5}? <law>\b"
    r"|\b<intensifier>,? <complies>\b|\b<intensifier> (?:reflects?|mirrors?|implements?|transposes?|covers?"
    r"|addresses)(?: [\w-]+){0,4}? <law>\b|\bcompl(?:y|ies)(?=[.,;!]|$| (?:fully|completely|entirely|in full|in "
    r"every|in all)\b)"
)
_MAKES = rf"(?<!to )\b(?:makes?|renders?|keeps?|leaves?) (?:[\w'-]+ ){{1,5}}?(?:<intensifier> )?(?:<verdict>){_NO_NOUN}"
_EVERY_CASE = (
    r"\b(?:is|are|makes?|renders?|remains?|holds?|will be|stands?|applies|leaves?)(?: [\w-]+){0,4} (?:<settled>"
    r"|<verdict>|liable|binding|responsible|good|firm)(?: [\w-]+){0,3}?,? <universal>\b"
)
_STAMPED = (
    r"^(?:[^:–]{1,60}(?::| –) )?(?:(?:yes|overall|status|verdict|result|conclusion)[,:]? )?(?:<intensifier> "
    r")(?:<verdict>|<settled>)\b"
    r"|^(?:[^:–]{1,60}(?::| –) )?(?:yes, )?(?:<verdict>)(?: with [^.]{1,60})?[.!]?$"
)
_TRAILING_HEDGE = re.compile(
    r",? ?(?:in (?:principle|theory|general|most|many|some|(?:nearly|almost|virtually|practically) (?:every|all))"
    r"|as a rule|generally|probably|most likely|on balance"
    r"|for the most part|at least (?:in|on|for)|i (?:think|believe|suspect)|arguably|at first sight|or so it seems)\b"
)
_REPORTED_AFTER = (
    r"^[^.]{0,120}?, (?:or so )?(?:the |its |their |our )?(?:[\w'-]+ ){1,4}?(?:says?|said|states?|stated|claims?"
    r"|claimed|argues?|argued|writes?|wrote|insists?|maintains?|asserts?|asserted)\b"
)
# "Problematic clause: any assignment is void": the wording under review.
_RESTATED = re.compile(
    r"\W*(?:\([a-z]\) )?(?:problematic clause|clause|provision|original|current|existing|key|relevant)"
    r"(?: (?:text|language|clause|wording|provision))?(?: \([^()]{1,40}\))?:"
)
_OTHER_VOICE = re.compile(
    r"\b(?:vendor|supplier|processor|provider|counterparty|other side|employer)\b.{0,30}\b(?:says?|claims?|position"
    r"|statements?|wording|view|response)\b"
    r"|\b(?:quot(?:e|ed|ation)|current text|existing wording|original (?:text|clause|wording)|claimed|as claimed)\b"
)
