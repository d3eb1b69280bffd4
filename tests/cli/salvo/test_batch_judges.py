"""`salvo run --judges batch` and `salvo collect`: judges are asked through the providers' batch APIs."""

import json
from collections.abc import Callable
from pathlib import Path
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
from tests.support.provider import Answer, Fault, LoopbackProvider, ProviderRequest, Say
from tests.support.provider.batches import How

CLAUDE = "  - {type: llm_judge, name: kind, rubric: The greeting is kind., model: anthropic/claude-haiku-4-5, k: 3}\n"


@pytest.fixture
def greeting(project: UserProject) -> UserProject:
    project.write("scenarios/book_flight.yaml", GREET + JUDGE_POLITENESS)
    return project


def results(project: UserProject) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in project.runs()]


def test_the_votes_are_collected_the_next_day_and_cost_half(greeting: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        shown = greeting.salvo("run", "-n", "4", "-j", "1", "--judges", "batch")
        direct_calls = len(provider.requests)
        early = greeting.salvo("collect")
        provider.end_batches()
        collected = greeting.salvo("collect", "latest")
        again = greeting.salvo("collect")
    assert direct_calls == 4, "only the agent is called directly"
    assert shown.exit_code == 3
    assert tidy_lines(shown.stdout) == snapshot(
        [
            "greet  0/4 runs  pass-rate: unknown  avg-score: unknown",
            "─────────────────────────────────────────────────────────",
            "final_text    4/4 passed",
            "polite        0/0 passed",
            "─────────────────────────────────────────────────────────",
            "4 runs wait for their judges, which were asked through a provider's batch API.",
            "  salvo collect ID",
            "verdict    open: no run has a verdict yet; 4 runs wait for their judges",
            "cost       $0.000090; judge: not known before the votes are collected",
            "Overall: not judged, because 4 runs wait for judges.",
        ]
    )
    assert tidy_lines(shown.stderr) == snapshot(
        [
            "Calls go to http://LOOPBACK/v1, with OPENAI_BASE_URL, OPENAI_API_KEY.",
            "1/4 runs done, 0 passed, 1 waiting for judges, <$0.0001",
            "2/4 runs done, 0 passed, 2 waiting for judges, <$0.0001",
            "3/4 runs done, 0 passed, 3 waiting for judges, <$0.0001",
            "4/4 runs done, 0 passed, 4 waiting for judges, <$0.0001",
            "12 votes of gpt-5.4-mini sent to the batch API as batch_0000.",
        ]
    )
    assert early.exit_code == 3
    assert tidy_lines(early.stderr) == snapshot(["batch_0000: in_progress, 0 done (12 votes of gpt-5.4-mini)."])
    assert early.stdout == shown.stdout
    assert collected.exit_code == 1, "as `salvo run` would have"
    assert tidy_lines(collected.stdout) == snapshot(
        [
            "greet  4/4 runs  pass-rate: 50%  avg-score: 0.75",
            "─────────────────────────────────────────────────────────",
            "final_text    4/4 passed",
            "polite        2/4 passed",
            "─────────────────────────────────────────────────────────",
            "2 failures not recorded (`salvo run --record` records runs). Show with:",
            "  salvo report ID-0002",
            "  salvo report ID-0004",
            "verdict    failed: 2 of 4 completed runs passed (shown with 95% confidence: at most 94%); min_pass_rate is 100%",
            "pass rate  50%, 95% interval 6% to 94%: 2 of 4 shows at least 6%",
            "pass^k     1: 50% (6% to 94%)  (the chance that k runs all pass)",
            "cost       $0.000090, $0.000022 per run; judge: $0.0021 through the batch API, at half the price",
            "identical  4 of 4 runs have the same calls and output as another",
        ]
    )
    assert tidy_lines(collected.stderr) == snapshot(
        ["batch_0000: completed (12 votes of gpt-5.4-mini).", "4 runs judged."]
    )
    assert (again.exit_code, again.stderr) == (0, "No run waits for a judge.\n")


def test_a_batch_gives_what_direct_calls_give_at_half_the_price(greeting: UserProject) -> None:
    def comparable(result: dict[str, Any]) -> dict[str, Any]:
        fields = ("number", "outcome", "cause", "passed", "weighted_score", "final_text", "eval_results")
        return {name: result[name] for name in fields}

    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        greeting.salvo("run", "-n", "2", "-j", "1")
        direct, bodies = results(greeting), [request.body for request in provider.requests if request.system]
        provider.play(agent_and_judge(by_the_text))
        greeting.salvo("run", "-n", "2", "-j", "1", "--judges", "batch")
        provider.end_batches()
        greeting.salvo("collect")
    batched = results(greeting)[2:]
    assert [comparable(result) for result in batched] == [comparable(result) for result in direct]
    assert [result["judge_cost"] for result in batched] == [result["judge_cost"] / 2 for result in direct]
    assert [request.body for request in provider.requests if request.system] == bodies


def test_a_recorded_run_replays_identically_and_its_votes_are_in_the_recording(greeting: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        greeting.salvo("run", "-n", "2", "-j", "1", "--judges", "batch", "--record")
        assert not list((greeting.store / "recordings").iterdir())
        provider.end_batches()
        greeting.salvo("collect")
    stored = results(greeting)
    replayed = greeting.salvo("replay", "latest")
    assert (replayed.exit_code, "Identical" in replayed.stdout) == (0, True), replayed.output
    evaluated = greeting.salvo("replay", "latest", "--re-eval", "--json")
    [run] = json.loads(evaluated.stdout)["results"]
    assert run["eval_results"] == stored[-1]["eval_results"]
    assert run["judge_cost"] == stored[-1]["judge_cost"]
    recording = json.loads((greeting.store / "recordings" / stored[0]["run_id"] / "response.json").read_text())
    assert [reply["headers"] for reply in recording["responses"]][1:] == [
        {"x-salvo-batch": "batch_0000", "request-id": "req_of_batch"}
    ] * 3


@pytest.mark.parametrize("kill_at", ["planned", "created"])
def test_a_crash_before_the_provider_s_id_is_stored_starts_no_second_batch(
    greeting: UserProject, kill_at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        greeting.salvo("run", "-n", "2", "--judges", "batch")
        [file] = (greeting.store / "question-batches").glob("*/batch.json")
        batch = json.loads(file.read_text())
        file.write_text(json.dumps({**batch, "batch_id": ""}))  # as if killed before the answer arrived
        if kill_at == "planned":
            provider.batch_api.batches.clear()  # as if killed before anything was sent
        backdate_batches(greeting)
        provider.end_batches()
        again = greeting.salvo("collect")
        provider.end_batches()
        greeting.salvo("collect")
    assert len(provider.batch_api.batches) == 1, again.output
    assert len([request for request in provider.requests if request.system]) == 2 * 3
    assert [result["outcome"] for result in results(greeting)] == ["passed", "failed"]


@pytest.mark.parametrize("judge", [JUDGE_POLITENESS, CLAUDE], ids=["openai", "anthropic"])
@pytest.mark.parametrize("fault", ["hung first", "hung"])
def test_a_command_that_is_killed_while_it_submits_loses_nothing_and_pays_once(
    greeting: UserProject, judge: str, fault: str
) -> None:
    greeting.write("scenarios/book_flight.yaml", GREET + judge)
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        provider.batch_api.faults.append(fault)
        process = greeting.process("run", "-n", "2", "-j", "1", "--judges", "batch")
        wait_until(lambda: provider.batch_api.hanging)
        process.kill()
        process.communicate()
        created = len(provider.batch_api.batches)
        backdate_batches(greeting)
        provider.end_batches()
        greeting.salvo("collect")
        provider.end_batches()
        collected = greeting.salvo("collect")
        submitted = len(provider.batch_api.batches)
    assert (created, submitted) == (0 if fault == "hung first" else 1, 1)
    assert len([request for request in provider.requests if request.system]) == 2 * 3, "each vote is paid for once"
    assert [result["outcome"] for result in results(greeting)] == ["passed", "failed"], collected.output


def test_a_budget_counts_the_votes_that_wait(greeting: UserProject) -> None:
    """The agents cost $0.00002 each, and the votes on one of them about $0.002."""
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        shown = greeting.salvo("run", "-n", "4", "-j", "1", "--judges", "batch", "--max-cost", "0.001")
    assert len(list((greeting.store / "pending").iterdir())) == 1
    assert "3 × not run: the budget of $0.001 is spent" in shown.stdout


def test_a_lost_answer_to_the_submission_starts_no_second_batch(greeting: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        provider.batch_api.faults.append("lost")
        shown = greeting.salvo("run", "-n", "2", "--judges", "batch")
        assert shown.exit_code == 3
        assert "closed the connection without a reply" in shown.stderr
        backdate_batches(greeting)
        provider.end_batches()
        collected = greeting.salvo("collect")
    assert len(provider.batch_api.batches) == 1, collected.output
    assert [result["outcome"] for result in results(greeting)] == ["passed", "failed"]


def test_a_crash_between_the_run_and_the_pending_file_judges_nothing_again(greeting: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        greeting.salvo("run", "-n", "1", "--judges", "batch")
        [pending] = (greeting.store / "pending").glob("*.json")
        content = pending.read_bytes()
        provider.end_batches()
        greeting.salvo("collect")
        before = [file.read_bytes() for file in greeting.runs()]
        pending.write_bytes(content)
        assert "1/1 runs" in greeting.salvo("report", "latest").stdout
        greeting.salvo("collect", "latest")
    assert [file.read_bytes() for file in greeting.runs()] == before
    assert not pending.exists()


def test_a_refused_submission_is_sent_again_by_collect(greeting: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        provider.batch_api.faults.append("refused")
        shown = greeting.salvo("run", "-n", "1", "--judges", "batch")
        assert "Enqueued token limit reached." in shown.stderr
        backdate_batches(greeting)
        provider.batch_api.auto = "completed"
        collected = greeting.salvo("collect", "--wait", "--every", "0.01")
    assert collected.exit_code == 0, collected.output
    assert len(provider.batch_api.batches) == 1


def _unusable(request: ProviderRequest) -> Answer:
    return Say("I think that it is fine.")


def _refusing(request: ProviderRequest) -> Answer:
    return Fault.server_error()


@pytest.mark.parametrize(
    "judge, how, reason",
    [
        (by_the_text, "failed", "The file has a model that is not available."),
        (by_the_text, "expired", "This request could not be executed before the completion window expired."),
        (_unusable, "completed", "Through the batch API a question is asked once"),
        (_refusing, "completed", "server"),
    ],
)
def test_what_gives_no_vote_is_an_error_of_the_judge(
    greeting: UserProject, judge: Callable[[ProviderRequest], Answer], how: How, reason: str
) -> None:
    greeting.write("scenarios/book_flight.yaml", GREET + JUDGE_POLITENESS.replace("k: 3", "k: 2"))
    with LoopbackProvider(agent_and_judge(judge)) as provider:
        greeting.reach(provider)
        greeting.salvo("run", "-n", "1", "--judges", "batch")
        provider.end_batches(how)
        collected = greeting.salvo("collect")
    assert collected.exit_code == 3, collected.output
    [result] = results(greeting)
    assert (result["outcome"], result["cause"], result["weighted_score"]) == ("error", "judge", None)
    assert reason in result["error"]


def test_lines_of_the_results_that_cannot_be_read_are_no_votes(greeting: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        provider.batch_api.lines = {"0": "not JSON", "1": '{"custom_id": 7}'}
        greeting.salvo("run", "-n", "1", "--judges", "batch")
        provider.end_batches()
        greeting.salvo("collect")
    [result] = results(greeting)
    [_, judged] = result["eval_results"]
    assert judged["actual"] == {"passed": 1, "failed": 0, "no_vote": 2}


def test_two_judges_of_two_providers_are_two_batches_and_one_verdict(greeting: UserProject) -> None:
    greeting.write("scenarios/book_flight.yaml", GREET + JUDGE_POLITENESS + CLAUDE)
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        greeting.salvo("run", "-n", "2", "-j", "1", "--judges", "batch", "--record")
        openai, claude = provider.batch_api.batches
        provider.end_batch(openai)
        half = greeting.salvo("collect")
        assert not greeting.runs(), "a run needs all its votes"
        provider.end_batches()
        collected = greeting.salvo("collect")
    assert (openai.path, claude.path) == ("/v1/chat/completions", "/v1/messages")
    assert half.exit_code == 3
    assert collected.exit_code == 1
    assert [result["weighted_score"] for result in results(greeting)] == [1.0, pytest.approx(1 / 3)]
    assert greeting.salvo("replay", "latest").exit_code == 0


def test_a_crash_while_anthropic_s_batch_is_submitted(greeting: UserProject) -> None:
    """Its batches have no metadata: one that may be ours is waited for, and known by its items."""
    greeting.write("scenarios/book_flight.yaml", GREET + CLAUDE)
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        provider.batch_api.faults.append("lost")
        greeting.salvo("run", "-n", "1", "--judges", "batch")
        backdate_batches(greeting)
        undecided = greeting.salvo("collect")
        assert "may be the one that was being sent" in undecided.stderr, undecided.output
        provider.end_batches()
        collected = greeting.salvo("collect")
    assert len(provider.batch_api.batches) == 1
    assert collected.exit_code == 0, collected.output


def test_views_of_pending_runs_say_so(greeting: UserProject, tmp_path: Path) -> None:
    names = [f"out.{kind}" for kind in ("json", "jsonl", "xml", "md", "html")]
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        outputs = [text for name in names for text in ("-o", name)]
        greeting.salvo("run", "-n", "2", "--judges", "batch", *outputs)
    content = {name: (greeting.folder / name).read_text() for name in names}
    [summary] = json.loads(content["out.json"])["batches"]
    counted = {name: summary[name] for name in ("verdict", "completed", "passed", "failed", "errors", "pending")}
    assert counted == {"verdict": "open", "completed": 0, "passed": 0, "failed": 0, "errors": 0, "pending": 2}
    assert 'failures="0" errors="0" skipped="2"' in content["out.xml"]
    assert "pending: its judges' votes wait" in content["out.xml"]
    assert "2 runs wait for their judges" in content["out.md"]
    assert "Runs that wait for their judges" in content["out.html"]
    assert content["out.jsonl"].count('"outcome":"pending"') == 2
    report = greeting.salvo("report", f"{summary['batch_id']}-0001")
    assert tidy_lines(report.stdout)[3:6] == snapshot(
        [
            "  passed  final_text (jmespath), weight 1",
            "  pending  polite (llm_judge), weight 1",
            "          The votes of its judge wait for the provider's batch: salvo collect",
        ]
    )
    assert greeting.salvo("compare", "latest", "latest").exit_code != 0
    assert greeting.salvo("replay", f"{summary['batch_id']}-0001").exit_code == 2


def test_a_resumed_command_makes_no_pending_run_again(greeting: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        greeting.salvo("run", "-n", "2", "--judges", "batch")
        calls = len(provider.requests)
        resumed = greeting.salvo("run", "--resume", "latest")
        assert len(provider.requests) == calls
        assert len(provider.batch_api.batches) == 1
    assert resumed.exit_code == 3, resumed.output


def test_workers_defer_their_judges_too(greeting: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        provider.batch_api.auto = "completed"
        greeting.salvo("run", "-n", "3", "--judges", "batch", "--record", "--processes", "1")
        collected = greeting.salvo("collect", "--wait", "--every", "0.01")
    assert collected.exit_code == 1, collected.output
    assert len(results(greeting)) == 3


def test_an_assertion_without_a_judge_is_evaluated_once(greeting: UserProject) -> None:
    """A function that looks at a database finds something else a day later."""
    greeting.write("looks_once.py", LOOKS_ONCE)
    greeting.write(
        "scenarios/book_flight.yaml", GREET + JUDGE_POLITENESS + "  - {type: custom, function: looks_once.check}\n"
    )
    with LoopbackProvider(agent_and_judge(lambda _: verdict(True))) as provider:
        greeting.reach(provider)
        greeting.salvo("run", "-n", "1", "--judges", "batch")
        provider.end_batches()
        collected = greeting.salvo("collect")
    assert collected.exit_code == 0, collected.output
    assert (greeting.folder / "calls").read_text() == "x"


def test_no_key_is_stored(greeting: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        greeting.salvo("run", "-n", "1", "--judges", "batch", "--record")
        provider.end_batches()
        greeting.salvo("collect")
    stored = greeting.everything_stored()
    assert not any(key in stored for key in greeting.environ.values() if key.startswith("sk-"))


def test_runs_wait_for_their_judges_in_an_object_store(greeting: UserProject, bucket: str) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        greeting.environ["SALVO_STORE"] = bucket
        for options in ((), ("--processes", "1")):
            shown = greeting.salvo("run", "-n", "2", "-j", "1", "--judges", "batch", "--record", *options)
            assert shown.exit_code == 3, shown.output
            assert "2 runs wait for their judges" in greeting.salvo("report", "latest").stdout
            resumed = greeting.salvo("run", "--resume", "latest")
            assert "Nothing is missing" in resumed.stderr, resumed.output
            early = greeting.salvo("collect")
            assert early.exit_code == 3, early.output
            provider.end_batches()
            collected = greeting.salvo("collect")
            assert "2 runs judged." in collected.stderr, collected.output
            assert collected.exit_code == 1
            assert greeting.salvo("replay", "latest").exit_code == 0
        again = greeting.salvo("collect")
    assert again.stderr.endswith("No run waits for a judge.\n")
    assert len(provider.batch_api.batches) == 2
    assert not greeting.runs(), "nothing is stored in the folder"


@pytest.mark.parametrize(
    "option", [("--until-sure", "--max-runs", "9"), ("--against-baseline",), ("--cache",), ("--shard", "1/2")]
)
def test_what_needs_verdicts_at_once_is_refused(greeting: UserProject, option: tuple[str, ...]) -> None:
    shown = greeting.salvo("run", "--judges", "batch", *option)
    assert shown.exit_code == 2
    assert option[0] in shown.stderr


@pytest.mark.parametrize("judge", [JUDGE_POLITENESS, CLAUDE], ids=["openai", "anthropic"])
def test_a_batch_that_the_provider_does_not_know_is_named(greeting: UserProject, judge: str) -> None:
    greeting.write("scenarios/book_flight.yaml", GREET + judge)
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        greeting.salvo("run", "-n", "2", "--judges", "batch")
        provider.batch_api.batches.clear()
        collected = greeting.salvo("collect")
        judged_anew = greeting.salvo("score", "latest")
    assert collected.exit_code == 3
    [line] = tidy_lines(collected.stderr)
    assert "batch_0000" in line
    assert "answered 404" in line
    assert line.endswith("If the provider has deleted it, its votes cannot be collected.")
    assert judged_anew.exit_code == 1, judged_anew.stderr


def test_a_store_with_pending_runs_is_not_merged(greeting: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        greeting.salvo("run", "-n", "1", "--judges", "batch")
        merged = greeting.salvo("merge", ".salvo", "--into", "other")
    assert merged.exit_code == 2
    assert "wait for their judges" in merged.stderr


@pytest.mark.parametrize(
    "change, problem",
    [
        ({"planned_at": "yesterday"}, "is damaged: Value error, Invalid isoformat string: 'yesterday'"),
        ({"planned_at": "2026-11-18T00:00:00"}, "planned_at has no time zone"),
        ({"questions": [["{run}", 7]]}, "has no question 7"),
    ],
)
def test_a_damaged_batch_of_questions_is_named(greeting: UserProject, change: dict[str, Any], problem: str) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeting.reach(provider)
        greeting.salvo("run", "--judges", "batch")
        [file] = (greeting.store / "question-batches").glob("*/batch.json")
        batch = json.loads(file.read_text())
        batch |= {"batch_id": "", "planned_at": "2026-11-18T00:00:00+00:00"}
        [run] = (greeting.store / "pending").glob("*.json")
        file.write_text(json.dumps(batch | json.loads(json.dumps(change).replace("{run}", run.stem))))
        collected = greeting.salvo("collect")
    assert collected.exit_code == 3
    assert problem in collected.stderr
