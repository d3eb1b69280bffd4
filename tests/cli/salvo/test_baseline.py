"""`salvo baseline bless` and `salvo run --against-baseline`."""

import json
import subprocess

import pytest
from inline_snapshot import snapshot

from tests.support.project import UserProject
from tests.support.provider import Fault, LoopbackProvider, Say

GREET = """
scenario: greet
adapter: openai
model: gpt-5.4-mini
system_prompt: The secret recipe is thyme.
user_message: hello
min_pass_rate: 0.0
assertions: [{type: jmespath, name: greets, path: final_output, operator: eq, value: hi}]
"""


@pytest.fixture
def blessed(project: UserProject) -> UserProject:
    project.write("scenarios/book_flight.yaml", GREET)
    with LoopbackProvider(Say("hi")) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "10")
    shown = project.salvo("baseline", "bless", "latest")
    assert shown.stdout == snapshot("""\
greet: 10 of 10 runs passed, openai/gpt-5.4-mini
.salvo/baseline.json has 1 scenario. Commit it, and compare with: salvo run --against-baseline
""")
    return project


def test_the_file_is_small_and_reviewable_and_has_no_texts(blessed: UserProject) -> None:
    text = (blessed.store / "baseline.json").read_text()
    document = json.loads(text)
    greet = document["scenarios"]["greet"]
    assert "thyme" not in text
    assert "hello" not in text
    assert (greet["passed"], greet["completed"], greet["model"]) == (10, 10, "gpt-5.4-mini")
    assert greet["assertions"] == snapshot(
        [
            {
                "label": "greets",
                "type": "jmespath",
                "required": False,
                "passed": 10,
                "judged": 10,
                "unjudged": 0,
                "tolerated": 0,
            }
        ]
    )
    assert sorted(greet["fingerprints"]) == snapshot(
        ["the assertion greets", "the scenario's system_prompt", "the scenario's user_message"]
    )
    assert len(text) < 3000


def test_git_does_not_ignore_it(blessed: UserProject) -> None:
    blessed.salvo("init")
    subprocess.run(["git", "init", "-q"], cwd=blessed.folder, check=True)
    ignored = subprocess.run(
        ["git", "check-ignore", ".salvo/baseline.json", ".salvo/judgings/x.jsonl"],
        cwd=blessed.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ignored.stdout == ".salvo/judgings/x.jsonl\n"


def test_a_run_that_is_worse_exits_1_with_the_same_sentence(blessed: UserProject) -> None:
    with LoopbackProvider(Say("go away")) as provider:
        blessed.reach(provider)
        ran = blessed.salvo("run", "-n", "10", "--against-baseline", "-o", "out.md", "-o", "out.json")
    assert ran.exit_code == 1
    worse = "B is worse on greet (0% against 100%, p < 0.001)."
    assert (
        f"### Compared with the baseline (A)\n\n**{worse}**".replace("<", "\\<")
        in (blessed.folder / "out.md").read_text()
    )
    assert json.loads((blessed.folder / "out.json").read_text())["comparison"]["sentence"] == worse
    after = ran.stdout.split("Against the baseline (A):\n")[1]
    assert after.splitlines()[0] == worse


def test_a_run_that_is_as_good_exits_0_and_json_has_the_comparison(blessed: UserProject) -> None:
    with LoopbackProvider(Say("hi")) as provider:
        blessed.reach(provider)
        ran = blessed.salvo("run", "-n", "10", "--json", "--against-baseline")
    assert ran.exit_code == 0
    found = json.loads(ran.stdout)["comparison"]
    assert (found["worse"], found["scenarios"][0]["differs"]) == (False, [])


def test_false_alarms_are_kept_over_many_commits(blessed: UserProject) -> None:
    """5 of 10 against 10 of 10 is a finding once, but by chance not so rare in 20 comparisons."""
    replies = iter([Say("go away")] * 5 + [Say("hi")] * 5 + [Say("go away")] * 5 + [Say("hi")] * 5)
    with LoopbackProvider(lambda _: next(replies)) as provider:
        blessed.reach(provider)
        single = blessed.salvo("run", "-n", "10", "--against-baseline", "--commits", "1")
        ran = blessed.salvo("run", "-n", "10", "--against-baseline")
    assert single.exit_code == 1
    assert ran.exit_code == 0
    assert (
        "greet may be worse than its baseline: p = 0.01 would be a finding in a single comparison, but 20 commits need "
        "p up to 0.005 to keep false alarms at 5%. Run it with more --runs to be sure."
    ) in ran.stdout


def test_a_number_of_commits_without_a_baseline_is_refused_before_any_call(project: UserProject) -> None:
    refused = project.salvo("run", "--commits", "5")
    assert refused.exit_code == 2
    assert "Add --against-baseline, or omit --commits." in refused.stderr
    assert "Add --against-baseline" not in project.salvo("run", "--commits", "5", "--against-baseline").stderr


def test_errors_that_could_hide_a_worse_agent_are_not_judged(blessed: UserProject) -> None:
    replies = iter([Say("hi")] * 3 + [Fault.refused_parameter("seed")] * 7)
    with LoopbackProvider(lambda _: next(replies)) as provider:
        blessed.reach(provider)
        ran = blessed.salvo("run", "-n", "10", "-j", "1", "--against-baseline", "--json")
    assert ran.exit_code == 3
    assert json.loads(ran.stdout)["comparison"]["errors_could_decide"] is True


def test_repeated_seeds_are_named(project: UserProject) -> None:
    project.write("scenarios/book_flight.yaml", GREET + "seed: 7\n")
    with LoopbackProvider(Say("hi")) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "5")
        project.salvo("baseline", "bless", "latest")
        ran = project.salvo("run", "-n", "5", "--against-baseline")
    assert "B repeats the seeds of A with the same model and configuration: where these decide" in ran.stdout


def test_what_has_changed_since_is_named(blessed: UserProject) -> None:
    blessed.write("scenarios/book_flight.yaml", GREET.replace("thyme", "sage"))
    with LoopbackProvider(Say("hi")) as provider:
        blessed.reach(provider)
        ran = blessed.salvo("run", "-n", "10", "--against-baseline", ".salvo/baseline.json")
    assert "A and B differ in the scenario's system_prompt." in ran.stdout


def test_scenarios_that_it_does_not_hold_are_named_and_others_stay(blessed: UserProject) -> None:
    blessed.write("scenarios/second.yaml", GREET.replace("scenario: greet", "scenario: second"))
    with LoopbackProvider(Say("hi")) as provider:
        blessed.reach(provider)
        ran = blessed.salvo("run", "-n", "2", "--against-baseline")
        assert "second is not in the baseline. Add it: salvo baseline bless" in ran.stdout
        blessed.salvo("run", "scenarios/second.yaml", "-n", "2")
    blessed.salvo("baseline", "bless", "latest")
    held = json.loads((blessed.store / "baseline.json").read_text())["scenarios"]
    assert list(held) == ["greet", "second"]
    assert held["greet"]["completed"] == 10


@pytest.mark.parametrize(
    "content",
    [
        None,
        "{",
        "[]",
        '{"salvo_baseline": 2, "scenarios": {}}',
        '{"salvo_baseline": 1, "scenarios": []}',
        '{"salvo_baseline": 1, "scenarios": {"greet": {"passed": "many"}}}',
        '{"salvo_baseline": 1, "scenarios": {}}',
        "fewer than no errors",
        "more passed than ran",
    ],
)
def test_a_baseline_that_cannot_be_used_is_said_before_any_call(blessed: UserProject, content: str | None) -> None:
    file = blessed.store / "baseline.json"
    if content is None:
        file.unlink()
    elif content.startswith("fewer"):
        file.write_text(file.read_text().replace('"errors": 0', '"errors": -5'))
    elif content.startswith("more"):
        file.write_text(file.read_text().replace('"completed": 10', '"completed": 3'))
    else:
        file.write_text(content)
    with LoopbackProvider(Say("hi")) as provider:
        blessed.reach(provider)
        ran = blessed.salvo("run", "--against-baseline")
    assert (ran.exit_code, provider.requests) == (2, [])
    assert "Traceback" not in ran.output


def test_a_path_that_was_taken_for_a_baseline_is_explained(blessed: UserProject) -> None:
    ran = blessed.salvo("run", "--against-baseline", "scenarios")
    assert ran.exit_code == 2
    assert "salvo run PATH --against-baseline [FILE]" in ran.stderr


def test_a_batch_without_a_completed_run_is_no_baseline(project: UserProject) -> None:
    project.write("agent.py", "def answer(request):\n    raise RuntimeError('bug')\n")
    project.write("scenarios/book_flight.yaml", GREET.replace("adapter: openai", "adapter: function:agent.answer"))
    assert project.salvo("run", "-n", "1").exit_code == 3
    shown = project.salvo("baseline", "bless", "latest")
    assert shown.exit_code == 2
    assert "has no completed run, so it cannot be a baseline." in shown.stderr
