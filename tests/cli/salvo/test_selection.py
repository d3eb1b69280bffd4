"""Which scenarios `salvo run` runs: paths, names, tags, and what happened last time."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.support.project import BIN, UserProject

SCENARIO = """
    scenario: {name}
    adapter: function:agent.answer
    user_message: {message}
    tags: [{tags}]
    seed: 1
    assertions:
      - {{type: jmespath, path: final_output, operator: eq, value: good}}
"""


@pytest.fixture
def shop(project: UserProject) -> UserProject:
    """Four scenarios, of which one does not pass."""
    (project.folder / "scenarios/book_flight.yaml").unlink()
    project.write("agent.py", "def answer(request):\n    return request.user_message\n")
    for name, message, tags in [
        ("refund late", "good", "slow, money"),
        ("refund-early", "bad", "money"),
        ("Return", "good", "slow"),
        ("search", "good", ""),
    ]:
        project.write(f"scenarios/{name}.yaml", SCENARIO.format(name=name, message=message, tags=tags))
    return project


def collected(project: UserProject, *arguments: str) -> list[str]:
    listed = project.salvo("run", "--collect-only", "-q", *arguments)
    assert listed.exit_code == 0, listed.output
    return [line.partition("::")[2] for line in listed.stdout.splitlines()]


def stored(project: UserProject) -> list[str]:
    """Return the scenarios of all stored runs, in the order in which they ended."""
    history = project.store / "history.jsonl"
    return [json.loads(line)["scenario_id"] for line in history.read_text().splitlines()] if history.exists() else []


def test_collect_only_lists_what_would_run_and_runs_nothing(shop: UserProject) -> None:
    listed = shop.salvo("run", "--collect-only", "-n", "3")
    assert listed.exit_code == 0
    assert listed.stdout == snapshot("""\
scenarios/Return.yaml::Return  3 runs
scenarios/refund late.yaml::refund late  3 runs
scenarios/refund-early.yaml::refund-early  3 runs
scenarios/search.yaml::search  3 runs

4 scenarios, 12 runs. Nothing was run.
""")
    assert stored(shop) == []
    until_sure = ["--until-sure", "--max-runs", "50", "--min-pass-rate", "0.9", "-k", "early"]
    assert "::refund-early  at most 50 runs\n" in shop.salvo("run", "--co", *until_sure).stdout
    document = json.loads(shop.salvo("run", "--co", "-k", "early", "--json").stdout)
    assert document == {
        "scenarios": [
            {
                "file": "scenarios/refund-early.yaml",
                "scenario": "refund-early",
                "tags": ["money"],
                "adapter": "function:agent.answer",
                "model": "",
                "runs": 1,
                "max_runs": None,
            }
        ]
    }


@pytest.mark.parametrize(
    "expression, names",
    [
        ("refund", ["refund late", "refund-early"]),
        ("RETURN or search", ["Return", "search"]),
        ("refund and not early", ["refund late"]),
        ("refund late", ["refund late"]),
        ("not (refund or search)", ["Return"]),
    ],
)
def test_k_selects_by_a_boolean_expression_over_names(shop: UserProject, expression: str, names: list[str]) -> None:
    assert collected(shop, "-k", expression) == names


@pytest.mark.parametrize(
    "expression, names",
    [
        ("slow", ["Return", "refund late"]),
        ("slow and money", ["refund late"]),
        ("not slow", ["refund-early", "search"]),
        ("mon or slow and not money", ["Return"]),  # a tag matches as a whole
    ],
)
def test_m_selects_by_a_boolean_expression_over_tags(shop: UserProject, expression: str, names: list[str]) -> None:
    assert collected(shop, "-m", expression) == names


def test_nothing_selected_exits_with_5_and_names_the_tags(shop: UserProject) -> None:
    by_name, by_tag = (shop.salvo("run", option, "nothing") for option in ("-k", "-m"))
    assert (by_name.exit_code, by_tag.exit_code) == (5, 5)
    assert "No scenario's name matches -k 'nothing'." in by_name.stderr
    assert "Tags: money, slow." in by_tag.stderr


def test_an_expression_that_cannot_be_read_is_bad_usage_before_anything_runs(shop: UserProject) -> None:
    ran = shop.salvo("run", "-k", "refund and (late")
    assert ran.exit_code == 2
    assert "a parenthesis is not closed" in ran.stderr
    assert stored(shop) == []


def test_several_paths_are_run_each_file_once(shop: UserProject) -> None:
    names = collected(shop, "scenarios/search.yaml", "scenarios/Return.yaml", "scenarios")
    assert names == ["search", "Return", "refund late", "refund-early"]
    assert shop.salvo("validate", "scenarios/search.yaml", "scenarios").stdout.startswith("4 scenarios are valid.")


def test_a_listed_id_can_be_run_alone(shop: UserProject) -> None:
    assert collected(shop, "scenarios/refund late.yaml::refund late") == ["refund late"]
    wrong = shop.salvo("run", "scenarios/search.yaml::serch")
    assert wrong.exit_code == 2
    assert 'scenarios/search.yaml has no scenario "serch"; did you mean "search"?' in wrong.stderr


def test_lf_runs_only_what_did_not_pass_last_time(shop: UserProject) -> None:
    assert shop.salvo("run").exit_code == 1
    again = shop.salvo("run", "--lf")
    assert stored(shop)[4:] == ["refund-early"]
    assert "1 scenario did not pass last time, 3 others not run." in again.stderr
    shop.write("scenarios/refund-early.yaml", SCENARIO.format(name="refund-early", message="good", tags=""))
    assert shop.salvo("run", "--last-failed").exit_code == 0
    all_again = shop.salvo("run", "--lf")
    assert "No scenario is stored that did not pass last time: all are run." in all_again.stderr
    assert len(stored(shop)) == 4 + 1 + 1 + 4


def test_lf_also_runs_what_could_not_be_judged(shop: UserProject) -> None:
    shop.write("agent.py", "def answer(request):\n    raise RuntimeError('bug')\n")
    assert shop.salvo("run", "-k", "search").exit_code == 3
    assert collected(shop, "--lf") == ["search"]


def test_ff_runs_first_what_did_not_pass(shop: UserProject) -> None:
    shop.salvo("run")
    assert collected(shop, "--ff")[0] == "refund-early"
    ran = shop.salvo("run", "--ff", "-j", "1")
    assert stored(shop)[4] == "refund-early"
    assert len(stored(shop)) == 8
    assert "1 scenario did not pass last time and is run first." in ran.stderr


def test_seed_and_timeout_replace_those_of_the_file(shop: UserProject) -> None:
    shop.write("agent.py", "def answer(request):\n    return f'{request.seed} {request.timeout_seconds}'\n")
    shop.salvo("run", "-k", "search", "-n", "2", "-j", "1", "--seed", "40", "--timeout", "2.5")
    results = [json.loads(file.read_text()) for file in shop.runs()]
    assert [(result["seed"], result["final_output"]) for result in results] == [(40, "40 2.5"), (41, "41 2.5")]


@pytest.mark.parametrize(
    "arguments", [["--seed", "1"], ["--timeout", "1"], ["-m", "slow"], ["--lf"], ["--collect-only"], ["scenarios"]]
)
def test_resume_takes_nothing_that_chooses_or_changes_scenarios(shop: UserProject, arguments: list[str]) -> None:
    shop.salvo("run")
    assert shop.salvo("run", "--resume", "latest", *arguments).exit_code == 2


def test_latest_1_is_the_one_before_wherever_an_id_is_accepted(shop: UserProject) -> None:
    for _ in range(2):
        shop.salvo("run", "-k", "search or early", "-j", "1")
    batches = sorted(file.stem for file in (shop.store / "batches").glob("*.json"))
    history = [json.loads(line)["run_id"] for line in (shop.store / "history.jsonl").read_text().splitlines()]
    assert json.loads(shop.salvo("report", "latest~1", "--json").stdout)["batches"][0]["batch_id"] == batches[-2]
    assert history[-2] in shop.salvo("replay", "latest~1", "--re-eval").stdout
    blessed = json.loads(shop.salvo("baseline", "bless", "latest~1", "--json").stdout)
    assert blessed["blessed"] == ["refund-early", "search"]  # of the whole command before the newest
    baseline = json.loads((shop.store / "baseline.json").read_text())
    assert {item["batch_id"] for item in baseline["scenarios"].values()} == set(batches[:2])
    compared = json.loads(shop.salvo("compare", "latest~1", "latest", "--all", "--json").stdout)
    assert [item["a"]["batch_id"] for item in compared["scenarios"]] == batches[:2]
    assert shop.salvo("run", "--resume", "latest~1").stderr == "Nothing is missing: every run was made.\n"
    assert shop.salvo("compare", "latest", "latest~0", "--all").exit_code == 2


def test_latest_with_too_many_steps_says_how_many_there_are(shop: UserProject) -> None:
    shop.salvo("run", "-k", "search")
    for command in (["report", "latest~1"], ["replay", "latest~1"], ["run", "--resume", "latest~1"]):
        ran = shop.salvo(*command)
        assert ran.exit_code == 2
        assert "There is no latest~1: only 1 " in ran.stderr


@pytest.mark.parametrize("program", ["salvo", "byop"])
def test_h_is_help_for_every_command(program: str, tmp_path: Path) -> None:
    for command in ([], ["run"]):
        shown = [
            subprocess.run([BIN / program, *command, flag], cwd=tmp_path, capture_output=True, text=True, check=True)
            for flag in ("-h", "--help")
        ]
        assert shown[0].stdout == shown[1].stdout
        assert shown[0].stdout.startswith("Usage: ")


@pytest.mark.parametrize(
    "line, completions", [("re", {"report", "replay"}), ("run --col", {"--collect-only"}), ("", None)]
)
def test_the_shell_completes_commands_and_options(line: str, completions: set[str] | None, tmp_path: Path) -> None:
    words = {"COMP_WORDS": f"salvo {line}", "COMP_CWORD": str(line.count(" ") + 1), "_SALVO_COMPLETE": "bash_complete"}
    completed = subprocess.run(
        [BIN / "salvo"], cwd=tmp_path, env={**os.environ, **words}, capture_output=True, text=True, check=True
    )
    suggested = {line.partition(",")[2] for line in completed.stdout.splitlines()}
    assert suggested == completions if completions else {"run", "validate", "compare"} < suggested
