"""The playbook editor: write a playbook in forms, save versions of it, and use it."""

import json
import re

from playwright.sync_api import FilePayload, expect

from tests.e2e.conftest import ServeHere, Visit
from tests.support.browser import assert_accessible
from tests.support.playbook import document
from tests.support.playbook_page import ask, fill_form, run, wait_for_report
from tests.support.web import CARELESS


def test_a_playbook_is_written_saved_used_and_edited(serve_here: ServeHere, visit: Visit) -> None:
    page = visit(serve_here()).open("/playbooks")
    page.get_by_role("link", name="New playbook").click()
    save = page.get_by_role("region", name="Save")
    page.get_by_label("Title").fill("NDA review")
    expect(page.get_by_label("Id", exact=True)).to_have_value("nda_review")
    page.get_by_label("Your name").fill("Dana Example")

    save.get_by_role("button", name="Save version").click()
    problems = save.get_by_role("alert")
    expect(problems).to_contain_text("Check 1, question must not be empty")
    check = page.get_by_role("article", name="Check 1")
    expect(check.get_by_label("Question")).to_have_attribute("aria-invalid", "true")
    expect(check).to_contain_text("Question must not be empty")
    assert "$." not in page.get_by_role("main").inner_text()
    assert_accessible(page)
    problems.get_by_role("button", name=re.compile("Check 1, question")).click()
    expect(check.get_by_label("Question")).to_be_focused()

    check.get_by_label("Question").fill("Does it promise an outcome?")
    check.get_by_label("Name").fill("no_promise")
    check.get_by_label("How it is decided").select_option("pattern")
    check.get_by_label("Patterns").fill("will never\n(")
    page.get_by_label("Author").fill("The contracts team")
    page.get_by_label("Intended use").fill("Reviews of NDAs.")
    expect(check).to_contain_text("Pattern 2")
    check.get_by_label("Patterns").fill("will never\nalways")
    expect(problems).not_to_be_visible()
    check.get_by_role("button", name="Add an example").click()
    check.get_by_label("Example 1").fill("This will never be a problem.")
    page.get_by_label("Sample text").fill(CARELESS)
    page.get_by_role("button", name="Try it on this text").click()
    expect(page.get_by_role("region", name="Result of the trial")).to_contain_text("“will never”")
    page.get_by_role("button", name="Try it on its examples").click()
    expect(page.get_by_role("region", name="Result on the examples")).to_contain_text(
        "1 of 1 judged example as expected"
    )
    controls = page.locator("select, button").filter(has_text=re.compile("Built-in rules|^Try it on")).all_inner_texts()
    assert ["rules" in control for control in controls] == [True, False, False], "the evaluator is chosen first"
    assert_accessible(page)
    assert ask(page.request, "GET", "/api/history")["total"] == 0
    save.get_by_role("button", name="Save version 1.0.0").click()

    card = page.get_by_role("article").filter(has_text="NDA review")
    expect(card).to_contain_text("Version 1, saved by Dana Example")
    card.get_by_role("button", name="Show details").click()
    card.get_by_role("button", name="Evaluate a text with this playbook").click()
    fill_form(page, CARELESS)
    run(page)
    report = wait_for_report(page)
    expect(page.get_by_role("main")).to_contain_text("No promise")

    page.goto("/playbooks")
    card.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_role("button", name="Edit check 1").click()
    page.get_by_label("Severity").select_option("high")
    expect(page.get_by_label("Version")).to_have_value("1.0.1")
    page.get_by_label("What you changed").fill("Promises are serious.")
    page.get_by_role("button", name="Save version 1.0.1").click()
    expect(card).to_contain_text("Version 2, saved by Dana Example")
    expect(card).to_contain_text("Promises are serious.")
    card.get_by_role("link", name="Versions").click()
    expect(page.get_by_role("list", name="Changes")).to_contain_text("No promise: Severity")
    expect(page.get_by_role("list", name="Changes")).to_contain_text("After: high")
    assert_accessible(page)
    used = ask(page.request, "GET", f"/api/reports/{report}")["report"]
    first = ask(page.request, "GET", "/api/saved-playbooks/nda_review/versions/1")["listed"]
    assert used["integrity"]["playbook_logic_hash"] == first["logic_hash"]


def test_a_playbook_is_imported_exported_withdrawn_and_restored(serve_here: ServeHere, visit: Visit) -> None:
    page = visit(serve_here()).open("/playbooks")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file").click()
    content = json.dumps(document()).encode()
    chooser.value.set_files(FilePayload(name="lease.json", mimeType="application/json", buffer=content))
    page.get_by_label("Your name").fill("Dana Example")
    page.get_by_role("button", name="Save this playbook").click()
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()
    card = page.get_by_role("article").filter(has_text="lease_review 2.0")
    with page.expect_download() as download:
        card.get_by_role("link", name="Export JSON").click()
    assert json.loads(download.value.path().read_text()) == document()
    card.get_by_role("button", name="Take off the list").click()
    expect(card).not_to_be_visible()
    assert_accessible(page)
    page.get_by_role("button", name="Put back on the list").click()
    expect(card).to_be_visible()
