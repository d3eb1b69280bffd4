"""Detect whether an evaluator's note asserts a claim that no report may make.

A note may quote such a word, report that the output uses it, deny it or ask for it; anything else is an assertion. When
in doubt, a note counts as asserting: it is then withheld in renderings and kept raw, which is the smaller harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from salvo.playbooks.enums import FORBIDDEN_CLAIMS
from salvo.playbooks.evaluate.folded_text import INVISIBLE

_AUTHORITY = (
    r"(?:regulators?|(?:supervisory|data protection|competent|regulatory) authorit(?:y|ies)"
    r"|ico|cnil|edpb|bafin|fca|sec|fda)"
)
_LAW = r"(?:gdpr|ccpa|hipaa|ai act|act|laws?|legislation|regulations?|directives?|legal requirements?|data protection)"

CLAIMS: Mapping[str, str] = {
    "certified": r"(?<!non-)\b(?:pre-)?certified\b(?! (?:cop(?:y|ies)|mail|letter|translations?))"
    r"|\bcertification (?:has been|was|is) (?:granted|issued|obtained|awarded|confirmed)\b"
    r"|\b(?:holds|has|carries) (?:an? |the )?(?:[\w-]+ ){0,3}?certification\b",
    "compliant": r"(?<!non-)(?<!\bnon )\bcompliant\b"
    r"|\bin (?:full |complete |substantial )?compliance with\b"
    rf"|\bcompli(?:es|ed) (?:fully |entirely )?with (?:(?:the|all|any|applicable|relevant|eu|uk|us) ){{0,3}}{_LAW}\b",
    "legally safe": r"\blegally (?:\w+ )?safe\b"
    r"|\bsafe (?:legally|in law|from a legal (?:point of view|perspective|standpoint))\b",
    "regulator approved": r"\bregulator(?:y|s)?[- ]approved\b"
    rf"|\bapproved by (?:the |an? |its |all |any )?(?:\w+ ){{0,3}}?{_AUTHORITY}\b"
    rf"|\b{_AUTHORITY} (?:has |have )?approved\b"
    r"|\bregulator(?:y|'s)? approval (?:has been|was|is) (?:granted|given|obtained|confirmed)\b",
}
"""Patterns that assert each of the forbidden claims, in lower case."""

_IS = r"(?:is|are|was|were|has|have|remains?|appears?|seems?)"
_NEW_CLAUSE = re.compile(
    r";|\b(?:but|yet|however|therefore|thus|hence|so|whereas|although|though|while|because|since)\b"
    rf"|,? and (?=(?:(?:it|this|they) )?(?:{_IS}|overall)\b)"
    rf"|, (?=(?:it|this|they|which|overall|all \w+|the \w+(?: \w+)?),? {_IS}\b)"
    r"|, (?=(?:making|rendering|leaving)\b)"
)
"""Where the effect of a negation, or of words that report what the output says, ends."""

_ACCORDING = re.compile(
    r"\baccording to (?:the|this) (?:ai )?(?:output|text|draft|answer|document|memo|author|response),? "
)
_REPORTED = re.compile(
    r"\b(?:says?|said|saying|stat(?:es?|ed|ing)|claim(?:s|ed|ing)?|assert(?:s|ed|ing)?|declar(?:es?|ed|ing)"
    r"|describ(?:es?|ed|ing)|present(?:s|ing)|conclud(?:es?|ed|ing)|call(?:s|ed|ing)|label(?:s|led|ling)?"
    r"|characteri[sz](?:es?|ed|ing)|treat(?:s|ed|ing)|suggest(?:s|ed|ing)?|impl(?:ies|ied|ying)|represent(?:s|ed|ing)"
    r"|guarantee(?:s|ing)|promis(?:es|ed|ing)|mention(?:s|ed|ing)?|refer(?:s|red|ring)? to|uses|using"
    r"|alleg(?:es|ed|ing)|purport(?:s|ed|ing)?|argu(?:es|ed|ing)|insist(?:s|ed|ing)?|quot(?:es?|ed|ing)|cit(?:es|ed|ing)"
    rf")\b(?! {_IS}\b)"
    # A noun reports only through what follows it: "the wording is ..." is about the wording itself.
    r"|\b(?:words?|terms?|phrases?|wording|language|statements?|sentences?|adjectives?|conclusions?|assertions?|views?"
    r"|opinions?|usage|used?)"
    r"(?= (?:that|of|like|such as|as|certified|compliant|legally|regulator)\b| ?$|:| \()"
    r"|\baccording to it\b"
)
_OWN_VOICE = re.compile(r"\b(?:i|we|my|our|(?:this|the) (?:check|evaluation|evaluator|test|judge|verdict|evidence))\b")
_NO_NEGATION = re.compile(
    r"\b(?:no (?:doubt|question|issue|reason)|not (?:only|just|merely|in doubt)|without (?:any? )?(?:doubt|question))\b"
)
_DENIED = re.compile(
    r"n't\b|\b(?:not|no|never|neither|nor|none|nothing|without|cannot|lack(?:s|ing)?|unclear|unproven|unsupported|unknown"
    r"|uncertain|ambiguous|whether|if|unless|insufficient|fail(?:s|ed|ing)? to|rather than|instead of)\b"
)
_ASKED_FOR = re.compile(
    r"(?:\b(?:must|should|would|could|may|might|ought to|needs? to|required to|have to|has to) be|\bin order to be)"
    r" (?:\w{1,60} ){0,2}$"
)
_TALKED_ABOUT = re.compile(
    r"(?:(?:/[\w-]{1,60})? (?:claims?|statements?|labels?|wording|language|assertions?|terms?)\b"
    r"|(?: with (?:[\w-]{1,60} ){0,3}[\w-]{1,60})? (?:is|are|was|were|has been) (?:only |merely |simply )?"
    r"(?:asserted|claimed|stated|said|used|presented|declared|described|mentioned|implied|suggested|not|never)\b)"
)

_SAME_MARKS = str.maketrans("“”„‟«»‘’‚‛`‹›‐‑‒–—", "\"\"\"\"\"\"'''''''-----")  # noqa: RUF001 - look-alikes are the subject
_UNSEEN = re.compile(f"[{INVISIBLE}]")
_QUOTED = re.compile(r"\"[^\"]*+\"|(?<!\w)'(?:[^']|(?<=\w)'(?=\w))*+'(?!\w)")
_SENTENCE = re.compile(r"[^.!?]*+(?:[.!?]++(?=\S)[^.!?]*+)*+[.!?]*+")


def forbidden_claims(note: str) -> list[str]:
    """Return the forbidden claims that the note asserts, in the specification's words and order."""
    clauses = list(_clauses(note))
    return [claim for claim in FORBIDDEN_CLAIMS if any(_asserts(clause, CLAIMS[claim]) for clause in clauses)]


def _clauses(note: str) -> Iterator[str]:
    plain = " ".join(_UNSEEN.sub("", note).translate(_SAME_MARKS).lower().split())
    for sentence in _SENTENCE.findall(_QUOTED.sub('""', plain)):
        if not sentence.rstrip().endswith("?"):
            yield from _NEW_CLAUSE.split(_ACCORDING.sub("according to it ", _NO_NEGATION.sub("indeed", sentence)))


def _asserts(clause: str, claim: str) -> bool:
    prefixes = _Prefixes(clause)
    matches = re.finditer(claim, clause)
    return any(not _is_exempt(clause, match.start(), match.end(), prefixes) for match in matches)


def _is_exempt(clause: str, start: int, end: int, prefixes: _Prefixes) -> bool:
    reported = prefixes.first(_REPORTED, start)
    if reported is not None and prefixes.first(_OWN_VOICE, reported) is None:
        return True
    return (
        prefixes.first(_DENIED, start) is not None
        or _ASKED_FOR.search(clause, max(0, start - _ASKED_FOR_LENGTH), start) is not None
        or _TALKED_ABOUT.match(clause, end) is not None
    )


class _Prefixes:
    """Where patterns first match before a place of a clause. A clause may assert a claim ten thousand times.

    So each pattern searches the clause once. Only near the end of a prefix does it matter where the prefix ends.
    """

    def __init__(self, clause: str) -> None:
        self._clause = clause
        self._first: dict[re.Pattern[str], int | None] = {}

    def first(self, pattern: re.Pattern[str], end: int) -> int | None:
        """Return what `pattern.search(clause, 0, end)` starts at, for a pattern with short matches."""
        if pattern not in self._first:
            match = pattern.search(self._clause)
            self._first[pattern] = match.start() if match else None
        start = self._first[pattern]
        stable = max(0, end - _LONGEST_MATCH)
        if start is not None and start < stable:
            return start
        match = pattern.search(self._clause, stable, end)
        return match.start() if match else None


_LONGEST_MATCH = 60
"""More characters than a match of `_REPORTED`, `_OWN_VOICE` or `_DENIED` has, with what it looks at around it."""
_ASKED_FOR_LENGTH = 200
"""More characters than a match of `_ASKED_FOR` has."""
