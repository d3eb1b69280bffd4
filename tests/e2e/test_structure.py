"""A Word file on the page: its headings, lists and tables are shown as such, and evidence has its place in them."""

from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Site, Visit
from tests.support.browser import assert_accessible
from tests.support.documents import structured_word_file
from tests.support.playbook_page import drop, run, wait_for_report


def test_the_structure_of_a_word_file_is_shown_and_evidence_is_placed_in_it(site: Site, visit: Visit) -> None:
    page = visit(site, viewport={"width": 1440, "height": 900}).open()
    drop(page.get_by_label("AI output"), "contract.docx", structured_word_file())
    expect(page.get_by_text("From contract.docx")).to_be_visible()
    run(page)
    wait_for_report(page)
    panel = page.get_by_label("Text with evidence highlighted")
    expect(panel.get_by_role("heading", name="2 Liability", level=3)).to_be_visible()
    expect(panel.locator(".list_item .number[data-label='2.']")).to_have_count(1)
    rows = panel.get_by_role("table").get_by_role("row")
    expect(rows).to_have_count(2)
    expect(rows.nth(1).get_by_role("cell")).to_have_text(["Acme", "100 euros"])
    assert _top(rows.nth(1).get_by_role("cell").nth(0)) == _top(rows.nth(1).get_by_role("cell").nth(1))
    expect(panel.locator(".page-start[data-label='Page 2'] + [data-line]")).to_contain_text("Clause 7 is fully")
    expect(page.get_by_text("Section 2 Liability, paragraph 2, page 2, line").first).to_be_attached()
    assert_accessible(page)


def _top(element: Locator) -> float:
    box = element.bounding_box()
    assert box is not None
    return box["y"]
