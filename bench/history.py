"""The history page of `byop serve` over 10,000 evaluations, side by side with one over 100."""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path

import aiohttp
from sqlalchemy import create_engine, insert

from bench import table
from salvo.engine.runtime.clock import SystemClock
from salvo.playbooks.store.rows import text_words
from salvo.playbooks.store.store import EvaluationStore
from salvo.playbooks.store.tables import documents, evaluations, playbooks

FEW, MANY, ROUNDS = 100, 10_000, 15
WORDS_PER_TEXT, VOCABULARY = 500, 60_000
_TOKEN = "a-token-of-the-benchmark-that-is-long-enough"  # noqa: S105 - of a server on loopback that lives as long as the benchmark
_HEADERS = {"authorization": f"Bearer {_TOKEN}"}
QUERIES = {
    "list": "limit=50",
    "next page": "limit=50&offset=50",
    "one subject": "limit=50&subject=subject%207",
    "one status": "limit=50&status=ALERT",
    "sorted by title": "limit=50&sort=title&descending=false",
    "sorted by status": "limit=50&sort=status",
    "search in names": "limit=50&search=subject%2013",
    "search in texts": "limit=50&in_texts=true&search=indemnity",
}


def report() -> None:
    table.heading(f"byop serve: the history of {MANY:,} evaluations and of {FEW:,}")
    with tempfile.TemporaryDirectory() as name:
        folders = {count: Path(name) / str(count) for count in (FEW, MANY)}
        for count, folder in folders.items():
            folder.mkdir()
            fill(folder / "byop_runs.db", count)
        with _server(folders[FEW]) as few, _server(folders[MANY]) as many:
            asyncio.run(_measure(few, many))


def fill(file: Path, count: int) -> None:
    """Store evaluations in one transaction. Their words are as frequent as those of a natural language (Zipf's law)."""
    url = f"sqlite:///{file}"
    EvaluationStore.open(url, SystemClock()).close()
    chance = random.Random(7)  # noqa: S311 - no secret
    vocabulary = [f"{chance.randrange(16**6):06x}{'abcdefgh'[: chance.randrange(8)]}" for _ in range(VOCABULARY)]
    weights = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
    engine = create_engine(url)
    with engine.begin() as connection:
        playbook = {"logic_hash": "sha256:0", "id": "starter", "version": "1", "document": "{}"}
        connection.execute(insert(playbooks), playbook)
        for number in range(count):
            words = chance.choices(vocabulary, cum_weights=weights, k=WORDS_PER_TEXT)
            text = " ".join([*words, "indemnity"] if number % (count // 50) == 0 else words)
            row = _row(f"1m7{number:013d}", number, text)
            connection.execute(insert(evaluations), row)
            connection.execute(insert(documents), {"evaluation_id": row["id"], "title": f"Letter {-number % count}"})
            text_words.add(connection, str(row["id"]), {"ai_output": text})
    engine.dispose()


def _row(evaluation_id: str, number: int, text: str) -> dict[str, object]:
    return {
        "id": evaluation_id,
        "created_at": "2026-11-18T00:00:00Z",
        "touched_at": "2026-11-18T00:00:00Z",
        "finished_at": "2026-11-18T00:00:01Z",
        "owner": "",
        "state": "done",
        "subject": f"subject {number % 20}",
        "mode": "full",
        "runs": 3,
        "evaluator": "rules",
        "playbook_hash": "sha256:0",
        "inputs_fingerprint": "",
        "stored_in_full": True,
        "status": ("STABLE", "ALERT", "REVIEW")[number % 3],
        "incomplete": False,
        "outcomes": "{}",
        "request": "{}",
        "inputs": f'{{"ai_output":"{text}"}}',
        "report": text * 5,
    }


async def _measure(few: str, many: str) -> None:
    async with (
        aiohttp.ClientSession(few, headers=_HEADERS) as small,
        aiohttp.ClientSession(many, headers=_HEADERS) as large,
    ):
        for name, query in QUERIES.items():
            times: dict[aiohttp.ClientSession, list[float]] = {small: [], large: []}
            for _ in range(ROUNDS):
                for session in (small, large):
                    times[session].append(await _answered(session, query))
            medians = {"100": statistics.median(times[small]) * 1000, "10,000": statistics.median(times[large]) * 1000}
            table.line(name, medians, "ms")
            table.promise(f"{name}, 10,000 to 100", table.ratio(times[large], times[small]), 3)


async def _answered(session: aiohttp.ClientSession, query: str) -> float:
    started = time.perf_counter()
    async with session.get(f"/api/history?{query}") as response:
        assert response.status == 200, await response.text()
        rows = (await response.json())["rows"]
        assert rows, query
    return time.perf_counter() - started


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-c", "from salvo.cli.byop import byop; byop()", "serve", "--no-open", "--port", "0"]
    environment = {**os.environ, "SALVO_TOKEN": _TOKEN}
    environment.pop("DATABASE_URL", None)
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().partition("/login?")[0]
        finally:
            server.terminate()


if __name__ == "__main__":
    report()
