"""What a login does with the answers of a provider: garbage, silence, other issuers, tokens that are not valid."""

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from aiohttp import web
from joserfc import jwt

from salvo.engine.wire.base import Timeouts
from tests.support.accounts import log_of
from tests.support.oidc import (
    CLIENT_ID,
    CLIENT_SECRET,
    ScriptedOidcProvider,
    oidc_browser,
    settings,
    signed_by_hmac,
    signing_key,
    unsigned,
)
from tests.support.web import WebServer

Serve = Callable[..., WebServer]


@pytest.mark.parametrize(
    "answer, message",
    [
        ({"error": "access_denied"}, "Example Login did not let you log in, or you cancelled it."),
        ({"error": "server_error"}, "Example Login could not log you in (server_error)."),
        ({}, "Example Login could not log you in (no reason given)."),
        ({"code": "x", "iss": "https://evil.example"}, "This answer is from another login provider."),
    ],
)
async def test_an_answer_without_a_code_or_of_another_issuer_is_refused(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any], answer: dict[str, str], message: str
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        begun = provider.log_in(await browser.begin())
        refused = await browser.finish({"state": begun["state"], **answer})
        assert (refused.status, refused.json()["error"]["message"]) == (403, message)
        assert "Set-Cookie" not in refused.headers
    assert provider.token_requests == []


async def test_the_issuer_that_the_answer_names_is_accepted(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        answer = provider.log_in(await browser.begin())
        assert (await browser.finish({**answer, "iss": provider.issuer})).status == 200


DESCRIPTION = "/.well-known/openid-configuration"
GARBAGE: list[Callable[[web.Request], web.StreamResponse]] = [
    lambda _: web.Response(text="<html>"),
    lambda _: web.Response(text="[]"),
    lambda _: web.Response(text="[" * 100_000),
    lambda _: web.Response(text="{}"),
    lambda _: web.Response(body=b"\xff\xfe"),
    lambda _: web.Response(status=500, text="It broke."),
    lambda _: web.Response(status=302, headers={"location": "http://127.0.0.1:9/"}),
    lambda _: web.Response(body=b" " * 1_100_000),
]


@pytest.mark.parametrize("path", [DESCRIPTION, "/token/", "/keys"])
async def test_a_provider_that_answers_garbage_logs_nobody_in(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any], path: str
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        for garbage in GARBAGE:
            answer = provider.log_in(await browser.begin()) if path != DESCRIPTION else {}
            provider.replace[path] = garbage
            reply = await (browser.finish(answer) if answer else browser.ask("/api/login/oidc", {}))
            assert (reply.status, reply.code) == (502, "login_provider"), reply
            assert "It broke" not in reply.body.decode()
            assert (await browser.api.ask("GET", "/api/session")).status == 401
            provider.replace.clear()
        assert (await browser.log_in(provider)).status == 200  # as soon as it answers again


async def test_a_provider_that_hangs_is_given_up_and_holds_nobody_else_up(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(**open_settings)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and never answers
        provider.description = {"token_endpoint": f"http://127.0.0.1:{silent.getsockname()[1]}/token"}
        async with oidc_browser(server) as browser, asyncio.timeout(60):
            answer = provider.log_in(await browser.begin())
            monkeypatch.setattr("salvo.web.oidc.provider.TIMEOUTS", Timeouts(connect=0.5, read=0.5, total=0.5))
            refused, other = await asyncio.gather(browser.finish(answer), browser.api.get("/api/login"))
            assert (refused.status, refused.code) == (502, "login_provider")
            assert other["provider"] == "Example Login"


async def test_a_provider_that_is_not_there_is_named(serve: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        issuer = f"http://127.0.0.1:{reserved.getsockname()[1]}"
    async with oidc_browser(serve(oidc=settings(issuer))) as browser:
        refused = await browser.ask("/api/login/oidc", {})
    assert (refused.status, refused.code) == (502, "login_provider")
    assert "could not be reached" in refused.json()["error"]["message"]


async def test_a_description_of_another_provider_or_with_unsafe_addresses_is_refused(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        for name, value in (
            ("issuer", "https://evil.example"),
            ("issuer", None),
            ("authorization_endpoint", "http://login.example.com/authorize"),
            ("authorization_endpoint", "javascript:alert(1)"),
            ("token_endpoint", "http://169.254.169.254/token"),
            ("token_endpoint", "https://user:password@login.example.com/token"),
            ("jwks_uri", "file:///etc/passwd"),
            ("jwks_uri", 7),
        ):
            provider.description = {name: value}
            refused = await browser.ask("/api/login/oidc", {})
            assert (refused.status, refused.code, "Set-Cookie" in refused.headers) == (502, "login_provider", False)


INVALID: dict[str, Callable[[ScriptedOidcProvider, dict[str, Any]], str]] = {
    "wrong nonce: claim 'nonce'": lambda provider, claims: provider.sign({**claims, "nonce": "another"}),
    "no nonce: claim 'nonce'": lambda provider, claims: provider.sign(
        {k: v for k, v in claims.items() if k != "nonce"}
    ),
    "wrong audience: claim 'aud'": lambda provider, claims: provider.sign({**claims, "aud": "another"}),
    "another party: claim 'azp'": lambda provider, claims: provider.sign(
        {**claims, "aud": [CLIENT_ID, "x"], "azp": "x"}
    ),
    "other issuer: claim 'iss'": lambda provider, claims: provider.sign({**claims, "iss": "https://evil.example"}),
    "expired: claim 'exp'": lambda provider, claims: provider.sign({**claims, "exp": claims["iat"] - 61}),
    "alg none: algorithm": lambda _, claims: unsigned(claims),
    "public key as HMAC key: algorithm": lambda provider, claims: signed_by_hmac(
        claims, provider.key.as_pem(private=False)
    ),
    "client secret as HMAC key: algorithm": lambda _, claims: signed_by_hmac(claims, CLIENT_SECRET.encode()),
    "key of its own: no key of the provider": lambda _, claims: jwt.encode(
        {"alg": "RS256", "kid": "first"}, claims, signing_key("another"), ["RS256"]
    ),
    "not a token: not a signed token": lambda *_: "e30.e30",
}


async def test_no_session_begins_with_an_id_token_that_is_not_valid(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any], url: str
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        for case, make_token in INVALID.items():
            provider.make_token = partial(make_token, provider)
            refused = await browser.log_in(provider)
            assert (refused.status, refused.code) == (502, "login_provider"), case
            message = refused.json()["error"]["message"]
            assert message.startswith("Example Login sent an ID token that is not valid: "), case
            assert case.partition(": ")[2] in message
            assert (await browser.api.ask("GET", "/api/session")).status == 401
    assert log_of(url) == []


async def test_an_id_token_of_an_earlier_login_is_refused(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        earlier: list[str] = []
        provider.make_token = partial(provider.sign_and_note, earlier)
        assert (await browser.log_in(provider)).status == 200
        provider.make_token = lambda _: earlier[0]
        assert (await browser.log_in(provider)).status == 502


async def test_a_provider_may_replace_its_keys(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        assert (await browser.log_in(provider)).status == 200
        provider.key = signing_key("second")
        provider.published = [provider.public_key()]
        provider.make_token = lambda claims: provider.sign(claims, kid="second")
        assert (await browser.log_in(provider)).status == 200
