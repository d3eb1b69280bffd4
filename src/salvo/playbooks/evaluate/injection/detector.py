"""Find the passages of a text that address its evaluator. Pure, in one walk over the text.

What is found is reported, and the whole block around it is no evidence: the rules do not judge it, and a model's quote
from it does not count. The patterns prefer to miss a passage rather than to match ordinary legal prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from salvo.engine.sandbox import hidden_text
from salvo.playbooks.evaluate.folded_text import FoldedText
from salvo.playbooks.evaluate.injection import encodings, english, languages, markup
from salvo.playbooks.evaluate.injection.blocks import ReadPassage, ReadSentence, blocks, with_line_mark
from salvo.playbooks.evaluate.injection.finding import MESSAGES, InjectionFinding, first_kind
from salvo.playbooks.evaluate.injection.segments import Shape, passages, plain
from salvo.playbooks.evaluate.inputs import Span


def find_injections(text: str, folded: FoldedText | None = None) -> list[InjectionFinding]:
    """Return every block that addresses the evaluator, in the order of the text. Blocks do not overlap.

    `folded` is the text folded, if the caller has it.
    """
    hidden = [Span(*match.span()) for match in hidden_text.PATTERN.finditer(text)]
    if hidden or folded is None:
        folded = FoldedText(with_blanks(text, hidden))
    blocks = [(kind, folded.origin(*_stripped(folded.text, span))) for kind, span in _marked_blocks(folded.text)]
    blocks += [("hidden_in_document", span) for span in hidden]
    blocks += [("hidden_text", span) for span in markup.hiding_characters(text)]
    return [InjectionFinding(kind, MESSAGES[kind], span) for kind, span in _joined(blocks)]


def with_blanks(text: str, spans: Iterable[Span]) -> str:
    """Return the text with blanks in the place of the spans, which do not overlap. Positions and lines stay."""
    pieces = []
    position = 0
    for start, end in sorted(spans):
        pieces += [text[position:start], _NOT_LINE_END.sub(" ", text[start:end])]
        position = end
    return "".join([*pieces, text[position:]])


_NOT_LINE_END = re.compile(r"[^\n]")


def _stripped(text: str, span: Span) -> Span:
    """Return the span without white space at its ends. Every block has something else."""
    content = text[span.start : span.end]
    return Span(span.end - len(content.lstrip()), span.start + len(content.rstrip()))


def _joined(blocks: Iterable[tuple[str, Span]]) -> list[tuple[str, Span]]:
    """Join blocks that overlap."""
    joined: list[tuple[str, Span]] = []
    for kind, span in sorted(blocks, key=lambda block: block[1]):
        if joined and span.start < joined[-1][1].end:
            before_kind, before = joined[-1]
            joined[-1] = first_kind((before_kind, kind)), Span(before.start, max(before.end, span.end))
        else:
            joined.append((kind, span))
    return joined


def _marked_blocks(text: str) -> Iterator[tuple[str, Span]]:
    marks = sorted(_marks(text), key=lambda mark: mark[1])
    yield from ((kind, with_line_mark(text, span)) for kind, span in marks)
    reader = _SentenceClassifier(text, marks)
    yield from blocks(text, [reader.read(*passage) for passage in passages(text)])


def _marks(text: str) -> Iterator[tuple[str, Span]]:
    """Yield what has its own extent, whatever the sentences around it say."""
    yield from markup.markers(text)
    for run in encodings.encoded_runs(text):
        if not run.is_in_address or sentence_kind(plain(run.decoded)):
            yield "encoded_text", run.span


class _SentenceClassifier:
    """Says which sentences address the evaluator. They come in the order of the text, as the marks do."""

    def __init__(self, text: str, marks: Sequence[tuple[str, Span]]) -> None:
        self._text = text
        self._marks = marks
        self._next = 0

    def read(self, shape: Shape, span: Span, sentences: Iterable[Span]) -> ReadPassage:
        return ReadPassage(shape, span, tuple(map(self._sentence, sentences)))

    def _sentence(self, span: Span) -> ReadSentence:
        kind = self._kind(self._text[span.start : span.end])
        mark = self._first_mark(span)
        if mark is None or (kind and mark[1].start > span.start):
            return ReadSentence(span.start, span.end, kind)
        return ReadSentence(max(span.start, mark[1].start), span.end, mark[0])

    @staticmethod
    def _kind(sentence: str) -> str | None:
        text = plain(sentence)
        kind = sentence_kind(text)
        if (
            kind is None
            and english.LOUD_VERDICT.search(sentence)
            and not english.LOUD_WORDS.isdisjoint(_WORD.findall(text))
        ):
            return "forged_verdict"
        return kind

    def _first_mark(self, sentence: Span) -> tuple[str, Span] | None:
        """Return the first mark that begins in the sentence or covers its start."""
        while self._next < len(self._marks) and self._marks[self._next][1].end <= sentence.start:
            self._next += 1
        if self._next < len(self._marks) and self._marks[self._next][1].start < sentence.end:
            return self._marks[self._next]
        return None


def sentence_kind(sentence: str) -> str | None:
    """Return the kind of finding that a plain sentence is, or None."""
    words = _WORD.findall(sentence)
    kind = _kind_of_words(sentence, words)
    if kind:
        return kind
    disguise = encodings.disguise(sentence, words)
    if disguise and (disguise.always or _kind_of_words(disguise.plain, _WORD.findall(disguise.plain))):
        return "encoded_text"
    return None


def _kind_of_words(sentence: str, words: Sequence[str]) -> str | None:
    vocabulary = set(words)
    for pattern in english.PATTERNS if not english.ANY_NEED.isdisjoint(vocabulary) else ():
        if not pattern.needs.isdisjoint(vocabulary):
            match = pattern.regex.search(sentence)
            if match and not _is_quoted_example(sentence, match):
                return pattern.kind
    return languages.kind_of_sentence(sentence, vocabulary)


def _is_quoted_example(sentence: str, match: re.Match[str]) -> bool:
    """Return whether the match is quoted in a sentence about such attacks, which are a subject of legal texts too."""
    before, after = sentence[: match.start() + 2].strip("( "), sentence[match.end() : match.end() + 2]
    return before.endswith("'") and after.lstrip(".!,").startswith("'") and bool(_ABOUT_ATTACKS.search(sentence))


_ABOUT_ATTACKS = re.compile(r"\b(?:prompt injections?|injection attacks?|jailbreaks?)\b")
_WORD = re.compile(r"[a-z_]+")
