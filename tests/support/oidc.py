"""OpenID Connect providers on loopback: a real one of another package, and one that tests script; and browsers."""

import base64
import hashlib
import hmac
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import aiohttp
from aiohttp import web
from joserfc import jwt
from joserfc.jwk import RSAKey

from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.web.oidc.settings import OidcSettings
from tests.support.background import BackgroundServer
from tests.support.http_client import http_session
from tests.support.web import Client, Loginable, Reply

CLIENT_ID = "salvo"
CLIENT_SECRET = "planted-client-secret-0123456789"
ADA_SUBJECT = "ada-0001"


@contextmanager
def mock_provider(*users: dict[str, Any]) -> Iterator[str]:
    """Start oidc-provider-mock in a process of its own, and return its issuer. Users have `sub` and other claims."""
    claims = [option for user in users for option in ("--user-claims", json.dumps(user))]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", "0", *claims]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if "running on" in line:
                    yield next(word for word in line.split() if word.startswith("http://")).rstrip('"')
                    break
            else:
                raise AssertionError("The provider did not start.")
        finally:
            process.kill()


def settings(issuer: str, **options: Any) -> OidcSettings:
    return OidcSettings(issuer, CLIENT_ID, CLIENT_SECRET, "Example Login", **options)


@cache
def signing_key(key_id: str) -> RSAKey:
    """A key, made once: it is slow."""
    return RSAKey.generate_key(2048, {"kid": key_id})


def signed_by_hmac(claims: dict[str, Any], key: bytes) -> str:
    """Return a token whose signature anybody can make who has the key, such as a public one."""
    text = _encoded({"alg": "HS256", "kid": "first"}, claims)
    return f"{text}.{_base64(hmac.digest(key, text.encode(), 'sha256'))}"


def unsigned(claims: dict[str, Any]) -> str:
    """Return a token with the algorithm none."""
    return f"{_encoded({'alg': 'none'}, claims)}."


def _encoded(*parts: dict[str, Any]) -> str:
    return ".".join(_base64(json.dumps(part).encode()) for part in parts)


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class ScriptedOidcProvider(BackgroundServer):
    """A provider that holds clients to the specification: PKCE, redirect address, client secret, a code used once.

    A test changes what it answers.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__()
        self._clock = clock or SystemClock()
        self.key = signing_key("first")
        self.published: list[dict[str, Any]] = [self.public_key()]
        self.claims: dict[str, Any] = {"sub": ADA_SUBJECT, "preferred_username": "Ada Brown"}
        """They replace those of the token; None leaves one out."""
        self.make_token: Callable[[dict[str, Any]], str] = self.sign
        self.description: dict[str, Any] = {}
        """It replaces fields of the description."""
        self.replace: dict[str, Callable[[web.Request], web.StreamResponse]] = {}
        """Answers by path, instead of the right ones."""
        self.requests: list[str] = []
        self.token_requests: list[tuple[dict[str, str], str]] = []
        """The form and the header Authorization of each."""
        self._codes: dict[str, dict[str, str]] = {}

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def public_key(self, **fields: Any) -> dict[str, Any]:
        return {**self.key.as_dict(private=False), **fields}

    def sign(self, claims: dict[str, Any], **header: Any) -> str:
        return jwt.encode(
            {"alg": "RS256", "kid": "first", **header}, claims, self.key, algorithms=[header.get("alg", "RS256")]
        )

    def sign_and_note(self, tokens: list[str], claims: dict[str, Any]) -> str:
        """Make the right token, and add it to the list."""
        tokens.append(self.sign(claims))
        return tokens[-1]

    def log_in(self, authorization_url: str) -> dict[str, str]:
        """Do what a person does at the authorization endpoint, and return what its redirect has in its address."""
        address = urlsplit(authorization_url)
        asked = dict(parse_qsl(address.query))
        assert (f"{address.scheme}://{address.netloc}", address.path) == (self.issuer, "/authorize")
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT_ID)
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self._codes)}"
        self._codes[code] = asked
        return {"state": asked["state"], "code": code}

    @asynccontextmanager
    async def _listening(self) -> AsyncIterator[int]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield runner.addresses[0][1]
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request.path)
        if request.path in self.replace:
            return self.replace[request.path](request)
        if request.path == "/.well-known/openid-configuration":
            endpoints = {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token/",
                "jwks_uri": f"{self.issuer}/keys?tenant=1",
            }
            return web.json_response({**endpoints, **self.description})
        if request.path == "/keys":
            return web.json_response({"keys": self.published})
        if request.path == "/token/":
            return self._token({str(name): str(value) for name, value in (await request.post()).items()}, request)
        return web.Response(status=404)

    def _token(self, form: dict[str, str], request: web.Request) -> web.StreamResponse:
        self.token_requests.append((form, request.headers.get("authorization", "")))
        asked = self._codes.pop(form["code"], None)
        if asked is None:
            return web.json_response({"error": "invalid_grant"}, status=400)
        challenge = _base64(hashlib.sha256(form["code_verifier"].encode()).digest())
        by_header = f"Basic {base64.b64encode(f'{CLIENT_ID}:{CLIENT_SECRET}'.encode()).decode()}"
        is_client = request.headers.get("authorization") == by_header or form.get("client_secret") == CLIENT_SECRET
        if (challenge, form["redirect_uri"], is_client) != (asked["code_challenge"], asked["redirect_uri"], True):
            return web.json_response({"error": "invalid_client"}, status=401)
        now = int(self._clock.now().timestamp())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "nonce": asked["nonce"], "iat": now, "exp": now + 300}
        claims = {name: value for name, value in {**claims, **self.claims}.items() if value is not None}
        return web.json_response(
            {"access_token": "opaque", "token_type": "Bearer", "id_token": self.make_token(claims)}
        )


class OidcBrowser:
    """A browser at the login page of a server: it has cookies and sends the Origin header."""

    def __init__(self, api: Client) -> None:
        self.api = api

    async def begin(self, **body: Any) -> str:
        """Click "Log in with ...", and return the provider's address that is opened."""
        reply = await self.ask("/api/login/oidc", body)
        assert reply.status == 200, reply
        return str(reply.json()["url"])

    async def finish(self, answer: dict[str, str]) -> Reply:
        """Do what the page does that the provider redirects to."""
        return await self.ask("/api/login/oidc/callback", answer)

    async def ask(self, path: str, body: dict[str, Any], **headers: str) -> Reply:
        headers.setdefault("origin", self.api.url)
        return await self.api.ask("POST", path, body, chunked=False, **headers)

    async def log_in(self, provider: ScriptedOidcProvider) -> Reply:
        return await self.finish(provider.log_in(await self.begin()))

    async def session(self) -> Any:
        return await self.api.get("/api/session")


@asynccontextmanager
async def oidc_browser(server: Loginable) -> AsyncIterator[OidcBrowser]:
    jar = aiohttp.CookieJar(unsafe=True)  # cookies of an address without a name
    async with http_session(cookie_jar=jar) as session:
        yield OidcBrowser(Client(server.url, session))


async def log_in_at_mock(authorization_url: str, subject: str) -> dict[str, str]:
    """Log in at oidc-provider-mock, and return what its redirect has in its address."""
    async with http_session() as session:
        async with session.get(authorization_url) as form:
            assert form.status == 200, await form.text()
        async with session.post(authorization_url, data={"sub": subject}, allow_redirects=False) as response:
            assert response.status == 302, await response.text()
            address = urlsplit(response.headers["location"])
    assert address.path == "/login/oidc"
    return dict(parse_qsl(address.query))
