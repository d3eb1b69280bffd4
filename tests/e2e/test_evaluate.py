"""The form of the Evaluate page."""

import json
import re

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.e2e.conftest import Site, Visit
from tests.support.browser import assert_accessible
from tests.support.documents import pdf, word_file
from tests.support.playbook_page import ask, card, drop, enter_key, fill_form, run, wait_for_report
from tests.support.web import CARELESS

LINES = ("The agreement is fully compliant.", "You can sign it today.")


def test_an_example_is_evaluated_with_two_clicks(site: Site, visit: Visit) -> None:
    page = visit(site).open()
    page.get_by_role("button", name="A review that is too sure of itself").click()
    expect(page.get_by_label("AI output")).to_have_value(re.compile("fully compliant with the GDPR"))
    expect(page.get_by_label("Source document")).to_have_value(re.compile("DATA PROCESSING AGREEMENT"))
    expect(page.get_by_label("Subject")).to_have_value("example: contract review")
    run(page)
    wait_for_report(page)
    expect(page.get_by_role("region", name="Status")).to_contain_text("ALERT")


def test_missing_input_and_the_destination_are_shown_before_a_run(site: Site, visit: Visit) -> None:
    visitor = visit(site)
    page = visitor.open()
    button = page.get_by_role("button", name="Run Full Evaluation")
    expect(button).to_have_accessible_description("Paste the AI output first.")
    fill_form(page, CARELESS)
    expect(button).to_have_accessible_description("")
    page.get_by_label("Provider").select_option("anthropic")
    expect(button).to_have_accessible_description("Enter the API key first.")
    button.click(force=True)
    estimate = page.get_by_test_id("estimate")
    expect(estimate).to_contain_text("api.anthropic.com")
    expect(estimate).to_contain_text(re.compile(r"about [\d,]+ tokens.*\$"))
    enter_key(page)
    expect(button).to_have_accessible_description("")
    page.get_by_label("Screening (1 run, quick)").check()
    expect(page.get_by_role("button", name="Run Screening")).to_be_visible()
    assert all("/api/evaluations" not in request.url for request in visitor.requests)


def test_a_dropped_file_fills_the_field(site: Site, visit: Visit) -> None:
    page = visit(site).open()
    for label, name, content, summary in (
        ("AI output", "review.docx", word_file(*LINES), "From review.docx: 56 characters"),
        ("Source document", "review.pdf", pdf(*LINES), "From review.pdf: 2 pages, 57 characters"),
        ("Prompt", "review.md", "\n".join(LINES).encode(), "From review.md: 56 characters"),
    ):
        field = page.get_by_label(label)
        drop(field, name, content)
        expect(page.get_by_text(summary)).to_be_visible()
        assert field.input_value().split() == " ".join(LINES).split()


def test_a_file_that_could_not_be_read_is_named_and_leaves_the_field_empty(site: Site, visit: Visit) -> None:
    visitor = visit(site)
    visitor.forgive("status of 422")
    page = visitor.open()
    source = page.get_by_label("Source document")
    source.fill("As it was.")
    drop(source, "scanned.pdf", pdf(""))
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("scanned.pdf was not read. The file contains no text. It may be a scan.")
    expect(source).to_have_value("")
    drop(source, "memo.txt", "The fee is 5 €.".encode("cp1252"))
    expect(alert).to_contain_text("memo.txt is not UTF-8")
    expect(source).to_have_value("")
    assert_accessible(page)
    page.get_by_role("button", name="Read it as Windows-1252").click()
    expect(source).to_have_value("The fee is 5 €.")
    expect(page.get_by_text("so it was read as Windows-1252. This is an assumption")).to_be_visible()
    expect(alert).to_be_hidden()
    drop(
        source,
        "memo.pdf",
        pdf(*(f"ACME Ltd\n{line}\nPage {number} of 2" for number, line in enumerate(LINES, start=1))),
    )
    expect(source).to_have_value("\n\n".join(LINES))
    expect(page.get_by_text("“ACME Ltd”, on 2 pages")).to_be_visible()


def test_another_text_is_not_called_by_the_name_of_the_file_before_it(site: Site, visit: Visit) -> None:
    page = visit(site).open()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    field, title = page.get_by_label("AI output"), page.get_by_label("Title")
    drop(field, "Lease memo.txt", CARELESS.encode())
    expect(title).to_have_value("Lease memo")
    field.press("End")
    field.press_sequentially(" And a word.")
    expect(title).to_have_value("Lease memo")
    page.evaluate("navigator.clipboard.writeText('Another text.')")
    field.press("ControlOrMeta+a")
    field.press("ControlOrMeta+v")
    expect(field).to_have_value("Another text.")
    expect(title).to_have_value("")
    title.fill("Data protection memo")
    page.get_by_role("button", name="Empty the form").click()
    for emptied in (field, title):
        expect(emptied).to_have_value("")
    page.get_by_role("button", name="Put back what was here").click()
    expect(field).to_have_value("Another text.")
    expect(title).to_have_value("Data protection memo")


def test_an_uploaded_playbook_is_validated_and_used(site: Site, visit: Visit) -> None:
    page = visit(site).open()
    document = ask(page.request, "GET", "/api/playbooks/ai_plugin_observability_v1")["document"]
    document["metadata"]["id"] = "house_rules"
    document["checks"] = [check for check in document["checks"] if check["id"] == "certainty_language"]
    _upload(page, "house.json", json.dumps(document))
    expect(page.get_by_text(re.compile("^house.json can be used"))).to_be_visible()
    fill_form(page, CARELESS)
    run(page)
    wait_for_report(page)
    page.get_by_text("Evaluation, variance, votes, hashes and raw JSON").click()
    expect(page.get_by_text("house_rules 1.1.0", exact=True)).to_be_visible()
    expect(card(page, "certainty_language")).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(1)


def test_an_invalid_playbook_is_rejected_with_its_findings(site: Site, visit: Visit) -> None:
    page = visit(site).open()
    document = ask(page.request, "GET", "/api/playbooks/ai_plugin_observability_v1")["document"]
    document["checks"][0]["severity"] = "<img src=x onerror=alert(1)>"
    del document["checks"][1]["question"]
    _upload(page, "bad.json", json.dumps(document))
    expect(page.get_by_text(re.compile(r"^bad.json cannot be used: \d+ errors"))).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="Check 1, severity")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="Check 2, question")).to_be_visible()
    assert_accessible(page)
    _upload(page, "no.json", "{")
    expect(page.get_by_text(re.compile("^no.json cannot be used: 1 error"))).to_be_visible()
    expect(page.get_by_label("Choose a playbook")).to_have_value("ai_plugin_observability_v1")


def test_keyboard_navigation(site: Site, visit: Visit) -> None:
    page = visit(site).open()
    expect(page.get_by_label("AI output")).to_be_visible()  # wait until Tab has a target
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    _tab_to(page, page.get_by_label("AI output"))
    page.keyboard.insert_text(CARELESS)
    _tab_to(page, page.get_by_label("Full (3 runs, auditable)"))
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Screening (1 run, quick)")).to_be_checked()
    page.keyboard.press("ArrowUp")
    _tab_to(page, page.get_by_role("button", name="Run Full Evaluation"))
    page.keyboard.press("Enter")
    wait_for_report(page)
    quote = card(page, "certainty_language").locator("[data-quote]").first
    _tab_to(page, quote)
    page.keyboard.press("Enter")
    mark = page.locator(f"mark#text-{quote.get_attribute('data-quote')}")
    expect(mark).to_be_focused()
    back = page.get_by_role("link", name=re.compile("^Evidence for check 2, result .+: go to the check$")).first
    _tab_to(page, back)
    page.keyboard.press("Enter")
    expect(page.locator("#check-2")).to_be_focused()


def _tab_to(page: Page, target: Locator) -> None:
    for _ in range(100):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{target} is not reached by Tab")


def _upload(page: Page, name: str, text: str) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload a playbook").click()
    chooser.value.set_files(FilePayload(name=name, mimeType="application/json", buffer=text.encode()))


@pytest.mark.parametrize("size", [(1440, 900), (1280, 800), (390, 844)])
def test_the_evaluator_and_the_key_are_on_the_first_screen_and_rules_are_preselected(
    site: Site, visit: Visit, size: tuple[int, int]
) -> None:
    page = visit(site, viewport={"width": size[0], "height": size[1]}).open()
    provider, key = page.get_by_label("Provider"), page.get_by_label(re.compile("^API key"))
    expect(provider).to_be_in_viewport(ratio=1)
    expect(key).to_be_in_viewport(ratio=1)
    expect(provider).to_have_value("rules")
    expect(key).to_be_disabled()
    expect(page.get_by_text("They do not understand a text and know no law")).to_be_in_viewport(ratio=1)
    provider.select_option("openai")
    expect(key).to_be_enabled()
