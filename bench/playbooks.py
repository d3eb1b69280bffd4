"""`byop run` as a whole process, what its prompt cache saves, and how often the rules are right."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench import table
from bench.provider import saying

BYOP = str(Path(sys.executable).parent / "byop")
LATENCY, ROUNDS = 0.2, 7
LABELLED = Path(__file__).parent.parent / "tests" / "playbooks" / "labelled"
SHORT = "We assume that German law applies and that Acme is the controller. " * 12
ANSWER = json.dumps({"result": "pass", "confidence": 0.9, "evidence_citations": [], "notes": "Stated."})

WRITE, READ = 1.25, 0.1
"""What a token costs that is written to the cache, or read from it, in tokens that are neither."""


def report() -> None:
    _wall()
    _cache()
    _rules()


def _wall() -> None:
    table.heading(f"byop run, whole process: 12 calls of {LATENCY * 1000:.0f} ms with storage, median of {ROUNDS}")
    with saying(ANSWER, LATENCY) as url, _folder() as name:
        _evaluate(Path(name), url, SHORT)  # makes the database
        walls = [_evaluate(Path(name), url, SHORT)[0] for _ in range(ROUNDS)]
    table.line("byop run", {"wall": statistics.median(walls)}, "s")
    table.promise("wall to the latency of one call", statistics.median(walls) / LATENCY, 5)


def _cache() -> None:
    artifact = "\n".join(f"{number}. The parties agree on clause {number} of the annex." for number in range(1600))
    table.heading(f"The input of 12 calls on an artifact of {len(artifact) // 4:,} tokens, in tokens of full price")
    with saying(ANSWER) as url, _folder() as name:
        _, report = _evaluate(Path(name), url, artifact)
    spent = report["spent"]["tokens"]
    paid = spent["input"] + WRITE * spent["cache_write"] + READ * spent["cache_read"]
    whole = spent["input"] + spent["cache_write"] + spent["cache_read"]
    table.line("12 calls", {"paid": paid, "without a cache": whole}, "tokens")
    table.promise("paid to 12 calls without a cache", paid / whole, 0.3)


def _rules() -> None:
    from salvo.playbooks.evaluate.judges.rules import engine

    for half in ("dev", "test"):
        table.heading(f"The rules on the labelled texts, {half} half")
        seen: dict[str, Counter[tuple[str, str]]] = {}
        for file in sorted((LABELLED / half).glob("*.json")):
            for text in (text for pair in json.loads(file.read_text())["pairs"] for text in pair["texts"]):
                for check, label in text["labels"].items():
                    seen.setdefault(check, Counter())[label, engine.judge(check, text["text"]).result] += 1
        for check, counts in seen.items():
            _precision_and_recall(check, counts)


def _precision_and_recall(check: str, counts: Counter[tuple[str, str]]) -> None:
    right = sum(number for (label, said), number in counts.items() if label == said)
    shown = [f"{check:<28} right {right / counts.total():.2f}"]
    for result in ("pass", "fail"):
        said = sum(number for (_, verdict), number in counts.items() if verdict == result)
        labelled = sum(number for (label, _), number in counts.items() if label == result)
        both = counts[result, result]
        shown.append(f"{result}: precision {both / (said or 1):.2f} recall {both / (labelled or 1):.2f}")
    print("  " + "   ".join(shown))


def _folder() -> tempfile.TemporaryDirectory[str]:
    memory = Path("/dev/shm")  # noqa: S108 - what is measured is us, and not the machine's disk
    return tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None)


def _evaluate(folder: Path, url: str, text: str) -> tuple[float, dict[str, dict[str, dict[str, int]]]]:
    (folder / "output.txt").write_text(text)
    environ = {**os.environ, "ANTHROPIC_API_KEY": "sk-ant-bench", "ANTHROPIC_BASE_URL": url}
    command = [BYOP, "run", "output.txt", "--json", "--fail-on", "alert"]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - started
    assert done.returncode == 0, done.stderr
    return wall, json.loads(done.stdout)["byop_report"]
