"""A second judge, each with its own key, and the table of where they agree."""

import re

from playwright.sync_api import expect

from tests.e2e.conftest import Site, Visit
from tests.support.browser import assert_accessible
from tests.support.playbook_page import fill_form, run, wait_for_report
from tests.support.web import CARELESS, GPT


def test_two_judges_evaluate_one_text_and_a_third_is_asked_later(site: Site, visit: Visit) -> None:
    visitor = visit(site)
    page = visitor.open()
    fill_form(page, CARELESS)
    page.get_by_role("button", name="Add a second judge").click()
    second = page.get_by_role("group", name="Second judge")
    second.get_by_label("Provider").select_option("openai")
    second.get_by_label("Model").fill(GPT.partition("/")[2])
    second.get_by_label("Base URL").select_option(site.provider.openai_url)
    second.get_by_label(re.compile("^API key")).fill("sk-second-0123456789abcdef")
    assert_accessible(page)
    run(page)
    report = wait_for_report(page)
    table = page.get_by_role("table").filter(has_text="(this report)")
    expect(table).to_contain_text(GPT)
    keys = {request.headers.get("x-api-key") for request in visitor.requests if "/again" in request.url}
    assert keys == {"sk-second-0123456789abcdef"}
    stored = page.evaluate("JSON.stringify([{ ...sessionStorage }, { ...localStorage }])")
    assert "sk-second" not in stored

    page.get_by_text("Evaluate again with another judge").click()
    assert_accessible(page)
    page.get_by_role("button", name="Evaluate again").click()
    page.wait_for_url(re.compile(rf"/reports/(?!{report})"))
    expect(table).to_contain_text("rules #2")
