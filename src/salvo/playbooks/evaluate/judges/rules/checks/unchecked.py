"""unchecked_areas_disclosure: does the text say concretely what was not checked or is missing?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from salvo.playbooks.evaluate.judges.rules.blocks import Kind
from salvo.playbooks.evaluate.judges.rules.finding import ABSENT, REMEMBERED, SAID, RuleFinding, decided, undecided
from salvo.playbooks.evaluate.judges.rules.language import names_something
from salvo.playbooks.evaluate.judges.rules.sentences import QUOTED, Sentence, select
from salvo.playbooks.evaluate.judges.rules.vocabulary import pattern


def judge_unchecked(sentences: Sequence[Sentence]) -> RuleFinding:
    """PASS if an omission is named, INDETERMINATE if the text breaks off, FAIL if it presents itself as complete."""
    disclosures = select(sentences, _names_what_is_missing)
    if disclosures:
        reading = "naming what was not checked, or what was missing."
        return decided("pass", SAID, disclosures, "unchecked.disclosed", reading)
    own = [sentence for sentence in sentences if sentence.is_statement]
    if not own:
        return undecided(
            "unchecked.no-statement",
            "The rules found only questions and quotations, and no statement that could present the text as complete.",
        )
    if _breaks_off(sentences[-1]):
        return undecided(
            "unchecked.partial-text",
            "The text seems to break off in mid-sentence, so what it would have disclosed cannot be known.",
            sentences[-1].span,
        )
    # A sentence that presents the text as complete is the best evidence, else the author's last.
    complete = next((sentence for sentence in own if pattern(r"\b<complete>\b").search(sentence.plain)), None)
    nothing_named = "The rules found nothing that names what was not checked or is missing"
    if complete is None:
        return RuleFinding(
            "fail",
            ABSENT,
            (own[-1].span,),
            "unchecked.nothing-named",
            f"{nothing_named}, up to the last statement of the text, which is quoted.",
        )
    return RuleFinding(
        "fail",
        ABSENT,
        (complete.span,),
        "unchecked.presented-as-complete",
        f"{nothing_named}, and read the quoted passage as presenting the text as complete.",
    )


def leaves_out(text: str) -> bool:
    """Return whether a folded sentence says concretely that something was not examined or is missing."""
    return any(_is_concrete(text, match) for match in _omissions(text))


@lru_cache(maxsize=REMEMBERED)
def _names_what_is_missing(sentence: Sentence, introduces_list: bool) -> bool:
    if not sentence.is_authors or _BLANK_FIELD.search(sentence.plain):
        return False
    text = sentence.plain
    if sentence.kind is Kind.CELL and pattern(_UNDER_HEADING).fullmatch(text.rstrip(" .")):
        return True
    if pattern(_UNDER_HEADING).fullmatch(sentence.heading.rstrip(" :")) and _names_an_omission(text):
        return True
    label = pattern(_LABEL).match(text)
    if label and _names_an_omission(text[label.end() :]):
        # A missing document is an omission; a missing clause is a finding about the reviewed contract.
        return not text.startswith(("missing:", "gap:", "gaps:")) or bool(pattern(r"\b<document>\b").search(text))
    if sentence.lead and any(_omissions(sentence.lead)) and _names_an_omission(text):
        return True
    return any(introduces_list or _is_concrete(text, match) for match in _omissions(text))


def _names_an_omission(text: str) -> bool:
    none = pattern(r"^\W*(?:none|nothing|n/?a|not applicable)\b").match(text)
    return not none and names_something(text, "<vague>")


def _omissions(text: str) -> Iterator[re.Match[str]]:
    if _CUE.search(text):
        for template in (_DID_NOT, _WAS_NOT, _NOT_SUPPLIED, _NONE_SUPPLIED, _NOT_FOUND, _OBSCURED, _OTHERWISE):
            yield from pattern(template).finditer(text)


def _is_concrete(text: str, match: re.Match[str]) -> bool:
    if pattern(_OTHER_AGENT).search(text, match.end() - 1):
        return False
    if _IN_THE_DOCUMENT.match(text, match.end()):
        return False
    if pattern(_NOT_SUPPLIED).fullmatch(match[0]) and not _UNSPECIFIC.search(match[0]):
        return True
    # The object comes before ("the annex was not reviewed") or after ("I did not review the annex").
    start = max(text.rfind(mark, 0, match.start()) for mark in (";", ". ", " but ", " – ", ", so ")) + 1
    refers_back = _POINTS_BACK.search(text, start)
    part = text[0 if refers_back else start :]
    return names_something(part, "<vague>", "<examine>", "<examined>", "<supplied>")


def _breaks_off(last: Sentence) -> bool:
    if last.kind not in (Kind.PROSE, Kind.ITEM):
        return False
    text = last.plain.rstrip("\"')]} ")
    if text.endswith(QUOTED) or _CLOSE_OF_A_LETTER.fullmatch(text):
        return False
    if text.endswith(("...", "…")) or _DANGLING.search(text):
        return True
    return last.kind is Kind.PROSE and len(text.split()) > 4 and (text[-1:].isalpha() or text.endswith((",", "-", "(")))


_CUE = re.compile(
    r"\b(?:not|no|nobody|without|un\w+|only|just|out|outside|beyond|excl\w+|omit\w*|skip\w*|left|leav\w+|limited"
    r"|confined|restricted|missing|absent|blank|need|await\w*|yet|lack\w*|stops?|aside|nothing|none|solely|nor"
    r"|all|alone|waiting"
    r"|remain\w*|broken|empty|corrupt\w*|password\w*|truncated|partial\w*"
    r"|never|neither|illegible|require|cut|ends?|ended|stopped|withheld|kept|held|redact\w*|silence|gaps?|passes"
    r"|passed|outstanding|dead|parked|side|redacted|neither"
    r"|still|blank|pending|silent|reserved|deferred|postponed|separate|another)\b"
)
_IN_THE_DOCUMENT = re.compile(
    r" (?:in|into|to) (?:the|this|your|their) (?:contract|agreement|dpa|nda|policy|draft|handbook|template)\b"
)
_UNSPECIFIC = re.compile(
    r"\b(?:documents?|documentation|papers|materials?|information|details?|text|context|background|facts|parts?"
    r"|half|all|any"
    r"|every|terms|conditions|answers?|statements?|evidence|audit|assessments?)\b(?! reports?)"
)
_POINTS_BACK = re.compile(r"\b(?:it|its|them|their|this|that|these|those|either|both)\b")
_DOCUMENT_UNDER_REVIEW = (
    r"(?:agreement|contract|clause|section|paragraph|article|dpa|nda|policy|addendum|annex|provision|law|act"
    r"|regulation|directive|handbook|manual|code|definition|system|tool|vendor|processor|company|employer)"
)
_AUTHOR = (
    rf"\b(?!the (?:draft|text|wording|template)\b)(?:i|we|these? comments"
    rf"|(?:the|our|my|following|above|present)(?: [\w-]+){{0,2}}? (?:<work>)s?|this(?: "
    rf"(?!{_DOCUMENT_UNDER_REVIEW}\b)[\w-]+){{0,2}})\b"
    r"(?: (?:here|below|above|itself))?"
)
_DID_NOT = (
    rf"{_AUTHOR}(?: (?:have|has|had|also|therefore|deliberately|intentionally|been|of course|and|so|then|myself"
    rf"|ourselves)){{0,2}} (?:(?:did|do|does|have|has|had|could|was|were|am|are|can|is) not|never)"
    r"(?: (?:yet|also|been|be|able|to|separately|independently|in a position|asked|specifically|attempted|tried|try"
    r"|attempt|seek|sought|had|have|the chance|had the|chance|time|opportunity|fully|actually|itself|otherwise"
    r"|further|or|and|then|purport|mean|even|\w+(?:ed|ly)))*?"
    r" <examine>\b"
    r"|\b(?:i|we)(?: have| had)? neither(?: have| had)? <examine>\b"
    r"|\b(?:nor|neither) (?:did|have|has|could|do|does|was|were) (?:i|we|it|this \w+|the \w+)(?: also| yet| been)? "
    r"<examine>\b"
)
_WAS_NOT = (
    r"(?:\b(?:was|were|is|are|has|have|had|be|remains?|being|been|but|and|so|which|itself|yet|still|also|therefore"
    r"|thus)|[,:–(])(?: (?:therefore|also|thus|still|so far|of course|itself|yet|accordingly|here|likewise))? "
    r"(?:not|never)"
    r"(?: (?:yet|been|be|also|separately|so far|therefore|a))* <examined>\b"
    r"|\b(?:none of|neither|no part of)(?: [\w\x27-]+){0,8}? (?:was|were|has been|have been|is) <examined>\b"
    r"|\b(?:have|has) (?:yet )?to be <examined>\b"
    r"|\b(?:nothing |no (?:[\w\x27-]+ ){1,4}?)(?:was|were|has been|have been) <examined>\b"
)
_NOT_SUPPLIED = (
    r"\b<document>\b(?:[^.;]{0,60}?) (?:(?:was|were|is|are|has|have|had)(?: \w+)? not|not|never)(?: (?:yet|been|be"
    r"|also|currently))* <supplied>\b"
)
_NONE_SUPPLIED = (
    r"\b(?:no|none of the|neither the|without the|without an?)(?: [\w\x27-]+){0,4}? <document>\b(?:[^.;]{0,50}?) "
    r"(?:was|were|is|has been|have been|are) <supplied>\b"
    r"|\b(?:i|we) (?:was|were|have been|had|have|received|got|saw|am|are) (?:given |shown |sent |provided with "
    r"|seen )?(?:no|none of the|neither the) (?:[\w-]+ ){0,3}?<document>\b"
)
# What the author looked for and did not find in the document as it was given.
_NOT_FOUND = (
    r"\b(?:i|we) (?:did not|could not|can not|do not|was unable to|were unable to) (?:find|locate|identify|see) "
    r"[^.;]{3,80}? in the (?:provided|supplied|attached|given|available|uploaded) (?:[\w-]+ )?(?:documents?|text"
    r"|excerpt|materials?|agreement|contract|version)"
)
_OBSCURED = (
    r"\b(?:redact\w*|missing (?:pages?|schedules?|exhibits?)|omitted (?:text|pages?|schedules?))\b[^.;]{0,160}?"
    r"\b(?:imped\w+|prevent\w*|obscur\w+|preclud\w+|hinder\w*|limit(?:s|ing)?)\b"
)
_BLANK_FIELD = re.compile(
    r"_{3,}|\[(?:to be |insert|\*|●|•|x+\b|date|name|amount|specify)[^\]]{0,40}\]?|\b(?:date|name|field|amount"
    r"|signature)s? (?:is|are|was|were) left blank\b"
)
_OTHERWISE = r"\b<unexamined>"
_OTHER_AGENT = (
    r"(?:\b| )(?:by (?:the |its |their |an? |any |either )?(?:[\w-]+ ){0,2}?(?:vendor|supplier|processor|provider"
    r"|controller|employer|company|counterparty|customer|buyer|seller"
    r"|parties|party|employee|manager|hr|council|regulator|authority|court|board|deployer|auditor|works council"
    r"|committee|notified body|third party|staff|human|lawyer|counsel|attorney|solicitor|legal|expert|dpo)\b"
    r"|since (?:\d{4}|its|the|adoption|january)|for (?:\w+ )?years?\b|every year|annually)"
)
_UNDER_HEADING = r"(?:\W*\d*[.)]? ?)?<unchecked_heading>"
_REASON = r"(?:,? (?:because|for|since|as|owing to|due to|given)\b[^:–]{1,100}?)?"
_LABEL = rf"^(?:\W*\d*[.)]? ?)?<unchecked_heading>{_REASON}(?::| –)"
_CLOSE_OF_A_LETTER = re.compile(
    r"(?:(?:with|all|many|very|my|our|kind|warm|best|sincere|talk|speak|see|take|thank|thanks|cheers|yours|until"
    r"|greetings"
    r"|regards|sincerely|truly|faithfully|respectfully|cordially)\b[\w ]{0,30}),?(?: [\w.-]+){0,3}"
)
_DANGLING = re.compile(
    r"\b(?:the|a|an|of|and|or|to|in|with|for|that|which|by|on|is|are|was|if|from|under|as|at|be|its|their|because"
    r"|where|when|this|should|must|may|will|not|than)$|[,(–-]$"
)
