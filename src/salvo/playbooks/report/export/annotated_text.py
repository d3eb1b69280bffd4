"""The frozen text in lines, with the passages that the report points at marked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from salvo.playbooks.enums import Result
from salvo.playbooks.report.report import ExtractedAssumption, Location, Report, UncheckedArea

_WORST_FIRST = (Result.FAIL, Result.INDETERMINATE, Result.PASS)
"""The result that colours a passage which several checks quote."""
Kind: TypeAlias = Literal["evidence", "finding", "mention"]


class PassagePosition(NamedTuple):
    """A part of the text that the report points at, and the number of the check that does; 0 if none does."""

    location: Location
    kind: Kind
    check: int = 0
    result: Result | None = None
    """Of that check."""


class TextPart(NamedTuple):
    """A part of the text with the same positions over all of it. Without classes it is not marked."""

    text: str
    classes: str
    anchor: str | None
    checks_ended: tuple[tuple[int, Result | None], ...]
    """The checks whose evidence ends with this part: number and result."""


def positions(report: Report) -> Iterator[PassagePosition]:
    """Return everything in the text that the report points at."""
    for number, check in enumerate(report.check_results, start=1):
        dissenting = (citation for dissent in check.dissent for citation in dissent.evidence_citations)
        citations = [*check.evidence_citations, *dissenting]
        yield from (
            PassagePosition(location, "evidence", number, check.result)
            for citation in citations
            for location in (citation.location, *citation.other_locations)
            if location
        )
        yield from (PassagePosition(hit.location, "mention", number) for hit in check.pattern_hits)
    yield from (
        PassagePosition(finding.location, "finding") for finding in report.artifact_findings if finding.location
    )
    mentions: list[ExtractedAssumption | UncheckedArea] = [*report.assumptions_extracted, *report.unchecked_areas]
    yield from (PassagePosition(mention.location, "mention") for mention in mentions if mention.location)


def anchor(location: Location) -> str:
    """Return the id of a passage. Passages with the same start share it, so overlapping quotes need no nesting."""
    return f"text-{location.start}"


def lines(text: str, marked: Iterable[PassagePosition]) -> list[list[TextPart]]:
    """Return the parts of each line. A position outside the text is left out: it belongs to a different text."""
    within = {position for position in marked if 0 <= position.location.start < position.location.end <= len(text)}
    rows: list[list[TextPart]] = [[]]
    for segment in _segments(text, within):
        *inner, last = segment.text.split("\n")
        anchored = segment.anchor
        for part in inner:
            if part or anchored:
                rows[-1].append(TextPart(part, segment.classes, anchored, ()))
            anchored = None
            rows.append([])
        if last or anchored or segment.checks_ended:
            classes = segment.classes if last or anchored else ""
            rows[-1].append(TextPart(last, classes, anchored, segment.checks_ended))
    return rows


def _segments(text: str, marked: Iterable[PassagePosition]) -> Iterator[TextPart]:
    """Split the text wherever a position begins or ends, so that marks need not nest when they overlap."""
    beginning, ending = defaultdict[int, list[PassagePosition]](list), defaultdict[int, list[PassagePosition]](list)
    for position in marked:
        beginning[position.location.start].append(position)
        ending[position.location.end].append(position)
    open_kinds: Counter[str] = Counter()
    open_results: Counter[Result] = Counter()
    for start, end in pairwise(sorted({0, len(text), *beginning, *ending})):
        open_kinds.subtract(position.kind for position in ending[start])
        open_kinds.update(position.kind for position in beginning[start])
        classes = sorted(kind for kind, number in open_kinds.items() if number)
        if open_kinds["evidence"] > 1:
            classes.append("overlap")
        open_results.subtract(position.result for position in ending[start] if position.result)
        open_results.update(position.result for position in beginning[start] if position.result)
        classes += [result for result in _WORST_FIRST if open_results[result]][:1]
        anchored = anchor(beginning[start][0].location) if beginning[start] else None
        checks_ended = sorted({position[2:] for position in ending[end] if position.kind == "evidence"})
        yield TextPart(text[start:end], " ".join(classes), anchored, tuple(checks_ended))
