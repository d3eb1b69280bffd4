"""A scenario in which an agent greets well and badly by turns, and a judge of politeness who may be asked in batches."""

import json
import re
from collections.abc import Callable

from tests.support.project import UserProject
from tests.support.provider import Answer, ProviderRequest, Say

GREET = """
scenario: greet
adapter: openai
model: gpt-5.4-mini
user_message: Greet the customer.
assertions:
  - {type: jmespath, path: final_text, operator: exists}
"""
JUDGE_POLITENESS = "  - {type: llm_judge, name: polite, rubric: The greeting is polite., k: 3}\n"
LOOKS_ONCE = """
import pathlib

def check(scenario, assertion, result):
    with pathlib.Path("calls").open("a") as file:
        file.write("x")
    return True
"""


def verdict(passed: bool) -> Answer:
    return Say(json.dumps({"passed": passed, "reason": "so it seems"}))


def agent_and_judge(judge: Callable[[ProviderRequest], Answer]) -> Callable[[ProviderRequest], Answer]:
    """The agent greets well and badly by turns; whoever has a system prompt is the judge."""
    greetings = iter(["Good morning!", "What?"] * 1000)
    return lambda request: judge(request) if request.system else Say(next(greetings))


def by_the_text(request: ProviderRequest) -> Answer:
    return verdict("Good morning!" in str(request.body))


def backdate_batches(project: UserProject) -> None:
    """Make every planned batch older than any request of a killed process could be."""
    for file in (project.store / "question-batches").glob("*/batch.json"):
        batch = json.loads(file.read_text())
        batch["planned_at"] = "2026-11-18T00:00:00+00:00"
        file.write_text(json.dumps(batch))


def tidy_lines(text: str) -> list[str]:
    """Return the lines of an output that are the same each time, without random ids and ports."""
    text = re.sub(r"\b[0-9a-z]{16}\b", "ID", re.sub(r"127\.0\.0\.1:\d+", "LOOPBACK", text))
    return [line for line in text.splitlines() if line and not line.startswith("latency")]
