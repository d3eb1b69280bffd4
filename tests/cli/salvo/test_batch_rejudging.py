"""`salvo score --judges batch` and `salvo judge --judges batch`, and their votes the next day."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.support.greeting import (
    GREET,
    JUDGE_POLITENESS,
    LOOKS_ONCE,
    agent_and_judge,
    backdate_batches,
    by_the_text,
    tidy_lines,
    verdict,
)
from tests.support.processes import wait_until
from tests.support.project import UserProject
from tests.support.provider import Answer, LoopbackProvider, ProviderRequest, Say
from tests.support.provider.batches import How

POLITE = """
scenario: greet
adapter: openai
model: gpt-5.4-mini
user_message: Greet the customer.
min_pass_rate: 0.4
assertions:
  - {type: jmespath, path: final_text, operator: exists}
  - {type: llm_judge, name: polite, rubric: The greeting is polite., k: 3}
"""
SCORE = ("score", "latest", "polite.yaml", "-j", "1")
JUDGE = ("judge", "latest", "--times", "2", "-j", "1")
BATCH = ("--judges", "batch")


@pytest.fixture
def greeted(project: UserProject) -> UserProject:
    project.write("scenarios/book_flight.yaml", GREET + JUDGE_POLITENESS)
    project.write("polite.yaml", POLITE)
    return project


def score_id(project: UserProject) -> str:
    return max(folder.name for folder in (project.store / "scores").iterdir())


def scores(project: UserProject) -> list[dict[str, Any]]:
    files = sorted((project.store / "scores" / score_id(project)).glob("*-????.json"))
    return [json.loads(file.read_text()) for file in files]


def judgings(project: UserProject) -> list[dict[str, Any]]:
    [file] = (project.store / "judgings").glob("*.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def judge_calls(provider: LoopbackProvider) -> int:
    return len([request for request in provider.requests if request.system])


def test_scores_are_collected_the_next_day_and_cost_half(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "4", "-j", "1")
        calls = judge_calls(provider)
        shown = greeted.salvo(*SCORE, *BATCH)
        assert judge_calls(provider) == calls, "no judge is called directly"
        assert greeted.salvo("report", score_id(greeted)).stdout in shown.stdout
        early = greeted.salvo("collect")
        provider.end_batches()
        collected = greeted.salvo("collect", score_id(greeted))
        again = greeted.salvo("collect")
        batched = scores(greeted)
        greeted.salvo(*SCORE)
        direct = scores(greeted)
    assert shown.exit_code == 3
    assert tidy_lines(shown.stdout) == snapshot(
        [
            "greet  0/4 runs  pass-rate: unknown  avg-score: unknown",
            "─────────────────────────────────────────────────────────",
            "final_text    4/4 passed",
            "polite        0/0 passed",
            "─────────────────────────────────────────────────────────",
            "4 runs wait for their judges, which were asked through a provider's batch API.",
            "  salvo collect score-ID",
            "verdict    open: no run has a verdict yet; 4 runs wait for their judges",
            "cost       $0.000090; judge: not known before the votes are collected",
            "Scored with polite.yaml.",
            "The agent did not run again: latency, and cost without the judges, are those of the batch.",
            "Stored as score-ID, which `salvo report` and `salvo compare` take.",
        ]
    )
    assert tidy_lines(shown.stderr) == snapshot(
        [
            "Calls go to http://LOOPBACK/v1, with OPENAI_BASE_URL, OPENAI_API_KEY.",
            "1/4 runs prepared",
            "2/4 runs prepared",
            "3/4 runs prepared",
            "4/4 runs prepared",
            "12 votes of gpt-5.4-mini sent to the batch API as batch_0000.",
        ]
    )
    assert (early.exit_code, early.stdout) == (3, shown.stdout)
    assert collected.exit_code == 0, collected.output
    assert tidy_lines(collected.stdout) == snapshot(
        [
            "greet  4/4 runs  pass-rate: 50%  avg-score: 0.75",
            "─────────────────────────────────────────────────────────",
            "final_text    4/4 passed",
            "polite        2/4 passed",
            "─────────────────────────────────────────────────────────",
            "2 failures. Show with:",
            "  salvo report ID-0002 --score score-ID",
            "  salvo report ID-0004 --score score-ID",
            "verdict    passed: 2 of 4 completed runs passed (observed; not shown: the runs are compatible with 6%); min_pass_rate is 40%",
            "pass rate  50%, 95% interval 6% to 94%: 2 of 4 shows at least 6%",
            "pass^k     1: 50% (6% to 94%)  (the chance that k runs all pass)",
            "cost       $0.000090, $0.000022 per run; judge: $0.0021 through the batch API, at half the price",
            "identical  4 of 4 runs have the same calls and output as another",
            "Scored with polite.yaml: of 4 runs of the batch ID, 0 pass that did not, and 0 no longer pass.",
            "The agent did not run again: latency, and cost without the judges, are those of the batch.",
            "Stored as score-ID, which `salvo report` and `salvo compare` take.",
        ]
    )
    assert tidy_lines(collected.stderr) == snapshot(
        ["batch_0000: completed (12 votes of gpt-5.4-mini).", "4 runs judged."]
    )
    assert (again.exit_code, again.stderr) == (0, "No run waits for a judge.\n")
    assert [item.pop("judge_cost") for item in batched] == [item.pop("judge_cost") / 2 for item in direct]
    assert batched == direct


def test_judgings_are_collected_the_next_day_and_cost_half(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2", "-j", "1")
        calls = judge_calls(provider)
        shown = greeted.salvo(*JUDGE, *BATCH)
        again = greeted.salvo(*JUDGE)
        assert judge_calls(provider) == calls, "what waits is not asked directly either"
        early = greeted.salvo("collect")
        provider.end_batches()
        collected = greeted.salvo("collect", "latest")
        direct = greeted.salvo("judge", "latest", "--times", "3", "-j", "1")
    assert shown.exit_code == again.exit_code == early.exit_code == 3
    assert tidy_lines(shown.stdout) == snapshot(
        [
            "greet, batch ID: 0 of 4 judgings.",
            "4 judgings wait for their votes, which were asked for through a provider's batch API.",
            "  salvo collect ID",
        ]
    )
    assert tidy_lines(shown.stderr) == snapshot(
        [
            "Calls go to http://LOOPBACK/v1, with OPENAI_BASE_URL, OPENAI_API_KEY.",
            "1/4 judgings prepared",
            "2/4 judgings prepared",
            "3/4 judgings prepared",
            "4/4 judgings prepared",
            "12 votes of gpt-5.4-mini sent to the batch API as batch_0000.",
        ]
    )
    assert again.stdout == early.stdout == shown.stdout
    assert collected.exit_code == 0, collected.output
    assert tidy_lines(collected.stdout) == snapshot(
        [
            "polite: the judge always gave the same verdict on each of 2 transcripts; 0% (95% 0% to 85%) of the variation of the verdicts comes from the judge, the rest from the agent.",
            "  flip rate  0% of the verdicts (3 votes each), 0% of single votes",
            "  agreement  100% of the verdicts, 100% of the votes; Krippendorff's alpha 1.00",
            "  verdicts   2 of 4 passed",
            "  stored     0 of 2 stored verdicts differ from most judgings",
            "  next       more runs would make the pass rate more precise than more votes (the standard error is 50.0 points; 50.0 with two more votes per run; 39.1 with more runs for the same cost)",
            "  cost       $0.0021 through the batch API, at half the price",
            "greet, batch ID: 4 judgings.",
        ]
    )
    assert tidy_lines(collected.stderr) == snapshot(
        ["batch_0000: completed (12 votes of gpt-5.4-mini).", "4 judgings made."]
    )
    assert [line for line in tidy_lines(direct.stdout) if "cost" in line] == snapshot(
        [
            "  next       more runs would make the pass rate more precise than more votes (the standard error is 50.0 points; 50.0 with two more votes per run; 39.0 with more runs for the same cost)",
            "  cost       $0.0042; 4 judgings through the batch API, at half the price",
        ]
    )
    stored = judgings(greeted)
    assert [(item["time"], item["batched"]) for item in stored] == [(1, True), (2, True)] * 2 + [(3, False)] * 2
    costs = {item["batched"]: item["verdicts"][0].pop("cost") for item in stored}
    assert costs[True] == costs[False] / 2
    assert stored[0]["verdicts"] == stored[4]["verdicts"], "a vote is the same, however it was asked for"


@pytest.mark.parametrize("command", [SCORE, JUDGE], ids=["score", "judge"])
@pytest.mark.parametrize("fault", ["hung first", "hung"])
def test_a_command_that_is_killed_while_it_submits_loses_nothing_and_pays_once(
    greeted: UserProject, command: tuple[str, ...], fault: str
) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2", "-j", "1")
        calls = judge_calls(provider)
        provider.batch_api.faults.append(fault)
        process = greeted.process(*command, *BATCH)
        wait_until(lambda: provider.batch_api.hanging)
        process.kill()
        process.communicate()
        backdate_batches(greeted)
        provider.end_batches()
        greeted.salvo("collect")
        provider.end_batches()
        collected = greeted.salvo("collect")
        votes = judge_calls(provider) - calls
    assert len(provider.batch_api.batches) == 1, collected.output
    assert votes == (2 * 3 if command is SCORE else 2 * 2 * 3), "each vote is paid for once"
    results = scores(greeted) if command is SCORE else judgings(greeted)
    assert len(results) == (2 if command is SCORE else 4)


def _unusable(_request: ProviderRequest) -> Answer:
    return Say("I think that it is fine.")


@pytest.mark.parametrize(
    "judge, how, reason",
    [
        (by_the_text, "failed", "The file has a model that is not available."),
        (_unusable, "completed", "Through the batch API a question is asked once"),
    ],
)
def test_a_failed_item_is_no_vote(
    greeted: UserProject, judge: Callable[[ProviderRequest], Answer], how: How, reason: str
) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "1")
        provider.play(agent_and_judge(judge))
        greeted.salvo(*SCORE, *BATCH)
        greeted.salvo(*JUDGE, *BATCH)
        provider.end_batches(how)
        collected = greeted.salvo("collect")
        provider.play(agent_and_judge(by_the_text))
        asked_again = greeted.salvo(*JUDGE, *BATCH)
        provider.end_batches()
        complete = greeted.salvo("collect", "latest")
    assert collected.exit_code == 3, collected.output
    [score] = scores(greeted)
    assert (score["outcome"], score["cause"], score["weighted_score"]) == ("error", "judge", None)
    assert reason in score["error"]
    assert {vote for item in judgings(greeted)[:2] for vote in item["verdicts"][0]["votes"]} == {None}
    assert "6 votes of gpt-5.4-mini sent" in asked_again.stderr, "a judging without a vote is asked for again"
    assert complete.exit_code == 0, complete.output
    assert {vote for item in judgings(greeted)[2:] for vote in item["verdicts"][0]["votes"]} == {True}


@pytest.mark.parametrize(
    "command, folder, stopped",
    [
        (SCORE, "pending-scores", "3 × not run: the budget of $0.001 is spent"),
        (JUDGE, "pending-judgings", "7 of 8 judgings were not made: the budget of $0.001 is spent"),
    ],
    ids=["score", "judge"],
)
def test_a_budget_counts_the_votes_that_wait(
    greeted: UserProject, command: tuple[str, ...], folder: str, stopped: str
) -> None:
    """The votes on one run cost about $0.002."""
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "4", "-j", "1")
        shown = greeted.salvo(*command, *BATCH, "--max-cost", "0.001")
    assert shown.exit_code == 3
    assert len(list((greeted.store / folder).rglob("*.json"))) == 1
    assert stopped in shown.output


def test_a_scoring_that_is_resumed_makes_only_what_does_not_wait(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "3", "-j", "1")
        greeted.salvo(*SCORE, *BATCH, "--max-cost", "0.001")
        resumed = greeted.salvo("score", "--resume", score_id(greeted), "-j", "1")
        assert greeted.salvo("score", "--resume", score_id(greeted), *BATCH).exit_code == 2
        provider.end_batches()
        collected = greeted.salvo("collect")
    assert resumed.exit_code == 3, resumed.output
    assert [len(batch.items) for batch in provider.batch_api.batches] == [3, 6]
    assert "3 runs judged." in collected.stderr
    assert len(scores(greeted)) == 3


def test_an_assertion_without_a_judge_is_evaluated_once(greeted: UserProject) -> None:
    greeted.write("looks_once.py", LOOKS_ONCE)
    greeted.write("polite.yaml", POLITE + "  - {type: custom, function: looks_once.check}\n")
    with LoopbackProvider(agent_and_judge(lambda _: verdict(True))) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "1")
        greeted.salvo(*SCORE, *BATCH)
        provider.end_batches()
        collected = greeted.salvo("collect")
    assert collected.exit_code == 0, collected.output
    assert (greeted.folder / "calls").read_text() == "x"


def test_a_scoring_says_how_its_own_judges_were_asked(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2", "-j", "1", *BATCH)
        provider.end_batches()
        collected = greeted.salvo("collect")
        scored = greeted.salvo(*SCORE)
    assert "at half the price" in collected.stdout
    assert "at half the price" not in scored.stdout, "these judges were called directly"


def test_everything_that_waits_is_collected_and_one_document_is_of_one_thing(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2", "-j", "1", *BATCH)
        provider.end_batches()
        greeted.salvo("collect")
        greeted.salvo(*SCORE, *BATCH)
        greeted.salvo(*JUDGE, *BATCH)
        refused = [greeted.salvo("collect", *option) for option in (("--json",), ("-o", "votes.xml"))]
        baseline = greeted.salvo("collect", "--against-baseline")
        provider.end_batches()
        scored = greeted.salvo("collect", score_id(greeted), "--json", "-o", "votes.xml")
        judged = greeted.salvo("collect", "latest", "--json")
        greeted.salvo("run", "-n", "1", *BATCH)
        greeted.salvo(*SCORE, *BATCH)
        provider.end_batches()
        everything = greeted.salvo("collect")
    for shown in (*refused, baseline):
        assert (shown.exit_code, "score-" in shown.stderr) == (2, True), shown.output
    [batch] = json.loads(scored.stdout)["batches"]
    assert (batch["batch_id"].startswith("score-"), batch["passed"], batch["failed"]) == (True, 1, 1)
    assert (greeted.folder / "votes.xml").exists()
    assert everything.stderr.count("1 run judged.") == 2, everything.output
    assert (judged.exit_code, json.loads(judged.stdout)["pending"]) == (0, 0)


def test_what_waits_is_stored_in_an_object_store(greeted: UserProject, bucket: str) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.environ["SALVO_STORE"] = bucket
        greeted.salvo("run", "-n", "2", "-j", "1")
        for command in (SCORE, JUDGE):
            shown = greeted.salvo(*command, *BATCH)
            assert shown.exit_code == 3, shown.output
            assert greeted.salvo("collect").exit_code == 3
            provider.end_batches()
            done = "2 runs judged." if command is SCORE else "4 judgings made."
            assert done in greeted.salvo("collect").stderr
        assert greeted.salvo("collect").stderr.endswith("No run waits for a judge.\n")
    assert len(provider.batch_api.batches) == 2


def test_two_commands_never_ask_the_same_judges_again_at_once(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2", "-j", "1")
        provider.batch_api.faults.append("hung first")
        process = greeted.process(*JUDGE, *BATCH)
        wait_until(lambda: provider.batch_api.hanging)
        refused = [greeted.salvo(*JUDGE), greeted.salvo("collect")]
        process.kill()
        process.communicate()
    for shown in refused:
        assert (shown.exit_code, "are being judged again by process" in shown.stderr) == (2, True), shown.output


def test_no_key_is_stored(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "1")
        greeted.salvo(*SCORE, *BATCH)
        greeted.salvo(*JUDGE, *BATCH)
        provider.end_batches()
        greeted.salvo("collect")
    stored = greeted.everything_stored()
    assert not any(key in stored for key in greeted.environ.values() if key.startswith("sk-"))
