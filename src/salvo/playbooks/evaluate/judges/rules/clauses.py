"""Clauses of a folded sentence: how far a hedge, a negation, a condition or an attribution reaches.

A hedge reaches to the end of its own clause. A frame ("if ...", "according to the vendor", "in our view") reaches over
its stretch: the clauses up to the next contrast ("but", ";", "although").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from salvo.playbooks.evaluate.judges.rules.vocabulary import pattern


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around a match: its clause up to the match, its stretch, and what follows it there."""

    clause: str
    before: str
    after: str

    @property
    def stretch(self) -> str:
        return f"{self.before} {self.after}"


def surroundings(sentence: str, start: int, end: int) -> Surroundings:
    """The clause and the stretch in which sentence[start:end] stands."""
    opening, closing = _within(_CONTRAST, sentence, start, end)
    segments, separator = _segments(sentence, opening, start)
    clause = segments[-1]
    # "The processor, which may sit abroad, is ...": the subject of the clause is further to the left.
    if not clause.strip() and separator == ",":
        clause = " ".join(segment for segment in segments if not _RELATIVE.match(segment))
    else:
        clause = " ".join([*(segment for segment in segments[:-1] if _is_adverbial(segment)), clause])
    before = " ".join(segment for segment in segments if not _CONCESSION.match(segment))
    return Surroundings(clause.strip(), before.strip(), sentence[end:closing])


def _is_adverbial(segment: str) -> bool:
    """ "Arguably, ...", "in most cases, ...": a few words without a verb of their own qualify the clause after them."""
    words = segment.split()
    # "... detects attention, not emotion, and ...": what is set against the object denies nothing of the next clause.
    return len(words) <= _ADVERBIAL and words[:1] != ["not"] and not _VERB.search(segment)


def is_negated(text: str) -> bool:
    """Whether the text, which leads up to a statement, denies it or leaves it open."""
    return bool(pattern(r"\b<negation>\b").search(text))


def is_conditional(text: str) -> bool:
    return bool(pattern(r"\b<condition>\b").search(text))


def is_reported(text: str) -> bool:
    return bool(pattern(r"\b<reported>\b").search(text))


def _within(boundary: re.Pattern[str], sentence: str, start: int, end: int) -> tuple[int, int]:
    opening = 0
    for match in boundary.finditer(sentence, 0, start):
        opening = match.end()
    following = boundary.search(sentence, end)
    return opening, following.start() if following else len(sentence)


def _segments(sentence: str, opening: int, start: int) -> tuple[list[str], str]:
    """The text from opening to start, cut into clauses (the last leads up to start), and what parts off the last."""
    segments = []
    separator = ""
    place = opening
    for match in _CLAUSE.finditer(sentence, opening):
        if match.end() > start:
            break
        segments.append(sentence[place : match.start()])
        place, separator = match.end(), match[0].strip()
    return [*segments, sentence[place:start]], separator


_FINITE = (
    r"(?:is|are|was|were|will|can|may|might|could|should|must|has|have|needs?|does|do|complies|comply|meets?"
    r"|satisf(?:y|ies)"
    r"|guarantees?|violates?|ensures?|carr(?:y|ies)|poses?)\b"
)
_ADVERBIAL = 4
_VERB = re.compile(rf"\b(?:{_FINITE}|(?:i|we|you|they|he|she) \w)")
_SUBJECT = (
    r"(?:(?:it|this|that|these|those|they|you|we|i|there|he|she|nothing|nobody|everything|no|all|every)\b"
    rf"|(?:the|your|its|our|their|a|an|any|each|such|both|clause|section|article|annex)(?: [\w'().-]+){{1,4}}? "
    rf"{_FINITE})"
)
# "but only if" and "though this depends on" carry on the claim; every other contrast starts something new.
_GOES_ON = r"(?! (?:only|if|where|when|(?:this|that|it) (?:depends|turns|hinges)))"
_CONTRAST = re.compile(
    rf";|(?:^|,? )(?:but|yet|however|nevertheless|nonetheless|because|since)\b{_GOES_ON}"
    rf"|(?:^|,? )(?=(?:although|though|even though|while|whilst|whereas)\b{_GOES_ON})"
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
