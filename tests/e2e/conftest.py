"""Fixtures: a browser and a server per worker, and a new visitor per test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest
from playwright.sync_api import APIRequestContext, Browser, BrowserContext, Playwright, expect, sync_playwright

from salvo.web import static_files
from salvo.web.settings import STATIC, Settings
from tests.support import chromium
from tests.support.browser import AXE, Visitor, a_browser, a_context
from tests.support.playbook_page import ask, evaluate
from tests.support.provider import LoopbackProvider
from tests.support.web import (
    CAREFUL,
    CARELESS,
    GPT,
    TOKEN,
    Judging,
    Loginable,
    ServerProcess,
    WebServer,
    server_process,
)

Visit = Callable[..., Visitor]
Serve = Callable[..., ServerProcess]
ServeHere = Callable[..., WebServer]
Connect = Callable[[Loginable], APIRequestContext]

expect.set_options(timeout=30_000)  # for busy machines; visible elements are found immediately


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder needs a browser."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def _playwright() -> Iterator[Playwright]:
    """Package scope, because other tests of the process cannot run an event loop while it is open."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture
def connect(_playwright: Playwright) -> Connect:
    """A program with the token of a server."""
    headers = {"authorization": f"Bearer {TOKEN}"}
    return lambda server: _playwright.request.new_context(base_url=server.url, extra_http_headers=headers)


@pytest.fixture(scope="package")
def browser(_playwright: Playwright) -> Iterator[Browser]:
    if not static_files.is_built(STATIC) or not AXE.exists():
        _without(
            "The page is not built, or its tools are not here: `make test-browser` does both where Node is installed."
        )
    executable = chromium.find(_playwright)
    if executable is None:
        _without(chromium.HOW)
    with a_browser(_playwright, executable) as ready:
        yield ready


@pytest.fixture(scope="package")
def _contexts() -> dict[str, BrowserContext]:
    """Browser contexts by server address. Opening one takes a second, and an open one keeps its cache."""
    return {}


@pytest.fixture
def visit(browser: Browser, _contexts: dict[str, BrowserContext]) -> Iterator[Visit]:
    """Open a new visitor at a server address; with options, in a new browser context."""
    with ExitStack() as visitors:

        def visit(server: Loginable, **options: Any) -> Visitor:
            if options:
                return visitors.enter_context(Visitor(browser, server, **options))
            url = server.url
            if url not in _contexts:
                _contexts[url] = a_context(browser, url)
                _contexts[url].new_page()  # keeps the window open between tests
            return visitors.enter_context(Visitor(browser, server, within=_contexts[url]))

        yield visit


class Site(NamedTuple):
    """`byop serve`, and the provider that it may use."""

    server: ServerProcess
    provider: LoopbackProvider

    @property
    def url(self) -> str:
        return self.server.url

    def login_address(self) -> str:
        return self.server.login_address()


@pytest.fixture(scope="package")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with (
        LoopbackProvider(Judging()) as provider,
        server_process(tmp_path_factory.mktemp("site"), "--allow-base-url", provider.openai_url) as server,
    ):
        yield Site(server, provider)


@pytest.fixture
def site(_site: Site) -> Iterator[Site]:
    """One server for all tests, because starting it takes longer than most tests. Its database is shared."""
    _site.provider.play(Judging())
    yield _site
    _site.provider.let_go()


class StoredReports(NamedTuple):
    """Stored data: two reports on one subject, and a cancelled evaluation."""

    subject: str
    baseline: str
    worse: str
    cancelled: str


@pytest.fixture
def stored(site: Site, _stored: StoredReports) -> StoredReports:
    return _stored


@pytest.fixture(scope="package")
def _stored(_site: Site, _playwright: Playwright) -> StoredReports:
    subject = "NDA reviews"
    api = _playwright.request.new_context(base_url=_site.url, extra_http_headers={"authorization": f"Bearer {TOKEN}"})
    _site.provider.hold(after=2)
    cancelled = evaluate(api, CARELESS, evaluator=GPT, base_url=_site.provider.openai_url, answers=2)
    ask(api, "POST", f"/api/evaluations/{cancelled}/cancel")
    _site.provider.let_go()
    baseline = evaluate(api, CAREFUL, subject=subject)
    ask(api, "POST", "/api/baselines", {"report_id": baseline})
    worse = evaluate(api, CARELESS, subject=subject)
    api.dispose()
    return StoredReports(subject, baseline, worse, cancelled)


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider(Judging()) as provider:
        yield provider


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start `byop serve` as a process with its own database."""
    with ExitStack() as servers:
        yield lambda *options: servers.enter_context(server_process(tmp_path, *options))


@pytest.fixture
def serve_here(tmp_path: Path) -> Iterator[ServeHere]:
    """Start the server in a thread, which is faster, with its own database."""
    database = f"sqlite:///{tmp_path / 'byop_runs.db'}"
    with ExitStack() as servers:
        yield lambda **settings: servers.enter_context(WebServer(Settings(database, **settings)))


def _without(reason: str) -> NoReturn:
    if chromium.in_ci():
        pytest.fail(reason)
    pytest.skip(reason)
