"""How `salvo run` ends: totals, what did not pass and what to do about it, however many scenarios there are."""

import json
import re

import pytest
from inline_snapshot import snapshot

from tests.support.parsed_html import ParsedHtml
from tests.support.project import UserProject

SCENARIO = """
    scenario: {name}
    adapter: function:agent.answer
    user_message: {message}
    threshold: 0.5
    runs: {runs}
    assertions:
      - {{type: jmespath, name: is good, path: final_output, operator: eq, value: good}}
      - {{type: jmespath, name: is polite, path: final_output, operator: {polite}, value: good, weight: 0.5}}
"""
AGENT = """
    def answer(request):
        if request.user_message == "broken":
            raise RuntimeError("a bug")
        return request.user_message
"""


@pytest.fixture
def empty(project: UserProject) -> UserProject:
    (project.folder / "scenarios/book_flight.yaml").unlink()
    project.write("agent.py", AGENT)
    return project


def add(project: UserProject, name: str, message: str, *, runs: int = 1, polite: str = "eq") -> None:
    project.write(f"scenarios/{name}.yaml", SCENARIO.format(name=name, message=message, runs=runs, polite=polite))


def without_ids(text: str) -> str:
    return re.sub(r"\b[0-9a-z]{16}(?=-\d{4}\b|\b)", "BATCH", text)


def test_the_end_has_totals_and_each_failing_scenario_with_the_command_to_replay_it(empty: UserProject) -> None:
    add(empty, "booking", "good", runs=3)
    add(empty, "refund", "bad", runs=2)
    add(empty, "search", "broken")
    ran = empty.salvo("run", "--record")
    assert ran.exit_code == 1
    assert without_ids(ran.stdout.split("\n\n")[-1]) == snapshot("""\
3 scenarios: 1 failed, 1 error, 1 passed. 6 runs: 2 failed, 1 could not be judged, 3 passed. Cost: unknown.
Overall: failed. Mean pass rate of 2 of 3 scenarios: 50%, 95% interval 0% to 100% (standard error 50.0 points, clustered by scenario).
  failed        refund  0 of 2 runs passed  salvo replay BATCH-0001
  error         search  1 error  salvo report BATCH-0001
""")
    command = re.findall(r"salvo (replay \S+)", ran.stdout)[-1]
    assert "Reconstructed" in empty.salvo(*command.split()).stdout


def test_a_failure_that_was_not_recorded_is_shown_instead_of_replayed(empty: UserProject) -> None:
    add(empty, "refund", "bad")
    ran = empty.salvo("run", "-q")
    [command] = re.findall(r"salvo (report \S+)", ran.stdout)
    assert "refund  run 1  failed" in empty.salvo(*command.split()).stdout


def test_quiet_prints_the_closing_summary_only(empty: UserProject) -> None:
    add(empty, "booking", "good", runs=3)
    ran = empty.salvo("run", "--quiet")
    assert ran.stdout == "1 scenario: 1 passed. 3 runs: 3 passed. Cost: unknown.\n"


def test_the_table_of_a_single_scenario_needs_no_summary(empty: UserProject) -> None:
    add(empty, "booking", "good")
    assert "1 scenario:" not in empty.salvo("run").stdout


def test_many_scenarios_print_tables_of_those_that_did_not_pass(empty: UserProject) -> None:
    for number in range(200):
        add(empty, f"s{number:03}", "bad" if number % 10 == 5 else "good")
    ran = empty.salvo("run")
    lines = ran.stdout.splitlines()
    assert len(lines) < 200
    assert [line.split()[0] for line in lines if "pass-rate:" in line] == [
        f"s{number:03}" for number in range(5, 100, 10)
    ]
    assert sum("salvo report" in line and line.startswith("  failed ") for line in lines) == 20
    assert lines[-1] == "190 more tables: salvo run -v prints all of them, salvo report BATCH one of them."
    assert empty.salvo("run", "-v").stdout.count("pass-rate:") == 200


def test_an_assertion_that_fails_in_every_run_is_named_though_the_score_tolerates_it(empty: UserProject) -> None:
    add(empty, "booking", "good", runs=4, polite="ne")
    add(empty, "search", "good", runs=2)
    ran = empty.salvo("run", "-o", "results.md")
    assert ran.exit_code == 0
    assert 'The assertion "is polite" failed in all 4 runs; 4 of them passed nevertheless.' in ran.stdout
    assert ran.stdout.endswith('  The assertion "is polite" passed in no run, yet runs passed: booking\n')
    assert '"is polite" failed in all 4 runs' in (empty.folder / "results.md").read_text()
    empty.salvo("report", "latest~1", "--html", "report.html")
    assert "failed in all 4 runs; 4 of them passed nevertheless." in (empty.folder / "report.html").read_text()


def test_an_assertion_that_fails_the_runs_is_not_called_tolerated(empty: UserProject) -> None:
    add(empty, "refund", "bad", runs=2)
    assert "nevertheless" not in empty.salvo("run").stdout


def test_o_html_writes_one_scenario_as_its_report(empty: UserProject) -> None:
    add(empty, "refund", "bad", runs=2)
    assert empty.salvo("run", "-o", "report.html").exit_code == 1
    empty.salvo("report", "latest", "--html", "same.html")
    assert (empty.folder / "report.html").read_text() == (empty.folder / "same.html").read_text()


def test_o_html_writes_several_scenarios_as_a_table_with_those_that_matter_in_full(empty: UserProject) -> None:
    for number in range(12):
        add(empty, f"s{number:02}", "bad<script>" if number in (3, 7) else "good", runs=2)
    ran = empty.salvo("run", "-o", "report.html")
    text = (empty.folder / "report.html").read_text()
    assert ran.stdout.split("\n\n")[-1].splitlines()[0] in text
    assert text.count('<th scope="row"><a href="#batch-') == 2
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert {link.removeprefix("#") for link in re.findall(r'href="([^"]+)"', text)} <= set(ids)
    assert "script" not in [name for name, _ in ParsedHtml(text).elements]


def test_a_file_of_an_unknown_format_is_refused_before_anything_runs(empty: UserProject) -> None:
    add(empty, "booking", "good")
    ran = empty.salvo("run", "-o", "x.pdf")
    assert ran.exit_code == 2
    assert "Use one of .json, .jsonl, .xml (JUnit), .md, .html." in ran.stderr
    assert empty.runs() == []


def test_quiet_says_why_runs_could_not_be_judged_or_were_not_made(empty: UserProject) -> None:
    add(empty, "first", "broken", runs=2)
    add(empty, "second", "broken", runs=2)
    ran = empty.salvo("run", "-q", "-x", "-j", "1")
    assert ran.exit_code == 3
    assert without_ids(ran.stdout) == snapshot("""\
2 scenarios: 2 errors. 4 runs: 1 could not be judged, 3 without a result. Cost: unknown.
Overall: not judged, because 1 run could not be judged.
  error         first   1 error, 1 without a result  salvo report BATCH-0001
  error         second  2 without a result  salvo run --resume BATCH
1 run could not be judged:
  1 × the adapter failed: RuntimeError: a bug (agent.py, line 3)  (BATCH-0001)
3 runs without a result:
  3 × not run: a run could not be judged, and -x stops at the first  (BATCH-0002)
Resume all of them with: salvo run --resume latest
""")


def test_a_reason_that_a_table_gave_is_not_repeated(empty: UserProject) -> None:
    add(empty, "booking", "good")
    add(empty, "search", "broken")
    assert empty.salvo("run").stdout.count("a bug") == 1


@pytest.mark.parametrize("options", [(), ("-q",)])
def test_a_scenario_that_passed_with_an_error_says_why_the_command_did_not(
    empty: UserProject, options: tuple[str, ...]
) -> None:
    add(empty, "booking", "good", runs=2)
    empty.write(
        "agent.py",
        """
        def answer(request):
            if request.seed == 1:
                raise RuntimeError("a bug")
            return request.user_message
        """,
    )
    ran = empty.salvo("run", "--seed", "0", *options)
    assert ran.exit_code == 3
    assert "Overall: not judged, because 1 run could not be judged.\n" in ran.stdout


def test_the_overall_verdict_is_that_of_the_exit_code_when_the_baseline_decides(empty: UserProject) -> None:
    empty.write(
        "agent.py", "def answer(request):\n    return 'good' if request.seed > 99 or request.seed % 2 else 'bad'\n"
    )
    for name in ("booking", "refund"):
        add(empty, name, "good", runs=30)
    assert empty.salvo("run", "--seed", "100").exit_code == 0
    assert empty.salvo("baseline", "bless", "latest").exit_code == 0
    ran = empty.salvo("run", "--seed", "0", "--min-pass-rate", "0.5", "--against-baseline")
    assert ran.exit_code == 1
    closing = ran.stdout.split("\n\n")[-1]
    assert closing.startswith("2 scenarios: 2 passed.")
    assert "Overall: failed, because of the comparison with the baseline." in closing


def test_the_chance_of_one_run_is_not_rounded_to_the_minimum(empty: UserProject) -> None:
    add(empty, "booking", "good", runs=200)
    empty.write("agent.py", "def answer(request):\n    return 'good' if request.seed < 179 else 'bad'\n")
    ran = empty.salvo("run", "--seed", "0", "--min-pass-rate", "0.9")
    assert "pass^k     1: 89.5% (" in ran.stdout


def test_the_95_percent_interval_of_the_mean_does_not_depend_on_the_confidence_of_the_gate(empty: UserProject) -> None:
    for name in ("booking", "refund"):
        add(empty, name, "good")
    gate = ("--min-pass-rate", "0.5", "--confidence", "0.8", "--until-sure", "--max-runs", "10", "-j", "10")
    report = json.loads(empty.salvo("run", *gate, "--json").stdout)
    for batch in report["batches"]:
        assert batch["passed"] == batch["completed"] == 10
        assert batch["interval"] == pytest.approx([0.025 ** (1 / 10), 1.0], abs=1e-6)
        assert batch["evidence"]["interval"] == pytest.approx([0.1 ** (1 / 10), 1.0], abs=1e-6)
    rate = report["batches"][0]["evidence"]["corrected_rate"]
    low, _ = report["suite"]["mean"]["interval"]
    assert low == pytest.approx(rate - (rate - 0.025 ** (1 / 10)) / 2**0.5, abs=1e-6)


def test_a_verdict_that_missing_runs_leave_open_says_so(empty: UserProject) -> None:
    add(empty, "booking", "good", runs=2)
    ran = empty.salvo("run", "-q", "--max-cost", "0")
    assert ran.exit_code == 3
    assert "Overall: not judged, because 2 runs have no result.\n" in ran.stdout
