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


def _lines(comparison: ReportComparison, paint: Paint, width: int) -> Iterator[str]:
    yield from DISCLAIMERS
    yield ""
    yield from _wrapped(f"A  {_side(comparison.before)}", width)
    yield from _wrapped(f"B  {_side(comparison.after)}", width)
    yield ""
    yield from _wrapped(comparison.attribution, width)
    for caution in comparison.cautions:
        yield from (paint(line, "yellow") for line in _wrapped(f"Caution: {printable(caution)}", width))
    yield ""
    yield paint("Checks", bold=True)
    for check in comparison.changed_checks:
        direction = "worse " if check.worse else "better"
        line = f"  {direction}  {check.severity:<6}  {printable(check.check_id)}: {check.before} → {check.now}"
        yield paint(line, "red" if check.worse else "green")
    for check_ids, side in ((comparison.only_before, "A"), (comparison.only_after, "B")):
        if check_ids:
            yield f"  only in {side}: {', '.join(map(printable, check_ids))}"
    if not (comparison.changed_checks or comparison.only_before or comparison.only_after):
        yield "  No difference in the checks that can be compared."
    if comparison.consistency_delta is not None:
        before, after = _score(comparison.before), _score(comparison.after)
        yield f"  Consistency {before} → {after} ({comparison.consistency_delta:+.2f})"
    yield from _evidence(comparison, paint, width)


def _evidence(comparison: ReportComparison, paint: Paint, width: int) -> Iterator[str]:
    changed = [change for change in comparison.evidence if change.gained or change.lost]
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
    report = f"{side.report_id}  {side.timestamp}  {side.overall_status}  consistency {_score(side)}"
    return f"{report}  {printable(side.evaluator)}  subject {printable(side.subject)}"


def _score(side: Side) -> str:
    return "unknown" if side.consistency_score is None else f"{side.consistency_score:.2f}"


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=f"{indent}   ", break_on_hyphens=False)
