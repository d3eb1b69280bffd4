"""Turn the quotes of an evaluator into citations of the report, and decide whether an answer is supported by them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate import prompts
from salvo.playbooks.evaluate.inputs import Inputs, Span
from salvo.playbooks.evaluate.votes import JudgeAnswer, RawCitation
from salvo.playbooks.playbook.definition import Check
from salvo.playbooks.report import claims
from salvo.playbooks.report.evidence.quotes import Locator, QuoteOccurrences
from salvo.playbooks.report.report import Citation, Location

NOT_IN_TEXT = "None of its quotes is a passage of the text that can be evidence."
PLACEHOLDER = "It quotes a placeholder of its instructions, not the text."
FAIL_WITHOUT_QUOTE = "A FAIL needs a quote, and it has none."
REQUIRED_QUOTE_MISSING = "This check needs a quote for a PASS, and it has none."
OF_SEVERAL_RUNS = {
    NOT_IN_TEXT: "None of their quotes is a passage of the text that can be evidence.",
    PLACEHOLDER: "They quote a placeholder of their instructions, not the text.",
    FAIL_WITHOUT_QUOTE: "A FAIL needs a quote, and they have none.",
    REQUIRED_QUOTE_MISSING: "This check needs a quote for a PASS, and they have none.",
}
"""The same reasons in a sentence about several runs."""


class CitationFinder:
    """Finds the citations of answers about one text. A quote from `excluded` passages is no evidence."""

    def __init__(self, inputs: Inputs, excluded: Iterable[Span] = ()) -> None:
        self._inputs = inputs
        self._locator = Locator(inputs.ai_output)
        self._excluded = _joined(excluded, inputs.ai_output)

    def citations(self, answers: Mapping[int, JudgeAnswer]) -> tuple[Citation, ...]:
        """Return each quote once, in the order of the text, with the runs that gave it; unlocated quotes come last.

        `answers` are by run number.
        """
        located: dict[Span, tuple[QuoteOccurrences, str, list[int]]] = {}
        rejected: dict[str, tuple[str, list[int]]] = {}
        for run, answer in answers.items():
            for cited in answer.citations:
                occurrences = self._occurrences(cited)
                context = withhold_claims(cited.context)
                if occurrences.places:
                    runs = located.setdefault(occurrences.places[0], (occurrences, context, []))[-1]
                else:
                    runs = rejected.setdefault(cited.span, (context, []))[-1]
                if run not in runs[-1:]:
                    runs.append(run)
        return (
            *(self._located(*located[place]) for place in sorted(located)),
            *(Citation(span, None, context, tuple(runs)) for span, (context, runs) in rejected.items()),
        )

    def _occurrences(self, cited: RawCitation) -> QuoteOccurrences:
        if cited.offsets is not None and self._inputs.ai_output[slice(*cited.offsets)] == cited.span:
            return QuoteOccurrences((cited.offsets,), 1)
        if prompts.is_placeholder(cited.span):
            return QuoteOccurrences()
        occurrences = self._locator.find(cited.span)
        places = tuple(place for place in occurrences.places if not self._is_excluded(place))
        return QuoteOccurrences(places, occurrences.total - (len(occurrences.places) - len(places)))

    def _is_excluded(self, place: Span) -> bool:
        """Return whether the whole place is in a passage that is excluded."""
        index = bisect_right(self._excluded, place.start, key=lambda span: span.start) - 1
        return index >= 0 and place.end <= self._excluded[index].end

    def _located(self, occurrences: QuoteOccurrences, context: str, runs: Iterable[int]) -> Citation:
        first, *others = (location(place, self._inputs) for place in occurrences.places)
        text = self._inputs.ai_output[first.start : first.end]
        return Citation(text, first, context, tuple(runs), tuple(others), occurrences.total)


def _joined(spans: Iterable[Span], text: str) -> list[Span]:
    """Return the spans in order, with those joined that overlap or have only white space between them."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and (span.start <= joined[-1].end or not text[joined[-1].end : span.start].strip()):
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(Span(*span))
    return joined


def why_unsupported(check: Check | None, result: Result | None, citations: Iterable[Citation]) -> str:
    """Return why an answer counts like no vote, or an empty text if the AI output supports it.

    An answer without a result is no vote anyway. If the check is not known, none needs a quote.
    """
    quotes = list(citations)
    if result is None or any(quote.location for quote in quotes):
        return ""
    if quotes:
        return PLACEHOLDER if all(prompts.is_placeholder(quote.span) for quote in quotes) else NOT_IN_TEXT
    if check is None:
        return ""
    if result is Result.FAIL and check.min_citations_per_fail:
        return FAIL_WITHOUT_QUOTE
    if result is Result.PASS and check.needs_evidence_on_pass:
        return REQUIRED_QUOTE_MISSING
    return ""


def location(span: Span, inputs: Inputs) -> Location:
    return Location(span.start, span.end, inputs.line_number(span.start), inputs.position(span.start))


def withhold_claims(note: str) -> str:
    """Return the note, or a notice if it makes a forbidden claim. The raw answer keeps the note."""
    forbidden = claims.forbidden_claims(note)
    if not forbidden:
        return note
    quoted = ", ".join(f"“{claim}”" for claim in forbidden)
    return f"[This note by the evaluator is withheld: it asserts {quoted}, which a report must not claim.]"
