"""`salvo run --dry-run`: what would be run, where calls would go, what it would cost, and how that was estimated."""

import json

import pytest
from inline_snapshot import snapshot

from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, Say

GREET = """
scenario: greet
adapter: openai
model: gpt-5.4-mini
runs: 10
user_message: Greet the customer.
assertions:
  - {type: jmespath, path: final_text, operator: exists}
"""
GREETING = Say("Good morning!", usage={"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000})


@pytest.fixture
def greeted(project: UserProject) -> UserProject:
    project.write("scenarios/book_flight.yaml", GREET)
    return project


def test_nothing_is_called_or_stored_and_the_destination_is_named(greeted: UserProject) -> None:
    with LoopbackProvider(lambda _: GREETING) as provider:
        greeted.reach(provider)
        shown = greeted.salvo("run", "--dry-run", "--record", "--max-cost", "2")
        assert not provider.requests
    assert shown.exit_code == 0
    assert not (greeted.store / "batches").exists()
    assert shown.stdout.replace(provider.openai_url, "URL") == snapshot("""\
greet: 10 runs of openai/gpt-5.4-mini, recorded (scenarios/book_flight.yaml)
  at least about $0.000060: only the first request of each run, about 8 tokens of 4 characters, because no earlier run of it was completed; answers, further turns and judges come on top

Calls go to URL, with OPENAI_BASE_URL, OPENAI_API_KEY.
Estimated cost: at least about $0.000060.
No more runs would be started once $2.00 is spent (--max-cost).
Nothing was run, and nothing was stored.
""")


def test_the_cost_is_the_average_of_earlier_runs_with_the_same_model(greeted: UserProject) -> None:
    with LoopbackProvider(lambda _: GREETING) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2")
    cost = json.loads(greeted.runs()[0].read_bytes())["metrics"]["cost"]
    shown = json.loads(greeted.salvo("run", "--dry-run", "--json").stdout)
    [scenario] = shown["scenarios"]
    assert scenario["runs"] == 10
    assert scenario["cost"]["dollars"] == pytest.approx(10 * cost)
    assert scenario["cost"]["is_lower_bound"] is False
    assert scenario["cost"]["basis"] == "$0.750 per run, the average of 2 earlier runs with this model"


def test_the_tokens_of_another_model_are_priced_as_this_one(greeted: UserProject) -> None:
    greeted.write("mine.toml", '"openai/other" = {input = 3, output = 1}')
    with LoopbackProvider(lambda _: GREETING) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2")
    shown = greeted.salvo("run", "--dry-run", "--model", "other", "--prices", "mine.toml").stdout
    assert (
        "about $30.00: the tokens of 2 earlier runs with other models, at the prices of openai/other ($3 / $1)" in shown
    ), shown


def test_what_is_not_known_stays_unknown(greeted: UserProject) -> None:
    greeted.environ = {"OPENAI_API_KEY": "sk-test-1234567890"}
    shown = greeted.salvo("run", "--dry-run", "--model", "nobody-knows").stdout
    assert "cost unknown: no earlier run of it was completed, and there is no price for openai/nobody-knows" in shown
    assert "Estimated cost: unknown." in shown
    greeted.write("agent.py", "def agent(request):\n    return 'hello'\n")
    own = GREET.replace("adapter: openai\nmodel: gpt-5.4-mini", "adapter: function:agent.agent")
    greeted.write("scenarios/book_flight.yaml", own)
    assert "its own code decides which models it calls" in greeted.salvo("run", "--dry-run").stdout


def test_runs_whose_cost_is_not_known_are_not_called_missing_and_their_tokens_are_priced(greeted: UserProject) -> None:
    with LoopbackProvider(lambda _: GREETING) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2", "--model", "other")
    unpriced = greeted.salvo("run", "--dry-run", "--model", "other").stdout
    assert "cost unknown: its earlier runs have no known cost, and there is no price for openai/other" in unpriced
    greeted.write("mine.toml", '"openai/other" = {input = 3, output = 1}')
    priced = greeted.salvo("run", "--dry-run", "--model", "other", "--prices", "mine.toml").stdout
    assert "about $30.00: the tokens of 2 earlier runs with this model, at the prices of openai/other" in priced


def test_a_resumed_batch_counts_only_what_is_missing_and_until_sure_its_most_runs(greeted: UserProject) -> None:
    with LoopbackProvider(lambda _: GREETING) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "3")
        greeted.runs()[-1].unlink()
        assert "greet: 1 run of openai/gpt-5.4-mini" in greeted.salvo("run", "--dry-run", "--resume", "latest").stdout
        options = ("--until-sure", "--max-runs", "50", "--min-pass-rate", "0.9")
        planned = greeted.salvo("run", "--dry-run", *options).stdout
        assert "greet: up to 50 runs of openai/gpt-5.4-mini" in planned
        assert "This is for all runs up to --max-runs; it costs less if fewer settle the verdict." in planned
        assert len(provider.requests) == 3


def test_replies_of_the_cache_are_no_part_of_the_estimate(greeted: UserProject) -> None:
    with LoopbackProvider(lambda _: GREETING) as provider:
        greeted.reach(provider)
        shown = [greeted.salvo("run", "--dry-run", *options).stdout for options in ((), ("--cache",))]
    assert ["Replies that the cache has would cost nothing (--cache)" in text for text in shown] == [False, True]


def test_an_unknown_judge_is_said_and_makes_it_a_lower_bound(greeted: UserProject) -> None:
    judged = GREET + "  - {type: llm_judge, rubric: It is polite., k: 1, model: openai/nobody-knows}\n"
    greeted.write("scenarios/book_flight.yaml", judged)
    grade = Say(json.dumps({"passed": True, "reason": "fine"}))
    with LoopbackProvider(lambda request: grade if request.system else GREETING) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "1")
    shown = greeted.salvo("run", "--dry-run").stdout
    assert "at least about $" in shown
    assert "the cost of its judges is not known" in shown
