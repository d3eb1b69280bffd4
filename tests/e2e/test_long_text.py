"""A text of five megabytes on the page: a part of it is in the document, and all of it can be reached and printed."""

import io

import pytest
from playwright.sync_api import Locator, Page, expect
from pypdf import PdfReader

from tests.e2e.conftest import Site, Visit
from tests.support.browser import assert_accessible
from tests.support.playbook_page import ask
from tests.support.web import CARELESS

pytestmark = [pytest.mark.load, pytest.mark.timeout(600)]
_SECONDS = 300
"""The evaluator takes some seconds for five megabytes, and longer on a busy machine."""

MAX_ELEMENTS = 2_000
"""Of the text that may be in the document at once; five megabytes have 60,000 lines."""


def _text(length: int) -> str:
    """Return clauses with two careless passages among them: behind the middle, and at the end."""
    clauses = [
        f"{number}. The supplier delivers part {number} to the place that the order names, within {number} days."
        for number in range(1, length // 80)
    ]
    clauses[len(clauses) // 2] += f"\n\n{CARELESS}\n"
    return "\n".join([*clauses, "", CARELESS, "The pangolin clause is the last one."])


def _open(site: Site, visit: Visit, length: int, **options: object) -> tuple[Page, Locator]:
    page = visit(site, viewport={"width": 1440, "height": 900}, **options).open()
    page.set_default_timeout(_SECONDS * 1000)
    request = {"ai_output": _text(length), "mode": "screening", "title": "A long text"}
    evaluation = ask(page.request, "POST", "/api/evaluations", request)
    page.goto(f"/evaluations/{evaluation['id']}")
    page.wait_for_url("**/reports/**")
    panel = page.get_by_label("Text with evidence highlighted")
    expect(panel).to_be_visible(timeout=_SECONDS * 1000)
    return page, panel


def test_five_megabytes_are_read_searched_and_stepped_through(site: Site, visit: Visit) -> None:
    page, panel = _open(site, visit, 5_000_000)
    assert panel.locator("*").count() < MAX_ELEMENTS
    quote = page.locator("main [data-quote]").last
    quote.click()
    mark = page.locator(f"#text-{quote.get_attribute('data-quote')}")
    expect(mark).to_be_focused()
    expect(mark).to_be_in_viewport()
    seen = set()
    for _ in range(4):
        page.keyboard.press("n")
        expect(page.locator("mark:focus")).to_be_in_viewport()
        seen.add(page.locator("mark:focus").get_attribute("id"))
    assert len(seen) > 1
    page.get_by_test_id("minimap").locator("button").first.dispatch_event("click")
    expect(page.locator("mark:focus")).to_be_in_viewport()
    assert panel.locator("*").count() < MAX_ELEMENTS

    find = page.get_by_label("Find", exact=True)
    find.fill("PANGOLIN   clause")
    expect(page.get_by_text("1 match", exact=True)).to_be_visible()
    find.press("Enter")
    expect(page.locator("mark.match")).to_have_text("pangolin clause")
    expect(page.locator("mark.match")).to_be_in_viewport()
    find.fill("no such words")
    expect(page.get_by_text("No matches")).to_be_visible()
    assert panel.locator("*").count() < MAX_ELEMENTS
    assert_accessible(page)


def test_a_long_text_is_read_by_scrolling_from_its_first_to_its_last_line(site: Site, visit: Visit) -> None:
    page, panel = _open(site, visit, 300_000)
    expect(panel).to_contain_text("1. The supplier delivers part 1 ")
    panel.focus()
    page.keyboard.press("End")
    expect(panel.get_by_text("pangolin clause")).to_be_in_viewport()
    page.keyboard.press("Home")
    expect(panel.locator("[data-line='1']")).to_be_in_viewport()
    numbers: list[int] = []
    while "pangolin" not in panel.inner_text():
        numbers += [
            int(line) for line in panel.locator("[data-line]").evaluate_all("all => all.map(x => x.dataset.line)")
        ]
        panel.evaluate("region => region.scrollBy(0, region.clientHeight)")
        page.wait_for_function(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
        )
    assert set(range(1, max(numbers))) <= set(numbers), "no line was left out"


def test_a_long_text_is_printed_as_a_whole(site: Site, visit: Visit) -> None:
    page, panel = _open(site, visit, 300_000)
    paper = " ".join(sheet.extract_text() for sheet in PdfReader(io.BytesIO(page.pdf(format="A4"))).pages)
    for words in ("delivers part 1 to", "delivers part 1700 to", "delivers part 3000 to", "pangolin clause"):
        assert words in " ".join(paper.split())
    assert panel.locator("*").count() < MAX_ELEMENTS, "after the print, the page is as before"
