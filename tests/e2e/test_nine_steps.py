"""The whole workflow, from pasting a text to the exported file, with rules and with a model."""

import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Site, Visit
from tests.support.byop_project import BIN
from tests.support.playbook_page import (
    answers,
    card,
    choose_model,
    fill_form,
    open_technical_record,
    run,
    wait_for_report,
)
from tests.support.web import CAREFUL, CARELESS, Judging

QUOTE = "courts always uphold caps of this kind"
TOOLTIP = (
    "Variance in results may reflect evaluator model behavior, not only the AI output being tested. "
    "BYOP reports describe observable signals, not ground truth."
)


@pytest.mark.parametrize("evaluator", ["rules", "model"])
def test_paste_run_watch_read_jump_save_run_again_and_export(
    site: Site, visit: Visit, tmp_path: Path, evaluator: str
) -> None:
    by_model = evaluator == "model"
    page = visit(site).open()
    subject = f"nine steps by {evaluator}"

    fill_form(page, CAREFUL, subject=subject)
    estimate = page.get_by_test_id("estimate")
    if by_model:
        choose_model(page, site.provider.openai_url)
        expect(estimate).to_contain_text("127.0.0.1")
        expect(estimate).to_contain_text("tokens")
        site.provider.play(Judging(quote="Not checked: the annexes were not provided", result="pass"))
        site.provider.hold(after=4)
    else:
        expect(estimate).to_contain_text("Nothing leaves this machine")
    run(page)
    if by_model:
        expect(answers(page)).to_have_text("4 of 12 answers")
        expect(page.get_by_text(re.compile(r"^Running check \d/6, run \d/3"))).to_be_visible()
        expect(page.locator("progress")).to_have_attribute("value", "4")
        expect(page.get_by_role("listitem").get_by_text("PASS")).to_have_count(4)
        site.provider.let_go()
    first = wait_for_report(page)
    _save_as_baseline(page)

    page.get_by_role("link", name="Evaluate", exact=True).click()
    fill_form(page, CARELESS)
    site.provider.play(Judging(quote=QUOTE))
    run(page)
    second = wait_for_report(page)
    assert second != first
    _read_cards(page)
    _go_to_the_evidence(page)
    _look_at_variance(page)
    drift = page.locator("#drift")
    expect(drift).to_contain_text("Output drift: a different text, judged by the same evaluator.")
    expect(drift.get_by_role("row").filter(has_text="Certainty language")).to_contain_text("worse")
    _export_and_verify(page, site, tmp_path)


def _save_as_baseline(page: Page) -> None:
    page.get_by_text("Baseline", exact=True).click()
    expect(page.get_by_text("It replaces nothing")).to_be_visible()
    page.get_by_role("button", name="Save as Baseline").click()
    expect(page.get_by_text(re.compile("^Baseline since "))).to_be_visible()
    expect(page.get_by_role("button", name="Remove as Baseline")).to_be_visible()


def _read_cards(page: Page) -> None:
    expect(page.get_by_role("region", name="Status")).to_contain_text("ALERT")
    expect(page.get_by_role("article")).to_have_count(6)
    certainty = card(page, "certainty_language")
    expect(certainty.get_by_text("FAIL").first).to_be_visible()
    # The rules always agree with themselves, so only a model's votes are shown.
    votes = page.locator("[data-votes=certainty_language]")
    expect(certainty.or_(votes).last).to_contain_text(re.compile(r"Decided by the rule certainty|Run 3:"))
    expect(card(page, "drift_over_time_support")).to_contain_text("Derived from the other results")


def _go_to_the_evidence(page: Page) -> None:
    quote = card(page, "certainty_language").locator("[data-quote]").first
    quoted = quote.inner_text().strip("“”")
    quote.click()
    mark = page.locator(f"mark.evidence#text-{quote.get_attribute('data-quote')}")
    expect(mark).to_be_focused()
    expect(mark).to_be_in_viewport()
    assert quoted.startswith(mark.inner_text())
    page.get_by_role("link", name="Evidence for check 2, result fail: go to the check").first.click()
    expect(page.locator("#check-2")).to_be_focused()


def _look_at_variance(page: Page) -> None:
    open_technical_record(page)
    variance = page.locator("#variance")
    expect(variance).to_contain_text(re.compile("1.00 – stable|agrees with itself by construction"))
    expect(page.get_by_role("tooltip")).to_be_hidden()
    page.get_by_role("button", name="About variance").focus()
    expect(page.get_by_role("tooltip")).to_have_text(TOOLTIP)


def _export_and_verify(page: Page, site: Site, folder: Path) -> None:
    files = {}
    for name in ("Export JSON", "HTML", "Markdown"):
        with page.expect_download() as download:
            page.get_by_role("link", name=name).click()
        file = folder / download.value.suggested_filename
        download.value.save_as(file)
        files[file.suffix] = file
    verified = subprocess.run(
        [str(BIN / "byop"), "verify", str(files[".json"])],
        check=False,
        cwd=site.server.log.parent,
        capture_output=True,
        text=True,
    )
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert QUOTE in files[".html"].read_text()
    assert QUOTE in files[".md"].read_text()
    disclaimer = "This is an observability report, not legal advice."
    assert all(disclaimer in file.read_text() for file in files.values())
