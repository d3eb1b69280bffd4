"""`salvo run` and its relatives on a file with cases and a matrix: each cell is a scenario of its own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import Result

from tests.support.project import UserProject
from tests.support.provider import Fault, LoopbackProvider, ProviderRequest, Say, always
from tests.support.provider.script import Answer

SUITE = """
scenario: refund
adapter: openai
cases: refund.csv
matrix:
  model: [gpt-5.4-mini, gpt-5.4]
private: [customer]
runs: 3
seed: 7
user_message: "Refund order {{ order }} for {{ customer }}."
assertions:
  - {type: jmespath, path: final_output, operator: contains, value: "{{ order }}"}
  - {type: jmespath, path: final_output, operator: contains, value: "{{ customer }}"}
"""
CASES = "id,order,customer\nlate,A-1001,Ann Smith\nearly,A-1002,Bob\n"


@pytest.fixture
def suite(project: UserProject) -> UserProject:
    (project.folder / "scenarios/book_flight.yaml").unlink()
    project.write("scenarios/refund.yaml", SUITE)
    project.write("scenarios/refund.csv", CASES)
    return project


def echo(asked: ProviderRequest) -> Answer:
    return Say(f"Done: {asked.messages[-1]['content']}")


def batches(ran: Result) -> dict[str, dict[str, Any]]:
    return {batch["scenario_id"]: batch for batch in json.loads(ran.stdout)["batches"]}


def test_each_cell_is_a_batch_with_the_same_seeds(suite: UserProject) -> None:
    with LoopbackProvider(echo) as provider:
        suite.reach(provider)
        ran = suite.salvo("run", "--json")
    cells = batches(ran)
    assert ran.exit_code == 0, ran.output
    assert list(cells) == [
        "refund[late-gpt-5.4-mini]",
        "refund[late-gpt-5.4]",
        "refund[early-gpt-5.4-mini]",
        "refund[early-gpt-5.4]",
    ]
    assert {tuple(run["seed"] for run in cell["results"]) for cell in cells.values()} == {(7, 8, 9)}
    stored = [json.loads(file.read_text()) for file in (suite.store / "batches").glob("*.json")]
    assert {(batch["suite"], *batch["parameters"].values()) for batch in stored} == {
        ("refund", case, model) for case in ("late", "early") for model in ("gpt-5.4-mini", "gpt-5.4")
    }
    assert len({batch["command"] for batch in stored}) == 1


def test_private_values_reach_the_model_and_the_assertions_and_are_never_stored(suite: UserProject) -> None:
    with LoopbackProvider(echo) as provider:
        suite.reach(provider)
        ran = suite.salvo("run", "--record", "--json", "-o", "report.md")
    assert ran.exit_code == 0, ran.output
    assert any("for Ann Smith." in asked.messages[-1]["content"] for asked in provider.requests)
    everything = suite.everything_stored() + ran.output + (suite.folder / "report.md").read_text()
    assert "Ann Smith" not in everything
    assert not re.search(r"\bBob\b", everything)
    assert "Refund order A-1001 for [redacted: customer]." in everything
    for run_id in [file.stem for file in suite.runs()]:
        assert "Identical: " in suite.salvo("replay", run_id).output
    again = suite.salvo("replay", "--re-eval", run_id)
    assert again.exit_code == 0, again.output
    assert "Ann Smith" not in again.output


def test_an_assertion_on_a_private_value_can_fail(suite: UserProject) -> None:
    with LoopbackProvider(Say("Done: order A-1001 and A-1002 for somebody else.")) as provider:
        suite.reach(provider)
        ran = suite.salvo("run", "--json")
    assert ran.exit_code == 1
    verdicts = [run["eval_results"] for cell in batches(ran).values() for run in cell["results"]]
    assert {tuple(item["passed"] for item in items) for items in verdicts} == {(True, False)}


def test_a_single_cell_is_selected_by_its_name(suite: UserProject) -> None:
    with LoopbackProvider(echo) as provider:
        suite.reach(provider)
        ran = suite.salvo("run", "-k", "early-gpt-5.4-mini", "--json", "-o", "junit.xml")
    assert list(batches(ran)) == ["refund[early-gpt-5.4-mini]"]
    assert len(provider.requests) == 3
    names = {suite_element.get("name") for suite_element in ET.parse(suite.folder / "junit.xml").iter("testsuite")}  # noqa: S314 - our own file
    assert "refund[early-gpt-5.4-mini]" in names


def test_missing_runs_of_all_cells_are_made_later(suite: UserProject) -> None:
    # The first answer is paid for, and the budget is then spent.
    with LoopbackProvider(echo) as provider:
        suite.reach(provider)
        stopped = suite.salvo("run", "--max-cost", "0.0000001", "-j", "1", "--json")
        made = len(suite.runs())
        assert stopped.exit_code == 3
        assert 0 < made < 12
        resumed = suite.salvo("run", "--resume", "latest", "--json")
    assert resumed.exit_code == 0, resumed.output
    assert {cell["completed"] for cell in batches(resumed).values()} == {3}
    assert "Ann Smith" not in suite.everything_stored()


def test_a_cell_whose_case_has_changed_is_not_resumed(suite: UserProject) -> None:
    with LoopbackProvider(echo) as provider:
        suite.reach(provider)
        suite.salvo("run", "--max-cost", "0.0000001", "-j", "1")
        suite.write("scenarios/refund.csv", CASES.replace("A-1002", "A-1003"))
        resumed = suite.salvo("run", "--resume", "latest")
        suite.write("scenarios/refund.csv", CASES.replace("early", "soon"))
        gone = suite.salvo("run", "--resume", "latest")
    assert (resumed.exit_code, gone.exit_code) == (2, 2)
    assert "has changed since the batch" in resumed.output
    assert "none of its cells is refund[early-gpt-5.4" in gone.output


def test_an_option_cannot_set_what_the_matrix_sets(suite: UserProject) -> None:
    ran = suite.salvo("run", "--model", "gpt-5.4")
    assert ran.exit_code == 2
    assert "refund: its matrix sets the model, so --model cannot." in ran.output


def test_all_cells_share_one_endpoint_and_a_cell_with_another_address_has_its_own(suite: UserProject) -> None:
    with LoopbackProvider(echo) as provider, LoopbackProvider(Say("A-1001 A-1002 Ann Smith Bob")) as other:
        suite.write(
            "scenarios/refund.yaml",
            SUITE.replace("model: [gpt-5.4-mini, gpt-5.4]", "adapter_options.base_url: {one: ONE, two: TWO}")
            .replace("ONE", provider.openai_url)
            .replace("TWO", other.openai_url)
            + "model: gpt-5.4-mini\nadapter_options: {api_key: a-key-of-this-test}\n",
        )
        ran = suite.salvo("run", "--record", "--json")
    assert ran.exit_code == 0, ran.output
    assert (len(provider.requests), len(other.requests)) == (6, 6)
    recorded = [json.loads(file.read_text()) for file in (suite.store / "recordings").glob("*/request.json")]
    endpoints = {item["endpoint"] for item in recorded}
    assert len(endpoints) == 3  # that of the file, and one for each cell with the second address


def test_until_sure_spends_runs_where_the_verdict_is_open(suite: UserProject) -> None:
    suite.write(
        "scenarios/refund.yaml",
        SUITE.replace("runs: 3\n", "min_pass_rate: 0.5\n").replace(
            "model: [gpt-5.4-mini, gpt-5.4]", "temperature: [0, 1]"
        )
        + "model: gpt-4o\n",
    )
    answers = iter(range(10_000))

    def script(asked: ProviderRequest) -> Answer:
        is_open = "A-1002" in asked.messages[-1]["content"]
        return Say("no") if is_open and next(answers) % 2 else echo(asked)

    with LoopbackProvider(script) as provider:
        suite.reach(provider)
        ran = suite.salvo("run", "--until-sure", "--max-runs", "40", "-j", "4", "--json")
    runs = {name: cell["completed"] for name, cell in batches(ran).items()}
    assert max(runs["refund[late-0]"], runs["refund[late-1]"]) < 20
    assert runs["refund[early-0]"] == runs["refund[early-1]"] == 40
    assert ran.exit_code == 4


def test_a_budget_is_shared_by_all_cells(suite: UserProject) -> None:
    with LoopbackProvider(echo) as provider:
        suite.reach(provider)
        ran = suite.salvo("run", "--max-cost", "0.00001", "-j", "1", "--json")
    cells = batches(ran)
    assert sum(cell["not_run"] for cell in cells.values()) == 12 - len(provider.requests)
    assert sum(cell["completed"] > 0 for cell in cells.values()) < 4


def test_a_fault_of_the_provider_is_an_error_of_its_cell_only(suite: UserProject) -> None:
    script = lambda asked: Fault.unknown_model() if "A-1002" in asked.messages[-1]["content"] else echo(asked)  # noqa: E731 - one line of script
    with LoopbackProvider(script) as provider:
        suite.reach(provider)
        ran = suite.salvo("run", "--json")
    assert {name: cell["verdict"] for name, cell in batches(ran).items()} == {
        "refund[late-gpt-5.4-mini]": "passed",
        "refund[late-gpt-5.4]": "passed",
        "refund[early-gpt-5.4-mini]": "error",
        "refund[early-gpt-5.4]": "error",
    }
    assert ran.exit_code == 3


def test_two_models_of_a_matrix_are_compared_case_by_case(suite: UserProject) -> None:
    script = lambda asked: Say("no") if asked.body["model"] == "gpt-5.4" else echo(asked)  # noqa: E731 - one line of script
    with LoopbackProvider(script) as provider:
        suite.reach(provider)
        suite.salvo("run", "-n", "10")
    compared = suite.salvo("compare", "--a", "gpt-5.4-mini", "--b", "gpt-5.4", "--json")
    assert compared.exit_code == 1, compared.output
    scenarios = json.loads(compared.stdout)["scenarios"]
    assert [(item["a"]["model"], item["b"]["model"]) for item in scenarios] == [("gpt-5.4-mini", "gpt-5.4")] * 2


def test_the_report_is_a_grid_with_the_variants_that_cannot_be_told_from_the_best(suite: UserProject) -> None:
    models = "[gpt-5.4-mini, gpt-5.4, gpt-4o]"
    suite.write("scenarios/refund.yaml", SUITE.replace("[gpt-5.4-mini, gpt-5.4]", models).replace("runs: 3", "runs: 8"))
    counts: dict[str, int] = {}

    def script(asked: ProviderRequest) -> Answer:
        model = asked.body["model"]
        counts[model] = counts.get(model, 0) + 1
        fails = model == "gpt-4o" or (model == "gpt-5.4" and counts[model] == 1)
        return Say("no") if fails else echo(asked)

    with LoopbackProvider(script) as provider:
        suite.reach(provider)
        ran = suite.salvo("run", "-j", "1", "-o", "report.json", "-o", "report.md", "-o", "report.html")
    assert ran.exit_code == 1
    page = (suite.folder / "report.html").read_text()
    document = json.loads((suite.folder / "report.json").read_text())
    [grid] = document["grids"]
    standings = {variant["name"]: variant["standing"] for variant in grid["variants"]}
    assert standings == {
        "gpt-5.4-mini": "best",
        "gpt-5.4": "cannot be told from the best",
        "gpt-4o": "worse than the best",
    }
    assert [cell["verdict"] for cell in grid["cells"]] == ["failed"] * 3 + ["passed"] * 3
    assert grid["standard_error"] is not None
    shown = suite.salvo("report", "--grid")
    for text in (ran.stdout, shown.stdout, (suite.folder / "report.md").read_text(), page):
        assert "2 cases × 3 variants" in text
        assert "cannot be told from the best" in text
        assert "standard error" in text
        assert "3 pairs" in text
    for text in ((suite.folder / "report.md").read_text(), page):
        assert ", 2 cases × 3 variants, 6 cells: " in text, "several spaces are shown as one there"
    assert json.loads(suite.salvo("report", "--grid", "--json").stdout)["grids"] == document["grids"]


def test_a_grid_needs_several_cells(suite: UserProject) -> None:
    with LoopbackProvider(echo) as provider:
        suite.reach(provider)
        suite.salvo("run", "-k", "early-gpt-5.4-mini")
    ran = suite.salvo("report", "--grid")
    assert ran.exit_code == 2
    assert "is not one of several cells of its command" in ran.output


def test_validate_counts_cells_and_lists_their_code_once(suite: UserProject) -> None:
    assert "1 scenario with 4 cells is valid." in suite.salvo("validate").output
    suite.write("scenarios/agent.py", "def answer(request):\n    return 'ok'\n")
    suite.write("scenarios/refund.yaml", SUITE.replace("adapter: openai", "adapter: function:agent.answer"))
    listed = suite.salvo("validate", "--trust").output
    assert listed.count("agent.py") == 1, listed


def test_two_files_with_the_same_suite_are_refused(suite: UserProject) -> None:
    suite.write("scenarios/refund2.yaml", SUITE)
    ran = suite.salvo("run")
    assert ran.exit_code == 2
    assert ran.output.count("is also the name of") == 1


def test_pytest_runs_single_cells_by_their_node_id(suite: UserProject) -> None:
    with LoopbackProvider(echo) as provider:
        suite.reach(provider)
        node = "scenarios/refund.yaml::refund[late-gpt-5.4]"
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "salvo.pytest_plugin", "--salvo", "-q", node, "--junitxml=j.xml"],
            cwd=suite.folder,
            env={**_environment(), **suite.environ},
            capture_output=True,
            text=True,
            check=False,
        )
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr
    assert len(provider.requests) == 3
    assert 'name="refund[late-gpt-5.4]"' in (suite.folder / "j.xml").read_text()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "HOME": str(Path.home())}


ERRING = """
scenario: refund
adapter: function:agent.answer
runs: 2
cases:
  - {id: easy, question: easy}
  - {id: hard, question: hard}
matrix:
  system_prompt: {short: short, long: long}
user_message: "{{ question }}"
assertions:
  - {type: text, contains_all: [good]}
"""
ERRING_AGENT = """
def answer(request):
    if (request.system_prompt, request.user_message) == ("short", "hard"):
        raise RuntimeError("a bug")
    return "bad" if request.user_message == "hard" else "good"
"""


def test_a_grid_says_which_cases_a_rate_is_not_about_and_why_runs_could_not_be_judged(suite: UserProject) -> None:
    suite.write("scenarios/refund.yaml", ERRING)
    suite.write("agent.py", ERRING_AGENT)
    ran = suite.salvo("run")
    assert ran.exit_code == 1
    assert "4 cells: 1 failed, 1 error, 2 passed" in ran.stdout
    assert "short has completed runs in 1 of 2 cases: its pass rate says nothing about the others.\n" in ran.stdout
    assert "long has completed runs" not in ran.stdout
    assert "2 runs could not be judged:\n  2 × the adapter failed: RuntimeError: a bug (agent.py, line 3)" in ran.stdout


def test_the_mean_of_cells_is_called_that_of_their_cases(suite: UserProject) -> None:
    """A mean over the three cells with a rate would be 67 %."""
    suite.write("scenarios/refund.yaml", ERRING)
    suite.write("agent.py", ERRING_AGENT)
    ran = suite.salvo("run", "-q")
    assert "Mean pass rate of the cases: 50%, " in ran.stdout
    assert "clustered by case)" in ran.stdout


def test_a_grid_of_cached_runs_says_why_there_is_no_mean_and_mentions_the_cache_once(suite: UserProject) -> None:
    suite.write("scenarios/refund.yaml", ERRING.replace("function:agent.answer", "openai\nmodel: gpt-5.4-mini"))
    with LoopbackProvider(always(Say("good"))) as provider:
        suite.reach(provider)
        suite.salvo("run", "--cache")
        ran = suite.salvo("run", "--cache")
    assert ran.exit_code == 0
    assert "suite mean  unknown: every completed run was answered from a cache\n" in ran.stdout
    assert "p-values" not in ran.stdout
    assert ran.stdout.count("got replies from the cache") == 1
    assert "4 scenarios: 8 of 8 runs got replies from the cache." in ran.stdout


def test_after_early_stopping_the_rates_of_cells_are_corrected_as_their_means_are(suite: UserProject) -> None:
    suite.write("scenarios/refund.yaml", ERRING)
    suite.write("agent.py", "def answer(request):\n    return 'good'\n")
    gate = ("--min-pass-rate", "0.5", "--confidence", "0.8", "--until-sure", "--max-runs", "40", "-j", "4")
    report = json.loads(suite.salvo("run", *gate, "--json").stdout)
    (grid,) = report["grids"]
    corrected = {batch["evidence"]["corrected_rate"] for batch in report["batches"]}
    assert {cell["pass_rate"] for cell in grid["cells"]} == corrected
    assert max(corrected) < 1
    assert grid["pass_rate"] == pytest.approx(sum(cell["pass_rate"] for cell in grid["cells"]) / 4)


@pytest.mark.parametrize("name", ["wide.jsonl", "wide.csv"])
def test_a_table_of_very_many_columns_is_refused_at_once(suite: UserProject, name: str) -> None:
    names = [f"c{number}" for number in range(100_000)]
    row = ",".join(names) if name.endswith("csv") else json.dumps(dict.fromkeys(names, 1))
    suite.write(f"scenarios/{name}", f"{row}\n")
    suite.write("scenarios/refund.yaml", SUITE.replace("refund.csv", name))
    refused = suite.salvo("validate")
    assert refused.exit_code == 2
    assert f"scenarios/{name}:1:1: cases: the cases have more than 1,000 columns" in refused.output


@pytest.mark.parametrize(
    "setting, message",
    [
        ("mcp_servers: {shop: {command: [python3, x.py], pass_env: ['{{ order }}']}}", "name an environment variable"),
        ("mcp_servers: {shop: {command: [python3, x.py], env: {PATH: '{{ order }}'}}}", "choose the code that runs"),
        (
            "mcp_servers: {shop: {command: [python3, x.py], env: {LD_PRELOAD: '{{ order }}'}}}",
            "choose the code that runs",
        ),
        ("adapter_options: {command: x, pass_env: ['{{ order }}']}", "name an environment variable"),
        ("adapter_options: {command: x, env: {PYTHONPATH: '{{ order }}'}}", "choose the code that runs"),
    ],
)
def test_a_table_chooses_neither_code_nor_variables(suite: UserProject, setting: str, message: str) -> None:
    suite.write("scenarios/refund.yaml", f"{SUITE.lstrip()}{setting}\n")
    refused = suite.salvo("validate")
    assert refused.exit_code == 2
    assert f"the column order would {message}; write it here, or in the matrix" in refused.output


def test_a_value_of_the_wrong_type_is_reported_where_the_case_has_it(suite: UserProject) -> None:
    whole = SUITE.replace('"Refund order {{ order }} for {{ customer }}."', '"{{ order }}"').replace(
        "runs: 3", "runs: '{{ n }}'"
    )
    whole = whole.replace("private: [customer]\n", "").replace(
        '  - {type: jmespath, path: final_output, operator: contains, value: "{{ customer }}"}\n', ""
    )
    suite.write("scenarios/refund.yaml", whole.replace("refund.csv", "refund.jsonl"))
    suite.write(
        "scenarios/refund.jsonl", '{"id": "a", "order": "x", "n": 1}\n{"_other": {"order": 1}, "order" : 5, "n": 0}\n'
    )
    output = suite.salvo("validate").output
    assert "scenarios/refund.jsonl:2:36: user_message: must be text, not a number" in output
    assert "scenarios/refund.jsonl:2:44: runs: must be at least 1" in output
    suite.write("scenarios/refund.yaml", whole)
    suite.write("scenarios/refund.csv", 'id,order,n\na,"two\nlines",many\n')
    assert "scenarios/refund.csv:3:8: runs: must be a whole number, not text" in suite.salvo("validate").output
    inline = "\n  - {id: a, order: x, n: 1}\n  - id: b\n    order: 5\n    n: 2\n"
    suite.write("scenarios/refund.yaml", whole.replace(" refund.csv\n", inline))
    assert "scenarios/refund.yaml:6:5: user_message: must be text, not a number" in suite.salvo("validate").output
