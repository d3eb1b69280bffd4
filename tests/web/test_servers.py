"""Several servers on one database: they share the queue, and each shows, continues and cancels what the other runs."""

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.support.provider import LoopbackProvider
from tests.support.web import CARELESS, GPT, KEY, Judging, WebServer, browser, client

Serve = Callable[..., WebServer]


def lending(provider: LoopbackProvider, **settings: Any) -> dict[str, Any]:
    """The settings of a server that was started with --keys-from-env."""
    return {"environ": {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": provider.openai_url}, **settings}


async def test_what_waits_at_one_server_is_run_by_another_and_watched_at_both(serve: Serve) -> None:
    busy = Judging(at_once=0)
    with LoopbackProvider(busy) as provider:
        settings = lending(provider, max_evaluations=1)
        async with client(serve(**settings)) as one:
            blocking = await one.start(evaluator=GPT)
            waiting = await one.start()
            assert (await one.get(f"/api/evaluations/{waiting}"))["state"] == "queued"
            async with client(serve(**settings)) as other:
                seen, seen_elsewhere = await asyncio.gather(one.events(waiting), other.events(waiting))
                for events in (seen, seen_elsewhere):
                    assert [each.id for each in events if each.event == "vote"] == [str(n) for n in range(1, 13)]
                    assert events[-1].event == "done"
                watching = other.watch(blocking)
                assert (await anext(watching)).event == "progress"
                cancelled = (await other.ask("POST", f"/api/evaluations/{blocking}/cancel")).json()
                assert cancelled["state"] == "cancelled"
                assert [each.event async for each in watching][-1] == "cancelled"
                assert (await one.events(blocking))[-1].event == "cancelled"  # its server stops within seconds


async def test_a_server_that_stops_hands_over_what_needs_no_typed_key(serve: Serve) -> None:
    judging = Judging(at_once=5)
    with LoopbackProvider(judging) as provider:
        first = serve(**lending(provider))
        async with client(first) as one, client(serve(**lending(provider))) as other:
            evaluation = await one.start(evaluator=GPT)
            async for each in other.watch(evaluation):
                if each.id == "5":
                    break
            judging.let_go()
            asked = len(judging.requests)
            await asyncio.to_thread(first.stop)
            told = await other.events(evaluation, after="5")
            assert [each.id for each in told if each.event == "vote"] == [str(number) for number in range(6, 13)]
            assert told[-1].event == "done"
            assert (await other.get(f"/api/reports/{evaluation}/verify"))["altered"] == 0
    assert len(judging.requests) == asked + 7


async def test_one_token_starts_one_evaluation_on_all_servers(serve: Serve) -> None:
    async with client(serve()) as one, client(serve()) as other:
        ids = await asyncio.gather(*(api.start(client_token="double-click") for api in (one, other, one, other)))
        assert len(set(ids)) == 1
        assert len((await one.get("/api/history"))["rows"]) == 1


async def test_servers_in_threads_build_no_routes_at_their_first_request(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FastAPI changes the filters of warnings meanwhile, which belong to all threads of the process."""
    async with client(serve()) as api:
        with monkeypatch.context() as patch:
            patch.delattr(warnings, "catch_warnings")
            reply = await api.ask("GET", "/api/about")
    assert reply.status == 200


async def test_browsers_take_turns(serve: Serve) -> None:
    judging = Judging(at_once=0)
    with LoopbackProvider(judging) as provider:
        server = serve(**lending(provider, max_evaluations=1))
        async with client(server) as program, browser(server) as other:
            many = [await program.start(evaluator=GPT) for _ in range(4)]
            few = await other.start(evaluator=GPT)
            positions = [(await program.get(f"/api/evaluations/{each}"))["queue_position"] for each in (*many[1:], few)]
            assert positions == [1, 3, 4, 2]


async def test_the_queue_has_a_length(serve: Serve) -> None:
    judging = Judging(at_once=0)
    with LoopbackProvider(judging) as provider:
        async with client(serve(**lending(provider, max_evaluations=1, max_queued=1))) as api:
            for _ in range(2):
                await api.start(evaluator=GPT)
            refused = await api.ask("POST", "/api/evaluations", {"ai_output": CARELESS, "evaluator": GPT})
            assert (refused.status, refused.json()["error"]) == snapshot(
                (
                    503,
                    {
                        "code": "busy",
                        "message": "The queue is full: 1 evaluation waits.",
                        "hint": "Wait until some of them have finished.",
                    },
                )
            )


async def test_an_evaluation_says_what_it_waits_for_where_no_server_has_it(serve: Serve) -> None:
    judging = Judging(at_once=0)
    with LoopbackProvider(judging) as provider:
        lender = serve(**lending(provider, max_evaluations=1))
        async with client(lender) as api:
            await api.start(evaluator=GPT)
            waiting = await api.start(evaluator=GPT)
        async with client(serve()) as strict:
            shown = await strict.get(f"/api/evaluations/{waiting}")
            assert (shown["state"], shown["needs_key"], shown["waits_for"]) == snapshot(
                (
                    "queued",
                    True,
                    "This evaluation waits for a server with an API key for openai in its environment (--keys-from-env).",
                )
            )


async def test_what_was_started_with_a_typed_key_is_not_resumed_with_the_lent_one(serve: Serve) -> None:
    judging = Judging(at_once=5)
    typed = "sk-of-somebody-0123456789"
    with LoopbackProvider(judging) as provider:
        first = serve(**lending(provider))
        async with client(first) as one, client(serve(**lending(provider))) as other:
            evaluation = await one.start(key=typed, evaluator=GPT)
            await asyncio.to_thread(first.stop)
            judging.let_go()
            shown = await other.get(f"/api/evaluations/{evaluation}")
            assert (shown["state"], shown["needs_key"]) == ("interrupted", True)
            refused = await other.ask("POST", f"/api/evaluations/{evaluation}/resume", {})
            assert (refused.status, refused.code) == (400, "missing_key")


@pytest.mark.parametrize("key, requirement", [(None, "lent"), ("sk-of-somebody-0123456789", "typed")])
async def test_a_typed_key_is_used_instead_of_the_lent_one(serve: Serve, key: str | None, requirement: str) -> None:
    judging = Judging()
    with LoopbackProvider(judging) as provider:
        async with client(serve(**lending(provider))) as api:
            await api.report(key=key, evaluator=GPT, mode="screening")
            listed = (await api.get("/api/evaluators"))["providers"]
    assert {asked.headers["authorization"] for asked in judging.requests} == {f"Bearer {key or KEY}"}, requirement
    assert {
        model["needs_key"] for provider in listed if provider["name"] == "openai" for model in provider["models"]
    } == {False}


async def test_behind_a_proxy_that_adds_the_token_any_server_answers_a_browser(serve: Serve) -> None:
    """No session is needed, so none is shared. Other pages are refused as ever."""
    host = "review.example.org"
    body = {"ai_output": CARELESS, "mode": "screening", "client_token": "one click"}
    for _ in range(2):
        async with client(serve(hosts=(host,))) as api:
            answered = await api.ask("POST", "/api/evaluations", body, host=host, origin=f"https://{host}")
            assert answered.status == 202
            assert (await api.ask("GET", "/api/session", host=host, sec_fetch_site="same-origin")).status == 200
            foreign = await api.ask("POST", "/api/evaluations", body, host=host, origin="https://evil.example")
            assert (foreign.status, foreign.code) == (403, "strange_origin")
            assert len((await api.ask("GET", "/api/history", host=host)).json()["rows"]) == 1
