"""For whoever runs the server: health, readiness, metrics and logs."""

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

from inline_snapshot import snapshot

from tests.support.provider import LoopbackProvider
from tests.support.web import CARELESS, GPT, KEY, Judging, WebServer, client, server_process, stranger

Serve = Callable[..., WebServer]


async def test_health_and_readiness_need_no_login_and_no_name_and_say_one_word(serve: Serve) -> None:
    async with stranger(serve().url) as anybody:
        for path, word in (("/healthz", b"ok\n"), ("/readyz", b"ready\n")):
            reply = await anybody.ask("GET", path, host="10.0.0.7:8642")
            assert (reply.status, reply.body, reply.headers["cache-control"]) == (200, word, "no-store")
            assert (await anybody.ask("POST", path, host="10.0.0.7:8642")).status == 403


async def test_a_server_whose_database_does_not_answer_is_not_ready(serve: Serve, database: Path) -> None:
    server = serve()
    async with client(server) as api:
        await api.report(mode="screening")
        with sqlite3.connect(database) as broken:
            broken.execute("ALTER TABLE byop_evaluations RENAME TO gone")
        async with stranger(server.url) as anybody:
            reply = await anybody.ask("GET", "/readyz")
            assert (reply.status, reply.body) == (503, b"not ready\n")
            assert (await anybody.ask("GET", "/healthz")).status == 200


async def test_metrics_need_a_login_and_count_what_happened(serve: Serve) -> None:
    server = serve()
    async with stranger(server.url) as anybody:
        assert (await anybody.ask("GET", "/metrics")).status == 401
    async with client(server) as api:
        await api.report()
        reply = await api.ask("GET", "/metrics")
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    text = re.sub(r'version="[^"]*"', 'version="V"', reply.body.decode())
    assert [line for line in text.splitlines() if not line.startswith("#")] == snapshot(
        [
            'salvo_info{version="V"} 1',
            'salvo_evaluations_ended_total{state="done"} 1',
            "salvo_evaluations_taken_over_total 0",
            "salvo_evaluations_lost_total 0",
            "salvo_votes_stored_total 12",
            'salvo_http_responses_total{class="2xx"} 3',
            'salvo_http_responses_total{class="4xx"} 1',
            "salvo_evaluations_running 0",
            "salvo_evaluations_limit 4",
            "salvo_queue_waiting 0",
            "salvo_queue_running 0",
        ]
    )


async def test_votes_are_counted_as_they_are_stored(serve: Serve) -> None:
    """An evaluation by a model may take minutes: a rate of 0 until its end would look like a server that is stuck."""
    judging = Judging(at_once=5)
    with LoopbackProvider(judging) as provider:
        environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": provider.openai_url}
        async with client(serve(environ=environ)) as api:
            evaluation = await api.start(evaluator=GPT)
            async for event in api.watch(evaluation):
                if event.id == "5":
                    break
            text = (await api.ask("GET", "/metrics")).body.decode()
            judging.let_go()
            provider.let_go()
    assert "\nsalvo_votes_stored_total 5\n" in text


async def test_a_log_in_json_has_ids_and_states_and_nothing_secret(tmp_path: Path) -> None:
    with server_process(tmp_path, "--log-format", "json") as server:
        async with client(server) as api:
            evaluation = (await api.report())["report"]["report_id"]
            await api.ask("POST", "/api/evaluations?secret=1", {"ai_output": "x", "evaluator": 7}, x_api_key=KEY)
        code = server.first_address.partition("code=")[2]
        log = server.log.read_text()
    entries = [json.loads(line) for line in log.splitlines()]
    ended = next(entry for entry in entries if entry["message"] == "An evaluation has ended.")
    assert (ended["evaluation"], ended["state"], ended["votes"], ended["level"]) == (evaluation, "done", 12, "info")
    answered = [(entry["method"], entry["path"], entry["status"]) for entry in entries if "status" in entry]
    assert answered[-1] == ("POST", "/api/evaluations", 422)
    for secret in (KEY, code, CARELESS[:30], "secret"):
        assert secret not in log
