"""Accessibility, themes, narrow screens and the size of the first load."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import ServeHere, Site, StoredReports, Visit
from tests.support.browser import assert_accessible
from tests.support.playbook_page import answers, choose_model, fill_form, run
from tests.support.web import CARELESS

PAGES = {
    "evaluate": "/",
    "report": "/reports/{worse}",
    "cancelled": "/evaluations/{cancelled}",
    "documents": "/documents",
    "history": "/history",
    "review": "/review?show=all&result=all",
    "blind": "/review/blind",
    "compare": "/compare?a={baseline}&b={worse}",
    "timeline": "/timeline?subject={subject}",
    "playbooks": "/playbooks",
    "nowhere": "/nowhere",
}
FIRST_LOAD = 250_000
"""Bytes on the wire."""


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_accessible(site: Site, stored: StoredReports, visit: Visit, name: str) -> None:
    page = visit(site).open(PAGES[name].format(**stored._asdict()))
    _settled(page)
    _open_everything(page)
    assert_accessible(page)


def test_an_unknown_address_is_named(site: Site, visit: Visit) -> None:
    page = visit(site).open("/nowhere/<b>")
    expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
    expect(page.get_by_role("main")).to_contain_text("There is no page at /nowhere/")


def test_an_open_menu_stays_within_a_window_that_becomes_narrower(
    site: Site, stored: StoredReports, visit: Visit
) -> None:
    page = visit(site, viewport={"width": 1440, "height": 900}).open(f"/reports/{stored.worse}")
    page.get_by_text("Share", exact=True).click()
    panel = page.get_by_text("Whoever has the link can read")
    expect(panel).to_be_visible()
    for width in (1280, 1000, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        expect(panel).to_be_in_viewport(ratio=1)


def test_pages_are_accessible_before_and_during_an_evaluation(site: Site, visit: Visit) -> None:
    visitor = visit(site)
    page = visitor.open()
    fill_form(page, CARELESS)
    choose_model(page, site.provider.openai_url)
    expect(page.get_by_test_id("estimate")).to_contain_text("tokens")
    assert_accessible(page)
    site.provider.hold(after=3)
    run(page)
    expect(answers(page)).to_have_text("3 of 12 answers")
    assert_accessible(page)


def test_empty_pages_link_to_the_evaluation(serve_here: ServeHere, visit: Visit) -> None:
    page = visit(serve_here()).open("/history")
    expect(page.get_by_text("No evaluations yet")).to_be_visible()
    assert_accessible(page)
    page.goto("/timeline")
    expect(page.get_by_role("main").get_by_role("link", name="Evaluate a text")).to_be_visible()
    assert_accessible(page)


def test_pages_fit_a_narrow_screen(site: Site, stored: StoredReports, visit: Visit) -> None:
    page = visit(site, viewport={"width": 320, "height": 640}).open()
    for name, path in PAGES.items():
        page.goto(path.format(**stored._asdict()))
        _settled(page)
        _open_everything(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, name


def test_the_chosen_theme_is_kept(site: Site, visit: Visit) -> None:
    page = visit(site, color_scheme="light").open()
    button = page.get_by_role("button", name="Theme")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    button.click()
    expect(button).to_have_text("Theme: light")
    button.click()
    expect(button).to_have_text("Theme: dark")
    page.reload()
    expect(button).to_have_text("Theme: dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def test_the_first_load_is_small(site: Site, visit: Visit) -> None:
    visitor = visit(site, color_scheme="light")  # an empty cache
    visitor.open().wait_for_load_state("networkidle")
    sizes = {request.url: request.sizes() for request in visitor.requests}
    assert any(url.endswith(".js") for url in sizes)
    sent = {url: size["responseBodySize"] + size["responseHeadersSize"] for url, size in sizes.items()}
    assert sum(sent.values()) < FIRST_LOAD, sent


def _settled(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text(re.compile(r"^Loading .* …$"))).to_have_count(0)


def _open_everything(page: Page) -> None:
    inside = page.get_by_role("button", name="Show details")
    while inside.count():
        inside.first.click()
    _settled(page)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
