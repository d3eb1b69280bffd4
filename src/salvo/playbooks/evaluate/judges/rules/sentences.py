"""Split a text into sentences, each with its kind, its exact span, and its heading or lead-in.

Every step takes linear time: patterns are bounded, and unusually long sentences are split.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from salvo.playbooks.evaluate.judges.rules.blocks import Block, Kind, blank_spans, read_blocks
from salvo.playbooks.evaluate.judges.rules.finding import Span
from salvo.playbooks.evaluate.judges.rules.folding import fold
from salvo.playbooks.evaluate.judges.rules.segments import BlockText, find_drafted, is_clause, is_contract_wording
from salvo.records import record

QUOTED = "qqq"
"""Replaces quoted words in a folded sentence."""

_LABEL_WORDS = 5
_MAX_SENTENCE = 900
_MAX_QUOTATION = 1500
_SHORT_QUOTATION_WORDS = 3


@record
class Sentence:
    """One sentence. `plain` keeps quoted terms of up to three words; in `own` all quotations are masked.

    Both are lower case and on one line, without emphasis marks and invisible characters; contractions are expanded.
    """

    start: int
    end: int
    kind: Kind
    plain: str
    own: str
    heading: str = ""
    lead: str = ""
    drafted: bool = False
    """It is wording of a contract that the text drafts or repeats, and no statement of its author."""
    quoted_wording: int = 0
    """Characters of contract wording that it quotes."""

    @property
    def span(self) -> Span:
        return self.start, self.end

    @property
    def without_place(self) -> Sentence:
        """Return the same sentence at the start of the text, for what depends on its words alone."""
        return replace(self, start=0, end=0)

    @property
    def is_question(self) -> bool:
        return self.plain.rstrip("\"') ").endswith("?")

    @property
    def is_authors(self) -> bool:
        """Return whether the author asserts it: it is no heading, quotation, drafted wording or question."""
        return not self.drafted and self.kind not in (Kind.HEADING, Kind.QUOTATION) and not self.is_question

    @property
    def is_statement(self) -> bool:
        """Return whether the author asserts it in a full sentence: "Liability." alone states nothing."""
        return self.is_authors and (len(self.plain.split()) > _LABEL_WORDS or bool(_VERB.search(self.plain)))


def select(sentences: Sequence[Sentence], matches: Callable[[Sentence, bool], bool]) -> list[Sentence]:
    """Return the sentences that match by their words, and by whether they introduce the list or table after them."""
    with_next = zip(sentences, [*sentences[1:], None], strict=True)
    return [
        sentence
        for sentence, following in with_next
        if matches(sentence.without_place, _introduces(sentence, following))
    ]


def _introduces(sentence: Sentence, following: Sentence | None) -> bool:
    return sentence.plain.endswith(":") and following is not None and following.kind in (Kind.ITEM, Kind.CELL)


# All checks read the same text in a row.
@lru_cache(maxsize=4)
def read(text: str, ignore: tuple[Span, ...] = ()) -> tuple[Sentence, ...]:
    """Return the sentences of a text, in order. Ignored spans count as blank."""
    text = blank_spans(text, ignore)
    sentences: list[Sentence] = []
    passages: list[BlockText] = []
    passage_sizes: list[int] = []
    heading = lead = ""
    for block in read_blocks(text):
        before = len(sentences)
        if block.kind is Kind.HEADING and not block.column:
            heading, lead = fold(text[block.start : block.end]), ""
        for start, end, quotations in _split(text, block):
            plain, own = _voices(text, start, end, quotations)
            if not plain:
                continue
            wording = sum(last - first for first, last in quotations if is_contract_wording(text[first:last]))
            under = block.column or heading
            leads_here = lead if block.kind in (Kind.ITEM, Kind.CELL, Kind.QUOTATION) else ""
            sentences.append(Sentence(start, end, block.kind, plain, own, under, leads_here, quoted_wording=wording))
        if block.kind in (Kind.PROSE, Kind.ITEM) and sentences:
            if sentences[-1].plain.endswith(":"):
                lead = sentences[-1].plain
            elif block.kind is Kind.PROSE:
                lead = ""
        size = len(sentences) - before
        if size:
            own = " ".join(sentence.own for sentence in sentences[before:])
            passages.append(BlockText(block.kind, text[block.start : block.end], own, block.marker, block.after_rule))
            passage_sizes.append(size)
    drafted = [
        is_drafted for is_drafted, size in zip(find_drafted(passages), passage_sizes, strict=True) for _ in range(size)
    ]
    return tuple(
        replace(sentence, drafted=True) if is_drafted or is_clause(sentence.own) else sentence
        for sentence, is_drafted in zip(sentences, drafted, strict=True)
    )


# --- Sentences of a block ---


def _split(text: str, block: Block) -> Iterator[tuple[int, int, list[Span]]]:
    quotations = [match.span() for match in _QUOTATION.finditer(text, block.start, block.end)]
    first = 0
    for left, right in _sentence_spans(text, block, quotations):
        start = right - len(text[left:right].lstrip())
        end = left + len(text[left:right].rstrip())
        if start < end:
            while first < len(quotations) and quotations[first][1] <= start:
                first += 1
            last = first
            while last < len(quotations) and quotations[last][0] < end:
                last += 1
            yield start, end, quotations[first:last]


def _sentence_spans(text: str, block: Block, quotations: Sequence[Span]) -> Iterator[Span]:
    start = block.start
    index = 0
    for match in _STOP.finditer(text, block.start, block.end):
        while index < len(quotations) and quotations[index][1] < match.end("stop"):
            index += 1
        inside = (
            index < len(quotations)
            and quotations[index][0] < match.start()
            and match.end("stop") < quotations[index][1]
        )
        if not inside and _ends_here(text, match, start):
            yield from _pieces(text, start, match.end("stop"))
            start = match.end()
    yield from _pieces(text, start, block.end)


def _ends_here(text: str, stop: re.Match[str], start: int) -> bool:
    if stop["stop"][0] != ".":
        return True
    following = text[stop.end() : stop.end() + 1]
    if following.islower():
        return False
    before = text[max(start, stop.start() - 12) : stop.start()]
    word = before.split()[-1].lstrip("(*_\"'“\u2018").lower() if before.split() else ""
    if word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word != "i"):
        return False
    if word in _BEFORE_NUMBERS:
        return not (following.isdigit() or following in "§(")
    # "3. " at the start of a paragraph is its number, "z.B" and "e.g" are abbreviations.
    return not (word.isdigit() and not text[start : stop.start() - len(word)].strip()) and not _DOTTED.fullmatch(word)


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > _MAX_SENTENCE:
        space = text.rfind(" ", start, start + _MAX_SENTENCE)
        piece_end = space if space > start else start + _MAX_SENTENCE
        yield start, piece_end
        start = piece_end
    yield start, end


def _voices(text: str, start: int, end: int, quotations: Sequence[Span]) -> tuple[str, str]:
    plain: list[str] = []
    own: list[str] = []
    position = start
    for first, last in quotations:
        opening, closing = max(first, start), min(last, end)
        between, quoted = text[position:opening], text[opening:closing]
        term = quoted[1:-1].split(maxsplit=_SHORT_QUOTATION_WORDS)
        plain += [between, quoted[1:-1] if len(term) <= _SHORT_QUOTATION_WORDS else f" {QUOTED} "]
        own += [between, f" {QUOTED} "]
        position = closing
    rest = text[position:end]
    folded = fold("".join([*plain, rest]))
    return folded, fold("".join([*own, rest])) if own else folded


_QUOTATION = re.compile(
    rf'"[^"]{{1,{_MAX_QUOTATION}}}"|“[^“”]{{1,{_MAX_QUOTATION}}}”|„[^„“”]{{1,{_MAX_QUOTATION}}}[“”]'
    rf"|«[^«»]{{1,{_MAX_QUOTATION}}}»|\u2018(?:[^\u2018’]|(?<=\w)’(?=\w)){{1,300}}’(?!\w)"
    r"|(?<![\w'])'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){1,300}(?<=\S)'(?!\w)"
)
_VERB = re.compile(
    r"\b(?:i|we|you|is|are|was|were|be|did|does|do|has|have|had|should|must|may|can|could|will|would|shall|please"
    r"|says?|states?|appl(?:y|ies)|fails?|needs?|means|requires?|limits?|allows?|covers?|depends)\b"
)
_STOP = re.compile(r"(?<=\S)(?P<stop>[.!?…]{1,6}[\"'”’»)\]*_]{0,4})\s+")
_DOTTED = re.compile(r"(?:\w\.){1,4}\w")
_ABBREVIATIONS_LIST = """
e.g i.e eg ie cf viz vs v approx incl excl esp resp mr mrs ms dr prof st inc ltd llc corp co plc al op cit ibid
seq dept jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k e.u
"""
_ABBREVIATIONS = frozenset(_ABBREVIATIONS_LIST.split())
_BEFORE_NUMBERS_LIST = """
art arts sec sect cl cls para paras no nos reg dir ch p pp fn fig ann app sch ex vol rec §
"""
_BEFORE_NUMBERS = frozenset(_BEFORE_NUMBERS_LIST.split())
