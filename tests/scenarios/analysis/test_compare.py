"""`salvo compare` as its user has it, and what it may and may not claim."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from markdown_it import MarkdownIt

from salvo.cli.salvo import salvo
from salvo.scenarios.analysis.batch_stats import BatchStats
from salvo.scenarios.analysis.compare import ComparedSides, ComparisonFinding, compare
from salvo.scenarios.result import Cause, Outcome, RunMetrics, ToolCall
from salvo.scenarios.store.store import RunStore
from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, ProviderRequest, Say
from tests.support.runs import batch, judged, result


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    made = RunStore(tmp_path / ".salvo")
    made.prepare()
    monkeypatch.chdir(tmp_path)
    return made


def fill(
    store: RunStore,
    batch_id: str,
    passes: int,
    runs: int = 10,
    *,
    scenario_id: str = "refund",
    errors: int = 0,
    cost: float = 0.03,
    **settings: Any,
) -> str:
    """A batch of so many runs, of which so many pass; the others give the money to the wrong order."""
    settings = {"model": "gpt-4o", **settings}
    document = settings.pop("scenario", {"scenario": scenario_id, "user_message": "Refund order 7.", "timeout": 60})
    made = batch(batch_id, runs + errors, scenario_id=scenario_id, scenario=document, **settings)
    store.save_batch(made)
    for number in range(1, runs + errors + 1):
        passed = number <= passes
        outcome = Outcome.ERROR if number > runs else Outcome.PASSED if passed else Outcome.FAILED
        calls = [ToolCall("find_order", {"id": 7}, {"total": 40})]
        calls += [ToolCall("issue_refund" if passed else "cancel_order", {"id": 7}, {"ok": True})]
        store.save_run(
            result(
                number,
                outcome,
                batch_id,
                scenario_id=scenario_id,
                model=made.model,
                provider=made.provider,
                tool_calls=calls,
                final_output="done",
                cause={Outcome.FAILED: Cause.ASSERTION, Outcome.ERROR: Cause.PROVIDER}.get(outcome),
                metrics=RunMetrics(latency=2.0 + passed, cost=cost, tool_count=2, model_calls=3),
                eval_results=[] if outcome is Outcome.ERROR else [judged("refunded", passed), judged("polite", True)],
            )
        )
    return batch_id


def salvo_compare(*arguments: str) -> Result:
    return CliRunner().invoke(salvo, ["compare", *arguments], catch_exceptions=False)


def test_the_sentence_comes_first_then_what_differs_then_the_numbers(store: RunStore) -> None:
    fill(store, "01aa", 9)
    fill(store, "01bb", 4, errors=2, model="gpt-5.4-mini", cost=0.012, seed=7, tools={"find_order": "other"})
    shown = salvo_compare("01aa", "01bb")
    assert shown.exit_code == 1
    assert shown.stdout == snapshot("""\
A and B differ in the tool find_order and seed. B is worse on refund (40% against 90%, p = 0.02).

A  openai/gpt-4o  (01aa)
B  openai/gpt-5.4-mini  (01bb)

A and B differ in the following, which may explain a result:
  the tool find_order: not there against there
  seed: none against 7

SCENARIO  A         B         DIFFERENCE  95%        P     VISIBLE  FINDING
refund    9/10 90%  4/10 40%  −50         −75 to −8  0.02  −59      worse

refund, B: 2 runs could not be judged (errors, not failures). No rate above counts them.

Assertions whose failure rates differ most (without a significance test):
  refund: refunded failed in 6 of 10 in B, 1 of 10 in A (+50 points)

SCENARIO  COST A  COST B  CHANGE  P50 A  P50 B  CHANGE  P95 A  P95 B
refund    $0.030  $0.012  −60%    3.0s   2.0s   −33%    3.0s   3.0s

refund: failing and passing runs diverge at step 2.
  7 of 7 failing runs call cancel_order  (salvo report 01aa-0010)
  13 of 13 passing runs call issue_refund  (salvo report 01aa-0001)
""")


def test_many_scenarios_are_corrected_for_and_tested_together(store: RunStore) -> None:
    for number, (before, after) in enumerate([(20, 4), (18, 18), (19, 17), (20, 19), (15, 14)]):
        fill(store, f"01a{number}", before, 20, scenario_id=f"s{number}", model="gpt-4o")
        fill(store, f"01b{number}", after, 20, scenario_id=f"s{number}", model="gpt-5.4-mini")
    shown = salvo_compare("--a", "gpt-4o", "--b", "openai/gpt-5.4-mini")
    assert shown.exit_code == 1
    assert shown.stdout == snapshot("""\
B is worse on s0 (20% against 100%, p < 0.001); no difference was detected on the other four; with 20 runs each, a drop of 37 to 49 points (depending on the scenario) would be seen in 8 of 10 cases, and no rise would. Across all scenarios, B is worse: it passes 20 points less often (p < 0.001; mean over scenarios −20, 95% −62 to +22).

A  openai/gpt-4o  (01a0, 01a1, 01a2, 01a3, 01a4)
B  openai/gpt-5.4-mini  (01b0, 01b1, 01b2, 01b3, 01b4)

SCENARIO  A           B          DIFFERENCE  95%         P        VISIBLE  FINDING
s0        20/20 100%  4/20 20%   −80         −92 to −53  < 0.001  −37      worse
s1        18/20 90%   18/20 90%  0           −22 to +22  1.00     −45      no difference seen
s2        19/20 95%   17/20 85%  −10         −32 to +12  1.00     −42      no difference seen
s3        20/20 100%  19/20 95%  −5          −24 to +12  1.00     −37      no difference seen
s4        15/20 75%   14/20 70%  −5          −31 to +22  1.00     −49      no difference seen

Assertions whose failure rates differ most (without a significance test):
  s0: refunded failed in 16 of 20 in B, 0 of 20 in A (+80 points)
  s2: refunded failed in 3 of 20 in B, 1 of 20 in A (+10 points)
  s3: refunded failed in 1 of 20 in B, 0 of 20 in A (+5 points)
  s4: refunded failed in 6 of 20 in B, 5 of 20 in A (+5 points)

SCENARIO  COST A  COST B  CHANGE  P50 A  P50 B  CHANGE  P95 A  P95 B
s0        $0.030  $0.030  0%      3.0s   2.0s   −33%    3.0s   3.0s
s1        $0.030  $0.030  0%      3.0s   3.0s   0%      3.0s   3.0s
s2        $0.030  $0.030  0%      3.0s   3.0s   0%      3.0s   3.0s
s3        $0.030  $0.030  0%      3.0s   3.0s   0%      3.0s   3.0s
s4        $0.030  $0.030  0%      3.0s   3.0s   0%      3.0s   3.0s

s0: failing and passing runs diverge at step 2.
  16 of 16 failing runs call cancel_order  (salvo report 01b0-0005)
  24 of 24 passing runs call issue_refund  (salvo report 01a0-0001)
s1: failing and passing runs diverge at step 2.
  4 of 4 failing runs call cancel_order  (salvo report 01a1-0019)
  36 of 36 passing runs call issue_refund  (salvo report 01a1-0001)
s2: failing and passing runs diverge at step 2.
  4 of 4 failing runs call cancel_order  (salvo report 01a2-0020)
  36 of 36 passing runs call issue_refund  (salvo report 01a2-0001)
s3: failing and passing runs diverge at step 2.
  1 of 1 failing runs call cancel_order  (salvo report 01b3-0020)
  39 of 39 passing runs call issue_refund  (salvo report 01a3-0001)
s4: failing and passing runs diverge at step 2.
  11 of 11 failing runs call cancel_order  (salvo report 01a4-0016)
  29 of 29 passing runs call issue_refund  (salvo report 01a4-0001)
""")


def test_no_difference_seen_says_how_large_one_would_have_had_to_be(store: RunStore) -> None:
    fill(store, "01aa", 9)
    fill(store, "01bb", 8)
    shown = salvo_compare("01aa", "01bb")
    assert shown.exit_code == 0
    assert shown.stdout.splitlines()[0] == snapshot(
        "No difference was detected on refund; with 10 runs each, a drop of 59 points would be seen in 8 of 10 cases, and no rise would."
    )


def test_two_runs_each_could_show_nothing_and_say_so(store: RunStore) -> None:
    fill(store, "01aa", 2, 2)
    fill(store, "01bb", 0, 2)
    shown = salvo_compare("01aa", "01bb")
    assert shown.exit_code == 0
    assert shown.stdout.splitlines()[0] == snapshot(
        "No difference was detected on refund; with 2 runs each, none would be seen in 8 of 10 cases."
    )


def test_markdown_is_for_a_pull_request_and_takes_no_markup_from_names(store: RunStore) -> None:
    fill(store, "01aa", 9, scenario_id="re_fund")
    fill(store, "01bb", 4, scenario_id="re_fund", model="<img>|@all")
    shown = salvo_compare("01aa", "01bb", "--markdown")
    assert shown.exit_code == 1
    assert shown.stdout == snapshot("""\
**B is worse on re\\_fund (40% against 90%, p = 0.02).**

- A openai/gpt-4o (01aa)
- B openai/\\<img\\>\\|`@`all (01bb)

| scenario | A | B | difference | 95% | P | visible | finding |
| --- | --- | --- | --- | --- | --- | --- | --- |
| re\\_fund | 9/10 90% | 4/10 40% | −50 | −75 to −8 | 0.02 | −59 | worse |

Assertions whose failure rates differ most (without a significance test):

- re\\_fund: refunded failed in 6 of 10 in B, 1 of 10 in A (+50 points)

| scenario | cost a | cost b | change | p50 a | p50 b | change | p95 a | p95 b |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| re\\_fund | \\$0.030 | \\$0.030 | 0% | 3.0s | 2.0s | −33% | 3.0s | 3.0s |

re\\_fund: failing and passing runs diverge at step 2.

- 7 of 7 failing runs call cancel\\_order (salvo report 01aa-0010)
- 13 of 13 passing runs call issue\\_refund (salvo report 01aa-0001)
""")


def test_the_lists_of_the_markdown_are_lists(store: RunStore) -> None:
    fill(store, "01aa", 9)
    fill(store, "01bb", 4, seed=7)
    html = MarkdownIt().render(salvo_compare("01aa", "01bb", "--markdown").stdout)
    paragraphs = [text for text in html.split("\n") if text.startswith("<p>")]
    assert all("salvo report" not in text and "seed: none" not in text for text in paragraphs)
    assert html.count("<li>") == 2 + 1 + 1 + 2, "the sides, what differs, the assertion, and the two branches"


def test_errors_that_could_decide_are_not_no_difference(store: RunStore) -> None:
    fill(store, "01aa", 38, 40)
    fill(store, "01bb", 20, 21, errors=19)
    shown = salvo_compare("01aa", "01bb")
    assert shown.exit_code == 3
    assert shown.stdout.splitlines()[0] == snapshot(
        "No difference was detected on refund; with 21 to 40 runs each, a drop of 28 points would be seen in 8 of 10 cases, and no rise would. B has more errors on refund: 19 of 40 runs against 0 of 40 (p < 0.001). Errors could decide on refund: if those of A had passed and those of B had failed, B would be worse."
    )
    document = json.loads(salvo_compare("01aa", "01bb", "--json").stdout)
    assert (document["verdict"], document["errors_could_decide"], document["worse"]) == ("not judged", True, False)


def test_errors_that_could_not_decide_leave_the_result_alone(store: RunStore) -> None:
    fill(store, "01aa", 38, 40)
    fill(store, "01bb", 38, 40, errors=1)
    assert salvo_compare("01aa", "01bb").exit_code == 0


def test_errors_over_all_scenarios_could_decide_where_no_single_one_could(store: RunStore) -> None:
    for number in range(6):
        fill(store, f"01a{number}", 20, 20, scenario_id=f"s{number}", model="gpt-4o")
        fill(store, f"01b{number}", 19, 19, scenario_id=f"s{number}", errors=2, model="gpt-5.4-mini")
    shown = salvo_compare("--a", "gpt-4o", "--b", "gpt-5.4-mini")
    assert shown.exit_code == 3
    assert "Across all scenarios, errors could decide: if those of A had passed" in shown.stdout


def test_runs_with_the_same_seed_are_compared_in_pairs(store: RunStore) -> None:
    fill(store, "01aa", 40, 40, seed=7)
    fill(store, "01bb", 33, 40, seed=7, model="gpt-5.4-mini")
    shown = salvo_compare("01aa", "01bb", "--paired")
    assert shown.exit_code == 1
    assert shown.stdout.splitlines()[0] == "B is worse on refund (82% against 100%, p = 0.02)."
    fill(store, "01cc", 39, 40, seed=27, model="gpt-5.4-mini")
    shown = salvo_compare("01aa", "01cc", "--paired")
    assert "of 20 pairs of runs with the same seed, 0 differ" in shown.stdout, "seeds 28 to 47 are on both sides"
    assert "−17 to +17" in shown.stdout, "pairs that agree do not show a difference of exactly 0"


def test_few_pairs_that_differ_have_an_interval_that_agrees_with_the_finding(store: RunStore) -> None:
    fill(store, "01aa", 4, 4, seed=7)
    fill(store, "01bb", 0, 4, seed=7, model="gpt-5.4-mini")
    shown = salvo_compare("01aa", "01bb", "--paired").stdout
    assert "of 4 pairs of runs with the same seed, 4 differ" in shown
    assert "−100 to 0" in shown


def test_errors_in_pairs_could_decide(store: RunStore) -> None:
    fill(store, "01aa", 40, 40, seed=7)
    fill(store, "01bb", 30, 30, errors=10, seed=7)
    assert salvo_compare("01aa", "01bb", "--paired").exit_code == 3


def test_without_common_seeds_there_are_no_pairs(store: RunStore) -> None:
    fill(store, "01aa", 9, seed=7)
    fill(store, "01bb", 9)
    shown = salvo_compare("01aa", "01bb", "--paired")
    assert shown.exit_code == 2
    assert "--paired compares runs with the same seed, and the two batches of refund have none." in shown.stderr


def test_runs_that_repeat_those_of_a_are_no_new_evidence(store: RunStore) -> None:
    fill(store, "01aa", 9, seed=7)
    fill(store, "01bb", 7, seed=7)
    note = "8 runs of B have the seed, model, calls and output of a run of A: they may only repeat it"
    assert note in salvo_compare("01aa", "01bb").stdout, "7 that pass on both sides, and one that fails on both"
    fill(store, "01cc", 9, seed=7, model="gpt-5.4-mini")
    fill(store, "01dd", 9)
    for other in ("01cc", "01dd"):
        assert "of a run of A" not in salvo_compare("01aa", other).stdout


def test_json_has_every_number_and_the_sentence(store: RunStore) -> None:
    fill(store, "01aa", 9)
    fill(store, "01bb", 4)
    shown = salvo_compare("01aa", "01bb", "--json")
    found = json.loads(shown.stdout)
    [scenario] = found["scenarios"]
    assert (found["worse"], scenario["finding"], found["overall"]) == (True, "worse", None)
    assert scenario["difference"] == pytest.approx(-0.5)
    assert scenario["p_value"] == pytest.approx(0.0230, abs=1e-3), "Boschloo's, of 4 in 10 against 9 in 10"
    assert scenario["interval"] == [pytest.approx(-0.75, abs=0.02), pytest.approx(-0.09, abs=0.03)]
    assert scenario["divergence"]["step"] == 2
    assert scenario["differs"] == []


@pytest.mark.parametrize(
    "other, says",
    [
        ({"scenario": {"scenario": "refund", "user_message": "Other.", "timeout": 60}}, "the scenario's user_message"),
        (
            {"scenario": {"scenario": "refund", "user_message": "Refund order 7.", "timeout": 9}},
            "timeout: 60 against 9",
        ),
        ({"tools": {"pay": "1"}}, "the tool pay: not there against there"),
        ({"seed": 3}, "seed: none against 3"),
        ({"threshold": 0.5}, "threshold: 0.8 against 0.5"),
        ({"salvo_version": "9.9"}, "salvo version: none against 9.9"),
        ({"scenario": {}}, "unknown: the scenario of one side was not stored"),
    ],
)
def test_what_differs_is_named_before_any_number(store: RunStore, other: dict[str, Any], says: str) -> None:
    fill(store, "01aa", 9)
    fill(store, "01bb", 9, **other)
    shown = salvo_compare("01aa", "01bb").stdout
    assert f"  {says}\n" in shown
    assert shown.index(says) < shown.index("9/10")


def test_another_judge_model_is_named_also_where_the_adapter_chose_it(store: RunStore) -> None:
    document = {"scenario": "refund", "assertions": [{"type": "llm_judge", "name": "polite", "rubric": "is polite"}]}
    fill(store, "01aa", 9, scenario=document)
    fill(store, "01bb", 9, scenario=document, adapter="anthropic", provider="anthropic", model="claude-haiku-4-5")
    shown = salvo_compare("01aa", "01bb").stdout
    assert "the model of the judge polite: openai/gpt-5.4-mini against anthropic/claude-haiku-4-5" in shown


def test_a_side_without_completed_runs_cannot_be_compared_and_is_no_failure(store: RunStore) -> None:
    fill(store, "01aa", 9)
    fill(store, "01bb", 0, 0, errors=3)
    shown = salvo_compare("01aa", "01bb")
    assert shown.exit_code == 3
    assert shown.stdout.startswith(
        "refund could not be compared: B has no completed run. B has more errors on refund: "
    )
    assert "3 runs could not be judged (errors, not failures)" in shown.stdout
    assert "B has fewer errors on refund: " in salvo_compare("01bb", "01aa").stdout


def test_the_same_cost_of_other_numbers_of_runs_has_not_changed(store: RunStore) -> None:
    fill(store, "01aa", 40, 40, cost=0.000012)
    fill(store, "01bb", 21, 21, cost=0.000012)
    shown = salvo_compare("01aa", "01bb").stdout
    assert re.search(r"\$0\.000012  \$0\.000012  0% ", shown), shown


def test_the_newest_batch_of_a_model_is_taken_and_what_only_one_side_has_is_said(store: RunStore) -> None:
    fill(store, "01aa", 0, model="gpt-4o")
    fill(store, "01ab", 10, model="gpt-4o")
    fill(store, "01ac", 10, model="gpt-4o", scenario_id="alone")
    fill(store, "01bb", 10, model="gpt-5.4-mini")
    shown = salvo_compare("--a", "gpt-4o", "--b", "gpt-5.4-mini")
    assert shown.exit_code == 0
    assert "Only A has runs of alone." in shown.stdout
    assert "01ab" in shown.stdout
    assert "01aa" not in shown.stdout


def test_all_compares_every_scenario_of_two_commands(store: RunStore) -> None:
    for scenario_id in ("one", "two"):
        fill(store, f"02{scenario_id}", 10, scenario_id=scenario_id, command="01")
        fill(store, f"05{scenario_id}", 10, scenario_id=scenario_id, command="04")
    found = json.loads(salvo_compare("02one", "05two", "--all", "--json").stdout)
    assert [each["scenario_id"] for each in found["scenarios"]] == ["one", "two"]


@pytest.mark.parametrize(
    "arguments, code",
    [
        (["01aa"], 2),
        (["01aa", "01aa"], 2),
        (["01aa", "09"], 2),
        (["--a", "gpt-4o"], 2),
        (["01aa", "01bb", "--run"], 2),
        (["--a", "gpt-4o", "--b", "nobody"], 5),
    ],
)
def test_wrong_usage_is_a_sentence(store: RunStore, arguments: list[str], code: int) -> None:
    fill(store, "01aa", 9)
    fill(store, "01bb", 9)
    shown = salvo_compare(*arguments)
    assert shown.exit_code == code
    assert "Traceback" not in shown.output


def test_a_damaged_run_is_counted_and_not_dropped_in_silence(store: RunStore) -> None:
    fill(store, "01aa", 9)
    fill(store, "01bb", 9)
    (store.folder / "history.jsonl").write_text("")
    (store.folder / "runs" / "01bb-0001.json").write_text("{")
    assert "Left out, because unreadable: 1 run." in salvo_compare("01aa", "01bb").stdout


LEAST = """
scenario: greet
adapter: openai
model: gpt-4o
user_message: hello
assertions: [{type: jmespath, path: final_output, operator: eq, value: hi}]
"""


def test_run_runs_what_is_missing_and_only_that(project: UserProject) -> None:
    def answer(request: ProviderRequest) -> Say:
        return Say("hi" if request.body["model"] == "gpt-4o" else "go away")

    project.write("scenarios/greet.yaml", LEAST)
    with LoopbackProvider(answer) as provider:
        project.reach(provider)
        project.salvo("run", "scenarios/greet.yaml", "-n", "8")
        request = len(provider.requests)
        ran = project.salvo(
            "compare", "--a", "gpt-4o", "--b", "gpt-5.4-mini", "scenarios/greet.yaml", "--run", "-n", "8"
        )
        assert len(provider.requests) - request == 8, "side A was there"
        again = project.salvo("compare", "--a", "gpt-4o", "--b", "gpt-5.4-mini", "scenarios/greet.yaml", "--run")
        assert len(provider.requests) - request == 8, "and now both are"
    assert (ran.exit_code, again.exit_code) == (1, 1)
    assert ran.stdout.startswith("B is worse on greet (0% against 100%, p < 0.001).")


# -- what it may claim, with known truth


def measured(passed: int, completed: int, scenario_id: str = "s") -> BatchStats:
    return BatchStats(scenario_id, "b", "", "openai", "m", passed, completed, 0, 0, [], None, None, None, {}, {})


def test_identical_models_are_called_worse_at_most_one_time_in_twenty() -> None:
    chance = random.Random(6)
    alarms, times = 0, 400
    for _ in range(times):
        rates = [chance.choice([0.5, 0.8, 0.95]) for _ in range(4)]
        sides = [
            [measured(sum(chance.random() < rate for _ in range(12)), 12, str(i)) for i, rate in enumerate(rates)]
            for _ in "ab"
        ]
        alarms += compare([ComparedSides(*pair) for pair in zip(*sides, strict=True)]).worse
    assert alarms / times <= 0.05


def test_a_model_that_is_worse_on_one_scenario_of_four_is_found() -> None:
    chance = random.Random(7)
    found, times = 0, 100

    def draw(rate: float) -> BatchStats:
        return measured(sum(chance.random() < rate for _ in range(20)), 20)

    for _ in range(times):
        found += compare([ComparedSides(draw(0.9), draw(0.2 if number == 0 else 0.9)) for number in range(4)]).worse
    assert found / times > 0.9


COUNTS = st.tuples(st.integers(0, 15), st.integers(0, 15)).map(lambda both: measured(min(both), max(both)))


@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=4))
def test_swapping_the_sides_swaps_better_and_worse(pairs: list[tuple[BatchStats, BatchStats]]) -> None:
    swap = {ComparisonFinding.WORSE: ComparisonFinding.BETTER, ComparisonFinding.BETTER: ComparisonFinding.WORSE}
    one, other = (compare([ComparedSides(*pair) for pair in each]) for each in (pairs, [(b, a) for a, b in pairs]))
    assert [swap.get(each.finding, each.finding) for each in one.scenarios] == [
        each.finding for each in other.scenarios
    ]
    assert swap.get(one.overall_finding, one.overall_finding) == other.overall_finding


def test_runs_that_stopped_when_sure_are_named_for_their_number_is_no_accident(store: RunStore) -> None:
    fill(store, "01aa", 9)
    fill(store, "01bb", 9, max_runs=50, confidence=0.95, min_pass_rate=0.5)
    assert "B: the number of runs depends on their results (--until-sure)" in salvo_compare("01aa", "01bb").stdout
