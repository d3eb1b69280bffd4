"""Users who log in with their names, what their roles let them do, and in whose name it is recorded."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher

from salvo.engine.runtime.clock import SystemClock
from salvo.playbooks.accounts import passwords
from salvo.playbooks.accounts.login_attempts import FIRST_WAIT, FREE_ATTEMPTS, LONGEST_WAIT
from salvo.playbooks.accounts.users import Role
from salvo.playbooks.store.store import EvaluationStore
from salvo.web import events
from salvo.web.app import create_app
from salvo.web.roles import OPERATION_ROLES
from salvo.web.sessions import IDLE_LIFETIME
from salvo.web.settings import Settings
from tests.support.accounts import PASSWORD, add_user, log_in, user_browser
from tests.support.clock import HeldClock
from tests.support.provider import LoopbackProvider
from tests.support.web import GPT, KEY, Client, Judging, WebServer, browser, client, stranger

Serve = Callable[..., WebServer]
ADA, BOB, CYD = "Ada Brown", "Bob", "Cyd"


@pytest.fixture
def url(database: Path) -> str:
    return f"sqlite:///{database}"


@pytest.fixture
def team(url: str, serve: Serve) -> WebServer:
    """A server with a user of each role."""
    for name, role in ((ADA, Role.ADMIN), (BOB, Role.REVIEWER), (CYD, Role.READER)):
        add_user(url, name, role)
    return serve()


def audit_entries(url: str, action: str) -> list[dict[str, Any]]:
    with EvaluationStore.open(url, SystemClock()) as store:
        return [entry.content for entry in store.audit_log() if entry.action == action]


async def test_a_user_logs_in_with_name_and_password_and_logs_out(team: WebServer) -> None:
    async with user_browser(team, "  ada  BROWN") as api:
        session = await api.get("/api/session")
        assert (session["user"], session["role"], session["authenticated"]) == (ADA, "admin", True)
        assert (await api.ask("DELETE", "/api/session")).status == 204
        assert (await api.ask("GET", "/api/session")).status == 401


async def test_a_session_is_known_to_every_server_of_the_database_and_outlives_one(
    team: WebServer, serve: Serve
) -> None:
    other = serve()
    async with stranger(team.url) as api, stranger(other.url) as elsewhere:
        cookie = SimpleCookie((await log_in(api, BOB)).headers["Set-Cookie"])
        [(name, morsel)] = cookie.items()
        assert (morsel["httponly"], morsel["samesite"]) == (True, "strict")
        assert name == f"salvo_session_{team.port}"
        reply = await elsewhere.ask("GET", "/api/session", cookie=f"salvo_session_{other.port}={morsel.value}")
        assert reply.json()["user"] == BOB


async def test_over_tls_the_cookie_is_sent_over_tls_only(team: WebServer) -> None:
    async with stranger(team.url) as api:
        body = {"name": BOB, "password": PASSWORD}
        reply = await api.ask("POST", "/api/login", body, origin=f"https://127.0.0.1:{team.port}")
        assert "Secure" in reply.headers["Set-Cookie"]


@pytest.mark.parametrize(
    "name, password", [(BOB, "something else entirely"), ("Nobody", PASSWORD), (BOB, PASSWORD + " ")]
)
async def test_a_wrong_name_or_password_is_refused_alike(team: WebServer, name: str, password: str) -> None:
    async with stranger(team.url) as api:
        refused = await log_in(api, name, password)
    assert (refused.status, refused.code, "Set-Cookie" in refused.headers) == (403, "forbidden", False)
    assert refused.json()["error"]["message"] == "The name or the password is wrong."


async def test_the_page_is_told_whether_there_are_users_and_nothing_else(serve: Serve, url: str) -> None:
    server = serve()
    async with stranger(server.url) as api:
        assert (await api.get("/api/login"))["passwords"] is False
        add_user(url, ADA, Role.ADMIN)
        assert (await api.get("/api/login"))["passwords"] is True
        assert (await api.ask("GET", "/api/users")).status == 401


@pytest.mark.parametrize("name", [BOB, "Nobody"])
async def test_guessing_is_slowed_down_more_and_more_on_all_servers(url: str, serve: Serve, name: str) -> None:
    clock = HeldClock()
    add_user(url, BOB, Role.REVIEWER, clock)
    first, second = serve(clock=clock), serve(clock=clock)
    async with stranger(first.url) as api, stranger(second.url) as elsewhere:
        for number in range(FREE_ATTEMPTS):
            assert (await log_in(elsewhere if number % 2 else api, name, "a wrong password")).status == 403
        refused = await log_in(elsewhere, name)
        assert (refused.status, refused.code) == (429, "too_many_attempts")
        clock.advance(FIRST_WAIT.total_seconds())
        assert (await log_in(api, name, "a wrong password")).status == 403
        clock.advance(FIRST_WAIT.total_seconds())
        assert (await log_in(api, name)).status == 429  # the wait has doubled
        clock.advance(LONGEST_WAIT.total_seconds())
        assert (await log_in(api, name)).status == (204 if name == BOB else 403)


async def test_many_guesses_at_once_are_not_more_than_one_after_the_other(team: WebServer) -> None:
    async with stranger(team.url) as api:
        replies = await asyncio.gather(*(log_in(api, BOB, "a wrong password") for _ in range(FREE_ATTEMPTS + 4)))
    assert sorted(reply.status for reply in replies) == [403] * FREE_ATTEMPTS + [429] * 4


async def test_a_server_whose_clock_is_behind_does_not_block_the_free_attempts(url: str, serve: Serve) -> None:
    ahead, behind = HeldClock(), HeldClock()
    ahead.advance(2)
    add_user(url, BOB, Role.REVIEWER, behind)
    async with stranger(serve(clock=ahead).url) as api, stranger(serve(clock=behind).url) as elsewhere:
        assert (await log_in(api, BOB, "a wrong password")).status == 403
        assert (await log_in(elsewhere, BOB)).status == 204


async def test_a_user_session_ends_when_it_is_not_used(url: str, serve: Serve) -> None:
    clock = HeldClock()
    add_user(url, BOB, Role.REVIEWER, clock)
    async with user_browser(serve(clock=clock), BOB) as api:
        for _ in range(3):
            clock.advance((IDLE_LIFETIME - timedelta(seconds=1)).total_seconds())
            assert (await api.ask("GET", "/api/about")).status == 200
        clock.advance(IDLE_LIFETIME.total_seconds())
        assert (await api.ask("GET", "/api/about")).status == 401


async def test_a_disabled_user_is_out_at_once_and_their_streams_end(
    team: WebServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "KEEPALIVE_SECONDS", 0.1)  # a stream ends when something is sent
    async with user_browser(team, BOB) as api, asyncio.timeout(60):
        stream = api.listen("/api/batches/events")
        assert (await anext(stream)).event == "watching"
        with EvaluationStore.open(url, SystemClock()) as store:
            store.accounts.users.set_disabled(BOB, disabled=True)
        assert (await api.ask("GET", "/api/about")).status == 401
        assert (await log_in(api, BOB)).status == 403
        assert [event async for event in stream] == []
        with EvaluationStore.open(url, SystemClock()) as store:
            store.accounts.users.set_disabled(BOB, disabled=False)
        assert (await api.ask("GET", "/api/about")).status == 401  # the old session stays ended
        assert (await log_in(api, BOB)).status == 204


async def test_another_role_holds_from_the_next_request(team: WebServer, url: str) -> None:
    async with user_browser(team, CYD) as api:
        assert (await api.ask("GET", "/api/users")).status == 403
        with EvaluationStore.open(url, SystemClock()) as store:
            store.accounts.users.set_role(CYD, Role.ADMIN)
        assert [user["name"] for user in await api.get("/api/users")] == [ADA, BOB, CYD]


async def test_users_change_their_own_password_and_their_other_sessions_end(team: WebServer, url: str) -> None:
    new = "an entirely different sentence"
    async with user_browser(team, BOB) as api, user_browser(team, BOB) as other:
        wrong = await api.ask("POST", "/api/session/password", {"current": "wrong password", "new": new})
        assert (wrong.status, wrong.code) == (403, "forbidden")
        short = await api.ask("POST", "/api/session/password", {"current": PASSWORD, "new": "short"})
        assert (short.status, short.code) == (400, "bad_usage")
        assert (await api.ask("POST", "/api/session/password", {"current": PASSWORD, "new": new})).status == 204
        assert (await api.ask("GET", "/api/about")).status == 200
        assert (await other.ask("GET", "/api/about")).status == 401
        assert (await log_in(other, BOB)).status == 403
        assert (await log_in(other, BOB, new)).status == 204
    [entry] = audit_entries(url, "user_password_set")
    assert (entry["user"], entry["by"], entry["authenticated"]) == (BOB, BOB, True)


@pytest.mark.parametrize("change", ["reset-password", "disable"])
async def test_a_login_that_a_new_password_overtakes_starts_no_session(
    team: WebServer, url: str, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """Who knows the old password could otherwise keep a login going until it is changed, and stay logged in."""

    def is_password(password: str, stored_hash: str | None) -> bool:
        is_right = verify(password, stored_hash)
        with EvaluationStore.open(url, SystemClock()) as store:
            if change == "disable":
                store.accounts.users.set_disabled(BOB, disabled=True)
            else:
                store.accounts.users.set_password(BOB, passwords.hash_password("an entirely different sentence"))
        return is_right

    verify = passwords.is_password
    monkeypatch.setattr(passwords, "is_password", is_password)
    async with stranger(team.url) as api:
        refused = await log_in(api, BOB)
    assert (refused.status, refused.code, "Set-Cookie" in refused.headers) == (403, "forbidden", False)
    assert audit_entries(url, "user_logged_in") == []


async def test_logins_are_in_the_audit_log_and_a_new_password_is_no_login(team: WebServer, url: str) -> None:
    async with user_browser(team, BOB) as api:
        change = {"current": PASSWORD, "new": "an entirely different sentence"}
        assert (await api.ask("POST", "/api/session/password", change)).status == 204
        assert (await log_in(api, BOB)).status == 403
    [entry] = audit_entries(url, "user_logged_in")
    assert (entry["user"], entry["by"], entry["authenticated"], entry["login_method"]) == (BOB, BOB, True, "password")


async def test_no_password_is_stored_or_logged(team: WebServer, database: Path) -> None:
    async with user_browser(team, BOB) as api:
        await api.get("/api/session")
    files = b"".join(file.read_bytes() for file in database.parent.iterdir() if file.is_file())
    assert PASSWORD.encode() not in files
    assert b"$argon2id$" in files


async def test_a_login_replaces_a_hash_that_was_made_with_weaker_parameters(url: str, serve: Serve) -> None:
    weaker = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(PASSWORD)
    with EvaluationStore.open(url, SystemClock()) as store:
        store.accounts.users.add(BOB, Role.REVIEWER, weaker)
    server = serve()
    for _ in range(2):
        async with user_browser(server, BOB):
            pass
        with EvaluationStore.open(url, SystemClock()) as store:
            replaced = store.accounts.users.password_hash(BOB)
        assert replaced is not None
        assert not passwords.needs_rehash(replaced)
    assert audit_entries(url, "user_password_set") == []


async def test_the_address_and_the_token_of_the_server_keep_working(team: WebServer) -> None:
    async with browser(team) as operator, client(team) as program:
        for api in (operator, program):
            session = await api.get("/api/session")
            assert (session["user"], session["role"], session["authenticated"]) == ("local", "admin", False)


# Roles.


def operations() -> list[tuple[str, str, str]]:
    """Every operation of the API: its id, method and path."""
    paths = create_app(Settings("sqlite://")).openapi()["paths"]
    return [
        (operation["operationId"], method.upper(), path)
        for path, item in paths.items()
        for method, operation in item.items()
    ]


def test_every_operation_of_the_api_has_a_role_and_every_role_an_operation() -> None:
    assert sorted(OPERATION_ROLES) == sorted(operation for operation, _, _ in operations())


async def test_every_operation_is_refused_to_lower_roles_and_to_nobody_else(team: WebServer) -> None:
    async with user_browser(team, BOB) as reviewer, user_browser(team, CYD) as reader, stranger(team.url) as nobody:
        for operation, method, path in operations():
            needed = OPERATION_ROLES[operation]
            if operation in ("endSession", "watchBatches"):
                continue  # the first would end these sessions, and the second is a stream without end
            for api, role in ((reviewer, Role.REVIEWER), (reader, Role.READER)):
                reply = await api.ask(method, path.replace("{", "no-").replace("}", ""))
                is_refused = reply.status == 403 and "needs the role" in reply.json()["error"]["message"]
                assert is_refused is (needed is not None and not role.includes(needed)), (operation, role, reply)
            reply = await nobody.ask(method, path)
            assert (reply.status == 401) is (needed is not None), operation


@pytest.mark.parametrize("operation", ["deleteReport", "deleteDocumentBatch", "listUsers"])
def test_only_administrators_delete_and_see_users(operation: str) -> None:
    assert OPERATION_ROLES[operation] is Role.ADMIN


# Names.


async def review(api: Client, report_id: str, **step: Any) -> Any:
    reply = await api.ask("POST", f"/api/reports/{report_id}/review", step)
    assert reply.status == 201, reply
    return reply.json()


async def test_a_reviewer_is_authenticated_only_in_reports_that_they_asked_for_logged_in(team: WebServer) -> None:
    async with user_browser(team, BOB) as bob, client(team) as operator:
        first = (await bob.report(subject="again"))["report"]
        declared = (await operator.report(subject="again", reviewer=BOB))["report"]
        again = await operator.ask("POST", f"/api/evaluations/{first['report_id']}/again", {"evaluator": "rules"})
        await operator.events(again.json()["id"])
        repeated = (await operator.get(f"/api/reports/{again.json()['id']}"))["report"]
    assert first["document_identity"] == {**declared["document_identity"], "reviewer_authenticated": True}
    assert (first["document_identity"]["reviewer"], declared["document_identity"]["reviewer"]) == (BOB, BOB)
    assert repeated["document_identity"]["reviewer_authenticated"] is False


async def test_what_users_do_is_recorded_in_their_name_whatever_is_typed(team: WebServer, url: str) -> None:
    async with user_browser(team, BOB) as bob, user_browser(team, ADA) as ada:
        report_id = (await bob.report(subject="names", reviewer="Somebody else"))["report"]["report_id"]
        await review(bob, report_id, action="comment", reason="Seen.", actor="Somebody else")
        signed = await review(bob, report_id, action="sign_off")
        [sign_off] = signed["sign_offs"]
        assert sign_off["sentence"].startswith("Signed off by Bob, ")
        assert "not authenticated" not in str(signed["sign_offs"]) + str(signed["history"])
        exported = await bob.ask("GET", f"/api/reports/{report_id}/export?format=md")
        assert b"Signed off by Bob" in exported.body
        assert b"not authenticated" not in exported.body
        assert b"| Reviewer (authenticated) | Bob |" in exported.body
        await bob.ask("POST", "/api/baselines", {"report_id": report_id})
        assert (await ada.ask("DELETE", f"/api/reports/{report_id}")).status == 204
    for action, name in (
        *(("created", BOB), ("export", BOB), ("baseline_set", BOB)),
        *(("baseline_cleared", ADA), ("erasure", ADA)),
    ):
        [entry] = audit_entries(url, action)
        assert (entry["by"], entry["authenticated"]) == (name, True), action
    async with user_browser(team, CYD) as reader:
        shown = [row["description"] for row in (await reader.get("/api/audit-log"))["rows"]]
    [export] = [one for one in shown if one["title"] == "Report exported"]
    assert (export["who"], export["authenticated"]) == (BOB, True)
    assert f"{CYD}, role reader" in [one["details"] for one in shown if one["title"] == "User added"]
    assert {entry["review"]["actor"] for entry in audit_entries(url, "review")} == {BOB}


async def test_who_cancels_and_who_resumes_an_evaluation_is_recorded(url: str, serve: Serve) -> None:
    for name, role in ((ADA, Role.ADMIN), (BOB, Role.REVIEWER)):
        add_user(url, name, role)
    judging = Judging(at_once=0)
    with LoopbackProvider(judging) as provider:
        server = serve(base_urls=(provider.openai_url,))
        async with user_browser(server, BOB) as bob, user_browser(server, ADA) as ada:
            evaluation = await bob.start(key=KEY, evaluator=GPT, base_url=provider.openai_url)
            assert (await ada.ask("POST", f"/api/evaluations/{evaluation}/cancel")).status == 200
            judging.let_go()
            body = {"base_url": provider.openai_url}
            resumed = await bob.ask("POST", f"/api/evaluations/{evaluation}/resume", body, x_api_key=KEY)
            assert resumed.status == 202
            await bob.events(evaluation)
            assert (await bob.get(f"/api/reports/{evaluation}/verify"))["failed"] == 0
    for action, name in (("cancelled", ADA), ("resumed", BOB)):
        [entry] = audit_entries(url, action)
        assert (entry["by"], entry["authenticated"]) == (name, True), action


async def test_nobody_changes_a_users_step_by_typing_their_name(team: WebServer) -> None:
    async with user_browser(team, BOB) as bob, client(team) as program:
        report_id = (await bob.report())["report"]["report_id"]
        said = await review(bob, report_id, action="comment", reason="Mine.")
        step = {"action": "withdraw", "target": said["history"][0]["event"]["event_id"]}
        refused = await program.ask("POST", f"/api/reports/{report_id}/review", {**step, "actor": BOB})
        assert (refused.status, refused.code) == (400, "bad_usage")
        assert (await review(bob, report_id, **step))["history"][0]["withdrawn"]


async def test_without_users_a_review_still_needs_a_typed_name(serve: Serve) -> None:
    async with browser(serve()) as api:
        report_id = (await api.report())["report"]["report_id"]
        refused = await api.ask("POST", f"/api/reports/{report_id}/review", {"action": "sign_off"})
        assert (refused.status, refused.code) == (400, "bad_usage")
        signed = await review(api, report_id, action="sign_off", actor="Ada")
        assert "name as typed, not authenticated" in signed["sign_offs"][0]["sentence"]
