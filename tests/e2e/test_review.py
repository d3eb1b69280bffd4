"""Reviewing on the page: both results, two reviewers at once, sign-off, and the queue by keyboard alone."""

import re
from typing import Any

import pytest
from playwright.sync_api import APIRequestContext, Locator, Page, Playwright, Route, expect

from tests.e2e.conftest import Site, Visit
from tests.support.browser import assert_accessible
from tests.support.playbook_page import ask, evaluate
from tests.support.web import CARELESS, TOKEN

CHECK = "certainty_language"


@pytest.fixture
def api(site: Site, _playwright: Playwright) -> APIRequestContext:
    return _playwright.request.new_context(base_url=site.url, extra_http_headers={"authorization": f"Bearer {TOKEN}"})


def card(page: Page) -> Locator:
    return page.get_by_role("group", name="Review of Certainty language")


def events(api: APIRequestContext, report: str) -> list[dict[str, Any]]:
    review: dict[str, Any] = ask(api, "GET", f"/api/reports/{report}/review")
    return [step["event"] for step in review["history"]]


def test_a_reviewer_changes_a_result_and_signs_while_another_one_comments(
    site: Site, visit: Visit, api: APIRequestContext
) -> None:
    report = evaluate(api, CARELESS, subject="signed")
    visitor = visit(site)
    visitor.forgive("409")
    page = visitor.open(f"/reports/{report}")
    section = page.locator("#review")

    # Without a name, the form asks for one.
    card(page).get_by_role("button", name="Change the result").click()
    form = card(page).get_by_role("form")
    form.get_by_label("Your name").fill("Ada Brown")
    form.get_by_label("Reason").fill("It quotes the contract.")
    form.get_by_role("button", name="Record the change").click()
    both = "FAIL by the evaluator; changed to PASS by the reviewer Ada Brown: It quotes the contract."
    expect(card(page).get_by_text(both)).to_be_visible()

    # What is computed is not for a person to decide.
    derived = page.get_by_role("group", name="Review of Run variance")
    expect(derived).to_contain_text(
        "Reviewers do not decide this check: it is computed from the evaluator’s other results."
    )
    expect(derived.get_by_role("button")).to_have_text(["Comment …", "Assign …"])

    # One passage is rejected by itself.
    card(page).get_by_text("review them one by one").click()
    card(page).get_by_role("group", name="Passage 2").get_by_role("button", name="Reject").click()
    card(page).get_by_label("Why is this passage rejected?").fill("A heading.")
    card(page).get_by_role("button", name="Reject the passage").click()
    expect(card(page).get_by_text("Rejected by Ada Brown: A heading.")).to_be_visible()

    # Somebody comments while the sign-off is being written: what was not seen is not signed.
    section.get_by_role("button", name="Sign off …").click()
    step = {"action": "comment", "actor": "Bob Lee", "reason": "Is this final?"}
    ask(api, "POST", f"/api/reports/{report}/review", step)
    section.get_by_role("button", name="Sign off", exact=True).click()
    expect(section.get_by_role("alert")).to_contain_text("so nothing was signed")
    expect(section.get_by_text("Is this final?").first).to_be_visible()
    section.get_by_role("button", name="Cancel").click()
    section.get_by_role("button", name="Sign off …").click()
    section.get_by_label("Statement").fill("Read in full.")
    section.get_by_role("button", name="Sign off", exact=True).click()
    signed = section.get_by_role("list", name="Sign-offs")
    expect(signed).to_contain_text("Signed off by Ada Brown (name as typed, not authenticated)")
    expect(signed).to_contain_text("covers the current state")

    # A later decision marks the sign-off; it is withdrawn, and both stay in the history.
    section.get_by_role("button", name="Assign the report").click()
    section.get_by_label("Who should look at it?").fill("Bob Lee")
    section.get_by_role("button", name="Assign", exact=True).click()
    expect(section.get_by_text("The report is assigned to Bob Lee.")).to_be_visible()
    expect(signed).to_contain_text("covers the current state")
    card(page).get_by_role("button", name="Accept FAIL").click()
    expect(signed).to_contain_text("something changed since")
    section.get_by_text("Review history").click()
    step_4 = section.get_by_role("listitem").filter(has_text="signed off the report: Read in full.")
    step_4.get_by_role("button", name="Withdraw").click()
    section.get_by_role("button", name="Withdraw it").click()
    expect(signed).to_contain_text("Withdrawn since.")
    assert [event["action"] for event in events(api, report)] == [
        "override",
        "override",
        "comment",
        "sign_off",
        "assign",
        "accept",
        "withdraw",
    ]
    assert ask(api, "GET", f"/api/reports/{report}/verify")["failed"] == 0
    card(page).get_by_role("button", name="Comment …").first.click()
    assert_accessible(page)


def test_the_queue_is_worked_through_by_keyboard_alone(site: Site, visit: Visit, api: APIRequestContext) -> None:
    subject = "queue by keyboard"
    disputed = evaluate(api, CARELESS, subject=subject)
    for actor, fields in (("Ada", {"action": "accept"}), ("Bob", _override())):
        ask(api, "POST", f"/api/reports/{disputed}/review", {"actor": actor, "check_id": CHECK, "seen": 0, **fields})
    page = visit(site).open(f"/review?subject={subject}")
    items = page.get_by_role("list", name="Checks").get_by_role("button")
    expect(items.first).to_contain_text("reviewers disagree")
    expect(items.first).to_have_attribute("aria-current", "true")
    waiting = items.count()

    # The first decision asks for a name; then a letter is enough.
    expect(page.get_by_role("heading", name="Certainty language")).to_be_visible()
    expect(card(page)).to_be_visible()
    detail = page.get_by_role("region", name="Certainty language")
    expect(detail.get_by_role("listitem").filter(has_text="fully compliant").first).to_contain_text("line 1")
    expect(detail).to_contain_text("The evaluator says: The rules read")
    page.keyboard.press("o")
    page.keyboard.type("Cyd Ray")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("I read both arguments.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(items).to_have_count(waiting - 1)
    expect(page.get_by_text("“Certainty language” was changed")).to_be_visible()
    assert_accessible(page)

    page.keyboard.press("j")
    expect(items.nth(1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("k")
    expect(items.nth(0)).to_have_attribute("aria-current", "true")
    expect(page.get_by_role("button", name=re.compile("^Accept FAIL"))).to_be_visible()
    page.keyboard.press("a")
    expect(items).to_have_count(waiting - 2)
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keyboard")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Accept FAIL"))).to_be_visible()
    page.keyboard.press("c")
    page.keyboard.type("Who owns this?")
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(page.get_by_label("Comment", exact=True)).to_be_hidden()

    # Who dictates can turn the letters off.
    page.get_by_label("Single letters are shortcuts").uncheck()
    page.keyboard.press("a")
    expect(items).to_have_count(waiting - 2)
    last = events(api, disputed)[-1]
    assert (last["actor"], last["action"], last["authenticated"]) == ("Cyd Ray", "accept", False)


def test_on_a_phone_the_check_is_shown_with_a_part_of_the_queue(
    site: Site, visit: Visit, api: APIRequestContext
) -> None:
    for number in range(3):
        evaluate(api, f"{CARELESS} {number}", subject="queue on a phone")
    page = visit(site, viewport={"width": 390, "height": 844}).open("/review?subject=queue+on+a+phone&result=all")
    chosen = page.get_by_role("list", name="Checks").get_by_role("button").nth(6)
    chosen.click()
    expect(page.locator("#queue-detail").get_by_role("heading", level=2)).to_be_in_viewport()
    expect(chosen).to_be_in_viewport()
    assert_accessible(page)


def test_a_key_pressed_while_the_check_is_loading_opens_its_form(
    site: Site, visit: Visit, api: APIRequestContext
) -> None:
    subject = "queue with early keys"
    report = evaluate(api, CARELESS, subject=subject)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page = visit(site).open()
    page.evaluate("localStorage.setItem('byop.reviewer', 'Ada')")
    page.route(f"**/api/reports/{report}", hold)
    with page.expect_request(f"**/api/reports/{report}"):
        page.goto(f"/review?subject={subject}")
    expect(page.get_by_role("list", name="Checks").get_by_role("button").first).to_be_visible()
    page.keyboard.press("a")
    page.keyboard.press("c")  # the first one counts
    with page.expect_response(f"**/api/reports/{report}"):
        held.pop().continue_()
    form = page.get_by_role("form", name=re.compile("^Accept the result"))
    expect(form).to_be_visible()
    assert events(api, report) == []  # it was not seen yet
    page.keyboard.press("Enter")
    expect(page.get_by_text("was accepted at")).to_be_visible()
    assert [event["action"] for event in events(api, report)] == ["accept"]


def _override() -> dict[str, str]:
    return {"action": "override", "result": "pass", "reason": "A quotation."}
