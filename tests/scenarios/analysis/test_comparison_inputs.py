"""What a comparison reads from the store."""

from pathlib import Path

from salvo.scenarios.analysis.comparison_inputs import MOST_READ, nearest_counterpart
from salvo.scenarios.result import AgentRunResult, Outcome, RunMetrics, ToolCall
from salvo.scenarios.store.index import index_entry
from salvo.scenarios.store.store import RunStore
from tests.support.runs import batch, result


def stored(folder: Path, runs: list[AgentRunResult]) -> RunStore:
    store = RunStore(folder / ".salvo")
    store.prepare()
    store.save_batch(batch(runs=len(runs)))
    for run in runs:
        store.save_run(run)
    return store


def made(number: int, outcome: Outcome, *tools: str) -> AgentRunResult:
    return result(
        number, outcome, tool_calls=[ToolCall(name, {}) for name in tools], metrics=RunMetrics(tool_count=len(tools))
    )


def test_a_failing_run_has_a_passing_partner_and_a_passing_one_a_failing(tmp_path: Path) -> None:
    runs = [
        made(1, Outcome.PASSED, "find", "pay"),
        made(2, Outcome.PASSED, "find", "cancel"),
        made(3, Outcome.FAILED, "find", "cancel", "pay"),
        made(4, Outcome.ERROR, "find", "pay"),
    ]
    store = stored(tmp_path, runs)
    entries = list(map(index_entry, runs))
    assert [nearest_counterpart(store, run, entries) for run in runs] == [
        runs[2].run_id,
        runs[2].run_id,
        runs[1].run_id,
        runs[0].run_id,
    ]
    assert nearest_counterpart(store, runs[0], entries[:2]) is None


def test_only_so_many_files_are_read_and_one_that_is_damaged_is_passed_over(tmp_path: Path) -> None:
    runs = [
        made(1, Outcome.FAILED, "find"),
        *(made(number, Outcome.PASSED, "find") for number in range(2, MOST_READ + 10)),
    ]
    store = stored(tmp_path, runs)
    (store.folder / "runs" / f"{runs[1].run_id}.json").write_text("{")
    for run in runs[MOST_READ + 1 :]:
        (store.folder / "runs" / f"{run.run_id}.json").unlink()
    assert nearest_counterpart(store, runs[0], list(map(index_entry, runs))) == runs[2].run_id
