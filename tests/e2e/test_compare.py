"""Two reports side by side: the redline of their texts, and both sets of findings."""

from playwright.sync_api import expect

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
