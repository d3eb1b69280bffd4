"""Clauses of a folded sentence: how far a hedge, a negation, a condition or an attribution applies.

A hedge applies to the rest of its own clause. A frame ("if ...", "according to the vendor", "in our view") applies to
its stretch: the clauses up to the next contrast ("but", ";", "although").
"""

from __future__ import annotations

import re

from salvo.playbooks.evaluate.judges.rules.vocabulary import pattern
from salvo.records import record


@record
class Surroundings:
    """The context of a match: its clause up to the match, and its stretch before and after the match."""

    clause: str
    before: str
    after: str


def surroundings(sentence: str, start: int, end: int) -> Surroundings:
    """Return the context of sentence[start:end]."""
    opening = max((contrast.end() for contrast in _CONTRAST.finditer(sentence, 0, start)), default=0)
    contrast = _CONTRAST.search(sentence, end)
    segments, separator = _segments(sentence, opening, start)
    clause = segments[-1]
    # "The processor, which may sit abroad, is ...": the subject of the clause is before the relative clause.
    if not clause.strip() and separator == ",":
        clause = " ".join(segment for segment in segments if not _RELATIVE.match(segment))
    else:
        clause = " ".join([*(segment for segment in segments[:-1] if _is_adverbial(segment)), clause])
    before = " ".join(segment for segment in segments if not _CONCESSION.match(segment))
    return Surroundings(clause.strip(), before.strip(), sentence[end : contrast.start() if contrast else None])


def _is_adverbial(segment: str) -> bool:
    """Return whether it qualifies the next clause: a few words without a verb, as in "In most cases, ..."."""
    words = segment.split()
    # "... detects attention, not emotion, and ...": this negation does not apply to the next clause.
    return len(words) <= _ADVERBIAL and words[:1] != ["not"] and not _VERB.search(segment)


def is_negated(text: str) -> bool:
    """Return whether the text before a statement denies it or leaves it open."""
    return bool(pattern(r"\b<negation>\b").search(text))


def is_conditional(text: str) -> bool:
    return bool(pattern(r"\b<condition>\b").search(text))


def is_reported(text: str) -> bool:
    return bool(pattern(r"\b<reported>\b").search(text))


def _segments(sentence: str, opening: int, start: int) -> tuple[list[str], str]:
    """Return the clauses from opening to start, and the separator before the last one."""
    segments = []
    separator = ""
    position = opening
    for match in _CLAUSE.finditer(sentence, opening):
        if match.end() > start:
            break
        segments.append(sentence[position : match.start()])
        position, separator = match.end(), match[0].strip()
    return [*segments, sentence[position:start]], separator


_FINITE = (
    r"(?:is|are|was|were|will|can|may|might|could|should|must|has|have|needs?|does|do|complies|comply|meets?"
    r"|satisf(?:y|ies)|guarantees?|violates?|ensures?|carr(?:y|ies)|poses?)\b"
)
_ADVERBIAL = 4
_VERB = re.compile(rf"\b(?:{_FINITE}|(?:i|we|you|they|he|she) \w)")
_SUBJECT = (
    r"(?:(?:it|this|that|these|those|they|you|we|i|there|he|she|nothing|nobody|everything|no|all|every)\b"
    rf"|(?:the|your|its|our|their|a|an|any|each|such|both|clause|section|article|annex)(?: [\w'().-]+){{1,4}}? "
    rf"{_FINITE})"
)
# "but only if" and "though this depends on" continue the claim; every other contrast starts a new one.
_CONTINUES = r"(?! (?:only|if|where|when|(?:this|that|it) (?:depends|turns|hinges)))"
_CONTRAST = re.compile(
    rf";|(?:^|,? )(?:but|yet|however|nevertheless|nonetheless|because|since)\b{_CONTINUES}"
    rf"|(?:^|,? )(?=(?:although|though|even though|while|whilst|whereas)\b{_CONTINUES})"
    r"| – (?!if|unless|provided|assuming|subject|based|according|in my|in our|at least|as far)"
)
_CLAUSE = re.compile(
    rf"[,:;()–]|,? (?:and|or|so(?! that)|then|and so|and therefore|meaning|which means)(?: that)?(?: therefore| "
    rf"thus| hence)? (?={_SUBJECT}|{_FINITE})"
    r"| (?=(?:which|who|because|since|although|though|but|while|whereas) )"
)
_RELATIVE = re.compile(r"\s*(?:which|who|whose|where|although|though|while|even if|despite|whatever)\b")
_CONCESSION = re.compile(
    r"\s*(?:although|though|while|whilst|even|despite|in spite|whatever|regardless|no matter|whereas|irrespective)\b"
)
