"""A report is shared on the page by a link that expires, and read with it in a browser that is not logged in."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Connect, ServeHere, Visit
from tests.support.browser import Theme, barriers
from tests.support.playbook_page import evaluate, wait_for_report
from tests.support.web import CARELESS

pytestmark = pytest.mark.browser


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


@pytest.mark.parametrize("theme, width", [("light", 1440), ("dark", 1440), ("light", 390), ("dark", 390)])
def test_a_report_is_shared_by_a_link_and_read_without_a_login(
    serve_here: ServeHere, visit: Visit, connect: Connect, theme: Theme, width: int
) -> None:
    site = serve_here()
    report = evaluate(connect(site), CARELESS, subject="shared", title="Supply agreement")
    options = {"color_scheme": theme, "viewport": {"width": width, "height": 900}}
    page = visit(site, **options).open(f"/reports/{report}")
    wait_for_report(page)
    page.get_by_text("Share", exact=True).click()
    form = page.get_by_role("form", name="New share link")
    form.get_by_label("The link works for").select_option("30 days")
    form.get_by_label("Note (optional)").fill("For outside counsel")
    form.get_by_role("button", name="Create link").click()
    expect(form).to_contain_text("It is not shown again")
    expect(form).to_contain_text("others cannot open it")
    links = page.get_by_role("region", name="Links to this report")
    expect(links).to_contain_text("For outside counsel")
    expect(links).to_contain_text("Never opened.")
    assert barriers(page) == []
    picture(page, f"share-menu-{theme}-{width}")
    address = form.locator("code").inner_text()

    reader = visit(site, logged_in=False, **options)
    shared = reader.open(address)
    expect(shared.get_by_text("Shared view, until")).to_be_visible()
    expect(shared.get_by_role("complementary", name="Disclaimers")).to_be_visible()
    expect(shared.get_by_role("heading", level=1, name="Supply agreement")).to_be_visible()
    expect(shared.locator("#review")).to_be_visible()
    for name in ("Sign off …", "Comment …", "Log out", "Evaluate again with another judge"):
        expect(shared.get_by_text(name, exact=True)).to_have_count(0)
    with shared.expect_download() as download:
        shared.get_by_role("button", name="Export JSON").click()
    assert download.value.suggested_filename == f"byop-report-{report}.json"
    assert report in Path(download.value.path()).read_text()
    assert barriers(shared) == []
    picture(shared, f"shared-view-{theme}-{width}")
    token = address.partition("#")[2]
    asked = [request for request in reader.requests if "/api/" in request.url]
    assert {request.url.partition("?")[0] for request in asked} == {
        f"{site.url}/api/shared/report",
        f"{site.url}/api/shared/export",
    }
    assert not any(token in f"{request.url}{request.headers.get('referer', '')}" for request in asked)
    assert shared.context.cookies() == []

    page.reload()
    wait_for_report(page)
    page.get_by_text("Share", exact=True).click()
    expect(links).to_contain_text("Last opened")
    links.get_by_role("button", name="Revoke the link").click()
    expect(links).to_contain_text("Revoked by")
    reader.forgive("status of 404")
    shared.reload()
    expect(shared.get_by_role("alert")).to_contain_text("This link does not work")
    assert barriers(shared) == []
    picture(shared, f"shared-ended-{theme}-{width}")
    shared.goto(f"{site.url}/shared")
    expect(shared.get_by_role("heading", level=1, name="This link is incomplete")).to_be_visible()
    assert barriers(shared) == []
