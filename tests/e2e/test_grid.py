"""The grid of cases and matrix on the page: from a cell to the grid and back to another cell."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Visit
from tests.support.browser import assert_accessible
from tests.support.web import ServerProcess, server_process

AGENT = """
def answer(request):
    return request.user_message if request.system_prompt == "Echo." else "no"
"""
SUITE = """
scenario: echo
adapter: function:agent.answer
cases: [{id: one, word: first}, {id: "<b>two</b>", word: second}]
matrix: {system_prompt: {good: Echo., bad: Be silent.}}
runs: 8
user_message: "{{ word }}"
assertions: [{type: jmespath, path: final_output, operator: contains, value: "{{ word }}"}]
"""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder: Path = tmp_path_factory.mktemp("grid")
    (folder / ".salvo").mkdir()
    (folder / "agent.py").write_text(AGENT)
    (folder / "echo.yaml").write_text(SUITE)
    salvo = [sys.executable, "-c", "from salvo.cli.salvo import salvo; salvo()"]
    ran = subprocess.run([*salvo, "run"], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stderr
    with server_process(folder, served_by="salvo dashboard") as server:
        yield server


def test_a_cell_leads_to_its_grid_and_the_grid_to_every_cell(board: ServerProcess, visit: Visit) -> None:
    page = visit(board).open("/scenarios")
    _rows(page, "Batches").first.get_by_role("link").first.click()
    page.get_by_role("link", name="All cells of echo").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("echo")
    variants = _rows(page, "Variants")
    expect(variants.nth(0)).to_contain_text("good")
    expect(variants.nth(0)).to_contain_text("best")
    expect(variants.nth(1)).to_contain_text("worse than the best")
    cells = _rows(page, "Cells")
    expect(cells).to_have_count(4)
    expect(cells.first).to_contain_text("FAILED")
    assert_accessible(page)
    page.set_viewport_size({"width": 390, "height": 844})
    box = cells.first.get_by_role("rowheader").bounding_box()
    assert box is not None
    assert box["height"] < 100, "the name of a cell is broken into syllables"
    cells.filter(has_text="<b>two</b>").first.get_by_role("link").click()
    expect(page.get_by_label("Verdict")).to_contain_text("completed runs passed")


def _rows(page: Page, table: str) -> Locator:
    return page.get_by_role("region", name=table, exact=True).locator("tbody tr")
