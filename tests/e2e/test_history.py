"""History, comparison and timeline of evaluations."""

import re

from playwright.sync_api import expect

from tests.e2e.conftest import Site, StoredReports, Visit

DISCLAIMER = "This is an observability report, not legal advice."


def test_the_history_is_searched_filtered_and_opened(site: Site, stored: StoredReports, visit: Visit) -> None:
    page = visit(site).open("/history")
    rows = page.get_by_role("row").filter(has=page.get_by_role("checkbox"))
    page.get_by_label("Search").fill(stored.worse)
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("ALERT")
    expect(page).to_have_url(re.compile(f"search={stored.worse}"))
    page.get_by_label("Search").fill("no such thing")
    expect(page.get_by_text("No evaluations match")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(page.get_by_label("Search")).to_have_value("")
    page.get_by_label("Subject").select_option(stored.subject)
    expect(rows).to_have_count(2)
    expect(rows.last).to_contain_text("baseline")
    rows.last.get_by_role("cell").last.click()
    expect(page).to_have_url(re.compile(f"/reports/{stored.baseline}$"))


def test_two_selected_reports_are_compared(site: Site, stored: StoredReports, visit: Visit) -> None:
    page = visit(site).open(f"/history?subject={stored.subject}")
    page.get_by_label(f"Select {stored.worse} to compare").check()
    expect(page.get_by_text("One selected.")).to_be_visible()
    page.get_by_label(f"Select {stored.baseline} to compare").check()
    page.get_by_role("button", name="Compare selected").click()
    expect(page.get_by_role("main").locator(":scope > *").first).to_contain_text(DISCLAIMER)
    expect(page.get_by_role("region", name="Report A")).to_contain_text("STABLE")
    expect(page.get_by_role("region", name="Report B")).to_contain_text("ALERT")
    changed = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Certainty language"))
    expect(changed).to_contain_text("worse")
    expect(changed).to_contain_text("Evidence only in B")
    expect(page.get_by_text("unchanged")).not_to_have_count(0)
    page.emulate_media(media="print")
    expect(page.get_by_text(DISCLAIMER)).to_be_visible()


def test_the_timeline_of_a_subject_shows_its_baselines(site: Site, stored: StoredReports, visit: Visit) -> None:
    page = visit(site).open(f"/reports/{stored.worse}")
    page.get_by_role("link", name="Timeline of this subject").click()
    chart = page.get_by_role("img", name=re.compile("^Consistency and status of 2 reports over time"))
    expect(chart.get_by_text(re.compile("STABLE, consistency 1.00, baseline"))).to_have_count(1)
    expect(chart.get_by_text(re.compile("ALERT, consistency 1.00$"))).to_have_count(1)
    rows = page.get_by_role("row")
    expect(rows.nth(1)).to_contain_text("first")
    expect(rows.nth(1)).to_contain_text("baseline")
    expect(rows.nth(2)).to_contain_text("changed")
    rows.nth(2).get_by_role("link").click()
    expect(page).to_have_url(re.compile(f"/reports/{stored.worse}$"))
