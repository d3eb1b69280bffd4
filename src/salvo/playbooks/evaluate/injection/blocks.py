"""How far text that addresses the evaluator reaches: the block around a sentence, a heading or a row.

In a paragraph a block begins with the first sentence that addresses the evaluator and takes a few sentences after the
last one with it. A fenced block, a comment, a heading and a table are taken whole, and a forged heading has a section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from salvo.playbooks.evaluate.injection import english, markup
from salvo.playbooks.evaluate.injection.finding import first_kind
from salvo.playbooks.evaluate.injection.segments import Shape, plain
from salvo.playbooks.evaluate.inputs import Span
from salvo.records import record

MAX_SENTENCES_AFTER = 4
"""Sentences that belong to a block after the last one that addresses the evaluator, in one paragraph."""
_MIN_CONTENT_WORDS = 5
"""Words of a sentence that says something. A forged heading reaches to the first paragraph that has one."""


@record
class ReadSentence:
    """A sentence. If it has a kind, it addresses the evaluator; `start` is where it begins to."""

    start: int
    end: int
    kind: str | None


@record
class ReadPassage:
    shape: Shape
    span: Span
    sentences: tuple[ReadSentence, ...]

    @property
    def kinds(self) -> list[str]:
        return [sentence.kind for sentence in self.sentences if sentence.kind]


def blocks(text: str, passages: Sequence[ReadPassage]) -> Iterator[tuple[str, Span]]:
    """Yield the kind and the extent of each block. Blocks may overlap."""
    for passage in passages:
        if passage.kinds:
            yield from _in_passage(text, passage)
    yield from _sections(text, passages)
    yield from _tables(passages)


def _in_passage(text: str, passage: ReadPassage) -> Iterator[tuple[str, Span]]:
    if passage.shape in (Shape.ENCLOSED, Shape.ROW, Shape.HEADING):
        yield first_kind(passage.kinds), passage.span
        return
    sentences = passage.sentences
    runs: list[tuple[int, int]] = []
    for index, sentence in enumerate(sentences):
        if sentence.kind:
            last = min(index + MAX_SENTENCES_AFTER, len(sentences) - 1)
            if runs and index <= runs[-1][1] + 1:
                runs[-1] = runs[-1][0], last
            else:
                runs.append((index, last))
    for marked, last in runs:
        first = _first_about_evaluation(text, sentences, marked)
        kind = first_kind(sentence.kind for sentence in sentences[marked : last + 1] if sentence.kind)
        span = _with_brackets(text, passage.span, Span(sentences[first].start, sentences[last].end))
        yield kind, with_line_mark(text, span)


def _first_about_evaluation(text: str, sentences: Sequence[ReadSentence], marked: int) -> int:
    """Return the first sentence of the block: one shortly before the marked one may lead up to it."""
    for index in range(max(0, marked - MAX_SENTENCES_AFTER), marked):
        if english.ABOUT_EVALUATION.search(plain(text[sentences[index].start : sentences[index].end])):
            return index
    return marked


def _with_brackets(text: str, within: Span, span: Span) -> Span:
    """Return the span with the whole of what is in brackets, if it begins in brackets."""
    start, end = span
    for opening, closing in _BRACKETS:
        first = text.rfind(opening, within.start, span.start + _NEAR)
        if first >= 0 and text.find(closing, first, span.start) < 0:
            last = text.find(closing, max(span.start, first), within.end)
            if last >= 0:
                start, end = min(start, first), max(end, last + len(closing))
    return Span(start, end)


_BRACKETS = (("[", "]"), ("{", "}"), ("<", ">"), ("((", "))"))
_NEAR = 3


def with_line_mark(text: str, span: Span) -> Span:
    """Return the span with the mark of a list item, a heading or a quotation that begins its line."""
    line_start = text.rfind("\n", 0, span.start) + 1
    if span.start - line_start <= _LONGEST_MARK and _LINE_MARK.fullmatch(text, line_start, span.start):
        return Span(line_start, span.end)
    return span


_LONGEST_MARK = 16
_LINE_MARK = re.compile(r"[ \t]{0,4}(?:[>#*+•–-]{1,6}[ \t]{0,3}|\d{1,3}[.)][ \t]{1,3}){0,3}")


def _sections(text: str, passages: Sequence[ReadPassage]) -> Iterator[tuple[str, Span]]:
    """Yield the sections of forged headings: up to the first passage that says something, and marked ones after it."""
    index = 0
    while index < len(passages):
        passage = passages[index]
        title = _title(text, passage)
        index += 1
        if title is None or not _is_forged(text, title, passages, index - 1):
            continue
        end = passage.span.end
        has_content = passage.shape is not Shape.HEADING and _has_content(text, passage, after=title.end)
        while index < len(passages):
            below = passages[index]
            if below.shape is Shape.HEADING or (has_content and not below.kinds):
                break
            if below.shape is not Shape.RULE:
                end = below.span.end
                has_content |= _has_content(text, below)
            index += 1
        yield "forged_heading", Span(passage.span.start, end)


def _has_content(text: str, passage: ReadPassage, after: int = 0) -> bool:
    """Return whether the passage says something besides addressing the evaluator."""
    return any(
        sentence.kind is None
        and sentence.end > after
        and len(text[sentence.start : sentence.end].split()) >= _MIN_CONTENT_WORDS
        for sentence in passage.sentences
    )


def _title(text: str, passage: ReadPassage) -> Span | None:
    """Return the heading that the passage is or begins with: a short first line without a full stop."""
    if passage.shape is Shape.HEADING:
        return passage.span
    if passage.shape is not Shape.PARAGRAPH:
        return None
    line_end = text.find("\n", passage.span.start, passage.span.end)
    title = Span(passage.span.start, passage.span.end if line_end < 0 else line_end)
    line = text[title.start : title.end].strip()
    return title if 0 < len(line) <= _LONGEST_TITLE and line[-1] not in ".;,?!" and ":" not in line[:-1] else None


_LONGEST_TITLE = 80


def _is_forged(text: str, title: Span, passages: Sequence[ReadPassage], index: int) -> bool:
    kinds = passages[index].kinds
    if "forged_heading" in kinds or (kinds and passages[index].shape is Shape.HEADING):
        return True
    line = text[title.start : title.end]
    last = passages[min(index + 2, len(passages) - 1)].span.end
    below = text[title.end : min(last, title.end + 600)]
    return bool(re.search(markup.EVALUATION_TITLE, line) and re.search(markup.VERDICT_BELOW, below))


def _tables(passages: Sequence[ReadPassage]) -> Iterator[tuple[str, Span]]:
    """Yield whole tables of which a row addresses the evaluator."""
    table: list[ReadPassage] = []
    for passage in (*passages, None):
        if passage is not None and passage.shape is Shape.ROW:
            table.append(passage)
            continue
        kinds = [kind for row in table for kind in row.kinds]
        if kinds:
            yield first_kind(kinds), Span(table[0].span.start, table[-1].span.end)
        table = []
