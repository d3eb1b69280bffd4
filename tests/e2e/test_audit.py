"""Verifying, signing and deleting a report on its page, and the audit log as a page of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from salvo.playbooks.audit import signing
from tests.e2e.conftest import Connect, Site, Visit
from tests.support.browser import assert_accessible
from tests.support.playbook_page import ask, evaluate, fill_form, run, wait_for_report
from tests.support.provider import LoopbackProvider
from tests.support.web import CARELESS, Judging, server_process


@pytest.fixture
def signing_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server with a signing key."""
    signing.new_key(tmp_path / "key.pem")
    monkeypatch.setenv("BYOP_SIGNING_KEY", str(tmp_path / "key.pem"))
    with LoopbackProvider(Judging()) as provider, server_process(tmp_path) as server:
        yield Site(server, provider)


def test_a_report_is_verified_signed_deleted_and_stays_in_the_audit_log(
    signing_site: Site, visit: Visit, connect: Connect
) -> None:
    report = evaluate(connect(signing_site), CARELESS, subject="audited", title="Supply agreement")
    page = visit(signing_site).open(f"/reports/{report}")

    page.get_by_text("Verify the record").click()
    page.get_by_role("button", name="Verify this report").click()
    verified = page.get_by_role("list", name="What was verified")
    expect(verified).to_contain_text("The audit log is signed by")
    expect(page.get_by_text("Consistent with the audit log.")).to_be_visible()
    assert_accessible(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Signed HTML").click()
    assert b"application/vnd.byop" in download.value.path().read_bytes()
    assert b"PRIVATE KEY" not in page.content().encode()

    page.get_by_role("link", name="Audit log of this evaluation").click()
    entries = page.get_by_role("region", name="Entries")
    expect(entries.get_by_text("Report exported")).to_be_visible()
    expect(entries.get_by_role("link", name="Supply agreement").first).to_be_visible()
    expect(entries.get_by_text("holds, signed").first).to_be_visible()
    assert_accessible(page)

    page.go_back()
    page.get_by_text("Delete", exact=True).click()
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("The audit log stays")
    question.get_by_role("button", name="Delete it").click()
    expect(entries.get_by_text("Evaluation erased")).to_be_visible()
    expect(entries.get_by_text("(erased)").first).to_be_visible()
    expect(entries.get_by_text("Supply agreement")).to_have_count(0)

    page.get_by_role("button", name="Show all").click()
    page.get_by_label("What happened").select_option("Evaluation erased")
    expect(entries.get_by_role("row")).to_have_count(2)
    page.get_by_role("button", name="Verify everything that is stored").click()
    expect(page.get_by_role("list", name="What was verified")).to_contain_text("was erased on")
    assert_accessible(page)


def test_without_a_key_the_page_says_that_this_server_signs_nothing(site: Site, visit: Visit, connect: Connect) -> None:
    report = evaluate(connect(site), CARELESS, subject="unsigned")
    page = visit(site).open(f"/reports/{report}")
    page.get_by_text("Verify the record").click()
    expect(page.get_by_text("This server has no signing key.")).to_be_visible()
    expect(page.get_by_role("link", name="Signed HTML")).to_have_count(0)


def test_a_text_is_evaluated_five_times_and_not_stored(site: Site, visit: Visit, connect: Connect) -> None:
    page = visit(site).open("/")
    fill_form(page, CARELESS)
    page.get_by_text("Runs and storage").click()
    page.get_by_label("Runs per check").fill("2")
    button = page.get_by_role("button", name="Run Full Evaluation")
    expect(button).to_have_accessible_description("Enter a number of runs from 3 to 25, or none.")
    expect(page.get_by_label("Full (3 runs, auditable)")).to_be_checked()
    page.get_by_label("Runs per check").fill("5")
    expect(button).to_have_accessible_description("")
    expect(page.get_by_label("Full (5 runs, auditable)")).to_be_checked()
    page.get_by_label("Store no texts").check()
    assert_accessible(page)
    run(page)
    report = wait_for_report(page)
    expect(page.get_by_text("Only fingerprints of the texts were stored")).to_be_visible()
    stored = ask(connect(site), "GET", f"/api/reports/{report}")
    assert stored["texts"] is None
    assert {len(check["raw_runs"]) for check in stored["report"]["check_results"]} >= {5}


def test_scenarios_are_folded_away_until_there_are_any(site: Site, visit: Visit) -> None:
    page = visit(site).open("/")
    link = page.get_by_role("link", name="Batches of runs")
    expect(link).to_be_hidden()
    page.get_by_role("navigation", name="Main").get_by_text("Scenarios").click()
    link.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(link).to_be_visible()
