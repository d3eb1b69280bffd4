"""A scenario in which an agent greets well and badly by turns, and a judge of politeness."""

import json
from collections.abc import Callable

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


def verdict(passed: bool) -> Answer:
    return Say(json.dumps({"passed": passed, "reason": "so it seems"}))


def agent_and_judge(judge: Callable[[ProviderRequest], Answer]) -> Callable[[ProviderRequest], Answer]:
    """The agent greets well and badly by turns; whoever has a system prompt is the judge."""
    greetings = iter(["Good morning!", "What?"] * 1000)
    return lambda request: judge(request) if request.system else Say(next(greetings))


def by_the_text(request: ProviderRequest) -> Answer:
    return verdict("Good morning!" in str(request.body))
