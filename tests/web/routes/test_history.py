"""/api/history, /api/subjects, /api/timeline and /api/baselines."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from salvo.engine.runtime.clock import SystemClock
from salvo.playbooks.store.store import EvaluationStore
from tests.support.playbooks import some_inputs
from tests.support.stored_evaluations import begin_evaluation
from tests.support.web import Client, WebServer, client

Serve = Callable[..., WebServer]


async def test_the_history_is_paged_filtered_and_searched(api: Client) -> None:
    ids = [(await api.report(mode="screening", subject=subject))["report"]["report_id"] for subject in "aab"]
    page = await api.get("/api/history?limit=2")
    assert ([row["id"] for row in page["rows"]], page["more"]) == ([ids[2], ids[1]], True)
    rest = await api.get("/api/history?limit=2&offset=2")
    assert ([row["id"] for row in rest["rows"]], rest["more"]) == ([ids[0]], False)
    assert len((await api.get("/api/history?subject=a"))["rows"]) == 2
    assert len((await api.get("/api/history?search=ALERT"))["rows"]) == 3
    assert (await api.get("/api/history?search=nowhere"))["rows"] == []
    assert len((await api.get("/api/history?status=ALERT&mode=screening"))["rows"]) == 3
    assert (await api.get("/api/history?status=STABLE"))["rows"] == []
    assert (await api.get("/api/history?mode=full"))["rows"] == []
    assert await api.get("/api/subjects") == [{"name": "b", "reports": 1}, {"name": "a", "reports": 2}]
    assert [point["id"] for point in await api.get("/api/timeline?subject=a")] == ids[:2]


async def test_the_history_has_a_total_and_is_sorted(api: Client) -> None:
    described = [("beta", "x"), ("Alpha", "y"), ("gamma", "x")]
    first, second, third = [
        (await api.report(mode="screening", title=title, subject=subject))["report"]["report_id"]
        for title, subject in described
    ]

    async def listed(query: str) -> list[str]:
        page = await api.get(f"/api/history?limit=2&{query}")
        assert page["total"] == 3
        return [row["id"] for row in page["rows"]]

    assert await listed("descending=false") == [first, second]
    assert await listed("sort=title&descending=false") == [second, first]
    assert await listed("sort=title&descending=false&offset=2") == [third]
    assert await listed("sort=subject") == [second, third]
    assert await listed("sort=status") == [third, second]  # equal, so the newest first
    assert (await api.get("/api/history?search=ALPHA"))["total"] == 1
    assert (await api.get("/api/history?subject=x&limit=1"))["total"] == 2


async def test_a_search_can_look_into_the_texts(api: Client) -> None:
    found = (await api.report(ai_output="The café's\nIndemnity clause is fine: 100%.", mode="screening"))["report"]
    await api.report(ai_output="Something else about a clause.", mode="screening")
    assert (await api.get("/api/history?search=indemnity"))["total"] == 0
    for words in ("indemnity", "caf%C3%A9 clause", "fine: 100%25", "clause INDEMNITY"):
        page = await api.get(f"/api/history?in_texts=true&search={words}")
        assert [row["id"] for row in page["rows"]] == [found["report_id"]], words
    assert (await api.get("/api/history?in_texts=true&search=10_%25"))["total"] == 0


async def test_a_server_indexes_the_texts_of_an_earlier_version_while_it_works(serve: Serve, database: Path) -> None:
    texts = 30
    with EvaluationStore.open(f"sqlite:///{database}", SystemClock()) as store:
        for number in range(texts):
            begin_evaluation(store, f"id-{number:04}", inputs=some_inputs(f"Abendrot {number}"))
    with closing(sqlite3.connect(database)) as older, older:
        older.execute("PRAGMA foreign_keys = ON")
        older.execute("INSERT INTO byop_texts_to_index (evaluation_id) SELECT evaluation_id FROM byop_indexed_texts")
        older.execute("DELETE FROM byop_indexed_texts")
        older.execute("DELETE FROM byop_text_words")
    left = texts
    async with client(serve()) as api:
        while left:
            page = await api.get("/api/history?in_texts=true&search=abendrot")
            assert page["total"] == texts
            assert page["unindexed"] <= left
            left = page["unindexed"]
    with closing(sqlite3.connect(database)) as indexed:
        assert indexed.execute("SELECT count(*) FROM byop_word_occurrences").fetchone() == (2 * texts,)


async def test_a_baseline_is_saved_listed_and_cleared(api: Client) -> None:
    report = (await api.report())["report"]["report_id"]
    screening = (await api.report(mode="screening"))["report"]["report_id"]
    assert (await api.ask("POST", "/api/baselines", {"report_id": report})).status == 204
    refused = await api.ask("POST", "/api/baselines", {"report_id": screening})
    assert (refused.status, refused.code) == (400, "bad_usage")
    assert [each["evaluation_id"] for each in await api.get("/api/baselines")] == [report]
    assert (await api.ask("DELETE", f"/api/baselines/{report}")).status == 204
    assert await api.get("/api/baselines") == []


async def test_an_evaluation_that_waits_for_a_provider_s_batch_says_so(serve: Serve, database: Path) -> None:
    with EvaluationStore.open(f"sqlite:///{database}", SystemClock()) as store:
        name = begin_evaluation(store, "1m7waitsforbatch")
        store.save_batch(name, {"batch": {}}, waits=True)
    async with client(serve()) as api:
        [row] = (await api.get("/api/history"))["rows"]
        evaluation = await api.get(f"/api/evaluations/{name}")
        assert [event.event async for event in api.watch(name)] == ["batched"]
        refused = await api.ask("POST", f"/api/evaluations/{name}/resume", {}, x_api_key="sk-ant-0123456789")
    assert row["state"] == "batched"
    assert (evaluation["state"], evaluation["resumable"]) == ("batched", False)
    assert evaluation["waits_for"].startswith("The questions were sent to the provider's batch API")
    assert (refused.status, "byop collect" in str(refused.json())) == (400, True), refused
