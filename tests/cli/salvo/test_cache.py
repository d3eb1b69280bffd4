"""`salvo run --cache`: earlier replies again, for development; such runs are marked and are no new evidence."""

import json
import os
from typing import Any

import pytest

from tests.support.greeting import GREET
from tests.support.project import UserProject
from tests.support.provider import Answer, Fault, LoopbackProvider, ProviderRequest, Say, Use, UseTools

JUDGED = GREET + "  - {type: llm_judge, rubric: The greeting is polite., k: 1}\n"


class Counting:
    """A model that never says the same twice."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, request: ProviderRequest) -> Answer:
        self.calls += 1
        return Say(json.dumps({"passed": True, "reason": "fine"}) if request.system else f"answer {self.calls}")


@pytest.fixture
def greeted(project: UserProject) -> UserProject:
    project.write("scenarios/book_flight.yaml", GREET)
    return project


def results(project: UserProject, batch: int = -1) -> list[dict[str, Any]]:
    """The runs of one of the batches, in order."""
    runs = [json.loads(file.read_bytes()) for file in project.runs()]
    batch_id = sorted({run["batch_id"] for run in runs})[batch]
    return [run for run in runs if run["batch_id"] == batch_id]


def cached_files(project: UserProject) -> list[str]:
    return sorted(file.name for file in (project.store / "cache" / "replies").glob("*.json"))


def test_the_same_command_again_repeats_its_runs_one_by_one_and_marks_them(greeted: UserProject) -> None:
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        first = greeted.salvo("run", "-n", "3", "--cache")
        assert len(provider.requests) == 3, "two runs of a batch never get the same reply"
        assert "cache" not in first.stdout
        assert [run["from_cache"] for run in results(greeted)] == [False] * 3
        again = greeted.salvo("run", "-n", "4", "--cache")
        assert len(provider.requests) == 4, "only the fourth run is new"
    assert [run["from_cache"] for run in results(greeted)] == [True, True, True, False]
    outputs = [[run["final_text"] for run in results(greeted, batch)] for batch in (0, 1)]
    assert outputs[0] == outputs[1][:3]
    assert len(set(outputs[1])) == 4
    assert "greet: 3 of 4 runs got replies from the cache." in again.stdout
    assert "no independent evidence" in again.stdout
    assert "greet: 3 of 4 runs got replies from the cache." in greeted.salvo("report", "latest").stdout
    assert "replies came from the cache" in greeted.salvo("report", results(greeted)[0]["run_id"]).stdout
    lines = [json.loads(line) for line in (greeted.store / "history.jsonl").read_text().splitlines()]
    assert sum(line["from_cache"] for line in lines) == 3


def test_pass_k_says_that_it_leaves_out_cached_runs_which_the_pass_rate_counts(greeted: UserProject) -> None:
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        first = greeted.salvo("run", "-n", "2", "--cache").stdout
        again = greeted.salvo("run", "-n", "4", "--cache").stdout
    note = "(the chance that k runs all pass; not from runs answered from a cache)"
    assert [note in shown for shown in (first, again)] == [False, True]


def test_a_batch_of_cached_runs_alone_is_no_baseline_and_is_compared_with_nothing(greeted: UserProject) -> None:
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        for _ in range(3):
            greeted.salvo("run", "-n", "2", "--cache")
    only = "no completed run but those answered from a cache"
    compared = greeted.salvo("compare", "latest~2", "latest")
    assert (compared.exit_code, f"greet could not be compared: B has {only}." in compared.stdout) == (3, True)
    assert f"greet could not be compared: A and B have {only}." in greeted.salvo("compare", "latest~1", "latest").stdout
    blessed = greeted.salvo("baseline", "bless", "latest")
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        for _ in range(2):
            greeted.salvo("run", "-n", "2", "--cache", "--seed", "7")
    paired = greeted.salvo("compare", "latest~1", "latest", "--paired")
    assert (paired.exit_code, "of greet have none but those answered from a cache." in paired.stderr) == (2, True)
    assert (blessed.exit_code, f"has {only}, so it cannot be a baseline." in blessed.stderr) == (2, True)


def test_without_the_option_nothing_is_kept_and_nothing_is_repeated(greeted: UserProject) -> None:
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        greeted.salvo("run")
        assert not (greeted.store / "cache" / "replies").exists()
        greeted.salvo("run", "--cache")
        greeted.salvo("run")
        assert len(provider.requests) == 3


def test_a_changed_prompt_or_model_or_server_is_asked_anew(greeted: UserProject) -> None:
    with LoopbackProvider(Counting()) as provider, LoopbackProvider(Counting()) as other:
        greeted.reach(provider)
        greeted.salvo("run", "--cache")
        greeted.salvo("run", "--cache", "--model", "gpt-5.4")
        greeted.write("scenarios/book_flight.yaml", GREET.replace("customer", "guest"))
        greeted.salvo("run", "--cache")
        assert len(provider.requests) == 3
        greeted.reach(other)
        greeted.salvo("run", "--cache")
        assert len(other.requests) == 1


def test_the_votes_of_a_judge_are_repeated_too(greeted: UserProject) -> None:
    greeted.write("scenarios/book_flight.yaml", JUDGED)
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "--cache")
        greeted.salvo("run", "--cache")
        assert len(provider.requests) == 2


def test_an_error_is_never_kept(greeted: UserProject) -> None:
    answers: list[Answer] = [Fault.unauthorized(), Say("Good morning!")]
    with LoopbackProvider(lambda _: answers.pop(0)) as provider:
        greeted.reach(provider)
        assert greeted.salvo("run", "--cache").exit_code == 3
        assert not cached_files(greeted)
        assert greeted.salvo("run", "--cache").exit_code == 0
        assert greeted.salvo("run", "--cache").exit_code == 0
        assert len(provider.requests) == 2


def test_a_vote_that_cannot_be_read_is_not_kept_but_the_agents_answer_is(greeted: UserProject) -> None:
    greeted.write("scenarios/book_flight.yaml", JUDGED)
    readable = False
    grade = json.dumps({"passed": True, "reason": "fine"})

    def answer(request: ProviderRequest) -> Answer:
        return Say("Hello") if not request.system else Say(grade if readable else "hm")

    with LoopbackProvider(answer) as provider:
        greeted.reach(provider)
        assert greeted.salvo("run", "--cache").exit_code == 3
        readable, calls = True, len(provider.requests)
        assert greeted.salvo("run", "--cache").exit_code == 0
        assert len(provider.requests) == calls + 1


def test_an_assertion_of_ones_own_can_be_developed_without_paying_again(greeted: UserProject) -> None:
    greeted.write("mine.py", "def check(scenario, assertion, result):\n    raise ValueError('not yet')\n")
    custom = GREET[: GREET.index("  - {type")] + "  - {type: custom, function: mine.check}\n"
    greeted.write("scenarios/book_flight.yaml", custom)
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        assert greeted.salvo("run", "--cache").exit_code == 3
        greeted.write(
            "right.py", "def check(scenario, assertion, result):\n    return result.final_text == 'answer 1'\n"
        )
        greeted.write("scenarios/book_flight.yaml", custom.replace("mine.check", "right.check"))
        assert greeted.salvo("run", "--cache").exit_code == 0
        assert len(provider.requests) == 1


def test_a_conversation_with_tools_is_repeated_and_its_cost_is_not_spent_again(project: UserProject) -> None:
    def answer(request: ProviderRequest) -> Answer:
        if len(request.messages) < 4:
            return UseTools(Use("search_flights", {"origin": "SFO", "destination": "JFK"}))
        return Say('{"confirmation_id": "QWERTZ"}')

    with LoopbackProvider(answer, latency=0.05) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1", "--cache")
        calls = len(provider.requests)
        assert calls == 2
        again = project.salvo("run", "-n", "1", "--cache", "--max-cost", "0.0000001")
        assert len(provider.requests) == calls
    [before], [after] = results(project, 0), results(project)
    assert after["metrics"]["cost"] == before["metrics"]["cost"] > 0
    assert after["metrics"]["latency"] >= 0.1, "the time that the replies took when they were made"
    assert "1/1 runs done" in again.stderr
    assert "1 from the cache" in again.stderr


def test_a_budget_does_not_count_replies_from_the_cache(greeted: UserProject) -> None:
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "5", "--cache")
        again = greeted.salvo("run", "-n", "5", "-j", "1", "--cache", "--max-cost", "0.0000001")
    assert "not run" not in again.stdout
    assert len(results(greeted)) == 5


def test_a_recorded_run_from_the_cache_is_replayed_identically(greeted: UserProject) -> None:
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "--cache")
        greeted.salvo("run", "--cache", "--record")
    replayed = greeted.salvo("replay")
    assert replayed.exit_code == 0, replayed.output


def test_a_reply_that_may_not_be_stored_as_it_is_is_asked_for_again(greeted: UserProject) -> None:
    """Its redacted form could not be sent back to the provider in a later turn."""
    with LoopbackProvider(lambda _: Say("Hello", thinking="secret thoughts")) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "--cache")
        assert not cached_files(greeted)
        provider.play(lambda _: Say(f"I know {greeted.environ['OPENAI_API_KEY']}"))
        greeted.salvo("run", "--cache")
    assert not cached_files(greeted)
    assert "secret thoughts" not in greeted.everything_stored()


def test_the_cache_is_private_and_can_be_shown_and_cleared(greeted: UserProject) -> None:
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        assert greeted.salvo("cache").stdout.startswith("0 replies, 0 bytes")
        greeted.salvo("run", "-n", "2", "--cache")
        folder = greeted.store / "cache" / "replies"
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {file.stat().st_mode & 0o777 for file in folder.glob("*.json")} == {0o600}
        assert greeted.environ["OPENAI_API_KEY"] not in greeted.everything_stored()
        assert greeted.salvo("cache").stdout.startswith("2 replies, ")
        assert greeted.salvo("cache", "clear").stdout == "2 replies removed.\n"
        greeted.salvo("run", "-n", "2", "--cache")
        assert len(provider.requests) == 4


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"\xff", b"[" * 5000, b'{"salvo_cache": 99, "headers": {}, "body": 1}']
)
def test_a_damaged_file_is_no_reply(greeted: UserProject, content: bytes) -> None:
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "--cache")
        [name] = cached_files(greeted)
        (greeted.store / "cache" / "replies" / name).write_bytes(content)
        assert greeted.salvo("run", "--cache").exit_code == 0
        assert len(provider.requests) == 2


def test_a_pipe_in_the_cache_does_not_hang_and_a_link_leads_nowhere(greeted: UserProject) -> None:
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "--cache")
        [name] = cached_files(greeted)
        file = greeted.store / "cache" / "replies" / name
        file.unlink()
        os.mkfifo(file)
        assert greeted.salvo("run", "--cache").exit_code == 0
    greeted.salvo("cache", "clear")
    for entry in (greeted.store / "cache" / "replies").iterdir():
        entry.unlink()
    (greeted.store / "cache" / "replies").rmdir()
    elsewhere = greeted.folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.json").write_text("{}")
    (greeted.store / "cache" / "replies").symlink_to(elsewhere)
    refused = greeted.salvo("cache", "clear")
    assert refused.exit_code == 3
    assert "leads out of the store" in refused.output
    assert (elsewhere / "mine.json").exists()


def test_what_needs_independent_runs_does_not_take_the_option(greeted: UserProject) -> None:
    for options in (
        ("--confidence", "0.9", "--min-pass-rate", "0.5"),
        ("--until-sure", "--max-runs", "9"),
        ("--against-baseline",),
    ):
        refused = greeted.salvo("run", "--cache", *options)
        assert refused.exit_code == 2
        assert "show nothing new" in refused.output


def test_a_cache_that_cannot_be_written_is_told_once_and_the_runs_are_kept(
    greeted: UserProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    from salvo.engine.wire import cache
    from salvo.errors import StoreError

    def full(*_: object) -> None:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(cache, "write_atomically", full)
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        shown = greeted.salvo("run", "-n", "3", "--cache")
    assert shown.exit_code == 0
    assert shown.stderr.count("New replies are not cached. The disk is full.") == 1
    assert len(results(greeted)) == 3


def test_a_resumed_batch_uses_the_cache_as_it_was_started(greeted: UserProject) -> None:
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "3", "--cache")
        greeted.salvo("run", "-n", "3", "--cache")
        greeted.runs()[-1].unlink()
        greeted.salvo("run", "--resume", "latest")
        assert len(provider.requests) == 3


def test_another_scenario_with_the_same_prompt_has_runs_of_its_own(greeted: UserProject) -> None:
    greeted.write("scenarios/second.yaml", GREET.replace("scenario: greet", "scenario: second"))
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-j", "1", "--cache")
        assert len(provider.requests) == 2


def test_a_very_large_file_in_the_cache_is_no_reply(greeted: UserProject) -> None:
    with LoopbackProvider(Counting()) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "--cache")
        [name] = cached_files(greeted)
        file = greeted.store / "cache" / "replies" / name
        file.write_bytes(file.read_bytes() + b" " * 21_000_000)
        greeted.salvo("run", "--cache")
        assert len(provider.requests) == 2
