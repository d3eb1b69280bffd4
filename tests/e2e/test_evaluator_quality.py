"""Evaluator quality on the page: what reviewers decided, against the evaluator, without jargon and barriers."""

import pytest
from playwright.sync_api import APIRequestContext, Playwright, expect

from tests.e2e.conftest import ServeHere, Visit
from tests.support.browser import Theme, barriers
from tests.support.playbook_page import ask, evaluate
from tests.support.web import CARELESS, TOKEN, WebServer


@pytest.fixture
def server(serve_here: ServeHere) -> WebServer:
    return serve_here()


@pytest.fixture
def api(server: WebServer, _playwright: Playwright) -> APIRequestContext:
    return _playwright.request.new_context(base_url=server.url, extra_http_headers={"authorization": f"Bearer {TOKEN}"})


def test_reviews_show_where_an_evaluator_errs(server: WebServer, visit: Visit, api: APIRequestContext) -> None:
    reports = [evaluate(api, f"{CARELESS}\n\nVersion {number}.", subject="quality") for number in range(3)]
    change = {"action": "override", "actor": "Ada", "check_id": "certainty_language", "result": "pass"}
    for report in reports[:2]:
        ask(api, "POST", f"/api/reports/{report}/review", {**change, "reason": "A quote.", "seen": 0})
    page = visit(server).open("/")
    page.get_by_role("link", name="Evaluator quality").click()
    card = page.get_by_role("article", name="Certainty language")
    expect(card).to_contain_text("2 of 3 reports reviewed, 0 of them blind")
    expect(card).to_contain_text("rules, playbook")
    themes: tuple[Theme, ...] = ("light", "dark")
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        assert barriers(page) == [], theme
    card.get_by_text("Failed by the evaluator, passed by reviewers: 2 reports").click()
    expect(card.get_by_role("link", name=reports[0])).to_be_visible()
    page.get_by_label("Count only decisions that were made without seeing").check()
    expect(page.get_by_text("Nothing was reviewed yet")).to_be_visible()
    assert barriers(page) == []
