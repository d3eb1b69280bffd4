"""How far a judge is right, as people see it on the page: labels, agreement, kappa, and the corrected pass rate."""

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import APIRequestContext, expect

from tests.e2e.conftest import Connect, Visit
from tests.support.browser import assert_accessible
from tests.support.greeting import verdict
from tests.support.playbook_page import ask, evaluate
from tests.support.provider import Answer, LoopbackProvider, ProviderRequest, Say
from tests.support.web import CAREFUL, CARELESS, ServerProcess, server_process
from tests.support.wires import environment

TEXTS = 8
CHECK = "certainty_language"
GREET = """
scenario: greet
adapter: openai
model: gpt-5.4-mini
user_message: Greet the customer.
runs: 20
min_pass_rate: 0.8
labels: {}
assertions:
  - {type: llm_judge, name: polite, rubric: The greeting is polite.}
"""


@pytest.fixture
def dashboard(tmp_path: Path) -> Iterator[ServerProcess]:
    (tmp_path / ".salvo").mkdir()
    (tmp_path / "greet.yaml").write_text(GREET)

    numbers = itertools.count(1)

    def answer(request: ProviderRequest) -> Answer:
        return verdict(True) if request.system else Say(f"Good morning, {next(numbers)}.")

    salvo = [sys.executable, "-c", "from salvo.cli.salvo import salvo; salvo()"]
    with LoopbackProvider(answer) as provider:
        environ = {**os.environ, **environment(provider)}
        ran = subprocess.run([*salvo, "run"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 4, ran.stderr
    with server_process(tmp_path, served_by="salvo dashboard") as server:
        yield server


def test_as_many_labels_as_the_page_asks_for_settle_the_pass_rate(dashboard: ServerProcess, visit: Visit) -> None:
    page = visit(dashboard, color_scheme="light").open("/scenarios")
    page.get_by_role("region", name="Batches", exact=True).get_by_role("link").first.click()
    settle = "9 more labels of runs judged passed would settle it, if people agree with the judge"
    expect(page.get_by_label("Verdict", exact=True)).to_contain_text(settle)
    page.get_by_role("link", name="Review runs").click()
    banner = page.get_by_label("Verdict by labels")
    expect(banner).to_contain_text("INCONCLUSIVE")
    expect(banner).to_contain_text(settle)
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Runs that you label in all").fill("9")
    page.keyboard.press("Enter")
    card = page.get_by_role("region", name="polite")
    for left in range(9, 0, -1):
        expect(card.get_by_role("status")).to_contain_text(re.compile(rf"^{left} questions? left"))
        page.keyboard.press("p")
    expect(banner).to_contain_text("PASSED")
    expect(
        page.get_by_text(re.compile(r"100%, 95% interval 80\.1% to 100%, of these 20 runs; 9 labelled"))
    ).to_be_visible()
    expect(page.get_by_role("row", name="Judged passed")).to_have_text("Judged passed209900")
    assert_accessible(page)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with server_process(tmp_path) as server:
        yield server


def decide_all(api: APIRequestContext, reviewer: str, failing: set[str]) -> None:
    """Decide every check blind: those of the careless texts fail, and so do those of the texts named."""
    (series,) = ask(api, "GET", "/api/blind-reviews")
    request = {name: series[name] for name in ("playbook_hash", "evaluator")} | {
        "reviewer": reviewer,
        "number": 8 * TEXTS,
    }
    progress: dict[str, Any] = ask(api, "POST", "/api/blind-reviews/next", request)
    while question := progress["assignment"]:
        text = question["texts"]["ai_output"]
        fails = text.startswith(CARELESS) or question["report_id"] in failing
        decision = {name: question[name] for name in ("report_id", "check_id")}
        decision["result"] = "fail" if fails else "pass"
        progress = ask(api, "POST", "/api/blind-reviews", {**request, **decision})


def test_agreement_kappa_and_the_corrected_rate_of_a_check_are_shown_with_intervals(
    server: ServerProcess, visit: Visit, connect: Connect
) -> None:
    api = connect(server)
    for number in range(TEXTS):
        evaluate(api, f"{CARELESS} {number}")
    careful = [evaluate(api, f"{CAREFUL} {number}") for number in range(TEXTS)]
    decide_all(api, "Ada Brown", set(careful[:2]))
    decide_all(api, "Bob Lee", set(careful[:2]))

    page = visit(server, color_scheme="dark").open("/review/blind")
    page.get_by_text("Show results of the evaluator and of people").click()
    region = page.get_by_role("region", name="Certainty language", exact=True)
    # The evaluator passed 8 of 16; people would pass 6 of these.
    expect(region).to_contain_text("8 of 16")
    expect(region).to_contain_text(re.compile(r"38%, 95% interval 37% to 38%, by 16 decisions of 16"))
    expect(region).to_contain_text(re.compile(r"Cohen.s kappa\s*0\.75"))
    region.get_by_text("Passed by the evaluator, failed by people: 2 reports").click()
    for report in careful[:2]:
        expect(region.get_by_role("link", name=f"Report {report}")).to_be_visible()
    expect(page.get_by_text(re.compile("^Ada Brown and Bob Lee agree on "))).to_be_visible()
    assert_accessible(page)
