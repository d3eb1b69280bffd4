"""The server as a process: killed in the middle, and searched for keys."""

import asyncio
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.support.provider import Fault, LoopbackProvider
from tests.support.web import CAREFUL, GPT, KEY, Judging, client, folder_content, server_process


@pytest.mark.load
async def test_killed_in_the_middle_it_is_interrupted_after_a_restart_and_goes_on_when_the_key_is_given_again(
    tmp_path: Path,
) -> None:
    judging = Judging(at_once=5)
    with LoopbackProvider(judging) as provider:
        allowed = ("--allow-base-url", provider.openai_url)
        with server_process(tmp_path, *allowed) as first:
            async with client(first) as api:
                evaluation = await api.start(key=KEY, evaluator=GPT, base_url=provider.openai_url)
                async for each in api.watch(evaluation):
                    if each.id == "5":
                        break
            first.kill()
        asked = len(judging.requests)
        judging.let_go()
        with server_process(tmp_path) as strict:
            async with client(strict) as api:
                refused = await api.ask("POST", f"/api/evaluations/{evaluation}/resume", {}, x_api_key=KEY)
                assert (refused.status, refused.code) == (400, "bad_usage")  # never to another address instead
        with server_process(tmp_path, *allowed) as second:
            async with client(second) as api:
                [row] = (await api.get("/api/history"))["rows"]
                assert (row["id"], row["state"]) == (evaluation, "interrupted")
                ended = await api.events(evaluation)
                assert [each.id for each in ended] == ["1", "2", "3", "4", "5", None]
                assert ended[-1].event == "interrupted"
                shown = await api.get(f"/api/evaluations/{evaluation}")
                assert (shown["base_url"], shown["needs_key"]) == (provider.openai_url, True)
                assert shown["waits_for"] == snapshot(
                    "The API key of this evaluation was only in the memory of the server that ran it, and that server has stopped. The evaluation continues when the key is entered again."
                )
                await api.ask("POST", f"/api/evaluations/{evaluation}/resume", {}, x_api_key=KEY)
                told = await api.events(evaluation, after="5")
                assert [each.id for each in told if each.event == "vote"] == [str(number) for number in range(6, 13)]
                assert told[-1].event == "done"
                assert (await api.get(f"/api/reports/{evaluation}/verify"))["altered"] == 0
    assert len(judging.requests) == asked + 7


@pytest.mark.load
async def test_killed_in_the_middle_it_goes_on_by_itself_if_no_key_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what waited in the queue."""
    judging = Judging(at_once=5)
    with LoopbackProvider(judging) as provider:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", provider.openai_url)
        options = ("--keys-from-env", "--concurrency", "1")
        with server_process(tmp_path, *options) as first:
            async with client(first) as api:
                running, waiting = [await api.start(evaluator=GPT) for _ in range(2)]
                assert (await api.get(f"/api/evaluations/{waiting}"))["queue_position"] == 1
                async for each in api.watch(running):
                    if each.id == "5":
                        break
            first.kill()
        judging.let_go()
        asked = len(judging.requests)
        with server_process(tmp_path, *options) as second:
            async with client(second) as api:
                told = await api.events(running, after="5")
                assert [each.id for each in told if each.event == "vote"] == [str(number) for number in range(6, 13)]
                assert told[-1].event == "done"
                assert (await api.events(waiting))[-1].event == "done"
                for evaluation in (running, waiting):
                    assert (await api.get(f"/api/reports/{evaluation}/verify"))["altered"] == 0
    assert len(judging.requests) == asked + 7 + 12  # no stored vote was asked for again
    assert KEY.encode() not in folder_content(tmp_path)


@pytest.mark.load
async def test_the_key_is_nowhere_but_in_the_requests_it_is_for(tmp_path: Path) -> None:
    """Also where a provider repeats it in an error."""
    judging = Judging()
    faults = [Fault.server_error(), Fault.unauthorized()]
    with (
        LoopbackProvider(
            lambda asked: judging(asked) if len(judging.requests) < 6 or not faults else faults.pop()
        ) as provider,
        server_process(tmp_path, "--allow-base-url", provider.openai_url) as server,
    ):
        async with client(server) as api:
            shown = await api.report(key=KEY, evaluator=GPT, base_url=provider.openai_url)
            for form in ("json", "html", "md"):
                await api.ask("GET", f"/api/reports/{shown['report']['report_id']}/export?format={form}")
            refused = await api.ask("POST", "/api/evaluations", {"ai_output": 1}, x_api_key=KEY)
            assert refused.status == 422
            await api.get(f"/api/evaluations/{shown['report']['report_id']}")
            kept = folder_content(tmp_path)
            assert KEY.encode() not in kept + b"".join(api.received)
            assert judging.requests[0].headers["authorization"].endswith(KEY)
    assert b"byop_evaluations" in kept  # the database was among what was searched


@pytest.fixture(autouse=True)
def _no_database_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)


@pytest.mark.load
async def test_of_a_hundred_queued_documents_none_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    with server_process(tmp_path) as first:
        async with client(first) as api:
            created = await api.ask("POST", "/api/document-batches", {"title": "Letters", "planned": 100})
            batch = f"/api/document-batches/{created.json()['id']}"
            for number in range(100):
                body = {"ai_output": f"{CAREFUL} {number}", "title": f"{number}", "batch_id": created.json()["id"]}
                assert (await api.ask("POST", "/api/evaluations", body)).status == 202
            assert (await api.get(batch))["totals"]["open"] > 0, "it is killed in the middle"
        first.kill()
    with server_process(tmp_path) as second:
        async with client(second) as api:
            while (await api.get(batch))["totals"]["open"]:  # noqa: ASYNC110 - another process works, and tells nobody
                await asyncio.sleep(0.3)
            matrix = await api.get(batch)
            assert [row["title"] for row in matrix["rows"]] == [f"{number}" for number in range(100)]
            assert matrix["summary"] == "100 documents: 100 STABLE."
