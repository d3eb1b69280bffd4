"""`salvo judge`: the same transcripts again, and whose the variation is."""

import json
import random
import re
import signal
import time
from itertools import cycle

import pytest
from inline_snapshot import snapshot

from tests.support.greeting import GREET, JUDGE_POLITENESS, agent_and_judge, by_the_text, verdict
from tests.support.project import UserProject
from tests.support.provider import Fault, LoopbackProvider, Say, Usage

JUDGED = GREET + JUDGE_POLITENESS


def tidy(text: str) -> str:
    return re.sub(r"\b[0-9a-z]{16}\b", "BATCH", text)


@pytest.fixture
def greeted(project: UserProject) -> UserProject:
    project.write("scenarios/book_flight.yaml", JUDGED)
    return project


def test_a_steady_judge_leaves_all_variation_to_the_agent(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "6")
        before = {file.name: file.read_bytes() for file in greeted.runs()}
        request = len(provider.requests)
        shown = greeted.salvo("judge", "latest", "--times", "4")
        assert len(provider.requests) - request == 6 * 4 * 3
    assert (shown.exit_code, shown.stderr.splitlines()[-1][:19]) == (0, "24/24 judgings done")
    assert tidy(shown.stdout) == snapshot("""\
polite: the judge always gave the same verdict on each of 6 transcripts; 0% (95% 0% to 77%) of the variation of the verdicts comes from the judge, the rest from the agent.
  flip rate  0% of the verdicts (3 votes each), 0% of single votes
  agreement  100% of the verdicts, 100% of the votes; Krippendorff's alpha 1.00
  verdicts   12 of 24 passed
  stored     0 of 6 stored verdicts differ from most judgings
  next       more runs would make the pass rate more precise than more votes (the standard error is 22.4 points; 22.4 with two more votes per run; 17.4 with more runs for the same cost)
  cost       $0.025

greet, batch BATCH: 24 judgings.
""")
    assert {file.name: file.read_bytes() for file in greeted.runs()} == before, "no stored run is changed"


def test_a_judge_that_tosses_a_coin_has_the_variation_for_itself(greeted: UserProject) -> None:
    coin = random.Random(1)
    with LoopbackProvider(agent_and_judge(lambda _: verdict(coin.random() < 0.5))) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "10")
        shown = greeted.salvo("judge", "--times", "5", "--json")
    assert shown.exit_code == 0
    [polite] = json.loads(shown.stdout)["assertions"]
    assert polite["verdicts"]["flip_rate"] > 0.5
    assert polite["variance"]["judge_share"] > 0.7
    low, high = polite["variance"]["judge_share_interval"]
    assert low < polite["variance"]["judge_share"], "it is drawn again and again"
    assert polite["variance"]["judge_share"] <= high
    assert 0.1 < polite["advice"]["error"] < 0.2, "ten verdicts by the toss of a coin: 0.16"
    assert polite["cost"] > 0


def test_the_advice_is_about_majorities_of_votes(greeted: UserProject) -> None:
    """Every judge passes every greeting by two votes of three. The agent is dear, so more votes are cheap."""
    votes = cycle([True, True, False])
    greeting = Say("Good morning!", usage=Usage(input=100_000, output=10_000))
    with LoopbackProvider(lambda request: verdict(next(votes)) if request.system else greeting) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "5", "-j", "1")
        shown = greeted.salvo("judge", "--times", "4", "-j", "1", "--json")
    [polite] = json.loads(shown.stdout)["assertions"]
    advice = polite["advice"]
    assert polite["passed"] == polite["judgings"] == 20
    # Of 12 votes on a transcript 8 pass, so 3 of them have a majority that passes in 168 of 220 cases, and 5 in 672 of 792.
    assert advice["pass_rate"] == pytest.approx(168 / 220)
    assert advice["pass_rate_with_votes"] == pytest.approx(672 / 792)
    assert advice["error"] == pytest.approx((168 / 220 * 52 / 220 / 4) ** 0.5)
    assert advice["better"] == "votes"


def test_judges_inside_other_assertions_are_asked_too(greeted: UserProject) -> None:
    judge = "{type: llm_judge, name: polite, rubric: The greeting is polite.}"
    rude = "{type: llm_judge, name: rude, rubric: The greeting is rude.}"
    both = f"{{type: any_of, assertions: [{judge}, {{type: not, assertion: {rude}}}]}}"
    greeted.write("scenarios/book_flight.yaml", GREET + f"  - {both}\n")
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2")
        request = len(provider.requests)
        shown = greeted.salvo("judge", "--times", "2")
        assert len(provider.requests) - request == 2 * 2 * 2 * 3, "two runs, two judges, twice, three votes"
    assert [line for line in shown.stdout.splitlines() if "the judge always" in line or "stored  " in line] == snapshot(
        [
            "polite: the judge always gave the same verdict on each of 2 transcripts; 0% (95% 0% to 85%) of the variation of the verdicts comes from the judge, the rest from the agent.",
            "  stored     0 of 2 stored verdicts differ from most judgings",
            "rude: the judge always gave the same verdict on each of 2 transcripts; 0% (95% 0% to 85%) of the variation of the verdicts comes from the judge, the rest from the agent.",
            "  stored     0 of 2 stored verdicts differ from most judgings",
        ]
    )


@pytest.mark.parametrize("command", ["judge", "score"])
def test_the_limits_of_its_calls_are_set_by_options(greeted: UserProject, command: str) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "1")
    with LoopbackProvider(Fault.overloaded()) as provider:
        greeted.reach(provider)
        greeted.salvo(command, "--tries", "2", *(["--times", "1"] if command == "judge" else []))
        assert len(provider.requests) == 3 * 2, "three votes, tried twice"
    with LoopbackProvider(Fault.hang()) as provider:
        greeted.reach(provider)
        greeted.environ["SALVO_CALL_TIMEOUT"] = "60"
        late = greeted.salvo(command, "--call-timeout", "0.2", "--tries", "1")
    assert "within 0.2 s" in late.stdout + greeted.everything_stored()


def test_what_was_asked_is_not_asked_again_and_can_be_shown(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2")
        first = greeted.salvo("judge", "--times", "2")
        request = len(provider.requests)
        again = greeted.salvo("judge", "--times", "2")
        stored = greeted.salvo("judge", "--stored")
        assert len(provider.requests) == request
        greeted.salvo("judge", "--times", "3")
        assert len(provider.requests) - request == 2 * 3, "one more judging of two transcripts"
    assert first.stdout == again.stdout == stored.stdout


def test_a_budget_stops_it_and_the_same_command_goes_on(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "4")
        short = greeted.salvo("judge", "--times", "3", "-j", "1", "--max-cost", "0.0000001")
        assert short.exit_code == 3
        assert "11 of 12 judgings were not made: the budget of $0.0000001 is spent" in short.stderr
        assert "1 of 12 judgings" in short.stdout
        assert greeted.salvo("judge", "--times", "3").exit_code == 0


def test_a_judge_out_of_reach_is_no_verdict_and_is_asked_again(greeted: UserProject) -> None:
    broken = True
    with LoopbackProvider(
        agent_and_judge(lambda request: Fault.unauthorized() if broken else by_the_text(request))
    ) as provider:
        greeted.reach(provider)
        broken = False
        greeted.salvo("run", "-n", "2")
        broken = True
        shown = greeted.salvo("judge", "--times", "2")
        assert shown.exit_code == 3
        assert "4 judgings without a verdict (errors, not failures)" in shown.stdout
        broken = False
        assert greeted.salvo("judge", "--times", "2").exit_code == 0


def test_ctrl_c_keeps_what_was_paid_for(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text), latency=0.02) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "4")
        process = greeted.process("judge", "--times", "50", "-j", "1")
        while not (files := list(greeted.store.glob("judgings/*.jsonl"))) or files[0].read_text().count("run_id") < 2:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        shown, told = process.communicate()
    assert process.returncode == 130
    assert "judgings were not made: Ctrl-C was pressed" in told
    assert "of 200 judgings" in shown


@pytest.mark.parametrize("arguments, code", [(["judge", "nothing"], 2), (["judge", "--stored"], 5)])
def test_what_is_not_there_is_a_sentence(greeted: UserProject, arguments: list[str], code: int) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "1")
    assert greeted.salvo(*arguments).exit_code == code


def test_a_scenario_without_a_judge_says_so(project: UserProject) -> None:
    project.write("scenarios/book_flight.yaml", GREET)
    with LoopbackProvider(Say("hello")) as provider:
        project.reach(provider)
        project.salvo("run")
    shown = project.salvo("judge")
    assert shown.exit_code == 2
    assert "greet has no llm_judge that `salvo judge` could ask." in shown.stderr


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_judgings_are_not_written_where_a_link_leads(greeted: UserProject, linked: str) -> None:
    mine = greeted.write("elsewhere/mine", "alias ll='ls -l'")
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2")
        [batch] = (greeted.store / "batches").glob("*.json")
        judgings = greeted.store / "judgings"
        if linked == "folder":
            judgings.symlink_to(mine.parent)
        else:
            judgings.mkdir()
            (judgings / f"{batch.stem}.jsonl").symlink_to(mine)
        refused = greeted.salvo("judge", "latest", "--times", "2")
    assert refused.exit_code == 3
    assert "leads out of the store" in refused.output
    assert mine.read_text() == "alias ll='ls -l'"
    assert [file.name for file in mine.parent.iterdir()] == ["mine"]


def test_without_the_key_of_the_judge_nothing_is_asked(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2")
    greeted.environ = {}
    shown = greeted.salvo("judge")
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert "There is no API key for openai." in shown.stderr


def test_a_fault_that_every_judging_would_meet_stops_it_and_is_named(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "4")
    with LoopbackProvider(Fault.unauthorized()) as provider:
        greeted.reach(provider)
        shown = greeted.salvo("judge", "--times", "2", "-j", "1")
        assert len(provider.requests) == 3, "one judging with three votes"
    assert shown.exit_code == 3
    assert "7 of 8 judgings were not made: every further one would meet the same fault of its judge: " in shown.stderr
    assert "stored verdicts differ" not in shown.stdout, "there is no verdict to compare with"
