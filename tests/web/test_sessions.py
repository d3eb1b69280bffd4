"""Who is let in: one-time codes, sessions and their end, the token of programs."""

import asyncio
from collections.abc import Callable
from http.cookies import SimpleCookie
from pathlib import Path

import pytest

from salvo.web import events
from salvo.web.sessions import CODE_LIFETIME, IDLE_LIFETIME, LONGEST_LIFETIME, MAX_ATTEMPTS
from salvo.web.settings import LOOPBACK
from tests.support.clock import HeldClock
from tests.support.web import TOKEN, Client, Reply, WebServer, client, stranger

Serve = Callable[..., WebServer]


class Browser:
    """A client that logs in with a code and then sends its cookie."""

    def __init__(self, server: WebServer, api: Client) -> None:
        self._server = server
        self._api = api
        self.cookie = ""

    async def open(self, address: str) -> Reply:
        reply = await self._api.ask("GET", address.removeprefix(self._server.url))
        if "Set-Cookie" in reply.headers:
            self.cookie = reply.headers["Set-Cookie"].partition(";")[0]
        return reply

    async def log_in(self) -> Reply:
        return await self.open(self._server.login_address())

    async def ask(self, method: str, path: str) -> Reply:
        return await self._api.ask(method, path, cookie=self.cookie)

    async def status(self, path: str = "/api/about") -> int:
        return (await self.ask("GET", path)).status


@pytest.mark.parametrize(
    "method, path",
    [
        ("GET", "/api/about"),
        ("GET", "/api/history"),
        ("GET", "/api/batches/events"),
        ("GET", "/api/openapi.json"),
        ("GET", "/api/session"),
        ("GET", "/api/nothing"),
        ("GET", "/api"),
        ("DELETE", "/api/reports/latest"),
        ("POST", "/api/evaluations"),
    ],
)
async def test_without_a_login_every_address_of_the_api_is_refused(shared: WebServer, method: str, path: str) -> None:
    async with stranger(shared.url) as api:
        refused = await api.ask(method, path)
    assert (refused.status, refused.code, refused.headers["WWW-Authenticate"]) == (401, "login_needed", "Bearer")


@pytest.mark.parametrize("path", ["/%61pi/about", "//api/about", "/api%2fabout", "/./api/about", "/API/about"])
async def test_no_other_spelling_of_an_address_needs_less(shared: WebServer, path: str) -> None:
    async with stranger(shared.url) as api:
        assert b"evaluations_at_once" not in (await api.ask("GET", path)).body


async def test_a_code_starts_a_session_and_its_cookie_is_no_secret_of_the_server(shared: WebServer) -> None:
    async with stranger(shared.url) as api:
        browser = Browser(shared, api)
        address = shared.login_address()
        welcome = await browser.open(address)
        assert (welcome.status, welcome.headers["Location"]) == (303, "/")
        assert welcome.headers["Cache-Control"] == "no-store"
        assert welcome.headers["Referrer-Policy"] == "no-referrer"
        session = (await browser.ask("GET", "/api/session")).json()
        assert session["user"] == "local"
        assert await browser.status() == 200
        assert TOKEN not in browser.cookie
        assert address.partition("code=")[2] not in browser.cookie


async def test_the_cookie_is_hidden_from_scripts_and_foreign_sites_and_named_after_the_port(shared: WebServer) -> None:
    async with stranger(shared.url) as api:
        welcome = await Browser(shared, api).log_in()
    [cookie] = SimpleCookie(welcome.headers["Set-Cookie"]).values()
    assert cookie.key == f"salvo_session_{shared.port}"
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"]) == (True, "strict", "/", "")
    assert int(cookie["max-age"]) == LONGEST_LIFETIME.total_seconds()


@pytest.mark.parametrize(
    "host, headers, is_secure",
    [
        ("review.example.org", {"sec_fetch_site": "none", "sec_fetch_mode": "navigate"}, True),
        ("review.example.org", {}, False),
        ("127.0.0.1:PORT", {"sec_fetch_site": "none", "sec_fetch_mode": "navigate"}, False),
    ],
)
async def test_behind_tls_the_cookie_of_a_printed_address_is_sent_over_tls_only(
    serve: Serve, host: str, headers: dict[str, str], is_secure: bool
) -> None:
    """A browser sends no Origin when an address is typed, and Sec-Fetch headers over TLS and to loopback only."""
    server = serve(hosts=(*LOOPBACK, "review.example.org"))
    async with stranger(server.url) as api:
        address = server.login_address().removeprefix(server.url)
        host = host.replace("PORT", str(server.port))
        welcome = await api.ask("GET", address, chunked=False, host=host, **headers)
    [cookie] = SimpleCookie(welcome.headers["Set-Cookie"]).values()
    assert bool(cookie["secure"]) is is_secure


async def test_two_servers_in_one_browser_keep_their_own_sessions(serve: Serve, shared: WebServer) -> None:
    other = serve()
    async with stranger(shared.url) as first_api, stranger(other.url) as second_api:
        first, second = Browser(shared, first_api), Browser(other, second_api)
        await first.log_in()
        await second.log_in()
        first.cookie = second.cookie = f"{first.cookie}; {second.cookie}"
        assert (await first.status(), await second.status()) == (200, 200)
        name, _, value = first.cookie.partition(";")[0].partition("=")
        second.cookie = f"salvo_session_{other.port}={value}"  # of the first, under the second's name
        assert name != f"salvo_session_{other.port}"
        assert await second.status() == 401


async def test_a_code_works_once(shared: WebServer) -> None:
    async with stranger(shared.url) as api:
        address = shared.login_address()
        assert (await Browser(shared, api).open(address)).status == 303
        second = Browser(shared, api)
        refused = await second.open(address)
        assert (refused.status, second.cookie) == (401, "")
        assert b"was used or has expired" in refused.body


async def test_a_code_that_many_use_at_once_lets_one_in(shared: WebServer) -> None:
    async with stranger(shared.url) as api:
        address = shared.login_address()
        replies = await asyncio.gather(*(Browser(shared, api).open(address) for _ in range(10)))
    assert sorted(reply.status for reply in replies) == [303] + [401] * 9


@pytest.mark.parametrize("query", ["", "?code=", "?code=guess", f"?code={TOKEN}", f"?token={TOKEN}", "?code=%00%ff"])
async def test_a_wrong_code_is_refused(shared: WebServer, query: str) -> None:
    async with stranger(shared.url) as api:
        refused = await api.ask("GET", f"/login{query}")
    assert (refused.status, "Set-Cookie" in refused.headers) == (401, False)


async def test_a_code_is_void_after_a_few_wrong_guesses_at_it(shared: WebServer) -> None:
    address = shared.login_address()
    code = address.partition("code=")[2]
    async with stranger(shared.url) as api:
        for _ in range(MAX_ATTEMPTS):
            assert (await api.ask("GET", f"/login?code={code[:-6]}guess!")).status == 401
        assert (await Browser(shared, api).open(address)).status == 401


async def test_guesses_at_no_code_do_not_use_up_the_guesses_at_one(shared: WebServer) -> None:
    async with stranger(shared.url) as api:
        address = shared.login_address()
        for number in range(MAX_ATTEMPTS * 4):
            assert (await api.ask("GET", f"/login?code=guess-number-{number}")).status == 401
        assert (await Browser(shared, api).open(address)).status == 303


async def test_a_code_expires(serve: Serve) -> None:
    clock = HeldClock()
    server = serve(clock=clock)
    async with stranger(server.url) as api:
        early, late = server.login_address(), server.login_address()
        await clock.sleep(CODE_LIFETIME.total_seconds() - 1)
        assert (await Browser(server, api).open(early)).status == 303
        await clock.sleep(1)
        assert (await Browser(server, api).open(late)).status == 401


async def test_a_session_ends_when_it_is_not_used(serve: Serve) -> None:
    clock = HeldClock()
    server = serve(clock=clock)
    async with stranger(server.url) as api:
        browser = Browser(server, api)
        await browser.log_in()
        for _ in range(3):
            await clock.sleep(IDLE_LIFETIME.total_seconds() - 1)
            assert await browser.status() == 200  # and starts the time anew
        await clock.sleep(IDLE_LIFETIME.total_seconds())
        assert await browser.status() == 401


async def test_a_session_ends_after_a_week_however_much_it_is_used(serve: Serve) -> None:
    clock = HeldClock()
    server = serve(clock=clock)
    async with stranger(server.url) as api:
        browser = Browser(server, api)
        await browser.log_in()
        hours = int(LONGEST_LIFETIME.total_seconds()) // 3600
        for _ in range(hours // 6 - 1):
            await clock.sleep(6 * 3600)
            assert await browser.status() == 200
        await clock.sleep(6 * 3600)
        assert await browser.status() == 401


async def test_logging_out_ends_the_session_and_no_other(shared: WebServer) -> None:
    async with stranger(shared.url) as api:
        browser, other = Browser(shared, api), Browser(shared, api)
        await browser.log_in()
        await other.log_in()
        ended = await browser.ask("DELETE", "/api/session")
        assert ended.status == 204
        assert "Max-Age=0" in ended.headers["Set-Cookie"]
        assert (await browser.status(), await other.status()) == (401, 200)


async def test_logging_out_ends_the_streams_that_the_session_opened(
    shared: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "KEEPALIVE_SECONDS", 0.1)  # a stream ends when something is sent
    async with stranger(shared.url) as api, asyncio.timeout(60):
        browser = Browser(shared, api)
        await browser.log_in()
        stream = api.listen("/api/batches/events", cookie=browser.cookie)
        assert (await anext(stream)).event == "watching"
        await browser.ask("DELETE", "/api/session")
        assert [event async for event in stream] == []


async def test_a_session_ends_with_its_server(serve: Serve) -> None:
    first, second = serve(), serve()
    async with stranger(first.url) as first_api, stranger(second.url) as second_api:
        browser, later = Browser(first, first_api), Browser(second, second_api)
        await browser.log_in()
        value = browser.cookie.partition("=")[2]
        later.cookie = f"salvo_session_{second.port}={value}"  # as after a restart on the same port
        assert await later.status() == 401


async def test_the_token_lets_a_program_in_and_no_other_token_does(shared: WebServer) -> None:
    async with stranger(shared.url) as api:
        for given, status in (
            (f"Bearer {TOKEN}", 200),
            (f"bearer {TOKEN}", 200),
            (f"Bearer {TOKEN[:-1]}", 401),
            ("Bearer ", 401),
            (f"Basic {TOKEN}", 401),
            (TOKEN, 401),
        ):
            assert (await api.ask("GET", "/api/about", authorization=given)).status == status, given
        assert (await api.ask("GET", "/api/about", cookie=f"salvo_session_{shared.port}={TOKEN}")).status == 401
    async with client(shared) as api:
        user = {"user": "local", "role": "admin", "authenticated": False, "has_password": False}
        session = {**user, "expires": None, "home": "/"}
        assert (await api.get("/api/session")) == session


async def test_the_page_itself_needs_no_login_and_says_how_to_log_in(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "index.html").write_text('<div id="root"></div>')
    server = serve()
    async with stranger(server.url) as api:
        assert (await api.ask("GET", "/")).status == 200
        refused = await api.ask("GET", "/login?code=used")
        assert (refused.status, refused.body) == (401, b'<div id="root"></div>')
        assert refused.headers["Cache-Control"] == "no-store"


async def test_a_foreign_page_cannot_use_a_code_in_the_background(shared: WebServer) -> None:
    address = shared.login_address().removeprefix(shared.url)
    async with stranger(shared.url) as api:
        hidden = await api.ask("GET", address, sec_fetch_site="cross-site", sec_fetch_mode="no-cors")
        assert (hidden.status, hidden.code) == (403, "strange_origin")
        opened = await api.ask("GET", address, sec_fetch_site="cross-site", sec_fetch_mode="navigate")
        assert opened.status == 303  # the redirect file, whose origin is another
