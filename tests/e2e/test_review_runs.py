"""Judged runs are labelled on the page, blind and by keyboard alone, and the pass rate is corrected by the labels."""

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit
from tests.support.browser import assert_accessible
from tests.support.greeting import verdict
from tests.support.provider import Answer, LoopbackProvider, ProviderRequest, Say
from tests.support.web import ServerProcess, server_process
from tests.support.wires import environment

GREET = """
scenario: greet
adapter: openai
model: gpt-5.4-mini
user_message: Greet the customer.
runs: 16
min_pass_rate: 0.6
labels: {}
assertions:
  - {type: llm_judge, name: polite, rubric: The greeting is polite., k: 3}
"""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder: Path = tmp_path_factory.mktemp("review")
    (folder / ".salvo").mkdir()
    (folder / "greet.yaml").write_text(GREET)
    numbers = itertools.count(1)

    def answer(request: ProviderRequest) -> Answer:
        if request.system:
            return verdict("morning" in str(request.body))
        number = next(numbers)
        return Say(f"<b>What</b>, {number}?" if number % 4 == 0 else f"Good morning, {number}")

    salvo = [sys.executable, "-c", "from salvo.cli.salvo import salvo; salvo()"]
    with LoopbackProvider(answer) as provider:
        environ = {**os.environ, **environment(provider)}
        ran = subprocess.run([*salvo, "run"], cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 4, ran.stderr
    with server_process(folder, served_by="salvo dashboard") as server:
        yield server


def test_runs_are_labelled_blind_with_the_keyboard_until_the_verdict_is_settled(
    board: ServerProcess, visit: Visit
) -> None:
    page = visit(board, color_scheme="dark").open("/scenarios")
    page.get_by_role("region", name="Batches", exact=True).get_by_role("link").first.click()
    expect(page.get_by_label("Verdict", exact=True)).to_contain_text("no run is labelled")
    page.get_by_role("link", name="Review runs").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review greet")
    expect(page.get_by_label("Verdict by labels")).to_contain_text("INCONCLUSIVE")
    assert_accessible(page)
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Runs that you label in all").fill("16")
    page.keyboard.press("Enter")

    card = page.get_by_role("region", name="polite")
    expect(card.get_by_role("status")).to_contain_text("16 questions left, 0 runs labelled by Ada")
    assert_accessible(page)
    for left in range(16, 0, -1):
        expect(card.get_by_role("status")).to_contain_text(f"{left} question")
        text = card.inner_text()
        assert "so it seems" not in text, "the judge's reason"
        assert "judged" not in page.locator("main").inner_text().lower()
        page.keyboard.press("p" if "morning" in text else "f")
        if left == 10:  # an answer can be changed
            expect(card.get_by_role("status")).to_contain_text("9 questions left")
            back = card.get_by_role("button", name="Change the previous answer")
            page.keyboard.press("b")
            expect(back).to_be_hidden()
            expect(card).to_contain_text("morning" if "morning" in text else "What")
            page.keyboard.press("p" if "morning" in text else "f")
            expect(back).to_be_visible()

    expect(page.get_by_text("You have labelled 16 runs.")).to_be_visible()
    expect(page.get_by_label("Verdict by labels")).to_contain_text("PASSED")
    expect(page.get_by_text("75%, 95% interval 75% to 75%, of these 16 runs; 16 labelled")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("link", name=re.compile("^Batch ")).click()
    expect(page.get_by_label("Verdict", exact=True)).to_contain_text("corrected by labels of 16 of 16 runs")
