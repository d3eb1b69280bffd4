"""Logging in with an OIDC provider: the flow, where the browser is sent, and the state, over real sockets."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from sqlalchemy import func, insert, select

from salvo.engine.runtime.clock import SystemClock
from salvo.playbooks.accounts.pending_logins import LIFETIME, MAX_PENDING, PendingLogin
from salvo.playbooks.accounts.users import OidcIdentity, Role
from salvo.playbooks.store.queueing.leases import as_stored
from salvo.playbooks.store.store import EvaluationStore
from salvo.playbooks.store.tables import oidc_logins
from tests.support.clock import HeldClock
from tests.support.oidc import (
    ADA_SUBJECT,
    CLIENT_SECRET,
    ScriptedOidcProvider,
    log_in_at_mock,
    mock_provider,
    oidc_browser,
    settings,
)
from tests.support.web import WebServer, folder_content

Serve = Callable[..., WebServer]
ADA = "Ada Brown"


async def test_a_real_provider_logs_a_person_in(serve: Serve, url: str) -> None:
    user = {"sub": ADA_SUBJECT, "preferred_username": ADA, "groups": ["lawyers"]}
    with mock_provider(user) as issuer:
        oidc = settings(issuer, creates_users=True, role_claim="groups", roles={"lawyers": Role.REVIEWER})
        async with oidc_browser(serve(oidc=oidc)) as browser:
            assert await browser.api.get("/api/login") == {"passwords": False, "provider": "Example Login"}
            reply = await browser.finish(await log_in_at_mock(await browser.begin(return_to="/history"), ADA_SUBJECT))
            assert (reply.status, reply.json()) == (200, {"return_to": "/history"})
            session = await browser.session()
            assert (session["user"], session["role"], session["authenticated"]) == (ADA, "reviewer", True)
            assert (await browser.api.ask("DELETE", "/api/session")).status == 204
            assert (await browser.api.ask("GET", "/api/session")).status == 401
    with EvaluationStore.open(url, SystemClock()) as store:
        assert store.accounts.users.find(ADA).identity == OidcIdentity(issuer, ADA_SUBJECT)


async def test_the_server_holds_to_what_a_strict_provider_asks_for(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    server = serve(**open_settings)
    async with oidc_browser(server) as browser:
        url = await browser.begin()
        asked = dict(parse_qsl(urlsplit(url).query))
        assert asked["redirect_uri"] == f"{server.url}/login/oidc"
        assert asked["scope"] == "openid profile email"
        assert len(asked["state"]) == len(asked["nonce"]) == 43
        reply = await browser.finish(provider.log_in(url))
        assert reply.status == 200, reply
    [(form, authorization)] = provider.token_requests
    assert "client_secret" not in form
    assert authorization.startswith("Basic ")
    assert provider.requests == ["/.well-known/openid-configuration", "/token/", "/keys"]  # and no user info


async def test_a_provider_that_wants_the_secret_in_the_body_gets_it_there(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    provider.description = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    async with oidc_browser(serve(**open_settings)) as browser:
        assert (await browser.log_in(provider)).status == 200
    [(form, authorization)] = provider.token_requests
    assert (form["client_secret"], authorization) == (CLIENT_SECRET, "")


async def test_a_login_may_end_at_another_server_of_the_database(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    first, second = serve(**open_settings), serve(**open_settings)
    async with oidc_browser(first) as browser:
        reply = await browser.ask("/api/login/oidc", {})
        [morsel] = SimpleCookie(reply.headers["Set-Cookie"]).values()
        answer = provider.log_in(reply.json()["url"])
    async with oidc_browser(second) as browser:
        cookie = f"salvo_oidc_{second.port}={morsel.value}"
        assert (await browser.ask("/api/login/oidc/callback", answer, cookie=cookie)).status == 200


async def test_the_cookies_are_hidden_from_scripts_and_other_sites_and_end(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    server = serve(**open_settings)
    async with oidc_browser(server) as browser:
        begun = await browser.ask("/api/login/oidc", {})
        [(name, morsel)] = SimpleCookie(begun.headers["Set-Cookie"]).items()
        assert (name, morsel["httponly"], morsel["samesite"]) == (f"salvo_oidc_{server.port}", True, "strict")
        assert 0 < int(morsel["max-age"]) <= 600
        finished = await browser.finish(provider.log_in(begun.json()["url"]))
        session, ended = (SimpleCookie(text) for text in finished.headers.getall("Set-Cookie"))  # type: ignore[attr-defined]  # of a multidict
        assert session[f"salvo_session_{server.port}"]["samesite"] == "strict"
        assert ended[name].value == ""
        over_tls = await browser.ask("/api/login/oidc", {}, origin=f"https://127.0.0.1:{server.port}")
        assert "Secure" in over_tls.headers["Set-Cookie"]


# Where the browser is sent.


async def test_the_redirect_address_is_the_servers_own_whatever_a_request_says(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    server = serve(**open_settings)
    async with oidc_browser(server) as browser:
        for headers in (
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"host": "evil.example", "origin": "http://evil.example"},
            {"sec_fetch_site": "cross-site"},
        ):
            refused = await browser.ask("/api/login/oidc", {}, **headers)
            assert refused.status == 403, headers
        without_origin = await browser.api.ask("POST", "/api/login/oidc", {})
        assert (without_origin.status, without_origin.code) == (409, "conflict")
        forwarded = await browser.ask("/api/login/oidc", {}, x_forwarded_host="evil.example", x_forwarded_proto="https")
        assert "evil" not in forwarded.json()["url"]
    assert provider.token_requests == []


async def test_behind_a_proxy_it_is_the_address_that_the_browser_uses_or_that_of_the_setting(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    oidc = open_settings["oidc"]
    fixed = replace(oidc, redirect_url="https://fixed.example.com/login/oidc")
    for chosen, expected in ((oidc, "https://review.example.com/login/oidc"), (fixed, fixed.redirect_url)):
        async with oidc_browser(serve(oidc=chosen, hosts=("127.0.0.1", "review.example.com"))) as browser:
            behind = {"host": "review.example.com", "origin": "https://review.example.com"}
            reply = await browser.ask("/api/login/oidc", {}, **behind)
            assert dict(parse_qsl(urlsplit(reply.json()["url"]).query))["redirect_uri"] == expected
            [morsel] = SimpleCookie(reply.headers["Set-Cookie"]).values()
            cookie = f"{morsel.key}={morsel.value}"
            answer = provider.log_in(reply.json()["url"])
            assert (await browser.ask("/api/login/oidc/callback", answer, cookie=cookie, **behind)).status == 200
        assert provider.token_requests[-1][0]["redirect_uri"] == expected


async def test_a_login_leads_to_no_other_host(serve: Serve, open_settings: dict[str, Any]) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        for target in (
            *("//evil.example", "https://evil.example", "/\\evil.example", "\\/evil.example", "evil.example", ""),
            *("/a\nb", "/\t/evil.example", "javascript:alert(1)"),
        ):
            refused = await browser.ask("/api/login/oidc", {"return_to": target})
            assert (refused.status, refused.code) == (422, "invalid_request"), target
            assert "Set-Cookie" not in refused.headers


# State.


async def test_a_state_works_once(serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        begun = await browser.ask("/api/login/oidc", {})
        [morsel] = SimpleCookie(begun.headers["Set-Cookie"]).values()
        answer = provider.log_in(begun.json()["url"])
        cookie = f"{morsel.key}={morsel.value}"
        replies = await asyncio.gather(
            *(browser.ask("/api/login/oidc/callback", answer, cookie=cookie) for _ in range(3))
        )
        assert sorted(reply.status for reply in replies) == [200, 403, 403]
        refused = next(reply for reply in replies if reply.status == 403)
        assert refused.json()["error"]["message"] == (
            "This login was not begun in this browser, has expired or was used already."
        )
    assert len(provider.token_requests) == 1


async def test_a_state_is_used_up_by_a_login_that_failed(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        answer = provider.log_in(await browser.begin())
        assert (await browser.finish({**answer, "code": "another"})).status == 502
        assert (await browser.finish(answer)).status == 403


async def test_the_state_of_another_browser_is_refused_and_stays_usable_there(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    """Otherwise somebody could log a victim's browser in as themselves, and see what the victim does."""
    server = serve(**open_settings)
    async with oidc_browser(server) as attacker, oidc_browser(server) as victim:
        answer = provider.log_in(await attacker.begin())
        assert (await victim.finish(answer)).status == 403  # it began no login
        await victim.begin()
        assert (await victim.finish(answer)).status == 403
        assert (await victim.api.ask("GET", "/api/session")).status == 401
        assert (await attacker.finish(answer)).status == 200


async def test_a_login_that_takes_too_long_has_to_begin_again(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    clock = HeldClock()
    async with oidc_browser(serve(**open_settings, clock=clock)) as browser:
        answer = provider.log_in(await browser.begin())
        clock.advance(LIFETIME.total_seconds())
        assert (await browser.finish(answer)).status == 403
    assert provider.token_requests == []


async def test_beginning_many_logins_does_not_fill_the_database(url: str) -> None:
    clock = HeldClock()
    with EvaluationStore.open(url, clock) as store:
        pending = store.accounts.pending_logins
        with store._database.writing() as connection:
            row = dict.fromkeys(("nonce", "code_verifier", "redirect_url", "return_to"), "")
            expires = as_stored(clock.now() + LIFETIME - timedelta(seconds=1))
            rows = [{"key": str(number), "expires_at": expires, **row} for number in range(MAX_PENDING + 5)]
            connection.execute(insert(oidc_logins), rows)
        pending.add(PendingLogin("state", "nonce", "verifier", "url", "/"), "secret")
        with store._database.reading() as connection:
            assert connection.scalar(select(func.count()).select_from(oidc_logins)) == MAX_PENDING
        assert pending.take("state", "another") is None
        assert pending.take("state", "secret") is not None
        clock.advance(LIFETIME.total_seconds())
        pending.add(PendingLogin("later", "nonce", "verifier", "url", "/"), "secret")
        with store._database.reading() as connection:
            assert connection.scalar(select(func.count()).select_from(oidc_logins)) == 1


# Secrets.


async def test_no_secret_is_stored_or_logged(
    serve: Serve,
    provider: ScriptedOidcProvider,
    open_settings: dict[str, Any],
    database: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", logger="salvo")
    tokens: list[str] = []
    provider.make_token = partial(provider.sign_and_note, tokens)
    async with oidc_browser(serve(**open_settings)) as browser:
        reply = await browser.ask("/api/login/oidc", {})
        [browser_secret] = (morsel.value for morsel in SimpleCookie(reply.headers["Set-Cookie"]).values())
        answer = provider.log_in(reply.json()["url"])
        assert (await browser.finish(answer)).status == 200
        assert (await browser.finish(answer)).status == 403
        answers = b"".join(browser.api.received)
    written = folder_content(database.parent) + caplog.text.encode() + answers
    for secret in (CLIENT_SECRET, browser_secret, answer["code"], answer["state"], tokens[0]):
        assert secret.encode() not in written.replace(reply.body, b"")
    assert "A user logged in." in caplog.text
