"""/api/document-batches."""

import csv
import io
from typing import Any

from tests.support.web import CAREFUL, CARELESS, Client


async def _batch(api: Client, *texts: str, planned: int = 0, **changes: Any) -> str:
    """Start a batch, and return its id when all of its evaluations have ended."""
    body = {"title": "Letters", "subject": "NDA", "planned": planned or len(texts)}
    batch_id: str = (await api.ask("POST", "/api/document-batches", body)).json()["id"]
    for number, text in enumerate(texts):
        await api.report(ai_output=text, title=f"Letter {number}", subject="NDA", batch_id=batch_id, **changes)
    return batch_id


async def test_documents_are_evaluated_together_and_shown_as_a_matrix(api: Client) -> None:
    batch_id = await _batch(api, CARELESS, CAREFUL, planned=4)
    unread = {"file_name": "=1.pdf", "message": "It has no text."}
    assert (await api.ask("POST", f"/api/document-batches/{batch_id}/unread", unread)).status == 204
    matrix = await api.get(f"/api/document-batches/{batch_id}")
    assert [(row["title"], row["status"]) for row in matrix["rows"]] == [("Letter 0", "ALERT"), ("Letter 1", "STABLE")]
    assert matrix["summary"] == "4 documents: 1 ALERT, 1 STABLE, 1 not read, 1 not handed over."
    assert matrix["rows"][0]["outcomes"]["certainty_language"] == "fail"
    listed = await api.get("/api/document-batches")
    assert [(entry["id"], entry["planned"], entry["reports"]) for entry in listed["entries"]] == [(batch_id, 4, 2)]
    assert listed["total"] == 1


async def test_a_matrix_is_exported(api: Client) -> None:
    batch_id = await _batch(api, CAREFUL)
    table = await api.ask("GET", f"/api/document-batches/{batch_id}/export?format=csv")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert table.headers["content-disposition"] == f'attachment; filename="byop-{batch_id}.csv"'
    rows = list(csv.reader(io.StringIO(table.body.decode("utf-8-sig"))))
    assert [row[0] for row in rows] == ["Document", "Letter 0"]
    page = await api.ask("GET", f"/api/document-batches/{batch_id}/export?format=html")
    assert b"Letter 0" in page.body
    document = await api.get(f"/api/document-batches/{batch_id}/export?format=json")
    assert document["byop_matrix"] == 1


async def test_documents_of_a_batch_are_compared_with_earlier_reports_of_themselves_only(api: Client) -> None:
    first, second = [await _batch(api, CAREFUL, CARELESS) for _ in range(2)]
    rows = [(await api.get(f"/api/document-batches/{name}"))["rows"] for name in (first, second)]
    for earlier, later in zip(*rows, strict=True):
        for row, expected in ((earlier, None), (later, earlier["evaluation_id"])):
            report = (await api.get(f"/api/reports/{row['evaluation_id']}"))["report"]
            assert report["drift_summary"]["baseline_id"] == expected


async def test_a_batch_is_deleted_with_its_evaluations_and_the_log_stays(api: Client) -> None:
    batch_id = await _batch(api, CAREFUL)
    assert (await api.ask("DELETE", f"/api/document-batches/{batch_id}")).status == 204
    assert (await api.get("/api/history"))["total"] == 0
    assert (await api.get("/api/document-batches"))["total"] == 0
    unknown = await api.ask("GET", f"/api/document-batches/{batch_id}")
    assert (unknown.status, unknown.code) == (404, "unknown_id")


async def test_an_evaluation_of_an_unknown_batch_is_refused(api: Client) -> None:
    refused = await api.ask("POST", "/api/evaluations", {"ai_output": CAREFUL, "batch_id": "nowhere"})
    assert (refused.status, refused.code) == (404, "unknown_id")
    assert (await api.get("/api/history"))["total"] == 0
