"""`byop serve` under load: 50 evaluations started at once, and the history asked for meanwhile.

Everybody is a process of their own: the provider, the server, those who evaluate, and this one, which looks at the
history.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

import aiohttp

from bench import table
from bench.provider import saying

EVALUATIONS, LATENCY, ROUNDS = 50, 0.2, 3
BEAT, QUIET = 0.1, 4.0
"""Seconds: so often is the history opened, and for so long while nothing else goes on."""
CALLS = 12
"""Of an evaluation with the starter playbook."""
OPENED = ("/api/history?limit=50&offset=0", "/api/subjects")
"""What the history page asks for when it is opened."""
_TOKEN = "a-token-of-the-benchmark-that-is-long-enough"  # noqa: S105 - of a server on loopback that lives as long as the benchmark
_HEADERS = {"authorization": f"Bearer {_TOKEN}"}
VERDICT = {"result": "pass", "confidence": 0.9, "evidence_citations": [], "notes": "It says so."}
TEXT = "We assume that German law applies. Counsel should review clause 7. The annexes were not checked. " * 20


def report() -> None:
    table.heading(f"byop serve: {EVALUATIONS} evaluations at once, {CALLS} calls each, {LATENCY * 1000:.0f} ms a call")
    with (
        saying(json.dumps(VERDICT), LATENCY) as provider,
        _server(f"{provider}/v1") as server,
        ProcessPoolExecutor(1, get_context("spawn")) as elsewhere,
    ):
        asyncio.run(_measure(server, elsewhere, f"{provider}/v1"))


async def _measure(server: str, elsewhere: Executor, base_url: str) -> None:
    loop = asyncio.get_running_loop()
    idle: list[float] = []
    busy: list[float] = []
    walls: list[float] = []
    async with aiohttp.ClientSession(server, timeout=aiohttp.ClientTimeout(300), headers=_HEADERS) as session:
        await loop.run_in_executor(elsewhere, _evaluate, server, {"evaluator": "rules"})  # so there is a history
        model = {"evaluator": "openai/gpt-5.4-mini", "base_url": base_url}
        for _ in range(ROUNDS):
            idle += await _opened(session, asyncio.create_task(asyncio.sleep(QUIET, QUIET)))
            load = loop.run_in_executor(elsewhere, _evaluate, server, model)
            busy += await _opened(session, load)
            walls.append(await load)
    for name, times in (("history, idle", idle), ("history, under load", busy)):
        ordered = sorted(times)
        table.line(name, {"median": statistics.median(times), "95 %": ordered[len(ordered) * 95 // 100]}, "s")
    table.line("all evaluations", {"wall": statistics.median(walls)}, "s")
    table.promise("history under load to idle", table.ratio(busy, idle), 3)


async def _opened(session: aiohttp.ClientSession, meanwhile: asyncio.Future[float]) -> list[float]:
    """How long the page waits for its answers. By the beat, and not after the last answer: or the slow moments,
    in which few are answered, would hardly count.
    """
    opened: list[asyncio.Task[float]] = []
    while not meanwhile.done():
        opened.append(asyncio.create_task(_history(session)))
        await asyncio.sleep(BEAT)
    return await asyncio.gather(*opened)


async def _history(session: aiohttp.ClientSession) -> float:
    started = time.perf_counter()
    await asyncio.gather(*(_answered(session, address) for address in OPENED))
    return time.perf_counter() - started


async def _answered(session: aiohttp.ClientSession, address: str) -> None:
    async with session.get(address) as response:
        assert response.status == 200
        await response.read()


def _evaluate(server: str, asked: Mapping[str, str]) -> float:
    """Starts all evaluations at once and watches each to its end, as a page does; how long that took."""

    async def all_of_them() -> float:
        async with aiohttp.ClientSession(
            server, timeout=aiohttp.ClientTimeout(300), connector=aiohttp.TCPConnector(limit=0), headers=_HEADERS
        ) as session:
            started = time.perf_counter()
            ended = await asyncio.gather(*(_evaluated(session, asked) for _ in range(EVALUATIONS)))
            assert ended == ["done"] * EVALUATIONS, ended
            return time.perf_counter() - started

    return asyncio.run(all_of_them())


async def _evaluated(session: aiohttp.ClientSession, asked: Mapping[str, str]) -> str:
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


@contextmanager
def _server(base_url: str) -> Iterator[str]:
    command = [sys.executable, "-c", "from salvo.cli.byop import byop; byop()", "serve", "--no-open", "--port", "0"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [*command, "--allow-base-url", base_url],
            cwd=folder,
            env={**os.environ, "SALVO_TOKEN": _TOKEN},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server,
    ):
        assert server.stdout is not None
        try:
            yield server.stdout.readline().partition("/login?")[0]
        finally:
            server.terminate()
