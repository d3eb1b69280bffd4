"""assumption_disclosure: are the assumptions that the conclusions rest on stated?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from salvo.playbooks.judges.rules.clauses import is_negated, surroundings
from salvo.playbooks.judges.rules.finding import ABSENT, SAID, UNDECIDED, Finding
from salvo.playbooks.judges.rules.sentences import Sentence
from salvo.playbooks.judges.rules.unchecked import leaves_out
from salvo.playbooks.judges.rules.vocabulary import pattern

_SHOWN = 5


def judge_assumptions(sentences: Sequence[Sentence]) -> Finding:
    """PASS on an assumption stated as one; FAIL on a conclusion where none is. Unread documents are no assumption."""
    stated = list(islice((sentence for sentence in sentences if _states(sentence)), _SHOWN))
    if stated:
        return Finding(
            "pass",
            SAID,
            tuple(sentence.span for sentence in stated),
            "assumptions.stated",
            "The text says outright what it assumes or takes as given (law, facts, role, definitions or version).",
        )
    concluding = [sentence for sentence in sentences if sentence.is_authors and _concludes(sentence)]
    if concluding:
        concluding.sort(key=lambda sentence: not pattern(_DRAWS).search(sentence.plain))
        return Finding(
            "fail",
            ABSENT,
            tuple(sorted(sentence.span for sentence in concluding[:2])),
            "assumptions.unstated",
            "The quoted conclusion comes without any statement of the law, facts, role or definitions it assumes.",
        )
    return Finding(
        "indeterminate",
        UNDECIDED,
        (),
        "assumptions.no-conclusion",
        "No assumption is stated, and no conclusion or advice was found that would need one.",
    )


def _states(sentence: Sentence) -> bool:
    if not sentence.is_authors:
        return False
    text = sentence.plain
    if _is_under_a_heading(sentence) and _is_content(text):
        return True
    label = pattern(_LABEL).match(text)
    if label and _is_content(text[label.end() :]):
        return True
    return any(
        _is_the_authors(text, match) for template in (_ASSUMES, _PREMISE) for match in pattern(template).finditer(text)
    )


def _is_under_a_heading(sentence: Sentence) -> bool:
    under = (sentence.heading, sentence.lead)
    return any(text and pattern(_HEADING).fullmatch(text) and not is_negated(text) for text in under)


def _is_content(text: str) -> bool:
    """Something is said, and it is not only that documents are missing or unread."""
    nothing = len(text) < 4 or pattern(r"^\W*(?:none|n/?a|not applicable|no assumptions?)\b").match(text)
    return not nothing and not leaves_out(text)


def _is_the_authors(text: str, match: re.Match[str]) -> bool:
    """Not denied, not a burden taken on, and not what a party or the document under review assumes."""
    clause = surroundings(text, match.start(), match.end()).clause
    if is_negated(clause):
        return False
    if _TAKES.match(match[0]) and clause and not _SPEAKER.search(clause):
        return False
    if not _SPEAKER.search(clause) and not _PASSIVE.match(match[0]) and pattern(r"\b<somebody_else>\b").search(clause):
        return False
    return not pattern(r" ?<burden>\b").match(text, match.end())


def _concludes(sentence: Sentence) -> bool:
    return bool(pattern(r"\b<concludes>\b").search(sentence.plain))


# "I reviewed the contract and assumed ...": with the author as speaker, a party in the clause is an object.
_SPEAKER = re.compile(
    r"\b(?:i|we|my|our|all of this|everything|the (?:note|memo|review|analysis|answer|summary|draft|redline|mark-up"
    r"|statement|table|list)|this (?!clause|section|agreement|contract|article)\w+)\b"
)
# Anybody takes something as something; only the author's taking is an assumption.
_TAKES = re.compile(r"tak(?:e|es|ing)\b|took\b")
_PASSIVE = re.compile(r"(?:is|are|was|were|been|being|taken|treated|read|understood) ")
_ASSUMES = r"\b<assumes>\b"
_PREMISE = r"(?:\b|(?=\())<premise>"
_HEADING = r"(?:\W*\w{0,2}[.):]? ?)?<heading>\W*"
_LABEL = r"^(?:\W*\w{0,2}[.):]? ?)?<heading>(?::| –)"
_DRAWS = (
    r"\b(?:therefore|thus|hence|consequently|accordingly|in conclusion|overall|in short|conclude[sd]?|conclusion"
    r"|<verdict>)\b"
)
