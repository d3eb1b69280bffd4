"""The frozen text with its lines numbered and what the report points at marked in place."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from salvo.engine.text.html.markup import Markup, element, text
from salvo.playbooks.report.report import Location, Report

Kind: TypeAlias = Literal["evidence", "finding", "mention"]


class PassagePosition(NamedTuple):
    """A part of the text that the report points at, and the number of the check that does; 0 where none does."""

    location: Location
    kind: Kind
    check: int = 0


def places(report: Report) -> Iterator[PassagePosition]:
    for number, check in enumerate(report.check_results, start=1):
        quotes = [*check.evidence_citations, *(quote for one in check.dissent for quote in one.evidence_citations)]
        yield from (PassagePosition(quote.location, "evidence", number) for quote in quotes if quote.location)
        yield from (PassagePosition(hit.location, "mention", number) for hit in check.pattern_hits)
    yield from (PassagePosition(found.location, "finding") for found in report.artifact_findings if found.location)
    assumed = (one.location for one in report.assumptions_extracted)
    unchecked = (one.location for one in report.unchecked_areas)
    yield from (PassagePosition(location, "mention") for location in (*assumed, *unchecked) if location)


def anchor(location: Location) -> str:
    """By where it begins: every quote that begins there shares it, and so overlapping quotes need no nesting."""
    return f"text-{location.start}"


def lines(of: str, marked: Iterable[PassagePosition]) -> Markup:
    """A numbered line each. A place outside the text is left out: it belongs to another one."""
    known = {place for place in marked if 0 <= place.location.start < place.location.end <= len(of)}
    rows: list[list[Markup]] = [[]]
    for segment in _segments(len(of), known):
        for number, part in enumerate(of[segment.start : segment.end].split("\n")):
            if number:
                rows.append([])
            begins = segment.begins and number == 0
            if part or begins:
                rows[-1].append(_marked(part, segment, f"text-{segment.start}" if begins else None))
        rows[-1].extend(element("a", str(check), class_="ref", href=f"#check-{check}") for check in segment.ended)
    return element("ol", *(element("li", *row) for row in rows), class_="box frozen")


class _Segment(NamedTuple):
    """A stretch of text with the same places over all of it."""

    start: int
    end: int
    kinds: frozenset[Kind]
    overlaps: bool
    begins: bool
    """Whether a place begins with it."""
    ended: list[int]
    """The checks whose evidence ends with it."""


def _segments(length: int, marked: Iterable[PassagePosition]) -> Iterator[_Segment]:
    """The text cut wherever a place begins or ends: so marks need not nest, however they overlap."""
    beginning, ending = defaultdict[int, list[PassagePosition]](list), defaultdict[int, list[PassagePosition]](list)
    for place in marked:
        beginning[place.location.start].append(place)
        ending[place.location.end].append(place)
    over: Counter[Kind] = Counter()
    for start, end in pairwise(sorted({0, length, *beginning, *ending})):
        over.subtract(place.kind for place in ending[start])
        over.update(place.kind for place in beginning[start])
        ended = {place.check for place in ending[end] if place.kind == "evidence"}
        yield _Segment(
            start,
            end,
            frozenset(kind for kind, number in over.items() if number),
            over["evidence"] > 1,
            bool(beginning[start]),
            sorted(ended),
        )


def _marked(part: str, segment: _Segment, anchored: str | None) -> Markup:
    if not segment.kinds:
        return text(part)
    classes = [*sorted(segment.kinds), *(["overlap"] if segment.overlaps else [])]
    return element("mark", part, id=anchored, class_=" ".join(classes))
