"""`salvo compare` over two batches of 5,000 runs, as a whole process, beside the mere reading of their files."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import table

RUNS, ROUNDS = 5_000, 5
SALVO = str(Path(sys.executable).parent / "salvo")
READ = "import pathlib, sys; [file.read_bytes() for file in pathlib.Path(sys.argv[1]).iterdir()]"
BATCHES = {"0000000000000000": ("gpt-5.4-mini", 0.9), "0000000000000001": ("gpt-5.5", 0.896)}


def report() -> None:
    table.heading(f"salvo compare over two batches of {RUNS:,} runs, median of {ROUNDS}")
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it: we are measured, and not the disk
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        whole, without_index = Path(folder, "whole"), Path(folder, "without-index")
        for batch_id, (model, rate) in BATCHES.items():
            _fill(whole, batch_id, model, rate)
        shutil.copytree(whole, without_index)
        commands = {
            "reading the run files": (whole, [sys.executable, "-c", READ, str(whole / ".salvo" / "runs")]),
            "salvo compare": (whole, [SALVO, "compare", *BATCHES]),
            "without an index": (without_index, [SALVO, "compare", *BATCHES]),
        }
        spent: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(ROUNDS):  # in turns, so that a machine that slows down slows all of them down
            for name, (project, command) in commands.items():
                (without_index / ".salvo" / "history.jsonl").write_bytes(b"")
                shutil.rmtree(without_index / ".salvo" / "cache", ignore_errors=True)
                spent[name].append(_spent(command, project))
    for name, rounds in spent.items():
        cpu, wall = (statistics.median(column) for column in zip(*rounds, strict=True))
        table.line(name, {"cpu": cpu, "wall": wall}, "s")
    wall = {name: [wall for _, wall in rounds] for name, rounds in spent.items()}
    reading, ours, lost = wall.values()
    table.promise("salvo compare to reading", table.ratio(ours, reading), 3)
    print(f"  where the index was lost, and every run file is read and checked: {table.ratio(lost, reading):.2f} ×")


def _spent(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds of CPU, and by the clock."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - started


def _fill(folder: Path, batch_id: str, model: str, rate: float) -> None:
    """Written by the store itself; each run with its tool calls and its trace, some 7 kB."""
    from salvo.scenarios.result import AgentRunResult, Batch, EvalResult, Outcome, RunMetrics, ToolCall, TraceEvent
    from salvo.scenarios.store.store import RunStore

    store = RunStore(folder / ".salvo")
    store.prepare()
    batch = Batch(
        batch_id=batch_id,
        scenario_id="four_call",
        created_at="2026-11-15T12:00:00+00:00",
        adapter="openai",
        provider="openai",
        model=model,
        runs=RUNS,
        seed=None,
        threshold=1.0,
        min_pass_rate=1.0,
        recorded=False,
        scenario={"scenario": "four_call", "user_message": "Refund order A-1001, please."},
    )
    store.save_batch(batch)
    calls = [
        ToolCall(name, {"order": "A-1001"}, {"ok": True, "note": "x" * 400}) for name in ("find", "check", "refund")
    ]
    trace = [TraceEvent("model", {"text": "y" * 400, "stop": "tool_use"}, 0.5) for _ in range(4)]
    for number in range(1, RUNS + 1):
        passed = number <= RUNS * rate
        store.save_run(
            AgentRunResult(
                run_id=batch.run_id(number),
                batch_id=batch_id,
                scenario_id="four_call",
                number=number,
                provider="openai",
                model=model,
                timestamp="2026-11-15T12:00:00+00:00",
                seed=None,
                outcome=Outcome.PASSED if passed else Outcome.FAILED,
                passed=passed,
                weighted_score=float(passed),
                final_output={"status": "refunded"},
                tool_calls=calls if passed else calls[:2],
                trace=trace,
                metrics=RunMetrics(latency=1.0 + number % 7, cost=0.01, tool_count=3, model_calls=4),
                eval_results=[
                    EvalResult(passed=passed, score=float(passed), name="tool_sequence", type="tool_sequence"),
                    EvalResult(passed=True, score=1.0, name="status", type="jmespath"),
                    EvalResult(passed=True, score=1.0, name="cost_limit", type="cost_limit"),
                ],
            )
        )


if __name__ == "__main__":
    report()
