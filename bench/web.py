"""`byop serve` under load: 50 evaluations started at once, and the history asked for meanwhile.

Everybody is a process of their own: the provider, the server, and this one, which asks.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp

from bench import table
from bench.provider import saying

EVALUATIONS, LATENCY, IDLE = 50, 0.2, 100
CALLS = 12
"""Of an evaluation with the starter playbook."""
VERDICT = {"result": "pass", "confidence": 0.9, "evidence_citations": [], "notes": "It says so."}
TEXT = "We assume that German law applies. Counsel should review clause 7. The annexes were not checked. " * 20


def report() -> None:
    table.heading(f"byop serve: {EVALUATIONS} evaluations at once, {CALLS} calls each, {LATENCY * 1000:.0f} ms a call")
    with saying(json.dumps(VERDICT), LATENCY) as provider, _server(f"{provider}/v1") as server:
        asyncio.run(_measure(server, f"{provider}/v1"))


async def _measure(server: str, base_url: str) -> None:
    async with aiohttp.ClientSession(server, timeout=aiohttp.ClientTimeout(300)) as session:
        await asyncio.gather(*(_evaluated(session, evaluator="rules") for _ in range(EVALUATIONS)))  # so there is one
        idle = [await _history(session) for _ in range(IDLE)]
        started = time.perf_counter()
        model = {"evaluator": "openai/gpt-5.4-mini", "base_url": base_url}
        load = asyncio.gather(*(_evaluated(session, **model) for _ in range(EVALUATIONS)))
        busy = []
        while not load.done():
            busy.append(await _history(session))
        ended = await load
        wall = time.perf_counter() - started
    assert ended == ["done"] * EVALUATIONS, ended
    table.line("history, idle", {"median": statistics.median(idle), "slowest": max(idle)}, "s")
    table.line("history, under load", {"median": statistics.median(busy), "slowest": max(busy)}, "s")
    table.line("all evaluations", {"wall": wall}, "s")
    table.promise("history under load to idle", table.ratio(busy, idle), 3)


async def _evaluated(session: aiohttp.ClientSession, **asked: str) -> str:
    """How it ended: the name of its last event."""
    body = {"ai_output": TEXT, **asked}
    async with session.post("/api/evaluations", json=body, headers={"x-api-key": "none"}) as response:
        assert response.status == 202, await response.text()
        evaluation = (await response.json())["id"]
    last = ""
    async with session.get(f"/api/evaluations/{evaluation}/events") as events:
        async for line in events.content:
            name, _, value = line.decode().strip().partition(": ")
            last = value if name == "event" else last
    return last


async def _history(session: aiohttp.ClientSession) -> float:
    started = time.perf_counter()
    async with session.get("/api/history") as response:
        assert response.status == 200
        await response.read()
    return time.perf_counter() - started


@contextmanager
def _server(base_url: str) -> Iterator[str]:
    command = [sys.executable, "-c", "from salvo.cli.byop import byop; byop()", "serve", "--no-open", "--port", "0"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [*command, "--allow-base-url", base_url],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server,
    ):
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip().rstrip("/")
        finally:
            server.terminate()
