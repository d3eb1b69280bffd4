"""History, comparison and timeline of evaluations."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from playwright.sync_api import expect

from salvo.playbooks.store.store import EvaluationStore
from tests.e2e.conftest import ServeHere, Site, StoredReports, Visit
from tests.support.browser import assert_accessible
from tests.support.clock import HeldClock
from tests.support.stored_evaluations import finish_evaluation

DISCLAIMER = "This is an observability report, not legal advice."


def test_the_history_is_searched_filtered_sorted_and_opened(site: Site, stored: StoredReports, visit: Visit) -> None:
    page = visit(site).open("/history")
    rows = page.get_by_role("row").filter(has=page.get_by_role("checkbox"))
    the_worse = rows.filter(has=page.get_by_label(f"Select Untitled text {stored.worse[-6:]} to compare"))
    page.get_by_label("Search", exact=True).fill(stored.worse)
    expect(rows).to_have_count(1)
    expect(page.get_by_text("1 evaluation", exact=True)).to_be_visible()
    expect(rows).to_contain_text("ALERT")
    expect(page).to_have_url(re.compile(f"search={stored.worse}"))
    page.get_by_label("Search", exact=True).fill("no changes are necessary")
    expect(page.get_by_text("No evaluations match")).to_be_visible()
    page.get_by_label("Search the texts, too").check()
    expect(the_worse).to_contain_text("ALERT")
    page.get_by_label("Search", exact=True).fill("no such thing")
    expect(page.get_by_text("No evaluations match")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(page.get_by_label("Search", exact=True)).to_have_value("")
    page.get_by_label("Subject").select_option(stored.subject)
    expect(rows).to_have_count(2)
    expect(rows.last).to_contain_text("baseline")
    page.get_by_label("Order").select_option("Oldest first")
    expect(rows.first).to_contain_text("baseline")
    rows.first.get_by_role("link").click()
    expect(page).to_have_url(re.compile(f"/reports/{stored.baseline}$"))


def test_an_evaluation_is_deleted_on_a_phone_after_it_was_said_what_is_erased(
    serve_here: ServeHere, visit: Visit, tmp_path: Path
) -> None:
    with EvaluationStore.open(f"sqlite:///{tmp_path / 'byop_runs.db'}", HeldClock()) as store:
        finish_evaluation(store, "id-0001")
        finish_evaluation(store, "id-0002", subject="kept")
    page = visit(serve_here(), viewport={"width": 390, "height": 800}).open("/history")
    row = page.get_by_role("row").filter(has_text="d-0001")
    row.get_by_role("button", name="Delete").press("Enter")
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("texts, votes, report")
    expect(question).to_contain_text("The audit log stays")
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    question.get_by_role("button", name="Keep it").click()
    expect(question).to_have_count(0)
    row.get_by_role("button", name="Delete").click()
    question.get_by_role("button", name="Delete it").click()
    expect(page.get_by_text("1 evaluation", exact=True)).to_be_visible()
    expect(page.get_by_role("table")).to_contain_text("kept")


def test_a_damaged_evaluation_is_named_and_the_others_are_listed(
    serve_here: ServeHere, visit: Visit, tmp_path: Path
) -> None:
    with EvaluationStore.open(f"sqlite:///{tmp_path / 'byop_runs.db'}", HeldClock()) as store:
        finish_evaluation(store, "id-0001")
        finish_evaluation(store, "id-0002", subject="intact")
    with closing(sqlite3.connect(tmp_path / "byop_runs.db")) as database, database:
        database.execute("UPDATE byop_evaluations SET consistency = 'high' WHERE id = 'id-0001'")
    page = visit(serve_here()).open("/history")
    expect(page.get_by_role("alert")).to_contain_text(
        "Warning: The stored evaluation id-0001 is damaged: consistency is a text."
    )
    expect(page.get_by_role("row").filter(has=page.get_by_role("checkbox"))).to_have_count(1)
    expect(page.get_by_role("table").get_by_text("intact")).to_be_visible()


def test_two_selected_reports_are_compared(site: Site, stored: StoredReports, visit: Visit) -> None:
    page = visit(site).open(f"/history?subject={stored.subject}")
    page.get_by_label(f"Select Untitled text {stored.worse[-6:]} to compare").check()
    expect(page.get_by_text("One selected.")).to_be_visible()
    page.get_by_label(f"Select Untitled text {stored.baseline[-6:]} to compare").check()
    page.get_by_role("button", name="Compare selected").click()
    expect(page.get_by_role("main").locator(":scope > *").first).to_contain_text(DISCLAIMER)
    expect(page.get_by_role("region", name="Report A")).to_contain_text("STABLE")
    expect(page.get_by_role("region", name="Report B")).to_contain_text("ALERT")
    changed = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Certainty language"))
    expect(changed).to_contain_text("worse")
    expect(changed).to_contain_text("Evidence only in B")
    derived = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Run variance"))
    expect(derived).to_contain_text("not compared: derived from the other results")
    expect(page.get_by_text("unchanged")).to_have_count(0)  # every other check got worse
    page.emulate_media(media="print")
    expect(page.get_by_text(DISCLAIMER)).to_be_visible()


def test_results_over_time_are_a_table_of_checks_and_dates(site: Site, stored: StoredReports, visit: Visit) -> None:
    page = visit(site).open(f"/reports/{stored.worse}")
    page.get_by_role("link", name="Timeline of this subject").click()
    table = page.get_by_role("table", name=re.compile("^The result of each check in each report"))
    columns = table.get_by_role("columnheader")
    expect(columns).to_have_count(3)  # the check, and two reports
    overall = table.get_by_role("row", name=re.compile("^Overall"))
    expect(overall.get_by_role("cell").first).to_contain_text("ALERT")  # the newest first
    expect(overall.get_by_role("cell").last).to_contain_text("STABLE")
    expect(overall.get_by_role("cell").last).to_contain_text("baseline")
    certainty = table.get_by_role("row", name=re.compile("^Certainty language"))
    expect(certainty.get_by_role("cell")).to_have_text([re.compile("Fail$"), re.compile("Pass$")])
    text = table.get_by_role("row", name=re.compile("^Text"))
    expect(text.get_by_role("cell")).to_have_text(["changed", "first report"])
    # The rules always agree with themselves, so no agreement is shown.
    expect(table.get_by_role("row", name=re.compile("^Agreement"))).to_have_count(0)
    columns.nth(1).get_by_role("link").press("Enter")
    expect(page).to_have_url(re.compile(f"/reports/{stored.worse}$"))
