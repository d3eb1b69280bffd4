"""Two reports side by side: the redline of their texts, and both sets of findings."""

import io

from playwright.sync_api import expect
from pypdf import PdfReader

from salvo.playbooks.enums import DISCLAIMERS
from tests.e2e.conftest import Site, StoredReports, Visit
from tests.support.browser import assert_accessible
from tests.support.playbook_page import ask, evaluate


def test_the_texts_are_compared_by_words_with_the_findings_of_both(site: Site, visit: Visit) -> None:
    page = visit(site).open()
    unchanged = " ".join(f"Clause {number} was read." for number in range(200))
    before = evaluate(page.request, f"The cap may be upheld. {unchanged} Ask counsel before signing.")
    after = evaluate(page.request, f"The cap will always be upheld. {unchanged} Ask nobody before signing.")
    page.goto(f"/compare?a={before}&b={after}")
    redline = page.get_by_role("article", name="Redline")
    expect(redline.locator("del")).to_have_text([" may", " counsel"])
    expect(redline.locator("ins")).to_have_text([" will always", " nobody"])
    expect(page.get_by_role("region", name="Findings in B")).to_contain_text("always")
    assert_accessible(page)
    redline.get_by_role("button", name="unchanged words").click()
    expect(redline).to_contain_text("Clause 99 was read.")


def test_paper_has_the_whole_comparison_with_documents_and_disclaimers_on_every_page(site: Site, visit: Visit) -> None:
    page = visit(site, viewport={"width": 1440, "height": 900}).open()
    claims = [f"Clause {number} is fully compliant with the law and safe." for number in range(80)]
    before = evaluate(page.request, "\n".join(claims), title="First draft", producer="openai/gpt-5.5")
    after = evaluate(page.request, "\n".join(claims).replace("safe.", "standard."), title="Second draft")
    page.goto(f"/compare?a={before}&b={after}")
    redline = page.get_by_role("article", name="Redline")
    expect(redline.locator("ins")).to_have_count(80)
    expect(page.get_by_role("region", name="Report A")).to_contain_text("openai/gpt-5.5")
    findings = page.get_by_role("region", name="Findings in A")
    findings.get_by_text("more passages").first.click()
    expect(findings).to_contain_text("Clause 79 is fully compliant")
    boxes = [place.bounding_box() for place in (redline, findings)]
    edges = [(box["x"] + box["width"], box["x"]) for box in boxes if box]
    assert edges[0][0] < edges[1][1], "the findings are beside the redline"
    assert_accessible(page)
    sheets = [" ".join(sheet.extract_text().split()) for sheet in PdfReader(io.BytesIO(page.pdf(format="A4"))).pages]
    for number, sheet in enumerate(sheets, start=1):
        assert "First draft – Second draft" in sheet, number
        assert all(line in sheet for line in DISCLAIMERS), number
    changed = "Clause 79 is fully compliant with the law and safe. standard."
    assert changed in " ".join(sheets), "nothing of the redline is cut off"


def test_two_reports_are_chosen_on_a_phone_and_named_by_their_documents(site: Site, visit: Visit) -> None:
    page = visit(site, viewport={"width": 390, "height": 844}).open()
    subject = "chosen on a phone"
    for title in ("First draft of the memo", "Second draft of the memo"):
        evaluate(page.request, f"{title}. The cap may be upheld.", title=title, subject=subject)
    page.goto(f"/history?subject={subject}")
    for title in ("First draft of the memo", "Second draft of the memo"):
        page.get_by_role("checkbox", name=f"Select {title} to compare").check()
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Compare selected").click()
    for name, title in (("Report A", "First draft of the memo"), ("Report B", "Second draft of the memo")):
        expect(page.get_by_role("region", name=name).get_by_role("link", name=title)).to_be_visible()
    assert_accessible(page)


def test_equal_texts_and_texts_that_are_not_stored_are_told_apart(
    site: Site, stored: StoredReports, visit: Visit
) -> None:
    page = visit(site).open()
    hashes = evaluate(page.request, "The cap may be upheld.", hashes_only=True)
    page.goto(f"/compare?a={stored.worse}&b={hashes}")
    expect(page.get_by_text("Only hashes of a text were stored")).to_be_visible()
    page.goto(f"/compare?a={stored.worse}&b={stored.worse}")
    expect(page.get_by_text("The two texts are the same.")).to_be_visible()
    compared = ask(page.request, "POST", "/api/compare", {"a": stored.worse, "b": hashes})
    assert (compared["text_b"], bool(compared["text_a"])) == (None, True)
