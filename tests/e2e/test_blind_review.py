"""Checks are decided on the page without seeing any result, by keyboard alone; then agreement is shown."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import APIRequestContext, Page, expect

from tests.e2e.conftest import Connect, Visit
from tests.support.browser import assert_accessible
from tests.support.playbook_page import ask, evaluate
from tests.support.web import CAREFUL, CARELESS, ServerProcess, server_process

RESULTS = re.compile(r"\b(alert|by the evaluator|judged|fail by|pass by|quoted|citation)\b", re.IGNORECASE)
"""Words that only something that the evaluator or a reviewer decided needs."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with server_process(tmp_path) as server:
        yield server


@pytest.fixture
def api(server: ServerProcess, connect: Connect) -> APIRequestContext:
    return connect(server)


def decide_all(page: Page, questions: int, key: str) -> None:
    """Decide everything by one key."""
    card = page.get_by_role("region").filter(has=page.get_by_role("group", name="What is the result of this check?"))
    for left in range(questions, 0, -1):
        expect(card.get_by_role("status")).to_contain_text(re.compile(rf"^{left} checks? left"))
        page.keyboard.press(key)


def test_two_reviewers_decide_blind_by_keyboard_and_see_how_well_they_agree(
    server: ServerProcess, visit: Visit, api: APIRequestContext
) -> None:
    evaluate(api, CARELESS)
    evaluate(api, CAREFUL)
    visitor = visit(server, color_scheme="light")
    page = visitor.open("/review")
    page.get_by_role("main").get_by_role("link", name="blind review").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Blind review")
    expect(page.get_by_text("2 texts, 8 checks to decide; 0 decided by somebody.")).to_be_visible()
    assert_accessible(page)

    page.get_by_label("Your name").fill("Ada Brown")
    page.keyboard.press("Enter")
    card = page.get_by_role("region").filter(has=page.get_by_role("group", name="What is the result of this check?"))
    expect(card.get_by_role("status")).to_have_text("8 checks left, 0 decided by Ada Brown")
    expect(card.get_by_role("heading", name="Instructions of the check")).to_be_visible()
    text = card.get_by_role("region", name="Text")
    expect(text).to_contain_text(re.compile(f"{re.escape(CARELESS[:30])}|{re.escape(CAREFUL[:30])}"))
    assert not RESULTS.search(page.locator("main").inner_text().replace(text.inner_text(), ""))
    assert_accessible(page)

    # An answer can be changed while the next check is shown.
    first = card.get_by_role("heading", level=2).inner_text()
    page.keyboard.press("p")
    expect(card.get_by_role("status")).to_have_text("7 checks left, 1 decided by Ada Brown")
    page.keyboard.press("b")
    expect(card.get_by_role("button", name="Change the previous answer")).to_be_hidden()
    expect(card.get_by_role("heading", level=2)).to_have_text(first)
    page.keyboard.press("f")
    expect(card.get_by_role("button", name="Change the previous answer")).to_be_visible()
    decide_all(page, 7, "f")
    expect(page.get_by_text("You have decided 8 checks. That is all of them.")).to_be_visible()
    certainty = page.get_by_role("region", name="Certainty language", exact=True)
    expect(certainty).to_contain_text("0%, 95% interval 0% to 0%, by 2 decisions of 2")
    expect(certainty).to_contain_text("50%, 95% interval 50% to 50%")
    expect(page.get_by_text("No two reviewers have decided the same check yet.")).to_be_visible()
    certainty.get_by_text("Passed by the evaluator, failed by people: 1 report").click()
    assert_accessible(page)

    # Another reviewer sees nothing of what is still to be decided.
    page.get_by_label("Your name").fill("Bob Lee")
    page.get_by_label("Checks that you decide in all").fill("1")
    page.keyboard.press("Enter")
    expect(card.get_by_role("status")).to_have_text("1 check left, 0 decided by Bob Lee")
    assert "Ada" not in page.locator("main").inner_text()
    page.keyboard.press("u")
    expect(page.get_by_text("You have decided 1 check.")).to_be_visible()
    expect(page.get_by_text("7 questions decided by others and not by you")).to_be_visible()
    page.get_by_label("Checks that you decide in all").fill("8")
    page.get_by_role("button", name="Decide more checks").click()
    decide_all(page, 7, "f")
    expect(page.get_by_text("Ada Brown and Bob Lee agree on 7 of 7")).to_be_visible()


def test_results_are_not_fetched_before_they_are_asked_for_and_say_what_would_settle_them(
    server: ServerProcess, visit: Visit, api: APIRequestContext
) -> None:
    for number in range(6):
        evaluate(api, f"{CARELESS} {number}")
    (series,) = ask(api, "GET", "/api/blind-reviews")
    request = {name: series[name] for name in ("playbook_hash", "evaluator")} | {"reviewer": "Ada Brown"}
    question = ask(api, "POST", "/api/blind-reviews/next", request)["assignment"]
    decision = {name: question[name] for name in ("report_id", "check_id")}
    ask(api, "POST", "/api/blind-reviews", {**request, **decision, "result": "fail"})

    visitor = visit(server, color_scheme="dark")
    page = visitor.open("/")
    page.get_by_role("navigation").get_by_role("link", name="Blind review").click()
    fold = page.get_by_text("Show results of the evaluator and of people")
    expect(fold).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert not [request.url for request in visitor.requests if "/blind-reviews/results" in request.url]
    fold.click()
    expect(
        page.get_by_text(re.compile(r"more decisions? of texts judged failed would settle it")).first
    ).to_be_visible()
    assert_accessible(page)


def test_without_reports_the_page_says_what_to_do(server: ServerProcess, visit: Visit) -> None:
    page = visit(server, color_scheme="light").open("/review/blind")
    expect(page.get_by_text("Nothing can be decided blind yet")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("link", name="Evaluate a text")).to_be_visible()
    assert_accessible(page)
