"""Turn the quotes of an evaluator into citations of the report, and decide whether an answer is supported by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate import prompts
from salvo.playbooks.evaluate.inputs import Inputs, Span
from salvo.playbooks.evaluate.votes import JudgeAnswer, RawCitation
from salvo.playbooks.playbook.definition import Check
from salvo.playbooks.report import claims
from salvo.playbooks.report.evidence import Locator, QuoteOccurrences
from salvo.playbooks.report.report import Citation, Location

NOT_IN_TEXT = "None of its quotes is in the text."
FAIL_WITHOUT_QUOTE = "A FAIL needs a quote, and it has none."
REQUIRED_QUOTE_MISSING = "This check needs a quote for a PASS, and it has none."


class CitationFinder:
    """Finds the citations of answers about one text."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._locator = Locator(inputs.ai_output)

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
        return self._locator.find(cited.span)

    def _located(self, occurrences: QuoteOccurrences, context: str, runs: Iterable[int]) -> Citation:
        first, *others = (location(place, self._inputs) for place in occurrences.places)
        text = self._inputs.ai_output[first.start : first.end]
        return Citation(text, first, context, tuple(runs), tuple(others), occurrences.total)


def why_unsupported(check: Check | None, result: Result | None, citations: Iterable[Citation]) -> str:
    """Return why an answer counts like no vote, or an empty text if the AI output supports it.

    An answer without a result is no vote anyway. If the check is not known, none needs a quote.
    """
    places = [citation.location for citation in citations]
    if result is None or any(places):
        return ""
    if places:
        return NOT_IN_TEXT
    if check is None:
        return ""
    if result is Result.FAIL and check.min_citations_per_fail:
        return FAIL_WITHOUT_QUOTE
    if result is Result.PASS and check.needs_evidence_on_pass:
        return REQUIRED_QUOTE_MISSING
    return ""


def location(span: Span, inputs: Inputs) -> Location:
    return Location(span.start, span.end, inputs.line_number(span.start))


def withhold_claims(note: str) -> str:
    """Return the note, or a notice if it makes a forbidden claim. The raw answer keeps the note."""
    forbidden = claims.forbidden_claims(note)
    if not forbidden:
        return note
    quoted = ", ".join(f"“{claim}”" for claim in forbidden)
    return f"[This note by the evaluator is withheld: it asserts {quoted}, which a report must not claim.]"
