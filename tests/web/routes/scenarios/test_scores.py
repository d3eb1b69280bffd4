"""/api/batches/{id}/scores: what `salvo score` came to on the runs of a batch."""

from pathlib import Path

from salvo.scenarios.report import html
from salvo.scenarios.result import Outcome
from tests.support.runs import batch, result, save_scoring, stored
from tests.support.web import Client

PASSED, FAILED, ERROR = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR


async def test_the_verdicts_of_a_scoring_are_beside_those_of_the_batch(api: Client, tmp_path: Path) -> None:
    scored = batch("1m7scored", 4)
    store = stored(tmp_path, (scored, [result(n, PASSED if n < 3 else FAILED, "1m7scored") for n in range(1, 5)]))
    save_scoring(store, scored, [PASSED, FAILED, PASSED, ERROR])
    found = await api.get("/api/batches/1m7scored/scores")
    [score] = found["scores"]
    assert found["older"] == 0
    assert (score["score_id"], score["source"], score["verdict"]) == ("score-1m7scored", "stricter.yaml", "failed")
    assert (score["passed"], score["completed"], score["judge_cost"]["total"]) == (2, 3, 0.04)
    assert score["sentence"] == (
        "Of 4 runs of the batch, 1 pass that did not, 1 no longer pass, and 1 could not be judged."
    )
    assert [(run["run_id"][-4:], run["before"], run["after"]) for run in score["changed"]] == [
        ("0002", "passed", "failed"),
        ("0003", "failed", "passed"),
        ("0004", "failed", "error"),
    ]
    assert [(item["label"], item["passed"]) for item in score["assertions"]] == [("strict", 2)]
    assert (await api.get("/api/batches/1m7scored"))["summary"]["passed"] == 2, "the batch keeps its verdict"


async def test_the_newest_scorings_come_first_and_damaged_ones_hide_no_others(api: Client, tmp_path: Path) -> None:
    scored = batch("1m7scored", 1)
    store = stored(tmp_path, (scored, [result(1, PASSED, "1m7scored")]))
    for number in range(12):
        made = {"score_id": f"score-{number:02}", "created_at": f"2026-11-{number + 10}T12:00:00+00:00"}
        save_scoring(store, scored, [PASSED], **made)
    (store.folder / "scores/score-11/score.json").write_text("{}")
    (store.folder / "scores/score-10/1m7scored-0001.json").write_text("{}")
    found = await api.get("/api/batches/1m7scored/scores")
    assert [score["score_id"] for score in found["scores"]] == [f"score-{number:02}" for number in range(10, 0, -1)]
    assert (found["older"], found["scores"][0]["unreadable"], found["scores"][1]["unreadable"]) == (1, 1, 0)


async def test_a_batch_that_was_not_scored_again_has_none(api: Client, tmp_path: Path) -> None:
    stored(tmp_path, (batch("1m7plain"), []))
    assert await api.get("/api/batches/1m7plain/scores") == {"scores": [], "older": 0}


def test_the_exported_page_shows_them_escaped(tmp_path: Path) -> None:
    scored = batch("1m7scored", 2)
    store = stored(tmp_path, (scored, [result(1, PASSED, "1m7scored"), result(2, PASSED, "1m7scored")]))
    assert "Scored again" not in html.export(store, "1m7scored").html
    save_scoring(store, scored, [PASSED, FAILED], source="<script>alert(1)</script>.yaml")
    page = html.export(store, "1m7scored").html
    assert "<h2>Scored again</h2>" in page
    assert "Of 2 runs of the batch, 0 pass that did not, and 1 no longer pass." in page
    assert "<script>alert" not in page
