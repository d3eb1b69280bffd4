"""Users log in on the page with their names, within their roles, and what they sign is signed in their name."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from salvo.playbooks.accounts.users import Role
from tests.e2e.conftest import Connect, ServeHere, Visit
from tests.support.accounts import PASSWORD, add_user
from tests.support.browser import Theme, barriers
from tests.support.playbook_page import evaluate, fill_form, run, wait_for_report
from tests.support.web import CARELESS

pytestmark = pytest.mark.browser
REFUSED = "status of 40[13]"


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def log_in(page: Page, name: str, password: str = PASSWORD) -> None:
    form = page.get_by_role("form", name="Log in")
    form.get_by_label("Name").fill(name)
    form.get_by_label("Password").fill(password)
    form.get_by_role("button", name="Log in").click()


@pytest.mark.parametrize("theme, width", [("light", 1440), ("dark", 390)])
def test_a_reviewer_logs_in_evaluates_and_signs_in_their_name(
    serve_here: ServeHere, visit: Visit, tmp_path: Path, theme: Theme, width: int
) -> None:
    add_user(f"sqlite:///{tmp_path / 'byop_runs.db'}", "Bob", Role.REVIEWER)
    visitor = visit(serve_here(), logged_in=False, color_scheme=theme, viewport={"width": width, "height": 900})
    visitor.forgive(REFUSED)
    page = visitor.open()
    log_in(page, "Bob", "a wrong password")
    form = page.get_by_role("form", name="Log in")
    expect(form.get_by_role("alert")).to_contain_text("The name or the password is wrong.")
    assert barriers(page) == []
    picture(page, f"login-{width}")
    log_in(page, "Bob")
    expect(page.get_by_role("heading", name="Log in to continue")).to_have_count(0)
    fill_form(page, CARELESS, subject="signed")
    run(page)
    wait_for_report(page)
    section = page.locator("#review")
    section.get_by_role("button", name="Sign off …").click()
    expect(section.get_by_text("You review as Bob.")).to_be_visible()
    section.get_by_role("button", name="Sign off", exact=True).click()
    signed = section.get_by_role("list", name="Sign-offs")
    expect(signed).to_contain_text("Signed off by Bob, ")
    expect(signed).not_to_contain_text("not authenticated")
    page.get_by_role("link", name="Bob").click()
    expect(page.get_by_role("heading", level=1, name="Bob")).to_be_visible()
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_label("New password").fill("an entirely different sentence")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("Your password was changed.")).to_be_visible()
    assert barriers(page) == []
    picture(page, f"account-{width}")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in to continue")).to_be_visible()


@pytest.mark.parametrize("theme, width", [("dark", 1440), ("light", 390)])
def test_a_reader_reads_and_exports_and_is_offered_nothing_else(
    serve_here: ServeHere, visit: Visit, connect: Connect, tmp_path: Path, theme: Theme, width: int
) -> None:
    add_user(f"sqlite:///{tmp_path / 'byop_runs.db'}", "Cyd", Role.READER)
    site = serve_here()
    report = evaluate(connect(site), CARELESS, subject="read", title="Supply agreement")
    visitor = visit(site, logged_in=False, color_scheme=theme, viewport={"width": width, "height": 900})
    visitor.forgive(REFUSED)
    page = visitor.open()
    log_in(page, "Cyd")
    expect(page.get_by_role("heading", level=1, name="History")).to_be_visible()
    expect(page.get_by_role("navigation").get_by_role("link", name="Evaluate")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete")).to_have_count(0)
    page.get_by_role("link", name="Supply agreement").click()
    wait_for_report(page)
    expect(page.get_by_role("link", name="Export JSON")).to_be_visible()
    expect(page.locator("#review")).to_be_visible()
    for name in ("Sign off …", "Accept FAIL", "Comment …"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    for name in ("Baseline", "Delete", "Evaluate again with another judge"):
        expect(page.get_by_text(name, exact=True)).to_have_count(0)
    assert barriers(page) == []
    picture(page, f"reader-{width}")
    page.goto(f"{site.url}/playbooks/new")
    expect(page.get_by_role("heading", level=1, name="This page needs the role reviewer")).to_be_visible()
    assert barriers(page) == []
    assert report in page.request.get(f"{site.url}/api/history").text()
