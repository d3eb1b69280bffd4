"""Logging in and out on the page, and a session that ends while the page is open."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Download, Page, expect

from salvo.cli.login_file import RedirectFile
from salvo.engine.runtime.clock import SystemClock
from salvo.web.sessions import IDLE_LIFETIME
from tests.e2e.conftest import Serve, ServeHere, Visit
from tests.support.browser import Theme, barriers
from tests.support.clock import HeldClock
from tests.support.playbook_page import fill_form, run, wait_for_report
from tests.support.scenario_store import fill
from tests.support.web import CARELESS

REFUSED = "status of 401"


def test_the_printed_address_opens_the_page_logged_in(serve: Serve, visit: Visit) -> None:
    server = serve()
    visitor = visit(server, logged_in=False)
    page = visitor.open(server.login_address())
    expect(page.get_by_role("form", name="Evaluation")).to_be_visible()
    assert page.url == f"{server.url}/"  # without the code
    [cookie] = visitor.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert page.evaluate("document.cookie") == ""


def test_the_file_that_the_browser_is_given_leads_to_the_page(serve_here: ServeHere, visit: Visit) -> None:
    """From a file, which is another site for the browser."""
    server = serve_here()
    visitor = visit(server, logged_in=False)
    file = RedirectFile(SystemClock())
    visitor.forgive(re.escape(file.path.as_uri()))
    file.write(server.login_address())
    page = visitor.open(file.path.as_uri())
    expect(page.get_by_role("form", name="Evaluation")).to_be_visible()
    file.remove()
    assert not file.path.parent.exists()


@pytest.mark.parametrize("path", ["/", "/history", "/scenarios", "/login", "/login?code=used"])
def test_without_a_login_the_page_says_how_to_log_in(serve_here: ServeHere, visit: Visit, path: str) -> None:
    visitor = visit(serve_here(), logged_in=False)
    visitor.forgive(REFUSED)
    page = visitor.open(path)
    _expect_login_screen(page)
    expect(page.get_by_text("newest address that the server printed in its terminal, in this browser")).to_be_visible()


def test_a_used_address_leads_on_when_the_browser_is_logged_in(serve_here: ServeHere, visit: Visit) -> None:
    server = serve_here()
    visitor = visit(server)
    visitor.forgive(REFUSED)
    address = server.login_address()
    visitor.open(address).close()
    page = visitor.open(address)
    expect(page.get_by_role("form", name="Evaluation")).to_be_visible()
    assert urlsplit(page.url).path == "/"


def test_what_was_entered_is_kept_when_the_session_ends(serve_here: ServeHere, visit: Visit) -> None:
    clock = HeldClock()
    server = serve_here(clock=clock)
    visitor = visit(server, viewport={"width": 1280, "height": 900})
    visitor.forgive(REFUSED)
    page = visitor.open()
    fill_form(page, CARELESS, subject="kept")
    clock.advance(IDLE_LIFETIME.total_seconds())
    page.get_by_role("button", name="Run Full Evaluation").click()
    _expect_login_screen(page)
    expect(page.locator("[inert]").get_by_role("button", name="Run Full Evaluation")).to_have_count(1)
    assert page.evaluate("document.activeElement.tagName") == "H1"
    visitor.open(server.login_address()).close()
    expect(page.get_by_role("heading", name="Log in to continue")).to_have_count(0)
    expect(page.get_by_text("You are not logged in")).to_have_count(0)  # it is no longer true
    run(page)
    wait_for_report(page)
    page.goto("/history")
    expect(page.get_by_role("link", name="kept").or_(page.get_by_text("kept"))).not_to_have_count(0)


def test_an_export_after_the_session_ended_leads_to_the_login_screen(serve_here: ServeHere, visit: Visit) -> None:
    clock = HeldClock()
    server = serve_here(clock=clock)
    visitor = visit(server, viewport={"width": 1280, "height": 900})
    visitor.forgive(REFUSED)
    page = visitor.open()
    downloads: list[Download] = []
    page.on("download", lambda download: downloads.append(download))  # noqa: PLW0108 - Playwright marks the listener
    fill_form(page, CARELESS, subject="exported")
    run(page)
    wait_for_report(page)
    clock.advance(IDLE_LIFETIME.total_seconds())
    page.get_by_role("link", name="Export JSON").click()
    _expect_login_screen(page)
    assert downloads == []
    visitor.open(server.login_address()).close()
    expect(page.get_by_role("heading", name="Log in to continue")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("link", name="Export JSON").click()
    assert "exported" in download.value.path().read_text()


def test_a_page_that_is_open_goes_on_by_itself_after_the_login(
    serve_here: ServeHere, visit: Visit, tmp_path: Path
) -> None:
    server = serve_here(project=tmp_path)
    visitor = visit(server, logged_in=False)
    visitor.forgive(REFUSED)
    page = visitor.open("/scenarios")
    _expect_login_screen(page)
    visitor.open(server.login_address()).close()
    expect(page.get_by_role("heading", level=1, name="Batches")).to_be_visible()
    fill(tmp_path, days=1, runs=1)  # arrives by the stream of events, which was refused as well
    expect(page.get_by_role("table").last.get_by_role("row")).not_to_have_count(0)


def test_logging_out_ends_the_session_in_every_tab(serve_here: ServeHere, visit: Visit) -> None:
    visitor = visit(serve_here(), viewport={"width": 1280, "height": 900})
    visitor.forgive(REFUSED)
    page, other = visitor.open(), visitor.open("/history")
    expect(other.get_by_role("heading", level=1, name="History")).to_be_visible()
    page.bring_to_front()
    page.get_by_role("button", name="Log out").click()
    _expect_login_screen(page)
    assert visitor.context.cookies() == []
    other.bring_to_front()
    other.get_by_role("link", name="Over time").click()
    _expect_login_screen(other)
    page.goto("/history")
    _expect_login_screen(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_login_screen_is_accessible(serve_here: ServeHere, visit: Visit, theme: Theme) -> None:
    visitor = visit(serve_here(), logged_in=False, color_scheme=theme)
    visitor.forgive(REFUSED)
    page = visitor.open("/history")
    _expect_login_screen(page)
    expect(page.get_by_role("heading", name="Log in to continue")).to_be_focused()
    assert page.title() == "Log in – Salvo"
    assert barriers(page) == []


def _expect_login_screen(page: Page) -> None:
    expect(page.get_by_role("heading", name="Log in to continue")).to_be_visible()
