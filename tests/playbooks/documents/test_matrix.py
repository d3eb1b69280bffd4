"""The matrix of documents and checks, and its files."""

import csv
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from salvo.playbooks.documents import matrix_files, terminal
from salvo.playbooks.documents.matrix import (
    DocumentBatch,
    DocumentMatrix,
    DocumentRow,
    UnreadDocument,
    check_columns,
    ordered_by_title,
    summary,
    without_replaced,
)
from salvo.playbooks.enums import Result, ShownStatus
from salvo.playbooks.store.records import State
from tests.support.playbooks import a_playbook

CHECKS = check_columns([a_playbook()])


def _row(title: str = "a", status: ShownStatus | None = ShownStatus.STABLE, **changes: object) -> DocumentRow:
    fields: dict[str, object] = {
        "evaluation_id": "id",
        "title": title,
        "file_name": f"{title}.txt",
        "evaluator": "rules",
        "state": State.INTERRUPTED if status is None else State.DONE,
        "status": status,
        "outcomes": {} if status is None else {check.check_id: Result.PASS for check in CHECKS},
        "answered": 0,
        "questions": 12,
        "created_at": "2026-11-15T12:00:00.000+00:00",
        "finished_at": None,
    }
    return DocumentRow(**{**fields, **changes})  # type: ignore[arg-type]  # fields by name


def _matrix(*rows: DocumentRow, unread: tuple[UnreadDocument, ...] = (), planned: int = 0) -> DocumentMatrix:
    batch = DocumentBatch("batch", "2026-11-15T12:00:00.000+00:00", "Letters", "NDA", planned, unread)
    return DocumentMatrix(batch, CHECKS, rows, ("a_playbook 1.0.0",))


def test_totals_count_every_document_once() -> None:
    running = _row("b", None, state=State.QUEUED)
    matrix = _matrix(_row(), running, _row("c", None), unread=(UnreadDocument("d.pdf", "No."),), planned=6)
    totals = matrix.totals
    counted = (totals.reports, totals.open, totals.stopped, totals.unread, totals.missing)
    assert (sum(counted), counted) == (totals.planned, (1, 1, 1, 1, 2))
    assert summary(matrix) == (
        "6 documents: 1 STABLE, 1 running or waiting, 1 stopped before the end, 1 not read, 2 not handed over."
    )


def test_documents_are_in_the_order_of_a_folder() -> None:
    titles = ["Letter 10", "careless", "Letter 2", "letter 1", "007 Lease", "Letter 2", "12 Lease", ""]
    rows = ordered_by_title([_row(title, evaluation_id=str(number)) for number, title in enumerate(titles)])
    in_order = ["", "007 Lease", "12 Lease", "careless", "letter 1", "Letter 2", "Letter 2", "Letter 10"]
    assert [row.title for row in rows] == in_order
    assert [row.evaluation_id for row in rows if row.title == "Letter 2"] == ["2", "5"]


def test_a_later_evaluation_replaces_an_incomplete_report_of_the_same_document_only() -> None:
    incomplete = _row("a", ShownStatus.INCOMPLETE, evaluation_id="1", inputs_fingerprint="x")
    other = _row("b", evaluation_id="2", inputs_fingerprint="x")
    again = _row("a", evaluation_id="3", inputs_fingerprint="x")
    copy = _row("b", evaluation_id="4", inputs_fingerprint="x")
    rows = without_replaced([incomplete, other, again, copy])
    assert [row.evaluation_id for row in rows] == ["3", "2", "4"]


@given(
    st.text()
    | st.sampled_from(["=1+1", "+1", "-1", "@x", "\t=1", " =1", "\r=1", "\uff1d1", '"=1', "'=1", "a;=1", "a\n=1"]),
    st.text(),
)
def test_no_cell_of_the_csv_is_a_formula_and_nothing_is_lost(title: str, message: str) -> None:
    matrix = _matrix(_row(title, file_name=title), unread=(UnreadDocument(title, message),))
    rows = list(csv.reader(io.StringIO(matrix_files.render_csv(matrix).removeprefix("\ufeff"), newline="")))
    assert len(rows) == 3
    assert {len(row) for row in rows} == {len(CHECKS) + 8}
    for row in rows:
        for cell in row:
            assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b"))
    assert rows[1][0].replace("'", "") == title.replace("\0", "").replace("'", "")


def test_no_cell_is_a_formula_where_spreadsheets_separate_by_semicolons() -> None:
    matrix = _matrix(_row("Lease;=1+1", file_name="a\n=cmd|' /C calc'!A0"))
    content = matrix_files.render_csv(matrix).removeprefix("\ufeff")
    cells = [cell for row in csv.reader(io.StringIO(content, newline=""), delimiter=";") for cell in row]
    assert [cell for cell in cells if cell.startswith("=")] == []


def test_files_escape_hostile_names() -> None:
    name = "<script>alert(1)</script>\u202e\x1b[31m"
    matrix = _matrix(_row(name), unread=(UnreadDocument(name, name),))
    page = matrix_files.render_html(matrix)
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "not legal advice" in page
    assert "\x1b" not in "\n".join(terminal.lines(matrix, colour=False))
    document = json.loads(matrix_files.render_json(matrix))
    assert (document["byop_matrix"], document["rows"][0]["title"]) == (1, name)
