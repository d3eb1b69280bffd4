"""Two servers as processes on one PostgreSQL: one is killed under load, one is paused and comes back."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path

import aiohttp
import pytest
from sqlalchemy import create_engine, text

from salvo.engine.runtime.clock import SystemClock
from salvo.playbooks.audit import audit_log
from salvo.playbooks.store.records import State
from salvo.playbooks.store.store import EvaluationStore
from tests.support import postgres
from tests.support.provider import LoopbackProvider
from tests.support.web import GPT, KEY, Client, Judging, client, server_process

pytestmark = [pytest.mark.load, pytest.mark.timeout(900)]

EVALUATIONS = 1000
VOTES = 12


@pytest.fixture(scope="module")
def database_url() -> Iterator[str]:
    if postgres.binaries() is None:
        pytest.skip("no PostgreSQL here: initdb and postgres are neither on PATH nor named by pg_config")
    with postgres.running() as server:
        yield server.url()


def count(url: str, query: str) -> int:
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return int(connection.execute(text(query)).scalar_one())
    finally:
        engine.dispose()


async def until(is_reached: Callable[[], bool]) -> None:
    while not await asyncio.to_thread(is_reached):  # noqa: ASYNC110 - other processes write, and tell nobody
        await asyncio.sleep(0.3)


async def test_a_thousand_evaluations_on_two_servers_with_one_killed_are_all_done_and_no_vote_is_double(
    tmp_path: Path, database_url: str
) -> None:
    options = ("--concurrency", "4", "--queue-length", str(EVALUATIONS))
    with (
        server_process(tmp_path, *options, database_url=database_url) as doomed,
        server_process(tmp_path, *options, database_url=database_url) as survivor,
    ):
        async with client(doomed) as one, client(survivor) as other:
            numbers = asyncio.Queue[int]()
            for number in range(EVALUATIONS):
                numbers.put_nowait(number)

            async def submit(api: Client) -> None:
                while not numbers.empty():
                    number = numbers.get_nowait()
                    sent = {"client_token": f"document {number}", "subject": f"document {number}"}
                    try:
                        await api.start(f"Clause {number} is compliant. No further review is needed.", **sent)
                    except (aiohttp.ClientError, ConnectionError):
                        api = other  # the token makes sure that what was accepted before is not started again
                        await api.start(f"Clause {number} is compliant. No further review is needed.", **sent)

            submitting = asyncio.gather(*(submit(api) for api in (one, other) * 8))
            votes = "SELECT count(*) FROM byop_votes"
            await until(lambda: count(database_url, votes) >= EVALUATIONS * VOTES // 4)
            running = "SELECT count(*) FROM byop_evaluations WHERE state = 'running'"
            assert await asyncio.to_thread(count, database_url, running) > 0
            doomed.kill()
            await submitting
            await until(lambda: count(database_url, running) == 0)
    with EvaluationStore.open(database_url, SystemClock()) as store:
        listed = store.history().rows
        assert (len(listed), {row.state for row in listed}) == (EVALUATIONS, {State.DONE})
        assert audit_log.check(store.audit_log()) is None
    distinct = "SELECT count(*) FROM (SELECT DISTINCT evaluation_id, check_id, run FROM byop_votes) AS each_once"
    assert [count(database_url, query) for query in (votes, distinct)] == [EVALUATIONS * VOTES] * 2


async def test_a_paused_server_loses_its_evaluation_and_stores_nothing_when_it_comes_back(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judging = Judging(at_once=5)
    clock = SystemClock()
    with LoopbackProvider(judging) as provider:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", provider.openai_url)
        with (
            server_process(tmp_path, "--keys-from-env", database_url=database_url) as paused,
            server_process(tmp_path, "--keys-from-env", database_url=database_url) as other,
        ):
            async with client(paused) as one, client(other) as api:
                evaluation = await one.start(evaluator=GPT)
                async with aclosing(api.watch(evaluation)) as watched:
                    async for each in watched:
                        if each.id == "5":
                            break
                    paused.process.send_signal(signal.SIGSTOP)
                    since = clock.monotonic()
                    judging.let_go()
                    told = [each async for each in watched]
                    took = clock.monotonic() - since
                assert told[-1].event == "done"
                assert took < 30
                assert [each.id for each in told if each.event == "vote"] == [str(number) for number in range(6, 13)]
                provider.let_go()
                paused.process.send_signal(signal.SIGCONT)
                assert (await one.events(evaluation))[-1].event == "done"
                assert (await api.get(f"/api/reports/{evaluation}/verify"))["altered"] == 0
                shown = await one.get(f"/api/evaluations/{evaluation}")
                assert (shown["state"], shown["done"]) == ("done", VOTES)
