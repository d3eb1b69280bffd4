"""A report of thirty pages: the page grows far less than the text, and answers. `make bench` has the seconds."""

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Site, Visit
from tests.support import thirty_pages
from tests.support.browser import assert_accessible

pytestmark = [pytest.mark.load, pytest.mark.timeout(600)]


MAX_ELEMENTS = 4_000
"""Of the page. The text has 1,260 lines, and some hundred passages are quoted."""


def test_a_report_of_thirty_pages_is_drawn_in_part_and_read_as_a_whole(site: Site, visit: Visit) -> None:
    page = visit(site, viewport={"width": 1440, "height": 900}).open()
    timing = thirty_pages.measure(page, thirty_pages.evaluate_document(page))
    assert timing.elements < MAX_ELEMENTS
    panel = page.get_by_label(thirty_pages.TEXT_PANEL)
    expect(panel.locator("mark:focus")).to_be_in_viewport()
    panel.focus()
    page.keyboard.press("End")
    last = thirty_pages.PAGES * thirty_pages.LINES // 6
    expect(panel.get_by_text(f"{last}. The supplier delivers")).to_be_in_viewport()
    assert_accessible(page)
