"""`salvo run` as a whole process, start and storage included, beside a plain loop on the official OpenAI SDK.

The plain loop stores nothing and evaluates nothing: it is what someone would write who only wants the calls made.
Results are stored in memory where the machine has such a folder: what is measured is us, and not its disk.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench import table
from bench.provider import four_call_provider

RUNS, AT_ONCE, ROUNDS = 200, 16, 5
SALVO = str(Path(sys.executable).parent / "salvo")
TOOL = "{{name: {name}, description: x, parameters: {{type: object}}, response: {{ok: true}}}}"
SCENARIO = f"""
scenario: four_call
adapter: openai
model: gpt-5.4-mini
user_message: Refund order A-1001, please.
system_prompt: You are a support agent.
tools:
  - {TOOL.format(name="find_order")}
  - {TOOL.format(name="check_stock")}
  - {TOOL.format(name="issue_refund")}
assertions:
  - {{type: tool_sequence, expected: [find_order, check_stock, issue_refund], required: true}}
  - {{type: jmespath, path: final_output.status, operator: eq, value: refunded}}
  - {{type: cost_limit, max_usd: 1}}
  - {{type: latency_limit, max_seconds: 60}}
"""
CELLS = """
scenario: refund
adapter: "function:desk.answer"
cases: cases.csv
matrix:
  system_prompt: {short: Be brief., rules: "Follow the rules of {{ shop }}."}
user_message: Refund order {{ order }} for {{ customer }}.
assertions:
  - {type: text, contains_all: ["{{ order }}"]}
  - {type: jmespath, path: final_text, operator: contains, value: "{{ customer }}"}
"""
DESK = """
def answer(request):
    return request.user_message
"""
EXPANSION = """
from pathlib import Path
from salvo.scenarios.spec.loader import load_scenarios
assert len(load_scenarios(Path("scenario.yaml"), root=Path.cwd())) == 10_000
"""
NO_CELLS = "import salvo.scenarios.spec.loader, salvo.scenarios.spec.cases.expansion"
FIRST_PAGE = """
from itertools import islice
from pathlib import Path
from salvo.engine.runtime.clock import SystemClock
from salvo.scenarios.store.batch_catalog import BatchCatalog
from salvo.scenarios.store.store import RunStore
assert len(list(islice(BatchCatalog(RunStore(Path(".salvo")), SystemClock()).rows(), 10))) == 10
"""


@dataclass(frozen=True)
class Spent:
    cpu: float
    wall: float
    megabytes: float


def report() -> None:
    table.heading(f"salvo run, whole process: {RUNS} four-call runs, {AT_ONCE} at a time, median of {ROUNDS}")
    with four_call_provider() as url:
        ours, recorded, theirs = [], [], []
        for _ in range(ROUNDS):  # by turns: a machine that slows down must slow all of them down
            ours.append(_salvo(url, RUNS, AT_ONCE))
            recorded.append(_salvo(url, RUNS, AT_ONCE, "--record"))
            theirs.append(_bare("openai", url, RUNS, AT_ONCE))
        many = _salvo(url, 10 * RUNS, AT_ONCE)
    for name, rounds in (("salvo run", ours), ("salvo run --record", recorded), ("OpenAI SDK, bare loop", theirs)):
        table.line(name, {"cpu": _median(rounds, "cpu"), "wall": _median(rounds, "wall")}, "s")
    sdk = _median(theirs, "cpu")
    table.promise("CPU to the bare loop's", _median(ours, "cpu") / sdk, 0.30)
    table.promise("CPU with recording to the bare loop's", _median(recorded, "cpu") / sdk, 0.40)
    table.promise("CPU of 2,000 runs to that of 200", many.cpu / _median(ours, "cpu"), 11)
    table.promise("memory, the largest", max(spent.megabytes for spent in (*ours, *recorded, many)), 70, "MB")
    _cells()
    _latency()
    _history()


def _cells() -> None:
    table.heading("cases and matrix, median of 3")
    cpu: dict[int, list[float]] = {200: [], 2000: []}
    expansion = []
    with tempfile.TemporaryDirectory(dir=_in_memory()) as name:
        folder = Path(name)
        (folder / "scenario.yaml").write_text(CELLS)
        (folder / "desk.py").write_text(DESK)
        for _ in range(3):
            _write_cases(folder, 5000)
            imports = _spent([sys.executable, "-c", NO_CELLS], folder, "").cpu
            expansion.append(_spent([sys.executable, "-c", EXPANSION], folder, "").cpu - imports)
            for cells, measured in cpu.items():
                _write_cases(folder, cells // 2)
                measured.append(_spent([SALVO, "run", "scenario.yaml", "-q"], folder, "").cpu)
                shutil.rmtree(folder / ".salvo")
    table.promise("CPU of the expansion of 10,000 cells", statistics.median(expansion), 2, "s")
    table.promise("CPU of 2,000 cells to that of 200", table.ratio(cpu[2000], cpu[200]), 11)


def _write_cases(folder: Path, number: int) -> None:
    rows = (f"case-{row},A-{row},Customer {row},Example Ltd" for row in range(number))
    (folder / "cases.csv").write_text("\n".join(["id,order,customer,shop", *rows]))


def _latency() -> None:
    """The yardstick for waiting is the bare aiohttp loop in the same minutes."""
    runs, at_once, latency = 100, 50, 0.2
    table.heading(f"{runs} runs, {at_once} at a time, {latency * 1000:.0f} ms a call, median of {ROUNDS}")
    with four_call_provider(latency) as url:
        plain, recorded, sdk, bare = [], [], [], []
        for _ in range(ROUNDS):
            plain.append(_salvo(url, runs, at_once))
            recorded.append(_salvo(url, runs, at_once, "--record"))
            sdk.append(_bare("openai", url, runs, at_once))
            bare.append(_bare("aiohttp", url, runs, at_once))
    measured = {"salvo run": plain, "salvo run --record": recorded, "OpenAI SDK, bare loop": sdk}
    for name, rounds in {**measured, "aiohttp, bare loop": bare}.items():
        table.line(name, {"wall": _median(rounds, "wall")}, "s")
    yardstick = _median(bare, "wall")
    table.promise("wall to the bare aiohttp loop's", _median(plain, "wall") / yardstick, 1.20)
    print(f"  wall with recording to the bare aiohttp loop's: {_median(recorded, 'wall') / yardstick:.2f} ×")


def _history() -> None:
    table.heading("over 100 and over 100,000 stored runs, median of 7")
    commands = {
        "salvo report --last 20": [SALVO, "report", "--last", "20"],
        "the dashboard's first page": [sys.executable, "-c", FIRST_PAGE],
    }
    with tempfile.TemporaryDirectory() as few, tempfile.TemporaryDirectory() as many:
        _fill(Path(few), 100)
        _fill(Path(many), 100_000)
        for name, command in commands.items():
            seconds: dict[str, list[float]] = {few: [], many: []}
            for _ in range(7):
                for folder, measured in seconds.items():
                    measured.append(_spent(command, Path(folder), "").wall)
            table.promise(f"{name}: time over 100,000 to that over 100", table.ratio(seconds[many], seconds[few]), 2)


def _fill(folder: Path, runs: int) -> None:
    """A store of that many runs, ten to a batch, written by the store itself."""
    from salvo.scenarios.result import AgentRunResult, Batch, EvalResult, Outcome
    from salvo.scenarios.store.store import RunStore

    store = RunStore(folder / ".salvo")
    store.prepare()
    for number in range(runs // 10):
        batch = Batch(
            batch_id=f"{number:016d}",
            scenario_id="four_call",
            created_at="2026-11-15T12:00:00+00:00",
            adapter="openai",
            provider="openai",
            model="gpt-5.4-mini",
            runs=10,
            seed=None,
            threshold=1.0,
            min_pass_rate=1.0,
            recorded=False,
            scenario={},
        )
        store.save_batch(batch)
        for run in range(1, 11):
            store.save_run(
                AgentRunResult(
                    run_id=batch.run_id(run),
                    batch_id=batch.batch_id,
                    scenario_id="four_call",
                    number=run,
                    provider="openai",
                    model="gpt-5.4-mini",
                    timestamp="2026-11-15T12:00:00+00:00",
                    seed=None,
                    outcome=Outcome.PASSED,
                    passed=True,
                    weighted_score=1.0,
                    eval_results=[EvalResult(passed=True, score=1.0, name="tool_sequence", type="tool_sequence")],
                )
            )


def _salvo(url: str, runs: int, at_once: int, *options: str) -> Spent:
    with tempfile.TemporaryDirectory(dir=_in_memory()) as folder:
        (Path(folder) / "scenario.yaml").write_text(SCENARIO)
        command = [SALVO, "run", "scenario.yaml", "-n", str(runs), "-j", str(at_once), *options]
        return _spent(command, Path(folder), url)


def _in_memory() -> Path | None:
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    return memory if memory.is_dir() else None


def _bare(client: str, url: str, runs: int, at_once: int) -> Spent:
    return _spent([sys.executable, "-m", "bench.loops", client, url, str(runs), str(at_once)], Path.cwd(), url)


def _spent(command: list[str], folder: Path, url: str) -> Spent:
    environ = {**os.environ, "OPENAI_API_KEY": "bench", "OPENAI_BASE_URL": f"{url}/v1"}
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    return Spent(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1024)


def _median(rounds: list[Spent], what: str) -> float:
    return float(statistics.median(getattr(spent, what) for spent in rounds))
