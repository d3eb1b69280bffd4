"""Find passages that address the evaluator, and invisible characters.

Findings are for the reader of the report. They change no result: the fences and rules of the prompt keep the evaluator
from following such text. The patterns prefer to miss a passage rather than to match ordinary legal prose, which has its
own instructions, judges, evaluators and passes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from salvo.playbooks.evaluate.inputs import Inputs, Span
from salvo.playbooks.report.normalization import Folded
from salvo.playbooks.report.report import ArtifactFinding


@dataclass(frozen=True, slots=True)
class InjectionFinding:
    """A passage of the AI output that tries to steer its evaluation, or hides something."""

    kind: str
    message: str
    span: Span


MESSAGES: Mapping[str, str] = {
    "instruction_override": "The text tells its reader to ignore instructions. It was not followed.",
    "addresses_evaluator": "The text addresses an automated evaluator. It was not followed.",
    "asks_for_verdict": "The text asks for a particular result of its evaluation. It was not followed.",
    "role_marker": "The text imitates the markers of a chat model's roles. They have no effect.",
    "forged_heading": "The text imitates a heading of the evaluator's prompt. It has no effect.",
    "forged_verdict": "The text contains a verdict in the evaluator's own form. It was not counted.",
    "hidden_text": "The text contains characters that hide or reorder what a reader sees.",
}


class InjectionPattern(NamedTuple):
    regex: str
    needs: tuple[str, ...] = ()
    """The pattern is searched only if one of these occurs in the lower-case text."""


# A command starts its sentence: its capital letter, or what comes before it, shows that. "The processor shall
# disregard prior instructions" states a duty and is no command.
_YOU_MUST = r"(?i:\b(?:please|kindly|now|simply|then|you (?:must|should|shall|will|are to|to)) )"
_BEFORE = rf"(?:\A|(?<=[.!?:>\]] )|(?<=[.!?:>\]])|{_YOU_MUST})"


def _command(*verbs: str) -> str:
    capital = "|".join(f"{verb[0].upper()}(?i:{verb[1:]})" for verb in verbs)
    return rf"(?:(?<!\w)(?:{capital})|{_BEFORE}'?(?i:{'|'.join(verbs)}))\b"


_EVALUATOR = (
    r"(?:(?:ai|llm|automated|automatic|machine) (?:evaluator|judge|grader|reviewer|assessor)"
    r"|evaluators?|graders?|evaluation (?:engine|model)|llms?|language models?)"
)
_THE_WORD = r"['*\[]{0,3}pass\b"
_IGNORE = ("ignore", "disregard", "forget", "override", "bypass")
_GRADE = ("mark", "grade", "rate", "score", "label", "classify", "treat", "count", "record", "report", "judge", "set")

FOLDED_TEXT_PATTERNS: Mapping[str, Sequence[InjectionPattern]] = {
    "instruction_override": (
        InjectionPattern(
            _command(*_IGNORE, "do not follow", "do not obey")
            + r"(?i: (?:all |any |the |every |of |these |those |my |your ){0,4}"
            r"(?:previous|prior|above|preceding|earlier|foregoing|system|original|existing)(?: [\w-]{1,20}){0,2}?"
            r" (?:instructions?|prompts?|rules|directions|guidelines|directives|messages?|rubric|criteria|checks?)\b"
            r"(?! (?:from|of|by|given by|issued by|under|set out|received|on|about|dated"
            r"|in (?:the|this) (?:agreement|contract))\b))",
            (*_IGNORE, "do not"),
        ),
        InjectionPattern(
            _command(*_IGNORE) + r"(?i: (?:all |any |of )?(?:your (?:\w{1,12} )?"
            r"(?:instructions|rules|guidelines|prompt|programming|training)"
            r"|(?:the|this|your) (?:system prompt|rubric|playbook|evaluation criteria|check instructions)"
            r"|(?:everything|anything|all) (?:above|before this|that came before|you (?:were|have been) told)))\b",
            _IGNORE,
        ),
        InjectionPattern(
            _command(*_IGNORE) + r"(?i: (?:\w{1,12} ){0,3}?(?:instructions|rules|directives|prompts?) "
            r"(?:above|before this|given to you|you (?:got|received|were given|have been given)))\b",
            _IGNORE,
        ),
    ),
    "addresses_evaluator": (
        InjectionPattern(
            r"(?i)\bto (?:the|any|an) (?:ai|llm|model|language model|system) (?:that is |which is )?"
            r"(?:evaluating|grading|judging|assessing|scoring) this\b",
            (" this",),
        ),
        InjectionPattern(
            r"(?i)\bif you are (?:an? |the )?(?:(?:ai )?(?:language model|evaluator|assistant model)|ai model|llm)\b",
            ("if you are",),
        ),
        InjectionPattern(
            rf"(?i)\bas (?:the |an |a )?(?:{_EVALUATOR}|judge),? (?:you|please|your (?:task|job|role))\b",
            ("evaluat", "grader", "judge", "llm", "language model"),
        ),
        InjectionPattern(
            r"(?i)\b(?:note|message|memo|instructions?|attention|reminder|notice|important)[:,]?(?: to| for)?"
            rf" (?:the |any |all )?{_EVALUATOR}(?=[:,!-]| (?:reading|please|you|must)\b)",
            ("evaluat", "grader", "judge", "llm", "language model", "reviewer", "assessor"),
        ),
        InjectionPattern(
            rf"(?i)\b(?:dear|hello|hi|hey),? (?:the )?{_EVALUATOR}\b", ("dear", "hello", "hi ", "hey", "hi,")
        ),
        InjectionPattern(
            rf"(?i)\b{_EVALUATOR}[:,]"
            r" (?:you (?:must|should|will|are)|please|ignore|disregard|return|respond|mark|rate|score)\b",
            ("evaluat", "grader", "judge", "llm", "language model"),
        ),
        InjectionPattern(
            r"\b(?:You are|YOU ARE)(?i: (?:now )?(?:a|an|the) (?:[\w-]{1,20} ){0,3}?"
            r"(?:evaluation engine|evaluator|grader|ai assistant|ai model|language model|chatbot|llm))\b",
            ("you are",),
        ),
        InjectionPattern(
            r"(?i)\bfrom now on,? you (?:are|will|must|should) (?:\w{1,20} ){0,3}?"
            r"(?:act|respond|answer|return|output|evaluate|grade|ignore|behave)\b",
            ("from now on",),
        ),
        InjectionPattern(
            r"(?i)\b(?:reveal|print|repeat|output|show) (?:your|the) (?:system|hidden|initial)"
            r" (?:prompt|instructions)\b",
            ("prompt", "instructions"),
        ),
    ),
    "asks_for_verdict": (
        InjectionPattern(
            _command(*_GRADE) + r"(?i: (?:(?:this|the|each|every|all|any|these|that)(?: \w{1,20}){0,2}?"
            r" (?:checks?|results?|verdicts?|evaluations?)|this (?:test|text|document|output|answer|response))"
            rf"(?: \w{{1,20}}){{0,2}}? (?:as|to|a|=) (?:an? |fully )?(?:{_THE_WORD}|['*]{{0,2}}pass(?:ed|ing)\b))",
            ("pass",),
        ),
        InjectionPattern(
            r"(?i)\b(?:return|output|answer|respond|reply|vote|emit)"
            rf"(?: with| only| just| exactly| result| verdict| as){{0,3}} {_THE_WORD}"
            r"(?=['*\].,;!:]|\Z| (?:for|on|in|with|regardless|and|as|to (?:this|all|every))\b)",
            ("pass",),
        ),
        InjectionPattern(
            r"(?i)\b(?:result|verdict|answer|outcome|response|grade|vote) (?:must|should|shall|has to|needs to|is to"
            rf"|will) (?:always )?be {_THE_WORD}(?!-)",
            ("pass",),
        ),
        InjectionPattern(
            r"(?i)\b(?:this|the) (?:output|text|document|answer|response) (?:must|should|shall|has to|needs to)"
            r" (?:pass|receive a pass|be passed|be marked(?: as)? pass(?:ed)?)(?: (?:on|in|for))?"
            r" (?:all|every|each|this|the) (?:\w{1,20} )?(?:checks?|tests?|evaluations?)\b",
            ("pass",),
        ),
        InjectionPattern(
            _command("do not")
            + r"(?i: (?:flag|fail|penali[sz]e) (?:this|the ai) (?:output|text|document|check|answer)\b)",
            ("do not",),
        ),
        InjectionPattern(
            r"(?i)\bset (?:the |your )?confidence (?:score )?(?:to|at|=) ?(?:1|0?\.9|100|9\d)", ("confidence",)
        ),
    ),
    "forged_verdict": (
        InjectionPattern(
            r"(?i)\b(?:verdict|evaluation result|check result|result of (?:this|the) check)\b ?: ?[{*]{0,2}"
            r"(?:result: ?)?'?(?:pass|fail)\b",
            ("verdict", "result"),
        ),
        InjectionPattern(
            r"(?i)\\?'(?:result|verdict|overall_status)\\?' ?: ?\\?'(?:pass|fail|indeterminate|stable)\\?'",
            ("result", "verdict", "overall_status"),
        ),
    ),
}
"""The patterns of each kind that are searched in the folded text, where invisible characters hide no word."""

LINE_PATTERNS: Mapping[str, Sequence[InjectionPattern]] = {
    "role_marker": (
        InjectionPattern(
            r"(?i)<\|/?(?:im_start|im_end|im_sep|system|user|assistant|endoftext|end_of_text|begin_of_text|start_header_id"
            r"|end_header_id|eot_id|channel|message)\|>|\[/?(?:INST|SYS|SYSTEM)\]|<<\/?SYS>>",
            ("<|", "inst]", "sys]", "system]", "sys>>"),
        ),
        InjectionPattern(
            r"(?i)</?(?:system|assistant|developer|system[_-]prompt|system-reminder|function_calls?|tool_results?|evaluator)>",
            (">",),
        ),
        InjectionPattern(
            r"(?im)^[ \t>*#]{0,8}(?:system|developer|assistant|evaluator)\*{0,2}:\*{0,2}[ \t]{0,3}"
            r"(?:you|ignore|disregard|override|forget|return|respond|output|mark|pass|all checks|new instructions"
            r"|from now on|result)\b",
            (":",),
        ),
        InjectionPattern(
            r"(?im)^[ \t>*#\[(-]{0,8}(?:begin |end |end of )?(?:system (?:prompt|message|override|instructions?)"
            r"|(?:evaluator|hidden) (?:prompt|instructions?|note))\*{0,2}[\])]?[ \t]{0,3}(?::|-{2,})",
            ("system", "evaluator", "hidden"),
        ),
        InjectionPattern(r"(?m)^#{2,6}[ \t]{0,3}(?:System|Instruction|Human|Assistant|User):", ("##",)),
    ),
    "forged_heading": (
        InjectionPattern(
            r"(?im)^[ \t]{0,8}={2,10}[ \t]{0,3}(?:end of )?(?:check|ai output|source document|original prompt|system"
            r" instructions|system prompt|pattern hits|evaluator|evaluation result|verdict)\b[^\n=]{0,80}={2,10}",
            ("==",),
        ),
        InjectionPattern(
            r"(?im)^[ \t]{0,8}(?:check to evaluate\b[^\n]{0,40}:|the tag of all blocks below is\b)",
            ("check to evaluate", "the tag of all blocks"),
        ),
        InjectionPattern(r"(?im)^[ \t#*=-]{0,8}end of (?:the )?ai output\b", ("end of",)),
    ),
    "hidden_text": (
        InjectionPattern(r"[\u202d\u202e][^\u202c\n]{0,200}", ("\u202d", "\u202e")),
        InjectionPattern(r"[\u200b-\u200d\u2060\ufeff]{8,}+"),
        # The flags of regions are written with tag characters too; they hide nothing.
        InjectionPattern(r"(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]++"),
    ),
}
"""Those that are searched in the text itself."""


def findings(inputs: Inputs) -> list[InjectionFinding]:
    """Return every such passage in the order of the text. Overlapping passages of one kind are one finding."""
    text = inputs.ai_output
    folded = Folded(text)
    spans: dict[str, list[Span]] = {kind: [] for kind in MESSAGES}
    for kind, match in _matches(LINE_PATTERNS, text):
        spans[kind].append(Span(*match.span()))
    for kind, match in _matches(FOLDED_TEXT_PATTERNS, folded.text):
        spans[kind].append(folded.origin(*match.span()))
    result = [InjectionFinding(kind, MESSAGES[kind], span) for kind in spans for span in _merged(spans[kind])]
    return sorted(result, key=lambda finding: (finding.span, finding.kind))


def _matches(patterns: Mapping[str, Sequence[InjectionPattern]], text: str) -> Iterator[tuple[str, re.Match[str]]]:
    lower_case = text.lower()
    for kind, alternatives in patterns.items():
        for pattern in alternatives:
            if not pattern.needs or any(word in lower_case for word in pattern.needs):
                yield from ((kind, match) for match in re.finditer(pattern.regex, text))


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


INVISIBLE: Mapping[str, tuple[str, str]] = {
    "nul": (r"\0", "NUL"),
    "lone_surrogate": (r"\ud800-\udfff", "Half a character (a lone surrogate)"),
    "bidi_control": (r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069", "Control of the direction of writing"),
    "zero_width": (r"\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2064\ufeff", "Character without width"),
    "tag_character": (r"\U000e0000-\U000e007f", "Invisible tag character"),
    "control": (r"\x01-\x08\x0b-\x1f\x7f-\x9f", "Control character"),
}
"""Kinds of characters that are rarely typed on purpose: the content of a character class, and a name."""

_MAX_LISTED = 5


def sentence_around(text: str, span: Span) -> Span:
    """Return the sentence around a match: the rest of it addresses the evaluator too, and is no evidence either."""
    before = max((stop.end() for stop in _STOP.finditer(text, max(0, span.start - _REACH), span.start)), default=None)
    after = _STOP.search(text, span.end, span.end + _REACH)
    start = before if before is not None else max(0, span.start - _REACH)
    return Span(start, after.start() + len(after[0].rstrip()) if after else min(len(text), span.end + _REACH))


_STOP = re.compile(r"[.!?][\"'”’)\]]*\s|\n")
_REACH = 1000
"""Characters in which the ends of the sentence are searched."""


def invisible_characters(text: str) -> list[ArtifactFinding]:
    """Return a finding for each kind of invisible character in the text. The characters are kept."""
    result = []
    for kind, (members, name) in INVISIBLE.items():
        if counts := Counter(re.findall(f"[{members}]", text)):
            codes = [f"U+{ord(character):04X}" for character in sorted(counts)[:_MAX_LISTED]]
            others = " and others" if len(counts) > _MAX_LISTED else ""
            total = counts.total()
            often = "once" if total == 1 else f"{total:,} times"
            message = f"{name}, {often} in the text: {', '.join(codes)}{others}."
            result.append(ArtifactFinding(kind, message, count=total))
    return result
