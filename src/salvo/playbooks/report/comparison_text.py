"""A comparison of two reports as lines of text. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from salvo.engine.text.formatting import truncate
from salvo.engine.text.terminal import Paint
from salvo.engine.text.unicode_escape import printable
from salvo.playbooks.enums import DISCLAIMERS
from salvo.playbooks.report.compare import ReportComparison, Side

_NARROWEST = 40
_QUOTE = 200


def lines(comparison: ReportComparison, *, colour: bool = False, width: int = 100) -> list[str]:
    return list(_lines(comparison, Paint(colour), max(width, _NARROWEST)))


def _lines(found: ReportComparison, paint: Paint, width: int) -> Iterator[str]:
    yield from DISCLAIMERS
    yield ""
    yield from _wrapped(f"A  {_side(found.before)}", width)
    yield from _wrapped(f"B  {_side(found.after)}", width)
    yield ""
    yield from _wrapped(found.attribution, width)
    for caution in found.cautions:
        yield from (paint(line, "yellow") for line in _wrapped(f"Caution: {printable(caution)}", width))
    yield ""
    yield paint("Checks", bold=True)
    for check in found.changed_checks:
        word = "worse " if check.worse else "better"
        line = f"  {word}  {check.severity:<6}  {printable(check.check_id)}: {check.before} → {check.now}"
        yield paint(line, "red" if check.worse else "green")
    for name, side in ((found.only_before, "A"), (found.only_after, "B")):
        if name:
            yield f"  only in {side}: {', '.join(map(printable, name))}"
    if not (found.changed_checks or found.only_before or found.only_after):
        yield "  No check came out otherwise."
    if found.consistency_delta is not None:
        yield f"  Consistency {_score(found.before)} → {_score(found.after)} ({found.consistency_delta:+.2f})"
    yield from _evidence(found, paint, width)


def _evidence(found: ReportComparison, paint: Paint, width: int) -> Iterator[str]:
    changed = [change for change in found.evidence if change.gained or change.lost]
    if not changed:
        return
    yield ""
    yield paint("Evidence", bold=True)
    for change in changed:
        yield f"  {printable(change.check_id)}"
        for sign, spans in (("−", change.lost), ("+", change.gained)):
            for span in spans:
                yield from _wrapped(f"{sign} “{truncate(printable(span), _QUOTE)}”", width, "    ")


def _side(side: Side) -> str:
    named = f"{side.report_id}  {side.timestamp}  {side.overall_status}  consistency {_score(side)}"
    return f"{named}  {printable(side.evaluator)}  subject {printable(side.subject)}"


def _score(side: Side) -> str:
    return "unknown" if side.consistency_score is None else f"{side.consistency_score:.2f}"


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=f"{indent}   ", break_on_hyphens=False)
