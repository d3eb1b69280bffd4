"""A real small model as a bad user: no message that breaks a rule is in a run that counts.

It needs a server with the protocol of OpenAI on loopback, such as llama.cpp's with SmolLM2 135M. Nothing is installed
here: SALVO_SMALL_MODEL_URL names the server, and SALVO_SMALL_MODEL its model.
"""

import json
import os

import pytest

from salvo.scenarios.run.conversation.rules import UserFacts, violations
from salvo.scenarios.run.conversation.simulator import INSTRUCTIONS
from tests.support.project import UserProject

pytestmark = [pytest.mark.frameworks, pytest.mark.timeout(900)]

URL = os.environ.get("SALVO_SMALL_MODEL_URL", "")
MODEL = os.environ.get("SALVO_SMALL_MODEL", "smollm2-135m")
FACTS = UserFacts(
    "impatient, writes short sentences", "get the price of one kettle back", {"order_id": "A-1001"}, INSTRUCTIONS
)
SCENARIO = f"""
scenario: bad_user
adapter: function:desk.answer
runs: 10
seed: 1
user:
  model: openai/{MODEL}
  base_url: {URL}
  persona: {FACTS.persona}
  goal: {FACTS.goal}
  knows: {json.dumps(FACTS.knows)}
  temperature: 0.9
  max_tokens: 80
  stop: {{max_turns: 2}}
assertions:
  - {{type: jmespath, path: "length(turns)", operator: gte, value: 1}}
"""
DESK = """
def answer(request):
    found = "1001" in request.user_message
    return "You get 25 dollars back." if found else "I am sorry to hear that. Which order is it, please?"
"""


@pytest.mark.skipif(not URL, reason="SALVO_SMALL_MODEL_URL names no server with a small model")
def test_a_small_model_breaks_no_rule_in_a_run_that_counts(project: UserProject) -> None:
    project.write("bad_user.yaml", SCENARIO)
    project.write("desk.py", DESK)
    project.salvo("run", "bad_user.yaml", "--concurrency", "1")
    runs = [json.loads(file.read_text()) for file in project.runs()]
    assert len(runs) == 10
    assert {(run["outcome"], run["cause"]) for run in runs} <= {("passed", None), ("error", "simulator")}
    for run in runs:
        for number, turn in enumerate(run["turns"]):
            earlier = run["turns"][:number]
            agent, user = ([one[side] for one in earlier] for side in ("agent", "user"))
            assert violations(turn["user"], FACTS, agent, user) == []
