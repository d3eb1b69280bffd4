"""Links that show one report to whoever has their token, until they expire, are revoked or the report is erased."""

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from salvo.playbooks.accounts.users import Role
from salvo.playbooks.audit.verification import verify_store
from salvo.playbooks.audit.verification.finding import VerificationState
from salvo.playbooks.store import share_links
from salvo.playbooks.store.store import EvaluationStore
from tests.support.accounts import add_user, user_browser
from tests.support.clock import HeldClock
from tests.support.web import CARELESS, Client, Reply, WebServer, client, folder_content, stranger

Serve = Callable[..., WebServer]
REPORT = "/api/shared/report"


@pytest.fixture
def url(database: Path) -> str:
    return f"sqlite:///{database}"


async def share(api: Client, report: str, **body: Any) -> tuple[str, dict[str, Any]]:
    """Share a report, and return the token and the link."""
    reply = await api.ask("POST", f"/api/reports/{report}/share-links", body)
    assert reply.status == 201, reply
    page, _, token = reply.json()["path"].partition("#")
    assert page == "/shared"
    return token, reply.json()["link"]


async def open_link(api: Client, token: str, path: str = REPORT) -> Reply:
    return await api.ask("GET", path, x_share_token=token)


async def links(api: Client, report: str) -> list[dict[str, Any]]:
    return list(await api.get(f"/api/reports/{report}/share-links"))


async def report_id(api: Client, **options: Any) -> str:
    return str((await api.report(CARELESS, **options))["report"]["report_id"])


async def test_a_link_shows_its_report_with_text_and_review_to_a_stranger(serve: Serve) -> None:
    server = serve()
    async with client(server) as api, stranger(server.url) as reader:
        report = await report_id(api)
        await api.ask("POST", f"/api/reports/{report}/review", {"action": "sign_off", "actor": "Ada"})
        token, link = await share(api, report, days=3, note="For counsel.")
        reply = await open_link(reader, token)
        shared = reply.json()
        assert shared["report"]["report"]["report_id"] == report
        assert shared["report"]["texts"]["ai_output"].strip() == CARELESS.strip()
        assert len(shared["review"]["sign_offs"]) == 1
        assert shared["expires_at"] == link["expires_at"]
        assert "For counsel." not in str(shared)
        assert "Set-Cookie" not in reply.headers
        assert reply.headers["Cache-Control"] == "no-store"
        assert reply.headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    "form, start", [("json", b"{"), ("html", b"<!doctype html>"), ("md", b">"), ("xml", b"<testsuites")]
)
async def test_the_exports_of_a_shared_report_are_logged_with_the_link(
    serve: Serve, url: str, form: str, start: bytes
) -> None:
    server = serve()
    async with client(server) as api, stranger(server.url) as reader:
        report = await report_id(api)
        token, link = await share(api, report)
        reply = await open_link(reader, token, f"/api/shared/export?format={form}")
        assert reply.status == 200
        assert reply.body.lower().startswith(start)
    with EvaluationStore.open(url, HeldClock()) as store:
        [entry] = [entry.content for entry in store.audit_log() if entry.action == "export"]
    assert (entry["share_link"], entry["format"]) == ({"id": link["id"]}, form)


async def test_a_link_opens_nothing_else_and_needs_its_whole_token(serve: Serve) -> None:
    server = serve()
    async with client(server) as api, stranger(server.url) as reader:
        report, other = await report_id(api, subject="one"), await report_id(api, subject="two")
        token, _ = await share(api, report)
        for path in (f"/api/reports/{report}", f"/api/reports/{other}", "/api/history", "/api/session", "/metrics"):
            assert (await open_link(reader, token, path)).status == 401, path
            assert (await reader.ask("GET", path, authorization=f"Bearer {token}")).status == 401, path
        assert other not in (await open_link(reader, token)).body.decode()
        wrong = [token[:-1], token + "A", token[:-1] + ("A" if token[-1] != "A" else "B"), "A" * 43, "x" * 101]
        for guess in wrong:
            assert (await open_link(reader, guess)).status in (404, 422), guess
        assert (await reader.ask("GET", REPORT)).status == 422
        assert (await reader.ask("GET", f"{REPORT}?X-Share-Token={token}")).status == 422  # never in an address
        assert (await reader.ask("DELETE", REPORT, x_share_token=token)).status == 405


async def test_a_link_ends_when_it_expires_by_the_servers_clock(serve: Serve) -> None:
    clock = HeldClock()
    server = serve(clock=clock)
    async with client(server) as api, stranger(server.url) as reader:
        report = await report_id(api)
        token, _ = await share(api, report)
        clock.advance((timedelta(days=7) - timedelta(seconds=1)).total_seconds())
        assert (await open_link(reader, token)).status == 200
        clock.advance(1)
        refused = await open_link(reader, token)
        assert (refused.status, refused.code) == (404, "unknown_id")
        assert refused.json()["error"] == (await open_link(reader, "A" * 43)).json()["error"]
        assert [link["state"] for link in await links(api, report)] == ["expired"]


async def test_a_revoked_link_and_that_of_an_erased_report_end_at_once(serve: Serve, url: str) -> None:
    server = serve()
    async with client(server) as api, stranger(server.url) as reader:
        report = await report_id(api)
        revoked, link = await share(api, report, note="first")
        erased, _ = await share(api, report, note="second")
        reply = await api.ask("DELETE", f"/api/reports/{report}/share-links/{link['id']}")
        assert (reply.status, reply.json()["state"]) == (200, "revoked")
        assert [(item["note"], item["state"]) for item in await links(api, report)] == [
            ("second", "open"),
            ("first", "revoked"),
        ]
        assert (await open_link(reader, revoked)).status == 404
        assert (await open_link(reader, erased)).status == 200
        assert (await api.ask("DELETE", f"/api/reports/{report}")).status == 204
        assert (await open_link(reader, erased)).status == 404
    with EvaluationStore.open(url, HeldClock()) as store:
        states = {finding.standing for finding in verify_store.verify_all(store)}
        assert not states & {VerificationState.ALTERED, VerificationState.CONTRADICTED}
        assert store.orphans() == []


async def test_the_audit_log_has_creation_first_opening_and_revocation_and_no_token(
    serve: Serve, url: str, database: Path
) -> None:
    add_user(url, "Bob", Role.REVIEWER)
    server = serve()
    async with user_browser(server, "Bob") as api, stranger(server.url) as reader:
        report = await report_id(api)
        token, link = await share(api, report, note="For Ms Smith.")
        assert (link["created_by"], link["authenticated"], link["last_opened_at"]) == ("Bob", True, None)
        replies = await asyncio.gather(*(open_link(reader, token) for _ in range(4)))
        assert [reply.status for reply in replies] == [200] * 4
        assert (await links(api, report))[0]["last_opened_at"] is not None
        await api.ask("DELETE", f"/api/reports/{report}/share-links/{link['id']}")
    with EvaluationStore.open(url, HeldClock()) as store:
        log = [entry for entry in store.audit_log() if "share_link" in entry.action]
        assert [entry.action for entry in log] == ["share_link_created", "share_link_opened", "share_link_revoked"]
        created, opened, revoked = (entry.content for entry in log)
        assert (created["by"], created["authenticated"], revoked["by"]) == ("Bob", True, "Bob")
        assert "by" not in opened
        assert "Ms Smith" not in "".join(entry.text for entry in log)
        states = {finding.standing for finding in verify_store.verify_one(store, report, store.audit_log())}
        assert VerificationState.ALTERED not in states
    assert token.encode() not in folder_content(database.parent)


async def test_a_link_is_suspended_while_its_maker_may_not_share(serve: Serve, url: str) -> None:
    add_user(url, "Bob", Role.REVIEWER)
    server = serve()
    with EvaluationStore.open(url, HeldClock()) as store:
        async with user_browser(server, "Bob") as api, client(server) as operator, stranger(server.url) as reader:
            report = await report_id(api)
            token, _ = await share(api, report)
            store.accounts.users.set_role("Bob", Role.READER)
            assert (await open_link(reader, token)).status == 404
            assert [link["state"] for link in await links(operator, report)] == ["suspended"]
            store.accounts.users.set_role("Bob", Role.REVIEWER)
            assert (await open_link(reader, token)).status == 200
            store.accounts.users.set_disabled("Bob", disabled=True)
            assert (await open_link(reader, token)).status == 404


async def test_readers_cannot_share_and_see_no_links(serve: Serve, url: str) -> None:
    add_user(url, "Cyd", Role.READER)
    server = serve()
    async with client(server) as operator, user_browser(server, "Cyd") as api:
        report = await report_id(operator)
        for method, path in (("POST", ""), ("GET", ""), ("DELETE", "/any")):
            reply = await api.ask(method, f"/api/reports/{report}/share-links{path}", {} if method == "POST" else None)
            assert reply.status == 403


@pytest.mark.parametrize("body", [{"days": 0}, {"days": 91}, {"days": 10**9}, {"note": "x" * 501}, {"forever": True}])
async def test_a_link_that_would_not_expire_in_time_is_refused(api: Client, body: dict[str, Any]) -> None:
    report = await report_id(api)
    assert (await api.ask("POST", f"/api/reports/{report}/share-links", body)).status == 422


async def test_only_reports_are_shared_and_not_without_limit(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(share_links, "MAX_OPEN_LINKS", 2)
    async with client(serve()) as api:
        report = await report_id(api)
        _, link = await share(api, report)
        await share(api, report)
        refused = await api.ask("POST", f"/api/reports/{report}/share-links", {})
        assert (refused.status, refused.code) == (400, "bad_usage")
        await api.ask("DELETE", f"/api/reports/{report}/share-links/{link['id']}")
        await share(api, report)
        assert (await api.ask("POST", "/api/reports/nothing/share-links", {})).status == 404
        assert (await api.ask("DELETE", f"/api/reports/{report}/share-links/nothing")).status == 404


async def test_the_log_of_the_server_has_no_token(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve()
    with caplog.at_level(logging.DEBUG):
        async with client(server) as api, stranger(server.url) as reader:
            token, _ = await share(api, await report_id(api))
            assert (await open_link(reader, token)).status == 200
            assert (await open_link(reader, "B" * 43)).status == 404
    logged = "".join(json.dumps(vars(line), default=str) for line in caplog.records)
    assert REPORT in logged
    assert token not in logged
    assert "B" * 43 not in logged
