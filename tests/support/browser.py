"""Somebody in front of a page, in a real browser that notes what must not happen there."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Playwright, Request, WebError

from tests.support.web import Loginable, session_cookie

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
_LOOK = """async rules => {
  const found = await axe.run({ runOnly: { type: 'tag', values: rules }, resultTypes: ['violations'] });
  return [found.passes.length, found.violations];
}"""
_OWN = ("data", "blob")

Theme = Literal["light", "dark"]


@contextmanager
def a_browser(playwright: Playwright, executable: str) -> Iterator[Browser]:
    # Playwright starts it without the sandbox, which not every container can have: it sees no page but ours.
    browser = playwright.chromium.launch(
        executable_path=executable,
        args=[
            "--disable-gpu",
            "--disable-background-networking",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no test reaches the network
        ],
    )
    yield browser
    browser.close()


def a_context(browser: Browser, url: str, **options: Any) -> BrowserContext:
    context = browser.new_context(base_url=url, **options)
    context.set_default_timeout(30_000)
    return context


_cookies: dict[int, tuple[Loginable, tuple[str, str]]] = {}
"""The session cookie of each server, by its identity; the server is held so that its identity stays its own."""


def log_in(context: BrowserContext, server: Loginable) -> None:
    """Give the browser a session. It is the same one for all visitors of a server."""
    if id(server) not in _cookies:
        _cookies[id(server)] = server, session_cookie(server.login_address())
    name, value = _cookies[id(server)][1]
    context.add_cookies([{"name": name, "value": value, "url": server.url, "httpOnly": True, "sameSite": "Strict"}])


class Visitor:
    """Tabs that share nothing with another visitor's: in a context of their own, or in one that is emptied after them.

    At the end of the `with` block it fails on an error in a console, an exception, a breach of the content security
    policy, a dialog, and a request to anybody but the server.
    """

    def __init__(
        self,
        browser: Browser,
        server: Loginable,
        *,
        within: BrowserContext | None = None,
        logged_in: bool = True,
        **options: Any,
    ) -> None:
        self.url = server.url
        self.context = within or a_context(browser, self.url, **options)
        if logged_in:
            log_in(self.context, server)
        self._shared = within is not None
        self._others = list(self.context.pages)
        self.requests: list[Request] = []
        self.faults: list[str] = []
        self._forgiven: list[str] = []
        self._listeners: dict[Any, Any] = {
            "request": self._ask,
            "console": self._hear,
            "weberror": self._fail,
            "dialog": self._dismiss,
        }
        for event, listener in self._listeners.items():
            self.context.on(event, listener)

    def open(self, path: str = "/") -> Page:
        page = self.context.new_page()
        page.bring_to_front()
        page.goto(path)
        return page

    def forgive(self, pattern: str) -> None:
        """A fault that this test brings about, such as an answer with status 422."""
        self._forgiven.append(pattern)

    def unforgiven(self) -> list[str]:
        return [fault for fault in self.faults if not any(re.search(each, fault) for each in self._forgiven)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shared:
            self._tidy_up()
        else:
            self.context.close()
        if error is None:
            assert not self.unforgiven(), "\n".join(self.unforgiven())
        else:
            for fault in self.unforgiven():
                error.add_note(fault)

    def _tidy_up(self) -> None:
        mine = [page for page in self.context.pages if page not in self._others]
        if mine:
            blank = self.context.new_page()
            for page in mine:  # first: what a page still requests would fail without the session's cookie
                page.close()
            devtools = self.context.new_cdp_session(blank)
            devtools.send("Storage.clearDataForOrigin", {"origin": self.url, "storageTypes": "all"})
            blank.close()
        self.context.clear_permissions()
        for event, listener in self._listeners.items():
            self.context.remove_listener(event, listener)

    def _ask(self, request: Request) -> None:
        self.requests.append(request)
        address = urlsplit(request.url)
        if address.scheme not in _OWN and f"{address.scheme}://{address.netloc}" != self.url:
            self.faults.append(f"Somebody else was asked: {request.url}")

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            self.faults.append(f"The console says: {message.text} ({message.location['url']})")

    def _fail(self, error: WebError) -> None:
        self.faults.append(f"The page raised: {error.error}")

    def _dismiss(self, dialog: Dialog) -> None:
        self.faults.append(f"The page opened a dialog: {dialog.message}")
        dialog.dismiss()


class Barrier(NamedTuple):
    """Something on a page that keeps somebody out, as axe tells it."""

    rule: str
    where: str
    why: str


def barriers(page: Page) -> list[Barrier]:
    """Breaches of WCAG A and AA that axe finds in the page as it stands."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    passes, violations = page.evaluate(_LOOK, list(_RULES))
    assert passes, "axe looked at nothing"
    return [
        Barrier(violation["id"], " ".join(map(str, node["target"])), node["failureSummary"])
        for violation in violations
        for node in violation["nodes"]
    ]


def assert_accessible(page: Page) -> None:
    """Neither theme of the page keeps anybody out."""
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)
        assert barriers(page) == [], theme
