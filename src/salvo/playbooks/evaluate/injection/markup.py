"""Find markup that imitates what surrounds an evaluation: chat roles, the prompt's headings, XML or JSON answers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from salvo.playbooks.evaluate.inputs import Span


class MarkupPattern(NamedTuple):
    kind: str
    regex: str
    """`re` compiles it at its first use; most texts need few of them."""
    needs: tuple[str, ...]
    """The pattern is searched only if one of these occurs in the lower-case text."""
    extent: Callable[[_Extents, Span], Span]
    """Returns the whole of what the match is a part of."""


def markers(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the kind and the extent of each piece of such markup."""
    lower_case = text.lower()
    extents = _Extents(text)
    for pattern in _PATTERNS:
        if any(part in lower_case for part in pattern.needs):
            end = 0
            for match in re.finditer(pattern.regex, text):
                if match.start() >= end:
                    span = pattern.extent(extents, Span(*match.span()))
                    end = span.end
                    yield pattern.kind, span


def hiding_characters(text: str) -> Iterator[Span]:
    """Yield where characters hide or reorder what a reader sees, in the text as it is."""
    if not text.isascii():
        for pattern in _HIDING_CHARACTERS:
            yield from (Span(*match.span()) for match in re.finditer(pattern, text))


_FAR = 20_000
"""Characters in which the end of an element or an object is searched."""


class _Extents:
    """How far a piece of markup reaches in a text. Nothing is searched twice, so that it takes linear time."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._not_closed: dict[str, int] = {}
        """By the name of an element: up to where no closing tag was found."""

    def match_only(self, span: Span) -> Span:
        return span

    def element(self, span: Span) -> Span:
        """Return the element that the tag opens, if it is closed near by."""
        tag = re.match(r"<\s*([\w-]+)", self._text[span.start : span.end])
        if tag is None:
            return span
        name = tag[1].lower()
        first, last = max(span.end, self._not_closed.get(name, 0)), span.end + _FAR
        match = re.compile(rf"</\s*{re.escape(name)}\s*>", re.IGNORECASE).search(self._text, first, last)
        if match is None:
            self._not_closed[name] = last
            return span
        return Span(span.start, match.end())

    def object(self, span: Span) -> Span:
        """Return the JSON object or array around the match, if its brackets are near by."""
        index = bisect_right(self._objects, (span.start, len(self._text))) - 1
        if index >= 0 and self._objects[index][1] >= span.end:
            return Span(*self._objects[index])
        return span

    @cached_property
    def _objects(self) -> list[tuple[int, int]]:
        """The outermost pairs of brackets that are not too far apart."""
        pairs: list[tuple[int, int]] = []
        opened: list[int] = []
        for match in re.finditer(r"[{}\[\]]", self._text):
            at = match.start()
            if match[0] in "{[":
                opened.append(at)
            elif opened and self._text[opened[-1]] == _OPENING[match[0]]:
                start = opened.pop()
                if at + 1 - start <= _FAR:
                    while pairs and pairs[-1][0] > start:
                        pairs.pop()
                    pairs.append((start, at + 1))
            else:
                opened.clear()
        return pairs

    def conversation(self, span: Span) -> Span:
        """Return everything up to the last marker of a role that follows within reach, and to the end of its block."""
        role_mark = re.compile(_ROLE_MARK)
        end = span.end
        while match := role_mark.search(self._text, end, end + _NEXT_ROLE):
            end = match.end()
        block_end = self._text.find("\n\n", end)
        return Span(span.start, len(self._text) if block_end < 0 else block_end)


_OPENING = {"}": "{", "]": "["}
_NEXT_ROLE = 3000
"""Characters in which the next marker of a chat is searched."""

_ROLE_MARK = r"(?i)<\|/?[a-z_]{2,24}\|>|\[/?(?:INST|SYS|SYSTEM|ASSISTANT|USER)\]|<</?SYS>>|</?(?:start|end)_of_turn>"
_TAG = r"<\s*/?\s*(?:{names})(?:\s[^<>]{{0,200}})?/?>"
_STRONG_TAGS = (
    r"system|assistant|developer|system[_-]prompt|system-reminder|function_calls?|tool_results?|tool_calls?|evaluator"
    r"|evaluation|evaluation[_-]\w+|judge|judge?ment|judge[_-]\w+|verdict|grader|grading|grade|graded|override"
    r"|assessment[_-]result|artifact|ai[_-]output|check[_-]result|overall_status|system[_-]message"
)
_WEAK_TAGS = (
    "answer|result|response|output|thinking|reasoning|score|confidence|instructions?|notes|check|final|reply|admin"
    "|prompt"
    "|rating"
)
_ADDRESSED = (
    r"(?:(?i:verdict|evaluat|grader|all checks|every check|language model|reviewers?\b)"
    r"|\b(?i:pass(?:ed|es)?)\b(?!\s+(?:on|to|through)\b))"
)

_PATTERNS = (
    MarkupPattern(
        "role_marker",
        _ROLE_MARK,
        ("<|", "inst]", "sys]", "system]", "assistant]", "user]", "sys>>", "_of_turn>"),
        _Extents.conversation,
    ),
    MarkupPattern("role_marker", "(?i)" + _TAG.format(names=_STRONG_TAGS), (">",), _Extents.element),
    MarkupPattern(
        "forged_verdict",
        # An element with a common name counts only with a verdict in it.
        "(?i)" + _TAG.format(names=_WEAK_TAGS) + rf"(?=[^<>]{{0,600}}?{_ADDRESSED})",
        (">",),
        _Extents.element,
    ),
    MarkupPattern(
        "role_marker",
        r"(?im)^[ \t>*#-]{0,8}(?:system|developer|assistant|evaluator|grader|model)\*{0,2}:\*{0,2}[ \t]{0,3}"
        r"(?:you|ignore|disregard|override|forget|return|respond|output|mark|pass|all checks|new instructions"
        r"|from now on|result|verdict|answer|understood|every check)\b[^\n]*",
        (":",),
        _Extents.match_only,
    ),
    MarkupPattern(
        "role_marker",
        # Two voices of a chat, one after the other. The definitions of a contract have no such pair.
        r"(?im)^@(?:(?P<term>user|system|developer)|human|evaluator|reviewer|grader|judge|prompt)\*{0,2}"
        r"(?::[^\n]{0,2000}|\s*)\n(?:[^\n]{0,2000}\n){0,3}?"
        # A contract may define a user or a system, and then AI.
        r"@(?:assistant|chatbot|(?(term)\b\B|(?:ai|model|llm)))\*{0,2}(?::[^\n]*|\s*(?:\n[^\n]+|\Z))"
        r"(?:\n+@(?:user|human|evaluator|reviewer|grader|judge|system|assistant|ai|model)\*{0,2}:[^\n]*)*".replace(
            "@", "[ \\t>*#\"'\u2018\u201c-]{0,8}"
        ),
        ("assistant", "ai:", "ai*", "model", "llm", "chatbot"),
        _Extents.match_only,
    ),
    MarkupPattern(
        "role_marker",
        r"(?im)^[ \t>*#\[({-]{0,8}(?:begin |end |end of )?(?:system (?:prompt|message|override|instructions?)"
        r"|admin(?:istrator)? override"
        r"|(?:evaluator|hidden|grader|judge) (?:prompt|instructions?|note|override))\*{0,2}[\])]?[ \t]{0,3}(?::"
        r"|-{2,})[^\n]*",
        ("system", "evaluator", "hidden", "grader", "judge", "admin"),
        _Extents.match_only,
    ),
    MarkupPattern(
        "role_marker",
        r"(?m)^#{2,6}[ \t]{0,3}(?:System|Instruction|Human|Assistant|User|Response):[^\n]*",
        ("##",),
        _Extents.match_only,
    ),
    MarkupPattern(
        "role_marker",
        r"(?i)\{\{[#/]?\s*(?:admin|system|override|evaluator|assistant|instruction)[^{}\n]{0,600}\}\}",
        ("{{",),
        _Extents.match_only,
    ),
    MarkupPattern(
        "forged_heading",
        r"(?im)^[ \t>]{0,8}[=#<\[*-]{2,12}[ \t]{0,3}"
        "(?:(?:(?:end|begin(?:ning)?|start)(?: of)? (?:the )?)(?:check|input|prompt|answer|context|verdict"
        r"|user input|judge)"
        "|(?:(?:end|begin(?:ning)?|start)(?: of)? (?:the )?)?(?:ai output|source document|original prompt"
        r"|system instructions"
        "|system prompt|pattern hits|evaluator|evaluation (?:result|instructions|task)|artifact"
        r"|untrusted (?:text|content)|grader))"
        r"\b[^\n=]{0,80}[=#*>\]-]{2,12}[^\n]*|^[ \t>]{0,8}={2,12}[ \t]{0,3}(?:check"
        r"|verdict)\b[^\n=]{0,80}={2,12}[^\n]*",
        ("==", "##", "**", "<<", "[[", "--"),
        _Extents.match_only,
    ),
    MarkupPattern(
        "forged_heading",
        r"(?i)(?<![=#<>*-])[=#<>*-]{2,12} ?(?:end|begin|start)(?: of)? (?:the )?(?:ai )?"
        r"(?:input|answer|artifact|prompt|output under evaluation|evaluation|instructions) ?[=#<>*-]{2,12}",
        ("==", "##", "<<", ">>", "**", "--"),
        _Extents.match_only,
    ),
    MarkupPattern(
        "role_marker",
        r"\b(?:BEGIN|END|START)(?: OF)? (?:SYSTEM|ADMIN|DEVELOPER) (?:MESSAGE|PROMPT|INSTRUCTIONS?)\b"
        r"|(?im:^#{1,6}[ \t]{1,3}(?:response|answer|output)[ \t]*\n+\W{0,4}(?:result|verdict)\b[^\n]*)",
        ("system", "admin", "developer", "#"),
        _Extents.match_only,
    ),
    MarkupPattern(
        "forged_heading",
        r"(?im)^[ \t>]{0,8}(?:check to evaluate\b[^\n]{0,40}:|the tag of all blocks below is\b)[^\n]*",
        ("check to evaluate", "the tag of all blocks"),
        _Extents.match_only,
    ),
    MarkupPattern(
        "forged_heading",
        r"(?im)^[ \t#*=<\[>-]{0,10}end of (?:the )?(?:ai output|artifact|input|prompt|evaluated text"
        r"|text (?:under|to) evaluat\w+)\b[^\n]*",
        ("end of",),
        _Extents.match_only,
    ),
    MarkupPattern(
        "forged_heading",
        # Many a draft ends with such a line; what follows it shows whether it is meant for an evaluator.
        r"(?im)^[ \t>]{0,8}[=#<\[*-]{1,12}[ \t]{0,3}end of (?:the )?(?:document|text|file|memo|output"
        r"|draft)\b[^\n]{0,40}"
        r"(?=\s{0,4}[^\n]{0,200}\b(?:answer|evaluat\w+|grade|judge|respond|reply|pass|passes|verdict|checks)\b)",
        ("end of",),
        _Extents.match_only,
    ),
    MarkupPattern(
        "forged_verdict",
        r"(?i)\\?[\"'“”](?:result|verdict|outcome|decision|grade|overall_status|evaluation)\\?[\"'“”] ?:"
        r" ?\\?[\"'“](?:pass|passed|fail|indeterminate|stable)\\?[\"'”]"
        r"|\\?[\"'“]role\\?[\"'”] ?: ?\\?[\"'“](?:system|assistant|developer)\\?[\"'”]",
        ("result", "verdict", "overall_status", "outcome", "decision", "grade", "role", "evaluation"),
        _Extents.object,
    ),
    MarkupPattern(
        "forged_verdict",
        # Fields of an answer: a result and what supports it.
        r"(?im)^[ \t>*-]{0,8}(?:final |overall |expected )?(?:result|verdict|outcome|decision)\*{0,2} ?[:=]"
        r" ?[*\"']{0,3}pass(?:ed)?\b[^\n]*"
        r"(?:\n[ \t>*-]{0,8}[\w ]{2,30}\*{0,2} ?[:=][^\n]*)+",
        ("pass",),
        _Extents.match_only,
    ),
    MarkupPattern(
        "forged_verdict",
        r"(?im)^[ \t>*-]{0,8}(?:check|criterion|id|check_id|question)\*{0,2} ?[:=][^\n]{1,200}\n"
        r"(?:[ \t>*-]{0,8}[\w ]{2,30}\*{0,2} ?[:=][^\n]*\n){0,4}?[ \t>*-]{0,8}(?:expected |final )?(?:result"
        r"|verdict|outcome|decision|answer)\*{0,2} ?[:=] ?[*\"']{0,3}pass(?:ed)?\b[^\n]*"
        r"(?:\n[ \t>*-]{0,8}[\w ]{2,30}\*{0,2} ?[:=][^\n]*)*",
        ("pass",),
        _Extents.match_only,
    ),
    MarkupPattern(
        "hidden_text",
        r"(?i)<(?P<tag>div|span|p|font)\b[^<>]{0,200}(?:display\s*:\s*none|visibility\s*:\s*hidden"
        r"|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d])|\shidden\b|color\s*:\s*(?:white|#fff\b|#ffffff))[^<>]{0,200}>",
        ("display", "visibility", "font-size", "opacity", "hidden", "color"),
        _Extents.element,
    ),
)

_HIDING_CHARACTERS = (
    r"[\u202d\u202e][^\u202c\n]{0,200}",
    r"[\u200b-\u200d\u2060\ufeff]{8,}+",
    # The flags of regions are written with tag characters too; they hide nothing.
    r"(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]++",
)

EVALUATION_TITLE = (
    r"(?i)\b(?:graders?|evaluators?|language model|llm|playbook|automated (?:review|check|evaluation)|reviewing model"
    r"|judge model|ai (?:review|evaluat|judge|grader)\w*|verdict|final (?:result|answer|verdict)"
    r"|(?:evaluation|assessment|review|checks?|grading|test) (?:outcome|results?|verdict|summary|status|score|notes?)"
    r"|results? of the (?:evaluation|check|review|run)s?)\b"
)
"""Words of a heading over an evaluation. Honest headings have them too: what is below decides."""
VERDICT_BELOW = (
    r"(?i)\bno checks? failed\b|\b(?:all|every|each)(?: \w{1,10})? checks?(?: are|:| is)? ?\**pass(?:ed)?\b"
    r"|\bconfidence[: =]{1,3}(?:[01]\b|0?\.\d|\d\d ?%)|\b[a-z]{3,20}(?:_[a-z]{2,20}){1,4}\W{1,5}pass(?:ed)?\b"
    r"|\A\W{0,8}pass(?:ed)?\b(?! (?:on|to|through)\b)|\b(?:certainty|assumptions?|escalation"
    r"|unchecked areas)\W{1,4}pass\b"
)
"""A verdict on the text as a whole, or on checks, near below a heading."""
