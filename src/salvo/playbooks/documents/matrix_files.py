"""The matrix of a batch of documents as a file: .csv, .json or .html."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import write_document
from salvo.engine.text.csv_cells import safe_cell
from salvo.engine.text.formatting import format_time
from salvo.engine.text.html.templates import render_page, stylesheet
from salvo.errors import UsageError
from salvo.playbooks.documents.matrix import DocumentMatrix, DocumentRow, summary
from salvo.playbooks.enums import DISCLAIMERS
from salvo.playbooks.report.export import check_writable

FORMAT_VERSION = 1
_PACKAGE = "salvo.playbooks.documents"


def render_csv(matrix: DocumentMatrix) -> str:
    """Return the matrix as CSV with a byte order mark, by which spreadsheets recognise UTF-8.

    What a spreadsheet would take for a formula gets an apostrophe: titles and file names are foreign.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
    titles = [check.title for check in matrix.checks]
    writer.writerow(
        map(safe_cell, ("Document", "File", "Subject", "Evaluator", "State", "Status", "Evaluated", "Id", *titles))
    )
    for row in matrix.rows:
        results = (str(row.outcomes.get(check.check_id, "")) for check in matrix.checks)
        names = (row.title, row.file_name or "", matrix.batch.subject, row.evaluator)
        end_columns = (row.state, row.status or "", row.finished_at or "", row.evaluation_id)
        writer.writerow(map(safe_cell, (*names, *end_columns, *results)))
    for document in matrix.batch.unread:
        names = (document.file_name, document.file_name, matrix.batch.subject, "")
        writer.writerow(map(safe_cell, (*names, "not read", "", "", "", *("" for _ in titles))))
    return "\ufeff" + buffer.getvalue()


def render_json(matrix: DocumentMatrix) -> str:
    document = {
        "byop_matrix": FORMAT_VERSION,
        "disclaimers": DISCLAIMERS,
        **asdict(matrix),
        "totals": asdict(matrix.totals),
    }
    return json_codec.dumps(document, indent=2).decode() + "\n"


def render_html(matrix: DocumentMatrix) -> str:
    """Return a page for people without Salvo."""
    batch = matrix.batch
    return render_page(
        _PACKAGE,
        "matrix.html",
        title=f"Documents: {batch.title}",
        style=stylesheet(_PACKAGE, "matrix.css"),
        batch=batch,
        started=format_time(batch.created_at),
        summary=summary(matrix),
        playbooks=matrix.playbooks,
        disclaimers=DISCLAIMERS,
        checks=matrix.checks,
        rows=[(matrix.label(row), row, list(_cells(matrix, row))) for row in matrix.rows],
        result_counts=[matrix.totals.results[check.check_id] for check in matrix.checks],
        signs=SIGNS,
    )


def _cells(matrix: DocumentMatrix, row: DocumentRow) -> Iterator[str]:
    return (str(row.outcomes.get(check.check_id, "")) for check in matrix.checks)


SIGNS = {
    "ALERT": "▲",
    "REVIEW": "◆",
    "OBSERVE": "●",
    "STABLE": "■",
    "INCOMPLETE": "…",
    "pass": "✓",
    "fail": "✗",
    "indeterminate": "?",
}
"""Colour is never the only signal."""
RENDERERS: dict[str, Callable[[DocumentMatrix], str]] = {".csv": render_csv, ".json": render_json, ".html": render_html}


def check(path: Path) -> None:
    """Raise UsageError if the file cannot be written. Call this before anything is paid for."""
    if path.suffix.lower() not in RENDERERS:
        raise UsageError(
            f"{path} cannot be written: for several documents, -o writes their matrix, as {', '.join(RENDERERS)}.",
            hint="`byop show ID -o FILE` writes one report.",
        )
    check_writable(path)


def write_matrix(path: Path, matrix: DocumentMatrix) -> None:
    """Write the whole file, or leave the previous one if that fails."""
    write_document(path, RENDERERS[path.suffix.lower()](matrix).encode("utf-8", "backslashreplace"))
