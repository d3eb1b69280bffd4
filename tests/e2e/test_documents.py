"""Many documents on the page: choose files, watch the matrix, cancel and resume all, export, delete."""

import csv
import io
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from pypdf import PdfReader

from salvo.playbooks.enums import DISCLAIMERS
from tests.e2e.conftest import ServeHere, Site, Visit
from tests.support.browser import assert_accessible
from tests.support.playbook_page import choose_model, fill_form, open_technical_record
from tests.support.web import CAREFUL, CARELESS


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    folder = tmp_path / "letters"
    (folder / "later").mkdir(parents=True)
    (folder / "careless.txt").write_text(CARELESS)
    (folder / "later" / "careful.md").write_text(CAREFUL)
    (folder / "=1+1.txt").write_text(CAREFUL)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 no")
    (folder / "picture.png").write_bytes(b"no document")
    return folder


def test_a_folder_becomes_a_matrix_that_is_exported_and_deleted(
    serve_here: ServeHere, visit: Visit, letters: Path
) -> None:
    visitor = visit(serve_here(), viewport={"width": 1280, "height": 800})
    visitor.forgive("422")  # the broken file
    page = visitor.open("/documents")
    page.get_by_label("Folder", exact=True).set_input_files(letters)
    expect(page.get_by_text("4 documents chosen")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("letters")
    page.get_by_label("Subject").fill("Letters of May")
    assert_accessible(page)
    page.get_by_role("button", name="Evaluate 4 documents").press("Enter")
    expect(page.get_by_text("4 documents: 1 ALERT, 2 STABLE, 1 not read.")).to_be_visible()
    table = page.get_by_role("table", name="The result of each check in each document.")
    careless = table.get_by_role("row", name=re.compile("^careless"))
    expect(careless).to_contain_text("ALERT")
    expect(careless.get_by_role("cell").nth(1)).to_have_text(re.compile("Fail$"))
    expect(table.get_by_role("row", name=re.compile("^Failed"))).to_contain_text("1")
    expect(page.get_by_role("listitem").filter(has_text="broken.pdf")).to_contain_text("not a readable PDF")
    assert_accessible(page)
    for sheet in PdfReader(io.BytesIO(page.pdf(format="A4"))).pages:
        margins = " ".join(sheet.extract_text().split())
        assert all(line in margins for line in ("letters", *DISCLAIMERS))
    with page.expect_download() as download:
        page.get_by_role("link", name="Spreadsheet (CSV)").click()
    rows = list(csv.reader(io.StringIO(Path(download.value.path()).read_text("utf-8-sig"))))
    assert sorted(row[0] for row in rows[1:]) == ["'=1+1", "broken.pdf", "careless", "later/careful"]
    table.get_by_role("link", name="careless").click()
    expect(page).to_have_url(re.compile("/reports/"))
    page.goto("/documents")
    expect(page.get_by_role("region", name="Earlier batches")).to_contain_text("3 of 4 reported")
    page.get_by_role("link", name="letters").click()
    page.get_by_role("button", name="Delete all").click()
    expect(page.get_by_role("alertdialog")).to_contain_text("The audit log stays")
    assert_accessible(page)
    page.get_by_role("button", name="Delete them").click()
    expect(page).to_have_url(re.compile("/documents$"))
    page.goto("/history")
    expect(page.get_by_text("No evaluations yet")).to_be_visible()


def test_a_dropped_folder_is_read_with_its_folders_and_what_is_no_document_is_named(
    site: Site, visit: Visit, letters: Path
) -> None:
    (letters / "later" / "last").mkdir()
    for number in range(120):  # a browser lists a hundred entries at a time
        (letters / "later" / "last" / f"letter {number}.txt").write_text(CAREFUL)
    (letters / "later" / "numbers.xlsx").write_bytes(b"no document")
    page = visit(site, viewport={"width": 1280, "height": 800}).open("/documents")
    _drop_paths(page, page.get_by_role("group", name="Files"), [letters])
    expect(page.get_by_text("124 documents chosen")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("letters")
    chosen = page.get_by_role("list", name="Chosen documents")
    expect(chosen).to_contain_text("later/careful.md")
    expect(chosen).to_contain_text("later/last/letter 119.txt")
    left_out = page.get_by_text("Left out, because they are not documents: later/numbers.xlsx, picture.png.")
    expect(left_out).to_be_visible()
    assert_accessible(page)


def test_documents_beyond_the_limit_of_a_batch_are_counted(site: Site, visit: Visit, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    for number in range(1002):
        (folder / f"{number:04}.txt").write_text(CAREFUL)
    page = visit(site, viewport={"width": 1280, "height": 800}).open("/documents")
    page.get_by_label("Folder", exact=True).set_input_files(folder)
    expect(page.get_by_text("1,002 documents chosen")).to_be_visible()
    expect(page.get_by_text("at most 1,000 documents")).to_contain_text("2 documents at the end are not")
    expect(page.get_by_role("button", name="Evaluate 1,000 documents")).to_be_visible()
    page.get_by_role("button", name="Remove 0000.txt").click()
    expect(page.get_by_text("at most 1,000 documents")).to_contain_text("1 document at the end is not")


def test_what_all_reports_of_a_batch_say_is_shown_before_it_is_started(
    serve_here: ServeHere, visit: Visit, letters: Path
) -> None:
    """Also what was entered for one text before: no document is declared as anybody's without being seen."""
    page = visit(serve_here(), viewport={"width": 1280, "height": 800}).open()
    fill_form(page, CARELESS)
    page.get_by_label("Reviewer").fill("Dana Example")
    page.get_by_text("More options: system instructions").click()
    page.get_by_label("Producer").fill("openai/gpt-5.5")
    page.get_by_text("Runs and storage").click()
    page.get_by_label("Store no texts").check()
    page.get_by_role("link", name="Evaluate many documents at once").click()
    expect(page.get_by_label("Reviewer")).to_have_value("Dana Example")
    expect(page.get_by_label("Producer")).to_have_value("openai/gpt-5.5")
    expect(page.get_by_label("Store no texts")).to_be_checked()
    page.get_by_label("Store no texts").uncheck()
    page.get_by_label("Runs per check").fill("5")
    page.get_by_label("Producer").fill("mistral/mistral-large")
    assert_accessible(page)
    page.get_by_label("Document files").set_input_files(letters / "careless.txt")
    page.get_by_role("button", name="Evaluate 1 document").click()
    page.get_by_role("link", name="careless").click()
    head = page.locator("main header")
    expect(head).to_contain_text("careless.txt")
    expect(head).to_contain_text("Dana Example")
    expect(head).to_contain_text("mistral/mistral-large")
    open_technical_record(page)
    expect(page.locator("#variance")).to_contain_text(re.compile(r"Runs per judged check\s*5"))


def _drop_paths(page: Page, zone: Locator, paths: list[Path]) -> None:
    """Drop files and folders of this machine, as from its file manager."""
    box = zone.bounding_box()
    assert box is not None
    devtools = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    for event in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": event, **place, "data": data})


def test_all_documents_are_cancelled_and_resumed_together(site: Site, visit: Visit, tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"letter {number}.txt").write_text(CAREFUL)
    page = visit(site, viewport={"width": 390, "height": 800}).open("/documents")
    page.get_by_label("Document files").set_input_files(sorted(tmp_path.glob("letter*.txt")))
    choose_model(page, site.provider.openai_url)
    where = "Each document is sent to 127.0.0.1 for each of its checks, once for each run."
    expect(page.get_by_text(where)).to_be_visible()
    site.provider.hold(after=3)
    page.get_by_role("button", name="Evaluate 6 documents").click()
    expect(page.get_by_text("6 documents: 6 running or waiting.")).to_be_visible()
    page.get_by_role("button", name="Cancel all").click()
    expect(page.get_by_text("6 documents: 6 stopped before the end.")).to_be_visible()
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    site.provider.let_go()
    page.get_by_role("button", name="Resume 6 documents").click()
    expect(page.get_by_text(re.compile(r"^6 documents: 6 (STABLE|ALERT|REVIEW|OBSERVE)\.$"))).to_be_visible()
