"""A gate on evidence: `--confidence`, `--until-sure`, and how often they err."""

import json
import random
import re
import signal
import time
from collections.abc import Callable
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.engine.stats.pass_rates import Tally
from salvo.scenarios.analysis.confidence_gate import gate_evidence, is_unsettled
from salvo.scenarios.analysis.summary import BatchVerdict, summarise
from salvo.scenarios.report.terminal import verdict
from salvo.scenarios.result import Cause, Outcome, SkippedRun
from salvo.scenarios.store.index import index_entry
from tests.cli.salvo.test_run import tidy
from tests.support.project import UserProject
from tests.support.provider import Answer, Fault, LoopbackProvider, ProviderRequest, Say
from tests.support.runs import batch, result

GREET = """
scenario: greet
adapter: openai
model: gpt-5.4-mini
user_message: hello
min_pass_rate: 0.8
assertions: [{type: jmespath, path: final_output, operator: eq, value: hi}]
"""


def failing(*numbers: int) -> Callable[[ProviderRequest], Answer]:
    """The given answers, in the order they are asked for, are wrong."""
    request = iter(range(1, 100_000))
    return lambda _: Say("no" if next(request) in numbers else "hi")


@pytest.fixture
def greeted(project: UserProject) -> UserProject:
    project.write("scenarios/book_flight.yaml", GREET)
    return project


def run(project: UserProject, script: Callable[[ProviderRequest], Answer] | Answer, *arguments: str) -> tuple[int, str]:
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        ran = project.salvo("run", *arguments)
    return ran.exit_code, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "runs, wrong, code, says",
    [
        (30, (), 0, "passed: 30 of 30 completed runs passed; with 95% confidence the pass rate is at least 88%"),
        (10, range(11), 1, "failed: 0 of 10 completed runs passed; with 95% confidence the pass rate is at most 31%"),
        (
            10,
            (3,),
            4,
            (
                "inconclusive: 9 of 10 completed runs passed; with 95% confidence it is 55% to 100%, and 16 more runs "
                "without a failure would settle it (but running again is a second look"
            ),
        ),
    ],
)
def test_the_exact_interval_decides(greeted: UserProject, runs: int, wrong: Any, code: int, says: str) -> None:
    found, shown = run(greeted, failing(*wrong), "-n", str(runs), "--confidence", "0.95")
    assert found == code
    assert says in shown


def test_without_a_confidence_all_is_as_it_was_and_the_table_still_says_what_runs_show(greeted: UserProject) -> None:
    code, shown = run(greeted, failing(3), "-n", "10")
    assert code == 0
    assert (
        "verdict    passed: 9 of 10 completed runs passed (observed; not shown: the runs are compatible with 55%); "
        "min_pass_rate is 80%\n"
    ) in shown
    assert "95% interval 55% to 100%: 9 of 10 shows at least 55%" in shown


def test_a_pass_that_the_runs_do_not_show_says_so(greeted: UserProject) -> None:
    code, shown = run(greeted, Say("hi"), "-n", "3", "--min-pass-rate", "0.9")
    assert code == 0
    assert (
        "passed: 3 of 3 completed runs passed (observed; not shown: the runs are compatible with 29%); "
        "min_pass_rate is 90%\n"
    ) in shown
    assert "95% interval 29% to 100%: 3 of 3 shows at least 29%" in shown


def test_a_pass_that_the_runs_show_says_so(greeted: UserProject) -> None:
    _, shown = run(greeted, Say("hi"), "-n", "40", "-j", "40", "--min-pass-rate", "0.9")
    assert "passed: 40 of 40 completed runs passed (shown with 95% confidence: at least 91%); min_pass_rate" in shown


@pytest.mark.parametrize("arguments", [["-n", "10", "--confidence", "0.95"], ["--until-sure", "--max-runs", "10"]])
def test_too_few_runs_to_ever_pass_are_named_before_the_first_call(greeted: UserProject, arguments: list[str]) -> None:
    _, shown = run(greeted, Say("hi"), *arguments, "--min-pass-rate", "0.9")
    warning = (
        "greet: 10 runs cannot show a pass rate of 90% with 95% confidence: 10 of 10 would show at least 69%. "
        "At least 36 runs are needed."
    )
    assert warning in shown
    assert shown.index(warning) < shown.index("1/10 runs done")
    _, enough = run(greeted, Say("hi"), "-n", "36", "--confidence", "0.95", "--min-pass-rate", "0.9")
    assert "cannot show" not in enough


def test_seeds_that_were_used_before_are_named_before_the_first_call(greeted: UserProject) -> None:
    greeted.write("scenarios/book_flight.yaml", GREET + "seed: 7\n")
    arguments = ("-n", "3", "--confidence", "0.95")
    _, first = run(greeted, Say("hi"), *arguments)
    _, second = run(greeted, Say("hi"), *arguments)
    _, other = run(greeted, Say("hi"), *arguments, "--model", "gpt-5.4")
    warning = ", with the same model. Where they decide what happens, its runs are repeated: they are no new evidence"
    assert [warning in shown for shown in (first, second, other)] == [False, True, False]
    assert second.index(warning) < second.index("1/3 runs done")


def test_one_sided_bounds_pass_with_fewer_runs(greeted: UserProject) -> None:
    arguments = ("-n", "29", "-j", "29", "--confidence", "0.95", "--min-pass-rate", "0.9")
    assert run(greeted, Say("hi"), *arguments)[0] == 4
    code, shown = run(greeted, Say("hi"), *arguments, "--one-sided")
    assert code == 0
    assert "pass rate  100%, 95% one-sided exact interval 90.1% to 100%: 29 of 29 shows at least 90.1%" in shown
    stored = greeted.salvo("report", "latest").stdout
    assert "95% one-sided exact interval 90.1% to 100%" in stored, "it is kept with the batch"


@pytest.mark.parametrize("arguments", [[], ["--confidence", "0.5"]])
def test_one_sided_bounds_need_a_confidence(greeted: UserProject, arguments: list[str]) -> None:
    code, shown = run(greeted, Say("hi"), "--one-sided", *arguments)
    assert code == 2
    assert "greet: --one-sided needs a confidence above 0.5." in shown


def test_a_rate_below_the_minimum_is_not_rounded_up_to_it(greeted: UserProject) -> None:
    code, shown = run(
        greeted, failing(*range(1, 22)), "-n", "200", "-j", "50", "--min-pass-rate", "0.9", "-o", "out.md"
    )
    assert code == 1
    assert "pass-rate: 89.5%" in shown
    assert "pass rate  89.5%, 95% interval 84% to 94%" in shown
    assert "89.5%" in greeted.salvo("report").stdout
    assert "89.5%" in (greeted.folder / "out.md").read_text()
    assert "Pass rate 89.5%" in greeted.salvo("report", "--html", "-").stdout


def test_pass_hat_k_goes_up_to_half_of_the_runs_and_pass_at_k_is_shown_on_request(greeted: UserProject) -> None:
    _, shown = run(greeted, failing(3), "-n", "10", "--pass-at-k")
    assert "pass^k     1: 90% (55% to 100%)  3: 70% (17% to 100%)  5: 50% (5% to 99%)  (the chance that k" in shown
    assert "pass@k     1: 90% (55% to 100%)  3: 100% (91% to 100%)  5: 100% (98% to 100%)  (the chance" in shown
    assert "pass@k" not in greeted.salvo("report", "latest").stdout
    assert "pass@k" in greeted.salvo("report", "latest", "--pass-at-k").stdout


def test_inconclusive_is_told_in_json_and_junit(greeted: UserProject) -> None:
    greeted.write("scenarios/book_flight.yaml", GREET + "confidence: 0.9\n")
    code, shown = run(greeted, failing(3), "-n", "10", "--json", "-o", "out.xml")
    assert code == 4
    [found] = json.JSONDecoder().raw_decode(shown)[0]["batches"]
    assert (found["verdict"], found["evidence"]["verdict"], found["evidence"]["confidence"]) == (
        "inconclusive",
        "inconclusive",
        0.9,
    )
    assert found["evidence"]["more"] > 0
    root = ET.parse(greeted.folder / "out.xml").getroot()  # noqa: S314 - a file of our own
    properties = {item.get("name"): item.get("value") for item in root.iter("property")}
    assert (properties["verdict"], properties["confidence"]) == ("inconclusive", "0.9")
    listed = greeted.salvo("report").stdout
    assert listed.rstrip().endswith("inconclusive")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--confidence", "0.95", "--min-pass-rate", "1"],
        ["--until-sure", "--max-runs", "5", "--min-pass-rate", "1"],
        ["--confidence", "1"],
        ["--until-sure"],
        ["--max-runs", "5"],
        ["--until-sure", "--max-runs", "5", "-n", "5"],
    ],
)
def test_what_cannot_be_shown_is_refused_before_any_call(greeted: UserProject, arguments: list[str]) -> None:
    with LoopbackProvider(Say("hi")) as provider:
        greeted.reach(provider)
        ran = greeted.salvo("run", *arguments)
    assert ran.exit_code == 2
    assert provider.requests == []
    if "1" in arguments and "--min-pass-rate" in arguments:
        assert "no number of runs can show a min_pass_rate of 1.0" in ran.stderr


def test_a_file_that_asks_for_it_is_a_problem_of_the_file(greeted: UserProject) -> None:
    greeted.write("scenarios/book_flight.yaml", GREET.replace("0.8", "1.0") + "confidence: 0.95\n")
    shown = greeted.salvo("validate")
    assert shown.exit_code == 2
    assert "no number of runs can show a min_pass_rate of 1.0; use a lower one, such as 0.95" in shown.output


def test_until_sure_stops_when_it_is_settled_and_shows_the_saving(greeted: UserProject) -> None:
    with LoopbackProvider(failing(2)) as provider:
        greeted.reach(provider)
        ran = greeted.salvo("run", "--until-sure", "--max-runs", "200", "-j", "5", "--min-pass-rate", "0.6")
    assert ran.exit_code == 0
    assert re.sub(r"RUN-\d+", "RUN", tidy(ran.stdout)) == snapshot("""\
greet  15/15 runs  pass-rate: 93%  avg-score: 0.93
─────────────────────────────────────────────────────────
final_output    14/15 passed
─────────────────────────────────────────────────────────
1 failure not recorded (`salvo run --record` records runs). Show with:
  salvo report RUN

verdict    passed: 14 of 15 completed runs passed; with 95% confidence the pass rate is at least 65%; min_pass_rate is 60%
pass rate  93% observed, biased by stopping early; corrected 91%, 95% interval 65% to 100%: 14 of 15 shows at least 65%
saving     settled after 15 runs; a fixed number of 19 would settle a pass rate of 91% 9 times in 10: 4 runs saved
pass^k     1: 91% (65% to 100%)  3: 75% (28% to 100%)  5: 62% (12% to 99%)  (the chance that k runs all pass)
cost       $0.00017, $0.000011 per run
latency    p50 TIME  p95 TIME  max TIME
identical  14 of 15 runs have the same calls and output as another
""")


def test_nothing_is_called_saved_if_all_of_max_runs_were_made(greeted: UserProject) -> None:
    code, shown = run(greeted, Say("hi"), "--until-sure", "--max-runs", "17")
    assert code == 0
    assert "passed: 17 of 17 completed runs passed" in shown
    assert "saved" not in shown


def test_the_pass_rate_names_the_correction_that_pass_k_has_also_where_nothing_was_settled(
    greeted: UserProject,
) -> None:
    options = ("--until-sure", "--max-runs", "20", "--pass-at-k", "-j", "1")
    code, shown = run(greeted, failing(5, 10, 15, 20), *options)
    assert code == 4
    match = re.search(r"pass rate  80% observed; corrected for a look after each round ([\d.]+%), 95% interval", shown)
    assert match, shown
    assert f"pass^k     1: {match[1]} (" in shown
    all_pass, any_passes = (float(chance) for chance in re.findall(r"  3: ([\d.]+)% \(", shown))
    assert all_pass == pytest.approx(float(match[1][:-1]) ** 3 / 10_000, abs=1.5)
    assert any_passes > 98


def test_until_sure_fails_a_bad_agent_early(greeted: UserProject) -> None:
    code, shown = run(greeted, Say("no"), "--until-sure", "--max-runs", "200", "-j", "2")
    assert code == 1
    made = len(greeted.runs())
    assert made < 10
    assert f"settled after {made} runs" in shown


def test_until_sure_ends_at_its_maximum_inconclusive(greeted: UserProject) -> None:
    code, shown = run(greeted, failing(*range(1, 100, 5)), "--until-sure", "--max-runs", "23", "-j", "5")
    assert code == 4
    assert len(greeted.runs()) == 23
    assert "verdict    inconclusive: " in shown


def test_a_round_of_errors_ends_it_for_more_would_only_cost(greeted: UserProject) -> None:
    code, _ = run(greeted, Fault.unauthorized(), "--until-sure", "--max-runs", "100", "-j", "3")
    assert code == 3
    assert len(greeted.runs()) <= 6


def test_a_budget_leaves_it_open_and_resume_settles_it(greeted: UserProject) -> None:
    with LoopbackProvider(Say("hi")) as provider:
        greeted.reach(provider)
        first = greeted.salvo("run", "--until-sure", "--max-runs", "100", "-j", "4", "--max-cost", "0.00001")
        made = len(greeted.runs())
        again = greeted.salvo("run", "--resume", "latest", "-j", "4")
    assert first.exit_code == 3
    assert "verdict    open" in first.stdout
    assert made < 12
    assert again.exit_code == 0, again.output
    assert "saving     settled after" in again.stdout
    assert greeted.salvo("run", "--resume", "latest").exit_code == 0, "there is nothing left to do"


def test_x_stops_it_with_a_failure(greeted: UserProject) -> None:
    code, shown = run(greeted, failing(3), "--until-sure", "--max-runs", "50", "-j", "2", "-x")
    assert code == 1
    assert "verdict    open" in shown


def test_ctrl_c_saves_and_resume_goes_on(greeted: UserProject) -> None:
    with LoopbackProvider(Say("hi"), latency=0.05) as provider:
        greeted.reach(provider)
        process = greeted.process("run", "--until-sure", "--max-runs", "60", "-j", "2")
        while len(greeted.runs()) < 3:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate()
        assert process.returncode == 130
        assert greeted.salvo("run", "--resume", "latest", "-j", "10").exit_code == 0


# -- what it may claim, with known truth


def gated(passed: int, runs: int, unmade: int = 0, **settings: Any) -> Any:
    made = batch("01k9batch", runs + unmade, **{"min_pass_rate": 0.8, "confidence": 0.95, **settings})
    results = [result(n, Outcome.PASSED if n <= passed else Outcome.FAILED) for n in range(1, runs + 1)]
    never = {n: SkippedRun(Outcome.NOT_RUN, Cause.BUDGET, "spent") for n in range(runs + 1, runs + unmade + 1)}
    return summarise(made, [index_entry(each) for each in results], never)


def test_runs_not_made_leave_it_open_only_where_they_could_decide() -> None:
    assert gated(60, 60, 1).verdict is BatchVerdict.PASSED
    assert gated(0, 30, 2).verdict is BatchVerdict.FAILED
    assert gated(16, 16, 4).verdict is BatchVerdict.OPEN
    assert "the verdict depends on the 4 without a result" in verdict(gated(16, 16, 4))
    assert gated(8, 10, 1).verdict is BatchVerdict.INCONCLUSIVE


def test_a_batch_file_that_asks_for_nonsense_is_judged_as_if_it_asked_for_nothing() -> None:
    assert gate_evidence(batch(confidence=2.0, min_pass_rate=0.5), Tally(1, 1)) is None
    assert gate_evidence(batch(confidence=0.95, min_pass_rate=1.0), Tally(1, 1)) is None


@given(st.integers(0, 40), st.integers(0, 40))
def test_so_many_more_passing_runs_do_settle_it_and_one_fewer_does_not(passed: int, failed: int) -> None:
    made = batch(min_pass_rate=0.8, confidence=0.95)
    found = gate_evidence(made, Tally(passed, passed + failed))
    assert found is not None
    if found.verdict == "inconclusive" and found.more is not None:
        with_them = gate_evidence(made, Tally(passed + found.more, passed + failed + found.more))
        one_fewer = gate_evidence(made, Tally(passed + found.more - 1, passed + failed + found.more - 1))
        assert with_them is not None
        assert one_fewer is not None
        assert (with_them.verdict, one_fewer.verdict) == ("pass", "inconclusive")


@pytest.mark.parametrize("rate, wrong", [(0.8 - 1e-9, "pass"), (0.8, "fail")])
@pytest.mark.parametrize("until_sure", [False, True])
def test_the_gate_errs_at_most_as_often_as_it_says(rate: float, wrong: str, until_sure: bool) -> None:
    """At the edge, where errors are most frequent; with rounds of ten, looked at after each."""
    chance, times, errors = random.Random(8), 400, 0
    made = batch(min_pass_rate=0.8, confidence=0.95, max_runs=100 if until_sure else None)

    @cache  # the same counts come again and again
    def said(passed: int, runs: int) -> str:
        found = gate_evidence(made, Tally(passed, runs))
        assert found is not None
        return found.verdict

    for _ in range(times):
        passed, verdict_now = 0, "inconclusive"
        for runs in range(10, 101, 10) if until_sure else [100]:
            passed += sum(chance.random() < rate for _ in range(10 if until_sure else 100))
            verdict_now = said(passed, runs)
            if verdict_now != "inconclusive":
                break
        errors += verdict_now == wrong
    assert errors / times <= 0.025 + 0.02, "2.5 in 100 on each side, and what chance adds to 400 trials"


def test_a_settled_batch_wants_no_more_runs() -> None:
    made = batch(runs=60, min_pass_rate=0.8, confidence=0.95, max_runs=100)
    all_pass = [index_entry(result(number)) for number in range(1, 61)]
    assert not is_unsettled(made, all_pass)
    assert is_unsettled(made, all_pass[:5])
    assert not is_unsettled(batch(runs=5, min_pass_rate=0.8, confidence=0.95), all_pass[:5])
