"""The dashboard with 2,000 stored runs, and with runs that are added while it is open."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect

from salvo.scenarios.result import Batch, Outcome, ToolCall
from salvo.scenarios.store.store import RunStore
from salvo.web.settings import Settings
from tests.e2e.conftest import Visit
from tests.support.browser import Theme, barriers
from tests.support.runs import batch as a_stored_batch
from tests.support.runs import result as a_result
from tests.support.runs import save_scoring, stored
from tests.support.scenario_store import MODELS, a_batch, fill
from tests.support.web import ServerProcess, WebServer, server_process

HAIKU = "anthropic/claude-haiku-4-5"
NARROW = {"width": 380, "height": 800}
HOSTILE = (
    "</script><script>document.title = 'taken'</script><img src=x onerror=alert(1)> [a](javascript:alert(1)) "
    "gnp.\u202eexe \u200b"
) + "x" * 10_000


class Board(NamedTuple):
    """`salvo dashboard` in a folder with a scenario that can be run."""

    server: ServerProcess
    folder: Path

    @property
    def url(self) -> str:
        return self.server.url

    def login_address(self) -> str:
        return self.server.login_address()

    @property
    def store(self) -> RunStore:
        return RunStore(self.folder / ".salvo")

    def run(self, *options: str) -> None:
        """`salvo run`, really: two of its ten runs fail."""
        command = [sys.executable, "-c", "from salvo.cli.salvo import salvo; salvo()", "run", *options]
        ended = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert ended.returncode == 1, ended.stderr


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    folder = tmp_path_factory.mktemp("board")
    salvo = [sys.executable, "-c", "from salvo.cli.salvo import salvo; salvo()"]
    subprocess.run([*salvo, "init", "."], cwd=folder, capture_output=True, check=True)
    store = fill(folder, days=25, runs=20)
    _save_hostile(store)
    with server_process(folder, served_by="salvo dashboard") as server:
        yield Board(server, folder)


def _save_hostile(store: RunStore) -> None:
    """Save a batch with hostile texts, older than all others."""
    batch, runs = a_batch(0, "refund_order", MODELS[1], 5, Random(3))
    batch.batch_id, batch.scenario_id = "1a0hostile", "refund\u202e<b>order</b>"
    store.save_batch(batch)
    for run in runs:
        run.run_id, run.batch_id, run.scenario_id = batch.run_id(run.number), batch.batch_id, batch.scenario_id
        run.tool_calls.insert(1, ToolCall(HOSTILE[:200], {HOSTILE[:80]: HOSTILE}, error=HOSTILE))
        run.final_output = HOSTILE + "\n" * 5_000
        for result in run.eval_results:
            result.message = HOSTILE
        store.save_run(run)
    save_scoring(store, batch, [Outcome.PASSED] * 4 + [Outcome.FAILED], source=HOSTILE[:200])


def test_the_scores_of_a_batch_are_on_its_page(board: Board, visit: Visit) -> None:
    page = visit(board).open("/scenarios/batches/1a0hostile")
    scored = _section(page, "Scored again")
    expect(scored).to_contain_text("4 of 5 completed runs passed")
    expect(scored).to_contain_text("of the batch,")
    scored.get_by_text("Assertions and changed verdicts").click()
    expect(scored).to_contain_text("4 of 5 passed")
    expect(scored).to_contain_text("salvo report score-1a0hostile")
    assert page.title() != "taken"
    assert barriers(page) == []


def test_navigate_from_the_list_to_the_first_difference_of_two_runs(board: Board, visit: Visit) -> None:
    page = visit(board).open("/scenarios")
    expect(page.get_by_role("heading", level=1)).to_have_text("Batches of runs")
    expect(page.get_by_role("img", name="Pass rate of refund_order with " + HAIKU)).to_be_visible()
    _rows(page, "Batches").filter(has_text="refund_order").filter(has_text=HAIKU).first.get_by_role("link").click()

    expect(page.get_by_label("Verdict")).to_contain_text(re.compile(r"\d+ of 20 completed runs passed"))
    expect(
        page.get_by_text(re.compile(r"^1: \d+% \(.*?\); 3: .*?\); 5: .*\(the chance that k runs all pass\)"))
    ).to_be_visible()
    expect(_rows(page, "Assertions").filter(has_text="tool_sequence")).to_contain_text("required")
    expect(page.get_by_text("Failing and passing runs diverge at step")).to_be_visible()
    _section(page, "Failures").get_by_role("link", name="run ").first.click()

    expect(page.get_by_label("Outcome")).to_contain_text("Failed:")
    failed = page.locator("ol > li").filter(has_text="FAILED")
    expect(failed.first).to_contain_text("Tool call")
    expect(failed.first).to_contain_text("expected")
    page.get_by_role("link", name="Compare with a passing run").click()

    first = page.get_by_role("listitem").filter(has_text="first difference")
    expect(first).to_be_focused()
    expect(first).to_be_in_viewport()
    expect(page.get_by_label("Run A")).to_contain_text("FAILED")
    expect(page.get_by_label("Run B")).to_contain_text("PASSED")
    page.get_by_role("button", name="Show identical steps").click()
    expect(page.get_by_text("Row 1: identical")).to_be_visible()


def test_scenarios_come_first_in_the_menu(board: Board, visit: Visit) -> None:
    page = visit(board).open("/history")
    menu = page.get_by_role("navigation", name="Main")
    expect(menu.get_by_role("link").first).to_have_text("Batches of runs")
    page.get_by_role("link", name="Salvo", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Batches of runs")


def test_the_list_comes_before_the_charts_where_there_are_many(visit: Visit, tmp_path: Path) -> None:
    store = RunStore(tmp_path / ".salvo")
    store.prepare()
    for number in range(200):
        batch, runs = a_batch(number, "book_flight", MODELS[0], 1, Random(number))
        batch.scenario_id = runs[0].scenario_id = f"scenario_{number:03}"
        store.save_batch(batch)
        store.save_run(runs[0])
    with server_process(tmp_path, served_by="salvo dashboard") as server:
        page = visit(server).open("/scenarios")
        expect(page.get_by_role("img", name="Pass rate of scenario_000")).to_have_count(1)
        charts = page.get_by_role("heading", name="Over time")
        assert _top(page.get_by_role("heading", name="Batches", exact=True)) < _top(charts)
        expect(_rows(page, "Batches").filter(has_text="scenario_199")).to_be_in_viewport()
        page.get_by_label("Scenario", exact=True).select_option("scenario_007")
        expect(page.get_by_role("img", name="Pass rate of")).to_have_count(1)
        assert _top(charts) < _top(page.get_by_role("heading", name="Batches", exact=True))
        page.close()


def test_comparing_two_batches_shows_config_differences_before_figures(board: Board, visit: Visit) -> None:
    page = visit(board).open("/scenarios?scenario=refund_order")
    rows = _rows(page, "Batches")
    rows.filter(has_text=HAIKU).first.get_by_role("checkbox").check()
    rows.filter(has_text="gpt-5.4-mini").first.get_by_role("checkbox").check()
    page.get_by_role("button", name="Compare selected").click()
    expect(page.get_by_text("A and B differ in the model of the judge polite. B is worse")).to_be_visible()
    differs = page.get_by_text(f"the model of the judge polite: openai/gpt-5.4-mini (A), {HAIKU} (B)")
    assert _top(differs) < _top(page.get_by_role("heading", name="Pass rates"))
    expect(_rows(page, "Pass rates")).to_contain_text(re.compile(r"B is worse.*\d+% \(\d+ of 20\).*−\d+ to .*points"))
    page.get_by_label("Side A").get_by_role("link", name="refund_order").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("refund_order")


def test_filters_are_kept_in_the_url(board: Board, visit: Visit) -> None:
    page = visit(board).open("/scenarios")
    page.get_by_label("Scenario").select_option("book_flight")
    page.get_by_label("Model").select_option(HAIKU)
    page.get_by_label("Verdict").select_option("failed")
    rows = _rows(page, "Batches")
    expect(rows.filter(has_not_text="FAILED")).to_have_count(0)
    expect(rows.filter(has_not_text="book_flight")).to_have_count(0)
    expect(rows.first).to_be_visible()
    expect(page.get_by_role("img", name="Pass rate of")).to_have_count(1)
    page.reload()
    expect(page.get_by_label("Verdict")).to_have_value("failed")
    expect(rows.first).to_be_visible()
    expect(rows.filter(has_not_text="book_flight")).to_have_count(0)
    page.get_by_label("Search").fill("no such thing")
    page.get_by_role("button", name="Clear filters").click()
    expect(page.get_by_label("Search")).to_have_value("")
    expect(rows).to_have_count(50)
    expect(rows.get_by_text("new", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Older").click()
    expect(rows.last).to_contain_text("refund")
    expect(page.get_by_role("button", name="Newer")).to_be_visible()


def test_runs_are_filtered_by_outcome_and_assertion(board: Board, visit: Visit) -> None:
    batch = next(batch for batch in _batches(board) if batch.scenario_id == "refund_order" and "haiku" in batch.model)
    page = visit(board).open(f"/scenarios/batches/{batch.batch_id}")
    runs = _rows(page, "Runs")
    expect(runs).to_have_count(20)
    page.get_by_label("Outcome").select_option("failed")
    expect(runs.filter(has_not_text="FAILED")).to_have_count(0)
    expect(runs.first).to_be_visible()
    page.get_by_label("Outcome").select_option("")
    _rows(page, "Assertions").filter(has_text="tool_sequence").get_by_role("link").click()
    expect(page.get_by_label("Failed assertion")).to_have_value("tool_sequence")
    expect(runs.filter(has_not_text="tool_sequence")).to_have_count(0)
    expect(runs.first).to_be_visible()


def test_a_batch_is_downloaded_as_html(board: Board, visit: Visit) -> None:
    page = visit(board).open(f"/scenarios/batches/{_batches(board)[0].batch_id}")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as HTML").click()
    assert download.value.suggested_filename.endswith(".html")
    assert "completed runs passed" in download.value.path().read_text(encoding="utf-8")


def test_new_runs_appear_without_moving_other_rows(board: Board, visit: Visit) -> None:
    page = visit(board).open("/scenarios")
    rows = _rows(page, "Batches")
    address = rows.nth(20).get_by_role("link").get_attribute("href")
    read = rows.filter(has=page.locator(f"a[href='{address}']"))
    read.scroll_into_view_if_needed()
    before = _top(read)
    board.run("--record")
    new = rows.filter(has_text="custom")
    expect(new.get_by_text("new", exact=True)).to_be_visible()
    expect(new).to_contain_text("10 of 10")
    announcement = page.get_by_role("status").filter(has_text="book_flight finished: failed, 8 of 10 passed.")
    expect(announcement).to_be_attached()
    assert abs(_top(read) - before) < 2

    new.get_by_role("link").click()
    _section(page, "Failures").get_by_role("link", name="run ").first.click()
    run = page.url.rsplit("/", 1)[-1]
    expect(page.get_by_text(f"salvo replay {run}")).to_be_visible()


def test_an_open_batch_shows_new_runs(board: Board, visit: Visit) -> None:
    batch, runs = a_batch(900, "book_flight", MODELS[0], 12, Random(5))
    board.store.save_batch(batch)
    for run in runs[:3]:
        board.store.save_run(run)
    page = visit(board).open(f"/scenarios/batches/{batch.batch_id}")
    expect(page.get_by_label("Verdict")).to_contain_text("OPEN")
    expect(_rows(page, "Runs")).to_have_count(3)
    for run in runs[3:]:
        board.store.save_run(run)
    expect(_rows(page, "Runs")).to_have_count(12)
    expect(page.get_by_label("Verdict")).not_to_contain_text("OPEN")
    expect(page.get_by_role("status").filter(has_text="book_flight finished")).to_be_attached()


def test_keyboard_navigation(board: Board, visit: Visit) -> None:
    page = visit(board).open("/scenarios?scenario=refund_order")
    rows = _rows(page, "Batches")
    for row in (rows.filter(has_text=HAIKU).first, rows.filter(has_text="gpt-5.4-mini").first):
        row.get_by_role("checkbox").focus()
        page.keyboard.press("Space")
    page.get_by_role("button", name="Compare selected").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/scenarios/compare"))
    page.get_by_label("Side B").get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    run = _rows(page, "Runs").filter(has_text="FAILED").first.get_by_role("link")
    run.focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name=re.compile(r"step \d")).first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("ol [id^=step-]:focus")).to_contain_text("FAILED")
    page.get_by_text("Raw JSON").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text('"run_id"')).to_be_visible()


def test_hostile_content_is_shown_as_text(board: Board, visit: Visit) -> None:
    visitor = visit(board, viewport=NARROW)
    page = visitor.open("/scenarios/runs/1a0hostile-0001")
    expect(page.get_by_role("heading", level=1)).to_contain_text("U+202E")
    expect(page.get_by_text("document.title = 'taken'").first).to_be_visible()
    expect(page.get_by_text("gnp.").first).to_contain_text("U+202E")
    page.get_by_role("button", name=re.compile("Show all of the output")).click()
    _fits(page)
    for path in ("batches/1a0hostile", "runs/1a0hostile-0001/beside/1a0hostile-0002", "?search=1a0hostile"):
        page.goto(f"/scenarios/{path}".replace("/?", "?"))
        expect(page.get_by_text("U+202E").first).to_be_visible()
        _fits(page)
    assert not page.locator("main img, main b, main script, main iframe").count()
    assert "taken" not in page.title()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_are_accessible(board: Board, visit: Visit, theme: Theme) -> None:
    batch = next(item for item in _batches(board) if item.scenario_id == "refund_order" and "haiku" in item.model)
    other = next(item for item in _batches(board) if item.scenario_id == "refund_order" and "gpt" in item.model)
    runs = [run for run in board.store.last(200) if run.batch_id == batch.batch_id]
    failed = next(run.run_id for run in runs if run.outcome == "failed")
    passed = next(run.run_id for run in runs if run.outcome == "passed")
    page = visit(board, color_scheme=theme).open("/scenarios")
    for path in (
        "?verdict=failed&scenario=refund_order",
        f"/batches/{batch.batch_id}",
        f"/runs/{failed}",
        f"/runs/{failed}/beside/{passed}",
        f"/compare?a={other.batch_id}&b={batch.batch_id}",
    ):
        page.goto(f"/scenarios{path}")
        expect(page.get_by_text("Loading")).to_have_count(0)
        page.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true })")
        expect(page.get_by_text("Loading")).to_have_count(0)
        assert barriers(page) == [], path


def test_a_folder_without_runs_says_how_to_create_some(visit: Visit, tmp_path: Path) -> None:
    (tmp_path / ".salvo").mkdir()
    with WebServer(Settings(f"sqlite:///{tmp_path}/salvo.db", project=tmp_path)) as server:
        visitor = visit(server)
        visitor.forgive("ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE")
        page = visitor.open("/scenarios")
        expect(page.get_by_text("No runs are stored in this folder yet")).to_be_visible()
        assert barriers(page) == []
        fill(tmp_path, days=1, runs=2)
        expect(_rows(page, "Batches")).to_have_count(4)
        server.stop()
        expect(page.get_by_text("Connection lost.")).to_be_visible()


@pytest.mark.parametrize(
    "batch_id, command",
    [
        ("1b0interrupted00", "salvo run --resume 1b0interrupted00"),
        ("1b0000000wd44bd4pgbz000djdhy", "the same salvo run --batch or --shard again."),
    ],
    ids=["by its id", "by its name"],
)
def test_a_batch_says_how_its_missing_runs_are_made(visit: Visit, tmp_path: Path, batch_id: str, command: str) -> None:
    stored(tmp_path, (a_stored_batch(batch_id, runs=3), [a_result(1, batch_id=batch_id)]))
    for file in (tmp_path / ".salvo").rglob("*"):
        os.utime(file, (0, 0))  # nothing has happened for a long time, so the batch does not run any more
    with WebServer(Settings(f"sqlite:///{tmp_path}/salvo.db", project=tmp_path)) as server:
        page = visit(server).open(f"/scenarios/batches/{batch_id}")
        expect(_section(page, "Runs not executed")).to_contain_text(f"Run them with {command}")


def test_missing_runs_and_batches_are_reported(board: Board, visit: Visit) -> None:
    visitor = visit(board)
    visitor.forgive("status of 404")
    page = visitor.open("/scenarios/runs/nothing")
    expect(page.get_by_role("alert")).to_contain_text("No run has an id that begins with 'nothing'.")
    page.goto("/scenarios/compare")
    expect(page.get_by_text("Select two batches")).to_be_visible()


def _rows(page: Page, table: str) -> Locator:
    return page.get_by_role("region", name=table, exact=True).locator("tbody tr")


def _section(page: Page, title: str) -> Locator:
    return page.locator("section").filter(has=page.get_by_role("heading", name=title, exact=True))


def _batches(board: Board) -> list[Batch]:
    return [batch for batch in board.store.newest_first() if batch.batch_id.startswith("1m7000")]


def _top(locator: Locator) -> float:
    box = locator.bounding_box()
    assert box is not None
    return box["y"]


def _fits(page: Page) -> None:
    """Assert that the page is not wider than the window."""
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
