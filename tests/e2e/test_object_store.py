"""The dashboard of runs in an object store: what a user does with those in a folder, and runs that others add."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit
from tests.support.web import ServerProcess, server_process

SALVO = (sys.executable, "-c", "from salvo.cli.salvo import salvo; salvo()")


def run(folder: Path, bucket: str, *options: str) -> None:
    """`salvo run` of the example: two of its ten runs fail."""
    command = [*SALVO, "run", "--store", bucket, *options]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stderr


@pytest.fixture
def project(bucket: str, tmp_path: Path) -> Path:
    folder = tmp_path / "demo"
    subprocess.run([*SALVO, "init", str(folder)], capture_output=True, check=True)
    run(folder, bucket, "--record")
    return folder


@pytest.fixture
def board(bucket: str, project: Path) -> Iterator[ServerProcess]:
    with server_process(project, "--store", bucket, served_by="salvo dashboard") as server:
        yield server


def test_batches_are_listed_followed_downloaded_and_compared(
    board: ServerProcess, bucket: str, project: Path, visit: Visit
) -> None:
    page = visit(board).open("/scenarios")
    rows = page.get_by_role("region", name="Batches", exact=True).locator("tbody tr")
    expect(rows).to_have_count(1)
    run(project, bucket, "--record")  # as another machine would
    expect(rows).to_have_count(2)
    expect(rows.filter(has=page.get_by_text("new", exact=True))).to_contain_text("10 of 10")

    for row in range(2):
        rows.nth(row).get_by_role("checkbox").check()
    page.get_by_role("button", name="Compare selected").click()
    expect(page.get_by_role("region", name="Pass rates", exact=True)).to_contain_text("80% (8 of 10)")
    page.get_by_label("Side A").get_by_role("link", name="book_flight").click()

    expect(page.get_by_label("Verdict")).to_contain_text("8 of 10 completed runs passed")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as HTML").click()
    assert "8 of 10 completed runs passed" in download.value.path().read_text(encoding="utf-8")

    failures = page.locator("section").filter(has=page.get_by_role("heading", name="Failures", exact=True))
    failures.get_by_role("link", name="run ").first.click()
    expect(page.get_by_label("Outcome")).to_contain_text("Failed:")
    run_id = page.url.rsplit("/", 1)[-1]
    shown = page.get_by_text(f"salvo replay {run_id}")
    expect(shown).to_be_visible()
    command = [*SALVO, *shown.inner_text().split()[1:]]
    replayed = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert (replayed.returncode, run_id in replayed.stdout) == (0, True), replayed.stdout + replayed.stderr

    page.get_by_role("link", name="Compare with a passing run").click()
    expect(page.get_by_label("Run A")).to_contain_text("FAILED")
    expect(page.get_by_label("Run B")).to_contain_text("PASSED")
