"""The reports on a subject over time, as lines of text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from salvo.engine.text.terminal import Paint, table
from salvo.engine.text.unicode_escape import printable
from salvo.playbooks.enums import Mode, Result
from salvo.playbooks.store.records import TimelinePoint

_LETTERS = {Result.PASS: "P", Result.FAIL: "F", Result.INDETERMINATE: "?"}
_HEADER = ("REPORT", "TIME", "STATUS", "CONSISTENCY", "TEXT", "EVALUATOR")


def lines(subject: str, points: Sequence[TimelinePoint], *, colour: bool = False) -> list[str]:
    """Return a row per report, oldest first, with a letter for each check in the order of the playbook."""
    if not points:
        return [
            f"There is no report on the subject “{printable(subject)}” yet.",
            f"Create one: byop run FILE --subject {printable(subject)}",
        ]
    checks = list(dict.fromkeys(name for point in points for name in point.outcomes))
    header = [*_HEADER, *(str(number) for number in range(1, len(checks) + 1)), ""]
    rows = [_row(point, before, checks) for before, point in zip((None, *points), points, strict=False)]
    legend = [f"{number} {printable(name)}" for number, name in enumerate(checks, start=1)]
    return [
        *table(header, rows, Paint(colour)),
        "",
        f"P pass, F fail, ? indeterminate, – not in that playbook. {'; '.join(legend)}.",
        "TEXT shows whether the text is the same as in the row above, EVALUATOR who judged it.",
    ]


def _row(point: TimelinePoint, before: TimelinePoint | None, checks: Sequence[str]) -> list[str]:
    return [
        point.id,
        point.created_at[:19],
        point.status,
        "unknown" if point.consistency is None else f"{point.consistency:.2f}",
        "" if before is None else ("same" if point.inputs_fingerprint == before.inputs_fingerprint else "changed"),
        printable(point.evaluator),
        *(_LETTERS[point.outcomes[name]] if name in point.outcomes else "–" for name in checks),
        ", ".join(_marks(point)),
    ]


def _marks(point: TimelinePoint) -> list[str]:
    marks = ["baseline"] if point.baseline else []
    marks += ["screening"] if point.mode is Mode.SCREENING else []
    return marks + (["incomplete"] if point.incomplete else [])
