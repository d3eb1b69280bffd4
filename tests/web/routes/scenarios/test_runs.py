"""/api/runs: one run with its steps, two runs side by side, and the stored file."""

from pathlib import Path

import pytest

from salvo.scenarios.analysis.trajectories.truncation import LONGEST
from salvo.scenarios.result import ToolCall
from salvo.scenarios.store.store import RunStore
from tests.support.runs import judged, result
from tests.support.scenario_store import save_runs
from tests.support.web import Client

REFUSED = [(404, "unknown_id"), (404, "not_found"), (409, "ambiguous_id"), (503, "store")]


class TestRuns:
    async def test_a_run_has_its_steps_and_each_assertion_beside_the_one_it_concerns(
        self, page: Client, weeks: RunStore
    ) -> None:
        failed = (await page.get("/api/batches/1m7000001/runs?outcome=failed"))["rows"][0]["run_id"]
        found = await page.get(f"/api/runs/{failed}")
        kinds = [step["kind"] for step in found["trajectory"]["steps"]]
        assert kinds[:4] == ["system", "message", "model", "tool"]
        assert kinds[-2:] == ["model", "end"]
        placed = [index for step in found["trajectory"]["steps"] for index in step["assertions"]]
        assert sorted([*placed, *found["trajectory"]["overall"]]) == list(range(len(found["run"]["eval_results"])))
        assert found["trajectory"]["overall"] == [4]
        assert found["partner"] in {
            row["run_id"] for row in (await page.get("/api/batches/1m7000001/runs?outcome=passed"))["rows"]
        }

    async def test_two_runs_stand_side_by_side_with_their_first_difference(self, page: Client, weeks: RunStore) -> None:
        failed = (await page.get("/api/batches/1m7000001/runs?outcome=failed"))["rows"][0]["run_id"]
        partner = (await page.get(f"/api/runs/{failed}"))["partner"]
        found = await page.get(f"/api/runs/{failed}/beside/{partner}")
        assert (found["a"]["run_id"], found["b"]["run_id"]) == (failed, partner)
        rows, first = found["steps"]["rows"], found["steps"]["first_difference"]
        assert all(row["same"] for row in rows[:first])
        assert not rows[first]["same"]

    async def test_what_is_huge_is_cut_and_says_so_and_the_file_has_all_of_it(
        self, api: Client, store: RunStore
    ) -> None:
        huge = "x" * 5_000_000
        save_runs(store, result(final_output=huge, eval_results=[judged("x", False, actual=huge)]))
        shown = await api.ask("GET", "/api/runs/latest")
        assert len(shown.body) < 10 * LONGEST
        end = shown.json()["trajectory"]["steps"][-1]
        assert (end["result"], end["cut"]) == ("x" * LONGEST + "…", {"result": len(huge)})
        assert shown.json()["run"]["cut"] == {"0.actual": len(huge)}
        file = await api.ask("GET", "/api/runs/latest/raw")
        assert file.headers["Content-Disposition"] == 'attachment; filename="salvo-run-01k9batch-0001.json"'
        assert file.json()["final_output"] == huge

    async def test_hostile_content_stays_data(self, api: Client, store: RunStore) -> None:
        hostile = "<script>alert(1)</script>\u202e\ud800\x00"
        save_runs(
            store, result(final_output=hostile, tool_calls=[ToolCall(hostile, {hostile: hostile}, error=hostile)])
        )
        found = await api.get("/api/runs/latest")
        call, end = found["trajectory"]["steps"]
        assert (call["title"], call["arguments"], call["error"]) == (hostile, {hostile: hostile}, hostile)
        assert end["result"] == hostile

    async def test_a_run_without_its_batch_is_shown_without_what_was_asked(self, api: Client, store: RunStore) -> None:
        save_runs(store, result(eval_results=[judged("x", True)]))
        (store.folder / "batches" / "01k9batch.json").unlink()
        found = await api.get("/api/runs/01k9batch-0001")
        assert ([step["kind"] for step in found["trajectory"]["steps"]], found["partner"]) == (["end"], None)
        assert found["trajectory"]["overall"] == [0]

    @pytest.mark.parametrize(
        "named",
        ["..%2f..%2fsecret", "%2e%2e", "a%00b", "..", "x" * 300, "%F0%9F%98%80", "secret", "01k9batch-0001.json"],
    )
    async def test_no_id_leads_out_of_the_store(self, api: Client, store: RunStore, tmp_path: Path, named: str) -> None:
        save_runs(store, result())
        (tmp_path / "secret.json").write_bytes((store.folder / "runs" / "01k9batch-0001.json").read_bytes())
        (store.folder / "runs" / "secret.json").symlink_to(tmp_path / "secret.json")
        for path in (
            f"/api/runs/{named}",
            f"/api/runs/{named}/raw",
            f"/api/batches/{named}",
            f"/api/batches/{named}/runs",
        ):
            answer = await api.ask("GET", path)
            assert (answer.status, answer.code) in REFUSED, path

    async def test_a_damaged_run_is_a_clear_error(self, api: Client, store: RunStore) -> None:
        save_runs(store, result())
        (store.folder / "runs" / "01k9batch-0001.json").write_text('{"run_id": 7}')
        answer = await api.ask("GET", "/api/runs/01k9batch-0001")
        assert (answer.status, answer.code) == (503, "store")
