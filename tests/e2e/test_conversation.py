"""A conversation on the page and in the HTML file: a chat with the assertions beside what they are about."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import Visit
from tests.support.browser import assert_accessible
from tests.support.web import ServerProcess, server_process

AGENT = """
from salvo import AdapterResponse, BaseAdapter

class Shop(BaseAdapter):
    async def run(self, request):
        if len(request.messages) == 1:
            return AdapterResponse("Which order is it? <b>Tell</b> me.")
        await self.context.toolbox.call("find_order", {"id": "A-1001"})
        return AdapterResponse("You get 25 dollars back.")
"""
RETURN = """
scenario: return
adapter: agent:Shop
system_prompt: You work for a shop.
tools: [{name: find_order, parameters: {type: object, properties: {id: {type: string}}}, response: {total: 25}}]
turns:
  - user: I want to return my kettle.
    assertions: [{type: text, name: asks for the number, contains_all: [number]}]
  - user: It is order A-1001.
assertions:
  - {type: tool_sequence, name: finds it, expected: [find_order]}
  - {type: text, name: says dollars, contains_all: [dollars]}
"""
USER = """
class Customer:
    def __init__(self):
        self.number = len(list(Path(__file__).parent.glob("talk-*")))
        (Path(__file__).parent / f"talk-{self.number}").touch()

    def next_message(self, transcript):
        return None if len(transcript) == 4 else 404 if self.number == 0 else "I want to return my kettle."
"""
TALK = """
scenario: talk
adapter: agent:Shop
tools: [{name: find_order, parameters: {type: object, properties: {id: {type: string}}}, response: {total: 25}}]
user: {python: "agent:Customer"}
runs: 3
assertions: [{type: text, contains_all: [dollars]}]
"""
SALVO = [sys.executable, "-c", "from salvo.cli.salvo import salvo; salvo()"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("conversation")
    (folder / ".salvo").mkdir()
    (folder / "agent.py").write_text(AGENT)
    (folder / "return.yaml").write_text(RETURN)
    ran = subprocess.run([*SALVO, "run", "-o", "return.html"], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stderr
    return folder


@pytest.fixture(scope="module")
def board(folder: Path) -> Iterator[ServerProcess]:
    with server_process(folder, served_by="salvo dashboard") as server:
        yield server


def test_the_page_of_a_run_shows_the_turns_as_a_chat(board: ServerProcess, folder: Path, visit: Visit) -> None:
    (file,) = (folder / ".salvo/runs").rglob("*.json")
    page = visit(board).open(f"/scenarios/runs/{json.loads(file.read_text())['run_id']}")
    expect(page.get_by_role("heading", name="Conversation")).to_be_visible()
    first, second = (page.get_by_role("listitem", name=f"Turn {number}", exact=True) for number in (1, 2))
    expect(first).to_contain_text("I want to return my kettle.")
    expect(first).to_contain_text("Which order is it? <b>Tell</b> me.")
    expect(first.get_by_role("list", name="Assertions on step")).to_contain_text("asks for the number")
    expect(second).to_contain_text("You get 25 dollars back.")
    expect(second).to_contain_text("1 tool call")
    page.get_by_role("link", name="step").first.click()
    assert_accessible(page)


@pytest.fixture
def board_with_errors(tmp_path: Path) -> Iterator[ServerProcess]:
    """A batch of three runs, the first of which has no usable user."""
    (tmp_path / ".salvo").mkdir()
    (tmp_path / "agent.py").write_text(f"from pathlib import Path\n{AGENT}{USER}")
    (tmp_path / "talk.yaml").write_text(TALK)
    subprocess.run([*SALVO, "run", "-j", "1"], cwd=tmp_path, capture_output=True, check=False)
    with server_process(tmp_path, served_by="salvo dashboard") as server:
        yield server


def test_the_page_of_a_batch_shows_what_runs_without_a_usable_user_leave_open(
    board_with_errors: ServerProcess, tmp_path: Path, visit: Visit
) -> None:
    (file,) = (tmp_path / ".salvo/batches").glob("*.json")
    page = visit(board_with_errors).open(f"/scenarios/batches/{file.stem}")
    expect(page.get_by_text("2 of 3, 1 error")).to_be_visible()
    bounds = "66% to 100%: the pass rate if the run without a usable user had failed, or passed"
    expect(page.get_by_text(bounds)).to_be_visible()
    expect(page.get_by_text("2.0 to completion on average, 2 to 2")).to_be_visible()
    assert_accessible(page)


def test_the_html_file_shows_the_turns_as_a_chat(folder: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto((folder / "return.html").as_uri())
    expect(page.get_by_text("Conversation (2 turns)")).to_be_visible()
    turns = page.locator(".turn")
    expect(turns).to_have_count(2)
    expect(turns.nth(0).locator(".message.user")).to_contain_text("I want to return my kettle.")
    expect(turns.nth(0).locator(".message.agent")).to_contain_text("<b>Tell</b>")
    expect(turns.nth(0).locator(".concern.failed")).to_contain_text("asks for the number")
    expect(turns.nth(1).locator("summary")).to_contain_text("step")
    assert_accessible(page)
    page.close()
