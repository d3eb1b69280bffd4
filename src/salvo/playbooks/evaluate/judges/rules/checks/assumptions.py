"""assumption_disclosure: does the text state the assumptions behind its conclusions?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from salvo.playbooks.evaluate.judges.rules.blocks import Kind
from salvo.playbooks.evaluate.judges.rules.checks.unchecked import leaves_out
from salvo.playbooks.evaluate.judges.rules.clauses import is_negated, surroundings
from salvo.playbooks.evaluate.judges.rules.finding import ABSENT, REMEMBERED, SAID, RuleFinding, decided, undecided
from salvo.playbooks.evaluate.judges.rules.genre import declines, is_hardly_legal
from salvo.playbooks.evaluate.judges.rules.sentences import Sentence
from salvo.playbooks.evaluate.judges.rules.vocabulary import pattern

# Characters after a frame in which its object may be, and the maximal number of words of a label.
_REACH = 110
_LABEL_WORDS = 7


def judge_assumptions(sentences: Sequence[Sentence]) -> RuleFinding:
    """PASS if an assumption is stated, FAIL if a conclusion comes without one. An unread document is none."""
    around = zip([None, *sentences[:-1]], sentences, [*sentences[1:], None], strict=True)
    stated = [sentence for before, sentence, after in around if _states(sentence, before, after)]
    if stated:
        return decided(
            "pass",
            SAID,
            stated,
            "assumptions.stated",
            "stating what the text assumes or takes as given (law, facts, role, definitions or version).",
        )
    concluding = [sentence for sentence in sentences if _concludes(sentence.plain) and sentence.is_statement]
    few = len(concluding) < _MIN_CONCLUDING_SHARE * sum(sentence.is_authors for sentence in sentences)
    if concluding and not (few and (is_hardly_legal(sentences) or declines(sentences))):
        return decided(
            "fail",
            ABSENT,
            concluding,
            "assumptions.unstated",
            f"{'a conclusion' if len(concluding) == 1 else 'conclusions'} or advice, and found no statement of an "
            "assumption about law, facts, role or definitions.",
        )
    return undecided(
        "assumptions.no-conclusion",
        "The rules found no statement of an assumption, and no legal conclusion or advice that would need one.",
    )


@lru_cache(maxsize=REMEMBERED)
def _concludes(text: str) -> bool:
    return pattern(r"\b<concludes>\b").search(text) is not None


def _states(sentence: Sentence, before: Sentence | None, after: Sentence | None) -> bool:
    if sentence.kind is Kind.HEADING and not sentence.drafted:
        return bool(pattern(_TITLE_OF_A_SIDE).search(sentence.plain))
    if not sentence.is_authors:
        return False
    text = sentence.plain
    if before and before.is_question and pattern(_ASKED).search(before.plain) and _is_content(text):
        return True
    if sentence.kind is Kind.CELL and after and after.kind is Kind.CELL and pattern(_HEADING).fullmatch(text):
        return not _is_about_buildings(text, after.plain) and _is_content(after.plain)
    return _is_labelled(sentence, before) or _says_so(text)


def _is_labelled(sentence: Sentence, before: Sentence | None) -> bool:
    """Return whether a heading, or a label in or before the sentence, announces assumptions or the case."""
    text = sentence.plain
    if _is_under_a_heading(sentence) and _is_content(text):
        return True
    label, rest = "", text
    if before and _leads_in(before, sentence):
        label = before.plain
    elif match := pattern(_LABEL).match(text) or pattern(_BACKGROUND).match(text):
        label, rest = match[0], text[match.end() :]
    if pattern(_HEADING).fullmatch(label) and not _is_about_buildings(label, rest) and _is_content(rest):
        return True
    if pattern(_BACKGROUND).fullmatch(label) and _describes_a_case(rest):
        return True
    scope = pattern(_SCOPE).match(text)
    return bool(scope and pattern(_WHOSE).search(text, scope.end()) and not _SAYS.search(text, scope.end()))


# Long texts repeat themselves.
@lru_cache(maxsize=REMEMBERED)
def _says_so(text: str) -> bool:
    if pattern(_TAKES_A_SIDE).search(text) or pattern(_LAW_AS_GIVEN).search(text):
        return True
    text = pattern(_NAMES_NONE).sub(" ", text)
    if _sets_a_frame(text) or any(not _is_denied(text, match) for match in pattern(_RELIES).finditer(text)):
        return True
    return any(
        _is_the_authors(text, match)
        for template in (_ASSUMES, _PREMISE, _DEFINES)
        for match in pattern(template).finditer(text)
    )


def _sets_a_frame(text: str) -> bool:
    """Return whether a clause has two cues: the author or the text chooses something, and it is a basis."""
    basis = pattern(_BASIS)
    for frame in pattern(_FRAME).finditer(text):
        end = frame.end() + _REACH
        stop = _STRETCH.search(text, frame.end(), end)
        reached = text[: stop.start() if stop else end]
        if (basis.search(frame[0]) or basis.search(reached, frame.end())) and not _is_denied(text, frame):
            return True
    return False


def _is_denied(text: str, match: re.Match[str]) -> bool:
    if _DENIED.search(match[0]) and not _CORRECTS.match(match[0]):
        return True
    # "Nobody named a law, so we picked ...": an earlier clause does not negate one that starts with the match.
    starts = _STARTS_A_CLAUSE.search(text, 0, match.start())
    return not starts and is_negated(surroundings(text, match.start(), match.end()).clause)


def _leads_in(label: Sentence, sentence: Sentence) -> bool:
    """Return whether the label is a few words without a verb on the same line, as in "**Ground rules.** ..."."""
    short = len(label.plain.split()) <= _LABEL_WORDS and label.kind is sentence.kind
    return short and sentence.start - label.end <= 2 and not is_negated(label.plain) and not _VERB.search(label.plain)


def _describes_a_case(text: str) -> bool:
    """Return whether it names a place, a role or numbers, and says nothing about the document."""
    return bool(pattern(_BASIS).search(text)) and not _TELLS.search(text) and _is_content(text)


def _is_under_a_heading(sentence: Sentence) -> bool:
    return any(
        pattern(_HEADING).fullmatch(text) and not is_negated(text) and not _is_about_buildings(text, sentence.plain)
        for text in (sentence.heading, sentence.lead)
        if text
    )


def _is_content(text: str) -> bool:
    """Return whether it says more than that documents are missing or unread."""
    nothing = len(text) < 4 or pattern(r"^\W*(?:none|n/?a|not applicable|no assumptions?)\b").match(text)
    return not nothing and not leaves_out(text)


def _is_about_buildings(label: str, text: str) -> bool:
    return "premises" in label and bool(_BUILDING.search(text))


def _is_the_authors(text: str, match: re.Match[str]) -> bool:
    """Return whether it is the author's assumption: not denied, no burden, not a party's or the document's."""
    clause = surroundings(text, match.start(), match.end()).clause
    if _STARTS_A_CLAUSE.search(text, 0, match.start()) and (_SPEAKER.match(match[0]) or match[0].startswith("on ")):
        clause = ""
    if is_negated(clause) or _BY_MANY.search(clause) or pattern(_BY_OTHERS).match(text, match.end()):
        return False
    if _DENIED.search(match[0]) and not _CORRECTS.match(match[0]):
        return False
    if _IN_THE_DOCUMENT.search(clause) and not _SPEAKER.search(clause):
        return False
    speaks = _SPEAKER.search(clause) or pattern(_TEXTS).search(clause)
    if _THIRD_PERSON.fullmatch(match[0]) and clause and not speaks:
        return False
    if _TAKES.match(match[0]) and clause and not _SPEAKER.search(clause):
        return False
    if not _SPEAKER.search(clause) and not _PASSIVE.match(match[0]) and pattern(r"\b<somebody_else>\b").search(clause):
        return False
    return not pattern(r" ?<burden>\b").match(text, match.end())


# "I reviewed the contract and assumed ...": if the author speaks, a party in the clause is an object.
_MIN_CONCLUDING_SHARE = 0.2
_SIDE = (
    r"(?:from (?:the )?[\w'&. -]{2,40}?(?:'s?|s') (?:perspective|point of view|viewpoint|standpoint)"
    r"|from the (?:perspective|point of view|viewpoint|standpoint) of (?:the )?[\w-]+)"
)
# "An analysis of the termination clauses from the reseller's perspective": the side that the text takes.
_TAKES_A_SIDE = rf"\b(?:<work>|analysis|list|issues|assessment|overview)s?\b[^.;]{{0,90}}? {_SIDE}"
_TITLE_OF_A_SIDE = (
    r"\b(?:review|analysis|assessment|comments|issues)\b[^.;]{0,60}?(?:[\w-]+'s?|s') (?:perspective|point of view"
    r"|viewpoint|standpoint)|\b(?:review|analysis|assessment|comments|issues)\b[^.;]{0,60}? from the (?:perspective"
    r"|point of view) of"
)
# "Given that the governing law is ...": the law is taken as given for what follows.
_LAW_AS_GIVEN = (
    r"\b(?:given(?: that)?|since|as|because|while|although|considering(?: that)?|seeing that) (?:the |this |your )?"
    r"(?:(?:agreement|contract|deal|lease|nda|dpa)(?: itself)? (?:is (?:expressly )?(?:governed by|subject to)"
    r"|specifies|selects|chooses|designates|provides for|stipulates|opts for|names)"
    r"|(?:governing|applicable|chosen) law (?:is|will be)|governing law clause (?:names|selects|chooses|specifies))"
    r" (?:the )?(?:[\w-]+ ){0,2}?(?:<law_of>|<country>|<nation>|[\w-]+ law\b|laws? of)"
)
# Nothing is assumed by a dedication, a point of view in passing, or a mention of assumptions without any.
_NAMES_NONE = (
    rf"\bprepared for (?:the |our |your )?(?!in\b)[\w.&-]+(?: (?!in\b|of\b|under\b)[\w.&-]+){{0,2}}(?=[.,;:]|$)"
    rf"|^(?:viewed |seen )?{_SIDE},|\b(?:which|that|this) (?:is|may be|seems) (?!written|drafted|read|seen|looked"
    rf"|said)[\w ]{{2,40}} {_SIDE}"
    r"|\b(?:certain|several|various|some|a (?:number|set|few)(?: of)?|multiple|many|standard|usual|reasonable"
    r"|general|underlying) (?:[\w-]+ )?assumptions?\b(?!(?: that\b|:| –|, (?:namely|including|such)))"
)
_SPEAKER = re.compile(
    r"\b(?:i|we|my|our|all of this|everything|the (?:note|memo|review|analysis|answer|summary|draft|redline|mark-up"
    r"|statement|table|list)|this (?!clause|section|agreement|contract|article)\w+)\b"
)
_STARTS_A_CLAUSE = re.compile(r"(?:^|[,;:–(] ?)$")
# Any party may "take" something as something; only the author's is an assumption.
_TAKES = re.compile(r"tak(?:e|es|ing)\b|took\b|treat(?:s|ing)?\b")
# "Management assumes that ...": a text may assume for its author, a person only for themselves.
_THIRD_PERSON = re.compile(r"(?:assumes?|presumes?|supposes?|presupposes?|postulates?|posits?)")
_TEXTS = (
    r"\b(?:<work>s?|policy|this|that|it|which|calculation|timeline|estimate|figures?|plan|protocol|guide|us"
    r"|purposes|please)\b"
)
_PASSIVE = re.compile(r"(?:is|are|was|were|been|being|taken|treated|read|understood) ")
# "It is widely assumed", "assumed by most buyers": said of other people.
_BY_MANY = re.compile(r"\b(?:widely|commonly|often|generally|usually|frequently|sometimes|rightly|wrongly|tacitly)$")
_BY_OTHERS = r" by (?:the |its |their |an? |any |either )?(?:[\w-]+ )?<somebody_else>\b"
_DENIED = re.compile(r"\b(?:do|did|does|have|has|had|can|could|am|are|is|was|were|will) (?:not|never)\b|\bneither\b")
# "If those facts are not right, ...": the negation is part of the reservation.
_CORRECTS = re.compile(
    r"(?:if|should|were|had|where|unless|until|correct|shout|(?:i|we)(?: \w+)? \w+ (?:neither|none))\b"
)
_IN_THE_DOCUMENT = re.compile(
    r"\b(?:in|throughout|under|by|of) (?:clause|section|article|paragraph|recital|annex|(?:the|this) "
    r"(?:agreement|contract|clause|section|nda|dpa|addendum|handbook|act|regulation|directive|statute))\b"
)
_BUILDING = re.compile(
    r"\b(?:visits?|plant|buildings?|sites?|offices?|access|floors?|rooms?|rent|keys|enter|warehouse|parking|cleaning"
    r"|security guards?|opening hours|square|landlord|tenant)\b"
)
_ASKED = (
    r"\b(?:assum(?:e|ed|es|ing)|(?:take|taken|took) (?:as given|for granted)"
    r"|(?:which|whose|what) (?:law|side|facts|version|role))\b"
)
# "Scope: Illinois employees, employer's viewpoint": a label over a place or a side, and no sentence about the document.
_SCOPE = (
    r"^(?:scope|coverage|jurisdictions?|(?:applicable |governing )?law|setting|context|place|country|roles?"
    r"|point of view|version|reader|audience|position|basis|frame)(?: of (?:this|my|our|the) (?:<work>))?(?::| –) "
)
_WHOSE = (
    r"\b(?:<nation>|<country>|viewpoint|perspective|private sector|public sector|standpoint|point of view|as (?:of|at)"
    r"|in force|(?:employer|employee|customer|supplier|buyer|seller|controller|processor|deployer|provider|tenant"
    r"|landlord|recipient|discloser)(?=[,;.]|\x27s (?:side|view|point)))"
)
_SAYS = re.compile(
    r"\b(?:courts?|is|are|remains?|per section|covers?|applies|apply|extends?|shall|must|exclusively|governs?"
    r"|includes?)\b"
)
_BACKGROUND = (
    r"\W*(?:(?:the |our |your )?(?:ground rules|background|inputs?|set-?up|frame|scenario|situation|case|parameters"
    r"|facts|profile|givens?|setting|reference case|model case)(?: for (?:the|this) [\w-]+| in mind| of reference)?)"
    r"(?::|\.| –) ?"
)
_TELLS = re.compile(
    r"\b(?:was|were|has|have|had|shall|must|may|will|covers?|appl(?:y|ies)|takes?|governs?|clause|section|annex"
    r"|(?:the|this) (?:agreement|contract))\b"
)
_VERB = re.compile(
    r"^given \w|\b(?:is|are|was|were|has|have|had|shall|must|may|will|can|should|would|apply|applies|remains?)\b"
)
_STRETCH = re.compile(r"[;?]| (?:but|because|so that)\b| and (?:\w+ed|sent|kept|is|was|will|then|can)\b")
_FRAME = r"\b<frames>"
_BASIS = r"(?:\b|^)<basis>"
_RELIES = r"\b(?:<trusts>|<reserves>)"
_DEFINES = r"\b<defines>"
_ASSUMES = r"\b<assumes>\b"
_PREMISE = r"(?<!\w)<premise>"
_HEADING = r"(?:\W*\w{0,2}[.):]? ?)?<heading>\W*"
_LABEL = r"^(?:\W*\w{0,2}[.):]? ?)?<heading>(?::| –)"
