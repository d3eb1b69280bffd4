"""`salvo label`: people label judged runs, blind, and a scenario with `labels` passes or fails by them."""

import csv
import itertools
import json
import re
from collections.abc import Callable

import pytest
from click.testing import Result
from inline_snapshot import snapshot

from tests.support.greeting import verdict
from tests.support.project import UserProject
from tests.support.provider import Answer, LoopbackProvider, ProviderRequest, Say

GREET = """
scenario: greet
adapter: openai
model: gpt-5.4-mini
user_message: Greet the customer.
min_pass_rate: 0.6
{labels}
assertions:
  - {{type: jmespath, path: final_text, operator: exists}}
  - {{type: llm_judge, name: polite, rubric: The greeting is polite., k: 3}}
"""


def greeter() -> Callable[[ProviderRequest], Answer]:
    """Of ten greetings seven are fine, the judge passes them; of one it is not sure, and two are rude."""
    numbers, votes = itertools.count(1), itertools.count(1)

    def answer(request: ProviderRequest) -> Answer:
        if request.system:
            if "Hm" in str(request.body):
                return verdict(next(votes) % 3 != 0)
            return verdict("morning" in str(request.body))
        number = next(numbers)
        kind = number % 10
        return Say(f"Good morning, {number}" if kind < 7 else f"Hm {number}" if kind == 7 else f"What, {number}?")

    return answer


@pytest.fixture
def greeted(project: UserProject) -> UserProject:
    project.write("scenarios/book_flight.yaml", GREET.format(labels="labels: {}"))
    return project


def run(project: UserProject, runs: int = 40, *options: str) -> Result:
    with LoopbackProvider(greeter()) as provider:
        project.reach(provider)
        return project.salvo("run", "-n", str(runs), "-j", "1", *options)


def tidy(text: str) -> str:
    text = re.sub(r"\b[0-9a-z]{16}\b", "BATCH", text)
    return re.sub(r"(cost|latency) .*\n", "", text)


def politeness(project: UserProject, *arguments: str, passes: Callable[[str], str]) -> Result:
    """Label by what is on the screen: `passes` gets the final output."""
    export = project.folder / "questions.jsonl"
    project.salvo("label", *arguments, "--export", str(export))
    rows = [json.loads(line) for line in export.read_text().splitlines()]
    keys = "".join(passes(row["transcript"].split("[final output]")[1]) for row in rows)
    return project.salvo("label", *arguments, keys=keys)


def as_judged(text: str) -> str:
    return "p" if "morning" in text else "f"


class TestAScenarioWithLabels:
    def test_is_inconclusive_until_enough_runs_are_labelled_and_says_how_many(self, greeted: UserProject) -> None:
        ran = run(greeted)
        assert ran.exit_code == 4
        [why] = re.findall("verdict +(.*)", ran.stdout)
        assert why == snapshot(
            "inconclusive: 32 of 40 completed runs passed by their judges; no run is labelled, so nothing is known about the judge; 19 more labels (10 of runs judged passed, 5 of runs judged failed, 4 of runs with split votes) would settle it, if people agree with the judge; min_pass_rate is 60%"
        )
        few = politeness(greeted, "-n", "12", passes=as_judged)
        assert few.exit_code == 0
        assert tidy(few.stdout[few.stdout.index("RUNS") - 23 :]) == snapshot("""\
                       RUNS  LABELLED  PASS  FAIL  UNCLEAR
runs judged passed     28    4         4     0     0
runs judged failed     8     4         0     4     0
runs with split votes  4     4         0     4     0

corrected pass rate  70%, 95% interval 37% to 78%, of these 40 runs; 12 labelled
verdict              inconclusive: corrected by labels of 12 of 40 runs, with 95% confidence it is 37% to 78%; 10 more labels (9 of runs judged passed, 1 of runs judged failed) would settle it, if they come out as those so far

polite: the judge and people, 12 labels
  agreement with people           90%, 95% interval 59% to 90%
  Cohen's kappa                   0.74, 95% interval 0.25 to 0.74
  of what it passed, people pass  88%, 95% interval 50% to 88%
  of what people pass, it passed  100%, 95% interval 90% to 100%
  of what it failed, people fail  100%, 95% interval 62% to 100%
  of what people fail, it failed  67%, 95% interval 31% to 67%
  passed wrongly: BATCH-0007, BATCH-0017, BATCH-0027 and 1 more
Label them with: salvo label BATCH -n 22
""")
        assert greeted.salvo("label", "--check").exit_code == 4

    def test_passes_by_the_corrected_rate_on_every_surface(self, greeted: UserProject) -> None:
        run(greeted)
        politeness(greeted, "-n", "30", passes=as_judged)
        checked = greeted.salvo("label", "--check", "--json")
        assert checked.exit_code == 0
        labels = json.loads(checked.stdout)["labels"]
        assert labels["verdict"] == "pass"
        assert labels["interval"][0] >= 0.6
        assert labels["judges"][0]["quality"]["agreement"]["value"] == pytest.approx(0.9)
        report = greeted.salvo("report", "latest")
        assert tidy(report.stdout[report.stdout.index("verdict") :]) == snapshot("""\
verdict    passed: 32 of 40 completed runs passed by their judges; corrected by labels of 30 of 40 runs, with 95% confidence the pass rate is at least 66%; min_pass_rate is 60%
pass rate  80%, 95% interval 64% to 91%: 32 of 40 shows at least 64%
corrected  70%, 95% interval 66% to 74%, of these 40 runs; 30 labelled
pass^k     1: 80% (64% to 91%)  3: 50% (26% to 76%)  5: 31% (11% to 63%)  10: 8% (1% to 39%)  20: 0.2% (0% to 15%)  (the chance that k runs all pass)
""")
        [listed] = json.loads(greeted.salvo("report", "--json").stdout)["batches"]
        assert (listed["verdict"], listed["labels"]["labelled"]) == ("passed", 30)
        page = greeted.folder / "report.html"
        greeted.salvo("report", "latest", "--html", str(page))
        assert "corrected by labels of 30 of 40 runs" in page.read_text()

    def test_fails_if_people_fail_what_the_judge_passed(self, greeted: UserProject) -> None:
        run(greeted)
        shown = politeness(greeted, "-n", "30", passes=lambda _: "f")
        assert greeted.salvo("label", "--check").exit_code == 1
        assert "passed wrongly: " in shown.stdout

    def test_needs_a_judge(self, project: UserProject) -> None:
        scenario = GREET.format(labels="labels: {confidence: 0.9}").rsplit("  - ", 1)[0]
        project.write("scenarios/book_flight.yaml", scenario)
        checked = project.salvo("validate", "scenarios")
        assert checked.exit_code == 2
        assert "has labels, but no llm_judge" in checked.output

    def test_about_the_agent_needs_more_than_labels_of_a_few_runs(self, greeted: UserProject) -> None:
        run(greeted, 10, "--confidence", "0.95")
        shown = politeness(greeted, "-n", "10", passes=as_judged)
        assert "no number of labels would settle it, because there are too few runs" in shown.stdout
        assert greeted.salvo("label", "--check").exit_code == 4


class TestLabelling:
    def test_never_shows_what_the_judge_said(self, greeted: UserProject) -> None:
        run(greeted)
        shown = greeted.salvo("label", "-n", "8", keys="q")
        question = shown.stdout[: shown.stdout.index("RUNS")]
        assert "The greeting is polite." in question
        assert "so it seems" not in question, "the judge's reason"
        assert not re.search("passed|failed|split", question)
        file = greeted.folder / "questions.csv"
        greeted.salvo("label", "-n", "8", "--export", str(file))
        assert not re.search("so it seems|passed|failed|split|verdict", file.read_text())

    def test_stores_each_answer_at_once_and_goes_on_where_it_stopped(self, greeted: UserProject) -> None:
        run(greeted)
        greeted.salvo("label", "-n", "6", "--reviewer", "Ada", keys="pnthe tone\nfq")
        stored = [json.loads(file.read_text()) for file in (greeted.store / "labels").glob("*.json")]
        assert sorted((label["answer"], label["note"], label["reviewer"]) for label in stored) == [
            ("fail", "the tone", "Ada"),
            ("pass", "", "Ada"),
        ]
        again = greeted.salvo("label", "-n", "6", "--reviewer", "ada", keys="bppppq")
        assert "1 of 4" in again.stdout
        assert len(list((greeted.store / "labels").glob("*.json"))) == 6
        assert "You have labelled 6 runs" in greeted.salvo("label", "-n", "6", "--reviewer", "Ada").stderr

    def test_works_elsewhere_through_a_file(self, greeted: UserProject) -> None:
        run(greeted)
        file = greeted.folder / "questions.csv"
        assert "20 questions" in greeted.salvo("label", "-n", "20", "--export", str(file)).stdout
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines))
        for row, answer in zip(rows, itertools.cycle(["Pass", "fail", "unclear", ""]), strict=False):
            row["answer"] = answer
        with file.open("w", encoding="utf-8", newline="") as lines:
            writer = csv.DictWriter(lines, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        assert "15 labels of Ada imported." in greeted.salvo("label", "--import", str(file), "--reviewer", "Ada").stdout
        file.write_text("key,answer\nabc,pass\n")
        refused = greeted.salvo("label", "--import", str(file), "--reviewer", "Ada")
        assert (refused.exit_code, "Nothing was imported" in refused.stderr) == (2, True)

    def test_writes_no_formula_for_a_spreadsheet(self, project: UserProject) -> None:
        scenario = GREET.format(labels="").replace("The greeting is polite.", '"=HYPERLINK(1);=HYPERLINK(2)"')
        project.write("scenarios/book_flight.yaml", scenario)
        run(project, 4)
        file = project.folder / "questions.csv"
        project.salvo("label", "--export", str(file))
        with file.open(encoding="utf-8-sig", newline="") as lines:
            assert {row["rubric"] for row in csv.DictReader(lines)} == {"'=HYPERLINK(1);'=HYPERLINK(2)"}

    def test_by_two_people_shows_how_well_they_agree(self, greeted: UserProject) -> None:
        run(greeted)
        politeness(greeted, "-n", "10", "--reviewer", "Ada", passes=as_judged)
        shown = politeness(greeted, "-n", "10", "--reviewer", "Bob", passes=lambda _: "p")
        [agreement] = re.findall("Ada and Bob agree on .*", shown.stdout)
        assert agreement == snapshot("Ada and Bob agree on 4 of 10; Cohen's kappa 0.00, 95% interval -0.31 to 0.25.")
        labels = json.loads(greeted.salvo("label", "--check", "--json").stdout)["labels"]
        failed = next(item for item in labels["strata"] if item["verdicts"] == "failed")
        assert failed["unclear"] == failed["labelled"] > 0, "where two people disagree, nothing is clear"

    def test_is_shown_beside_the_raw_rate_without_deciding_if_the_scenario_has_no_labels(
        self, project: UserProject
    ) -> None:
        project.write("scenarios/book_flight.yaml", GREET.format(labels=""))
        assert run(project).exit_code == 0
        politeness(project, "-n", "20", passes=lambda _: "f")
        report = project.salvo("report", "latest").stdout
        assert "corrected  0%" in report
        assert "verdict    passed" in report

    def test_of_one_transcript_holds_for_the_same_transcript_in_another_batch(self, greeted: UserProject) -> None:
        run(greeted, 10)
        greeted.salvo("label", "-n", "10", keys="p" * 10)
        run(greeted, 10)
        labels = json.loads(greeted.salvo("label", "latest", "--check", "--json").stdout)["labels"]
        assert (labels["labelled"], labels["rate"], labels["verdict"]) == (10, 1.0, "pass")

    def test_of_a_batch_without_judges_is_refused(self, project: UserProject) -> None:
        project.write("scenarios/book_flight.yaml", GREET.format(labels="").rsplit("  - ", 1)[0])
        run(project, 2)
        refused = project.salvo("label")
        assert refused.exit_code == 2
        assert "there is nothing to label" in refused.stderr
