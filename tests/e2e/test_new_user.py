"""The first hour of a new user: evaluate three documents, change one result, sign, and print the report."""

import io
import unicodedata
from pathlib import Path

import pytest
from playwright.sync_api import expect
from pypdf import PageObject, PdfReader

from salvo.playbooks.enums import DISCLAIMERS
from tests.e2e.conftest import ServeHere, Visit
from tests.support.browser import assert_accessible
from tests.support.playbook_page import card, run, wait_for_report
from tests.support.web import CAREFUL, CARELESS

DOCUMENTS = {
    "Lease memo.txt": "The tenant may end the lease at any time. There is no risk for the landlord.",
    "DPA review.md": CAREFUL,
    "NDA review.md": CARELESS,
}


@pytest.mark.parametrize("width, height", [(1280, 800), (390, 844)])
def test_three_documents_are_evaluated_one_result_is_changed_and_the_signed_report_is_printed(
    serve_here: ServeHere, visit: Visit, tmp_path: Path, width: int, height: int
) -> None:
    page = visit(serve_here(), viewport={"width": width, "height": height}).open()
    for name, text in DOCUMENTS.items():
        page.get_by_role("navigation").get_by_role("link", name="Evaluate").click()
        (tmp_path / name).write_text(text)
        page.locator("input[type=file]").first.set_input_files(tmp_path / name)
        expect(page.get_by_label("Title")).to_have_value(Path(name).stem)
        if not page.get_by_label("Reviewer").input_value():
            page.get_by_label("Reviewer").fill("Ada Brown")
        run(page)
        wait_for_report(page)
        expect(page.get_by_role("heading", level=1)).to_have_text(Path(name).stem)

    # The name was typed once, and is known to the review.
    identity = page.get_by_role("main")
    expect(identity.get_by_text("Ada Brown").first).to_be_visible()
    review = card(page, "certainty_language").get_by_role("group", name="Review of Certainty language")
    review.get_by_role("button", name="Change the result").click()
    review.get_by_label("Reason").fill("It quotes the contract.")
    review.get_by_role("button", name="Record the change").click()
    row = page.get_by_role("row").filter(has_text="2. Certainty language")
    expect(row).to_contain_text("FAIL")
    expect(row).to_contain_text("PASS changed")
    expect(page.get_by_role("row").filter(has_text="1. Assumption disclosure")).to_contain_text("not decided")
    banner = page.get_by_role("region", name="Status")
    expect(banner.get_by_role("link", name="Review: ")).to_contain_text("3 checks are not decided yet")

    page.get_by_role("button", name="Review and sign off").click()
    section = page.locator("#review")
    expect(section.get_by_label("Your name")).to_be_focused()
    section.get_by_role("button", name="Sign off …").click()
    section.get_by_role("button", name="Sign off", exact=True).click()
    expect(section.get_by_role("list", name="Sign-offs")).to_contain_text("Signed off by Ada Brown")
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    sheets = [_text(sheet) for sheet in PdfReader(io.BytesIO(page.pdf(format="A4"))).pages]
    for number, sheet in enumerate(sheets, start=1):
        assert "NDA review" in sheet, number
        assert all(line in sheet for line in DISCLAIMERS), number
    summary, annex = " ".join(sheets[:2]), " ".join(sheets[2:])
    for words in ("Signed off by Ada Brown", "Checks at a glance", "After review", "PASS changed"):
        assert words in summary
    assert "All that waits for review" not in summary
    assert "changed to PASS by the reviewer Ada Brown: It quotes the contract." in annex
    assert "Playbook logic hash" in annex, "folds are open on paper"


def _text(sheet: PageObject) -> str:
    """The words of a page, with ligatures as letters."""
    return " ".join(unicodedata.normalize("NFKC", sheet.extract_text()).split())
