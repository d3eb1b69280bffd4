"""/api/batches: the list, its pages and filters, one batch, its runs, comparisons and events."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from salvo.engine.jsonio import json_codec
from salvo.scenarios.analysis.comparison_inputs import compare_batches, find_pairs
from salvo.scenarios.analysis.summary import summarise
from salvo.scenarios.report.comparison import document
from salvo.scenarios.report.labels import describe_cause
from salvo.scenarios.report.terminal import batch_table
from salvo.scenarios.result import Cause, Outcome
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.index import index_entry
from salvo.scenarios.store.location import open_store
from salvo.scenarios.store.store import RunStore
from salvo.web.routes.scenarios import batch_results, batches
from tests.support.http_client import http_session
from tests.support.runs import batch, result, stored
from tests.support.scenario_store import MODELS, SCENARIOS, fill, save_runs
from tests.support.web import TOKEN, Client, WebServer, client, stranger

Serve = Callable[..., WebServer]


REFUND, FLIGHT = SCENARIOS
NAMED = "000000000wd44bd4pgbz000djdhy"


class TestBatches:
    async def test_a_folder_without_a_store_has_none_and_one_that_appears_is_seen(
        self, api: Client, tmp_path: Path
    ) -> None:
        place = str(tmp_path / ".salvo")
        nothing = {"rows": [], "offset": 0, "limit": 50, "more": False, "skipped": 0, "place": place}
        assert await api.get("/api/batches") == nothing
        assert await api.get("/api/batches/series") == {"series": [], "more": False, "skipped": 0}
        assert (await api.ask("GET", "/api/batches/latest")).code == "unknown_id"
        assert (await api.ask("GET", "/api/runs/latest")).code == "unknown_id"
        assert (await api.get("/api/about"))["scenarios"] == place
        fill(tmp_path, days=1, runs=2)
        assert len((await api.get("/api/batches"))["rows"]) == 4

    async def test_a_rate_reads_as_in_the_terminal_and_is_never_rounded_to_its_minimum(
        self, api: Client, tmp_path: Path
    ) -> None:
        results = [result(number, Outcome.PASSED if number > 21 else Outcome.FAILED) for number in range(1, 201)]
        stored(tmp_path, (batch(runs=200, min_pass_rate=0.9), results))
        labels = {"rate": "89.5%", "interval": "84% to 94%", "required": "90%"}
        [row] = (await api.get("/api/batches"))["rows"]
        [series] = (await api.get("/api/batches/series"))["series"]
        detail = await api.get("/api/batches/latest")
        assert row["labels"] == series["points"][0]["labels"] == detail["labels"] == labels
        assert detail["figures"][0]["value"].startswith("89.5%, 95% interval 84% to 94%: 179 of 200 shows at least 84%")

    async def test_they_are_paged_the_newest_first(self, page: Client, weeks: RunStore) -> None:
        pages = [await page.get(f"/api/batches?limit=5&offset={offset}") for offset in (0, 5, 10)]
        assert [each["more"] for each in pages] == [True, True, False]
        assert [row["batch_id"] for each in pages for row in each["rows"]] == weeks.newest_batches(20)

    @pytest.mark.parametrize(
        "asked, wanted",
        [
            (f"scenario={REFUND}", lambda row: row["scenario_id"] == REFUND),
            ("model=gpt-5.4-mini", lambda row: row["model"] == "gpt-5.4-mini"),
            ("model=anthropic/claude-haiku-4-5", lambda row: row["provider"] == "anthropic"),
            ("verdict=failed", lambda row: row["verdict"] == "failed"),
            ("search=BOOK_flight.yaml", lambda row: row["scenario_id"] == FLIGHT),
            ("search=1m7000003", lambda row: row["batch_id"] == "1m7000003stored"),
            (
                f"scenario={FLIGHT}&verdict=passed",
                lambda row: (row["scenario_id"], row["verdict"]) == (FLIGHT, "passed"),
            ),
        ],
    )
    async def test_they_are_filtered_and_the_pages_fit(
        self, page: Client, weeks: RunStore, asked: str, wanted: Callable[[Any], bool]
    ) -> None:
        every = [row for row in (await page.get("/api/batches"))["rows"] if wanted(row)]
        assert 0 < len(every) < 12
        found = await page.get(f"/api/batches?{asked}")
        assert (found["rows"], found["more"]) == (every, False)
        rest = await page.get(f"/api/batches?{asked}&limit=1&offset=1")
        assert (rest["rows"], rest["more"]) == (every[1:2], len(every) > 2)

    async def test_over_time_each_scenario_and_model_has_its_points_the_oldest_first(
        self, page: Client, weeks: RunStore
    ) -> None:
        found = await page.get("/api/batches/series")
        assert [(one["scenario_id"], one["model"], len(one["points"])) for one in found["series"]] == sorted(
            (scenario, model, 3) for scenario in SCENARIOS for _, model, _ in MODELS
        )
        times = [point["created_at"] for point in found["series"][0]["points"]]
        assert times == sorted(times)
        row = (await page.get("/api/batches?limit=1"))["rows"][0]
        newest = next(one for one in found["series"] if one["model"] == row["model"] and one["scenario_id"] == FLIGHT)
        assert newest["points"][-1]["pass_rate"] == row["pass_rate"]
        assert newest["points"][-1]["latency_p95"] == row["latency"]["p95"]
        assert {one["scenario_id"] for one in (await page.get(f"/api/batches/series?scenario={REFUND}"))["series"]} == {
            REFUND
        }

    async def test_over_time_only_so_many_runs_are_looked_at_and_it_says_so(
        self, api: Client, filled: RunStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(batches, "MAX_RUNS_IN_SERIES", 20)
        found = await api.get("/api/batches/series")
        assert (found["more"], sum(len(one["points"]) for one in found["series"])) == (True, 2)

    async def test_what_is_damaged_is_counted_and_hides_nothing_else(self, api: Client, filled: RunStore) -> None:
        gone, *_ = filled.newest_batches(1)
        (filled.folder / "batches" / f"{gone}.json").write_text("{")
        with (filled.folder / "history.jsonl").open("ab") as history:
            history.write(b"\nnot JSON\n")
        found = await api.get("/api/batches")
        assert (len(found["rows"]), found["skipped"]) == (11, 2)
        damaged = await api.ask("GET", f"/api/batches/{gone}")
        assert (damaged.status, damaged.code) == (503, "store")
        assert "is damaged" in damaged.json()["error"]["message"]

    async def test_a_batch_has_what_was_asked_for_and_what_its_runs_came_to(
        self, page: Client, weeks: RunStore
    ) -> None:
        found = await page.get("/api/batches/1m7000001")
        assert found["batch"]["scenario"]["user_message"] == SCENARIOS[REFUND]["user_message"]
        assert (found["running"], found["skipped"], found["summary"]["runs"]) == (False, 0, 8)
        labels = [one["label"] for one in found["summary"]["assertions"]]
        assert labels == ["tool_sequence", "right amount", "status", "polite", "cost_limit"]
        divergence = found["divergence"]
        assert divergence["failing"]["run_id"].startswith("1m7000001stored-")
        assert (await page.get("/api/batches/latest"))["batch"]["batch_id"] == weeks.newest_batches(1)[0]

    async def test_causes_have_the_labels_of_the_terminal(self, api: Client, store: RunStore) -> None:
        run = result(1, Outcome.ERROR, cause=Cause.PROVIDER, error="overloaded")
        save_runs(store, run)
        detail = await api.get(f"/api/batches/{run.batch_id}")
        assert detail["cause_labels"] == {cause: describe_cause(cause) for cause in Cause}
        assert (await api.get(f"/api/runs/{run.run_id}"))["run"]["cause_label"] == detail["cause_labels"]["provider"]
        printed = batch_table(summarise(store.load_batch(run.batch_id), [index_entry(run)]))
        assert any(f"{detail['cause_labels']['provider']}: overloaded" in line for line in printed)

    async def test_a_batch_that_cannot_be_resumed_by_its_id_says_so(self, api: Client, store: RunStore) -> None:
        for batch_id, is_named in (("01k9batch0000000", False), (NAMED, True)):
            save_runs(store, result(1, batch_id=batch_id), batch_id=batch_id)
            assert (await api.get(f"/api/batches/{batch_id}"))["is_named"] is is_named

    async def test_a_long_list_of_failures_is_cut_and_its_count_is_not(self, api: Client, store: RunStore) -> None:
        save_runs(store, *(result(number, Outcome.FAILED) for number in range(1, 61)))
        summary = (await api.get("/api/batches/latest"))["summary"]
        assert (len(summary["failures"]), summary["failed"]) == (batch_results.MAX_LISTED, 60)

    async def test_its_runs_are_paged_and_filtered_in_the_order_of_their_numbers(
        self, page: Client, weeks: RunStore
    ) -> None:
        everything = await page.get("/api/batches/1m7000001/runs")
        assert ([row["number"] for row in everything["rows"]], everything["total"]) == (list(range(1, 9)), 8)
        some = await page.get("/api/batches/1m7000001/runs?limit=3&offset=3")
        assert ([row["number"] for row in some["rows"]], some["more"]) == ([4, 5, 6], True)
        failed = await page.get("/api/batches/1m7000001/runs?outcome=failed")
        assert 0 < failed["total"] < 8
        assert {row["outcome"] for row in failed["rows"]} == {"failed"}
        wrong = await page.get("/api/batches/1m7000001/runs?assertion=right%20amount")
        assert all(
            not one["passed"] for row in wrong["rows"] for one in row["assertions"] if one["label"] == "right amount"
        )
        assert (await page.get("/api/batches/1m7000001/runs?assertion=polite"))["total"] == 0

    async def test_it_is_exported_as_one_file(self, page: Client, weeks: RunStore) -> None:
        file = await page.ask("GET", "/api/batches/1m7000001/export")
        assert (file.status, file.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert file.headers["Content-Disposition"] == 'attachment; filename="salvo-batch-1m7000001stored.html"'
        assert b"refund_order" in file.body

    async def test_two_are_compared_as_the_command_does(self, page: Client, weeks: RunStore) -> None:
        pair = {"a": "1m7000000", "b": "1m7000001"}
        answer = await page.ask("POST", "/api/batches/compare", pair)
        expected = document(compare_batches(weeks, *find_pairs(weeks, *pair.values(), all_scenarios=False)))
        assert answer.json() == json.loads(json_codec.dumps(expected))
        same = await page.ask("POST", "/api/batches/compare", {"a": "1m7000000", "b": "1m7000000stored"})
        assert (same.status, same.code) == (400, "bad_usage")


class TestEvents:
    async def test_whoever_watches_is_told_of_new_runs(
        self, api: Client, store: RunStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(batches, "POLL_SECONDS", 0.01)
        async with asyncio.timeout(20):
            told = api.listen("/api/batches/events")
            first = await anext(told)
            assert (first.event, first.data) == ("watching", {"place": str(store.folder)})
            save_runs(store, result(), batch_id="01k9batch")
            changed = {batch_id for each in [await anext(told)] for batch_id in each.data["batches"]}
            assert changed == {"01k9batch"}
            await told.aclose()

    async def test_a_server_that_is_stopped_keeps_nobody_who_watches(self, serve: Serve, tmp_path: Path) -> None:
        server = serve(project=tmp_path)
        async with client(server) as api, asyncio.timeout(20):
            told = api.listen("/api/batches/events")
            assert (await anext(told)).event == "watching"
            stopping = asyncio.create_task(asyncio.to_thread(server.stop))
            assert [each async for each in told] == []
            await stopping


async def test_whoever_watches_the_batches_is_told_at_once_that_it_does(api: Client) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with (
        http_session(headers=headers) as session,
        session.get(f"{api.url}/api/batches/events") as response,
    ):
        assert (response.status, response.content_type) == (200, "text/event-stream")
        assert await response.content.readline() == b"event: watching\n"
        name, _, data = (await response.content.readline()).decode().partition(": ")
        assert (name, list(json.loads(data))) == ("data", ["place"])


async def test_what_guards_the_others_guards_these(serve: Serve, filled: RunStore, tmp_path: Path) -> None:
    server = serve(project=tmp_path)
    async with client(server) as api, stranger(server.url) as outsider:
        for path in ("/api/batches", "/api/batches/latest", "/api/runs/latest", "/api/runs/latest/raw"):
            assert (await outsider.ask("GET", path)).code == "login_needed"
            assert (await api.ask("GET", path, host="evil.example")).code == "strange_host"
            answer = await api.ask("GET", path)
            assert (answer.status, answer.headers["Cache-Control"]) == (200, "no-store")
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert (await api.ask("GET", "/api/batches", origin="http://evil")).code == "strange_origin"


async def test_looking_at_runs_makes_no_database_and_asking_for_evaluations_does(
    serve: Serve, filled: RunStore, database: Path
) -> None:
    database.unlink()  # noqa: ASYNC240 - a file of the test's
    async with client(serve()) as api:
        await api.get("/api/about")
        await api.get("/api/batches")
        assert not database.exists()  # noqa: ASYNC240 - as above
        many = await asyncio.gather(*(api.get("/api/history") for _ in range(8)))
        assert [page["rows"] for page in many] == [[]] * 8
        assert database.exists()  # noqa: ASYNC240 - as above


async def test_runs_in_an_object_store_are_listed_shown_and_watched(
    serve: Serve, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(Project(tmp_path, tmp_path, store_address=bucket))
    store.save_batch(batch("01a", 2))
    store.save_run(result(1, batch_id="01a"))
    monkeypatch.setattr(batches, "POLL_SECONDS", 0.01)
    async with client(serve(store_address=bucket)) as api, asyncio.timeout(30):
        page = await api.get("/api/batches")
        assert ([row["batch_id"] for row in page["rows"]], page["place"]) == (["01a"], bucket)
        about = await api.get("/api/about")
        assert (about["scenarios"], about["store_option"]) == (bucket, f"--store {bucket}")
        assert (await api.get("/api/runs/01a-0001"))["run"]["run_id"] == "01a-0001"
        events = api.listen("/api/batches/events")
        first = await anext(events)
        assert (first.event, first.data) == ("watching", {"place": bucket})
        await asyncio.to_thread(store.save_run, result(2, batch_id="01a"))
        assert (await anext(events)).data == {"batches": ["01a"]}
        await events.aclose()
        assert (await api.get("/api/batches"))["rows"][0]["missing"] == 0
