"""The matrix of a batch of documents on a terminal. Pure."""

from __future__ import annotations

from salvo.engine.text.formatting import truncate
from salvo.engine.text.terminal import Paint, table
from salvo.engine.text.unicode_escape import printable
from salvo.playbooks.documents.matrix import DocumentMatrix, DocumentRow, summary
from salvo.playbooks.enums import DISCLAIMERS, Result

_SIGNS = {Result.PASS: "✓", Result.FAIL: "✗", Result.INDETERMINATE: "?"}
_NO_RESULT = "·"
_COLOURS = {"ALERT": "red", "REVIEW": "yellow", "INCOMPLETE": "yellow", "OBSERVE": "blue", "STABLE": "green"}
_NAME_LENGTH = 40


def lines(matrix: DocumentMatrix, *, colour: bool) -> list[str]:
    """Return a table with a row per document and a column per check, its legend, and the totals."""
    paint = Paint(colour)
    numbers = [str(number) for number in range(1, len(matrix.checks) + 1)]
    header = ("DOCUMENT", "STATUS", *numbers, "ID")
    output = [*DISCLAIMERS, ""]
    if matrix.rows:
        rows = [_cells(matrix, row) for row in matrix.rows]
        colours = [_COLOURS.get(str(row.status)) for row in matrix.rows]
        output += table(header, [*rows, _failed(matrix)], paint, [*colours, None])
        output += ["", "✓ pass, ✗ fail, ? indeterminate, · no result"]
        output += [f"{number} {printable(check.title)}" for number, check in zip(numbers, matrix.checks, strict=True)]
    for row in matrix.rows:
        if row.problem:
            output.append(f"{printable(row.title)} could not be finished: {printable(row.problem)}")
    for document in matrix.batch.unread:
        output.append(f"{printable(document.file_name)} was not read. {printable(document.message)}")
    return [*output, "", summary(matrix)]


def _cells(matrix: DocumentMatrix, row: DocumentRow) -> tuple[str, ...]:
    results = (row.outcomes.get(check.check_id) for check in matrix.checks)
    signs = (_NO_RESULT if result is None else _SIGNS[result] for result in results)
    return (truncate(printable(matrix.label(row)), _NAME_LENGTH), row.status or row.state, *signs, row.evaluation_id)


def _failed(matrix: DocumentMatrix) -> tuple[str, ...]:
    counts = matrix.totals.results
    return ("failed", "", *(str(counts[check.check_id][Result.FAIL]) for check in matrix.checks), "")
