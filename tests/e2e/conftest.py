"""A browser and a server for all tests of a worker, and a fresh visitor for each of them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest
from playwright.sync_api import Browser, Playwright, expect, sync_playwright

from salvo.web import page
from salvo.web.settings import STATIC
from tests.support import chromium
from tests.support.browser import AXE, Visitor, a_browser
from tests.support.provider import LoopbackProvider
from tests.support.web import Judging, ServerProcess, server_process

Visit = Callable[..., Visitor]
Serve = Callable[..., ServerProcess]

expect.set_options(timeout=20_000)  # for a machine that is busy; what is there is seen at once


@pytest.fixture(scope="package")
def _playwright() -> Iterator[Playwright]:
    """Not for the session: while it lives, no other test of this process could run an event loop."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(_playwright: Playwright) -> Iterator[Browser]:
    if not page.is_built(STATIC) or not AXE.exists():
        _without("The page is not built, or its tools are not here: `make test` does both where Node is installed.")
    executable = chromium.find(_playwright)
    if executable is None:
        _without(chromium.HOW)
    with a_browser(_playwright, executable) as ready:
        yield ready


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Somebody new at the server with this address."""
    with ExitStack() as visitors:

        def visit(url: str, **options: Any) -> Visitor:
            return visitors.enter_context(Visitor(browser, url, **options))

        yield visit


class Site(NamedTuple):
    """`byop serve`, and the provider that it may be told to ask."""

    server: ServerProcess
    provider: LoopbackProvider

    @property
    def url(self) -> str:
        return self.server.url


@pytest.fixture(scope="package")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with (
        LoopbackProvider(Judging()) as provider,
        server_process(tmp_path_factory.mktemp("site"), "--allow-base-url", provider.openai_url) as server,
    ):
        yield Site(server, provider)


@pytest.fixture
def site(_site: Site) -> Iterator[Site]:
    """The same for all, as starting it takes longer than most tests: what is stored there, others stored as well."""
    _site.provider.play(Judging())
    yield _site
    _site.provider.let_go()


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider(Judging()) as provider:
        yield provider


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """`byop serve` with a database of its own."""
    with ExitStack() as servers:
        yield lambda *options: servers.enter_context(server_process(tmp_path, *options))


def _without(reason: str) -> NoReturn:
    if chromium.in_ci():
        pytest.fail(reason)
    pytest.skip(reason)
