"""The table of tool choices on the page of a batch."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from salvo.scenarios.result import AgentRunResult, Outcome
from tests.e2e.conftest import Visit
from tests.support.browser import assert_accessible
from tests.support.runs import batch, result, stored
from tests.support.web import ServerProcess, server_process

PROMPT = "How many <b>kettles</b> are left?"
SCENARIO = {
    "scenario": "pick",
    "adapter": "mcp",
    "adapter_options": {"prompts": [{"prompt": PROMPT, "tool": "find_product"}]},
}


def run(number: int, chosen: str) -> AgentRunResult:
    choice = {
        "prompt": PROMPT,
        "expected": ["find_product"],
        "chosen": [chosen],
        "right": chosen == "find_product",
        "is_decoy": chosen == "find_supplier",
        "is_offered": chosen != "look_up",
    }
    return result(number, Outcome.PASSED, "1m7choices", final_output={"choices": [choice]}, scenario_id="pick")


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder: Path = tmp_path_factory.mktemp("choices")
    picks = batch("1m7choices", 3, scenario_id="pick", scenario=SCENARIO, provider="mcp")
    stored(folder, (picks, [run(1, "find_product"), run(2, "look_up"), run(3, "find_supplier")]))
    with server_process(folder, served_by="salvo dashboard") as server:
        yield server


def test_a_batch_shows_which_tools_were_chosen_and_marks_decoys(board: ServerProcess, visit: Visit) -> None:
    page = visit(board).open("/scenarios/batches/1m7choices")
    row = page.get_by_role("region", name="Tool choices", exact=True).locator("tbody tr")
    expect(row).to_contain_text(PROMPT)
    expect(row).to_contain_text("1 of 3")
    expect(row.get_by_role("listitem").filter(has_text="find_supplier")).to_contain_text("decoy")
    expect(row.get_by_role("listitem").filter(has_text="look_up")).to_contain_text("not offered")
    assert_accessible(page)
