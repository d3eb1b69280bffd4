"""`salvo run`: tools, endpoints, prices, judges and the progress line."""

import json
import os
import pty
import subprocess

from tests.cli.salvo.test_run import GOOD, results_of
from tests.support.project import BIN, UserProject
from tests.support.provider import LoopbackProvider, Say, Use, UseTools, by_turn

LEAST = "scenario: least\nadapter: openai\nmodel: gpt-5.4-mini\nuser_message: hi\n"
EXISTS = "assertions:\n  - {type: jmespath, path: final_output, operator: exists}\n"


def test_tools_are_found_inline_then_in_tools_py_upward_then_as_yaml(project: UserProject) -> None:
    project.write("tools.py", "def in_root() -> str:\n    return 'python in the root'\n")
    project.write(
        "scenarios/deep/tools.py",
        "def near() -> str:\n    return 'python beside'\ndef in_yaml() -> str:\n    return 'python wins'\n",
    )
    project.write("tools/in_yaml.yaml", "name: in_yaml\nresponse: yaml loses\n")
    project.write("tools/only_yaml.yaml", "name: only_yaml\nresponse: yaml\n")
    project.write(
        "scenarios/deep/s.yaml",
        LEAST
        + "tools:\n  - {name: inline, response: inline}\n  - near\n  - in_root\n  - in_yaml\n  - only_yaml\n"
        + EXISTS,
    )
    names = ("inline", "near", "in_root", "in_yaml", "only_yaml")
    with LoopbackProvider(by_turn(UseTools(*(Use(name, {}) for name in names)), Say("done"))) as provider:
        project.reach(provider)
        [result] = results_of(project.salvo("run", "scenarios/deep", "--json"))
    assert [call["result"] for call in result["tool_calls"]] == [
        "inline",
        "python beside",
        "python in the root",
        "python wins",
        "yaml",
    ]


def test_several_scenarios_have_one_verdict_and_a_mean_over_them(project: UserProject) -> None:
    project.write("suite/a.yaml", LEAST.replace("least", "a") + EXISTS)
    project.write("suite/b.yaml", LEAST.replace("least", "b") + EXISTS.replace("exists", "eq, value: no"))
    with LoopbackProvider(Say("hi")) as provider:
        project.reach(provider)
        ran = project.salvo("run", "suite", "-n", "10", "-o", "out.json", "-o", "out.md")
        alone = project.salvo("run", "suite/a.yaml", "-n", "10")
    assert ran.exit_code == 1
    counts = "2 scenarios: 1 passed, 1 failed"
    mean = "50%, 95% interval 0% to 100% (standard error 50.0 points, clustered by scenario)"
    assert f"Overall: failed. Mean pass rate of the scenarios: {mean}.\n" in ran.stdout
    suite = json.loads((project.folder / "out.json").read_text())["suite"]
    assert (suite["verdict"], suite["verdicts"]) == ("failed", {"passed": 1, "failed": 1})
    assert suite["mean"]["interval"] == [0.0, 1.0]
    assert f"**Failed. {counts}. Mean pass rate of the scenarios: {mean}.**" in (project.folder / "out.md").read_text()
    assert "Overall" not in alone.stdout


def test_a_scenario_s_own_endpoint_gets_its_own_key_and_never_the_environment_s(project: UserProject) -> None:
    with LoopbackProvider(Say("hi")) as provider:
        options = f"adapter_options:\n  base_url: {provider.openai_url}\n"
        project.write("scenarios/a.yaml", LEAST.replace("least", "without") + options + EXISTS)
        project.write(
            "scenarios/b.yaml", LEAST.replace("least", "with") + options + "  api_key: ${MY_GATEWAY}\n" + EXISTS
        )
        project.environ = {"OPENAI_API_KEY": "sk-proj-never-sent-0123", "MY_GATEWAY": "gateway-0123456789"}
        project.monkeypatch.setenv("MY_GATEWAY", "gateway-0123456789")
        project.salvo("run", "scenarios/b.yaml", "--record")
        project.salvo("run", "scenarios/a.yaml")
    assert [asked.key for asked in provider.requests] == ["gateway-0123456789", None]
    assert "gateway-0123456789" not in project.everything_stored()
    assert "${MY_GATEWAY}" in project.everything_stored()


def test_an_unknown_price_makes_cost_limit_an_error_not_a_verdict(project: UserProject) -> None:
    project.write(
        "scenarios/s.yaml",
        LEAST.replace("gpt-5.4-mini", "house-model") + "assertions:\n  - {type: cost_limit, max_usd: 1}\n",
    )
    with LoopbackProvider(Say("hi")) as provider:
        project.reach(provider)
        ran = project.salvo("run", "scenarios/s.yaml", "--json")
    [result] = results_of(ran)
    assert ran.exit_code == 3
    assert (result["outcome"], result["cause"], result["metrics"]["cost"]) == ("error", "price_unknown", None)


def test_a_judge_that_cannot_agree_makes_the_run_an_error(project: UserProject) -> None:
    project.write("scenarios/s.yaml", LEAST + "assertions:\n  - {type: llm_judge, rubric: nice, k: 2}\n")
    votes = iter([True, False])
    script = lambda asked: Say(json.dumps({"passed": next(votes), "reason": "x"})) if asked.system else Say("hi")  # noqa: E731 - two lines of script
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        ran = project.salvo("run", "scenarios/s.yaml", "--json")
    [result] = results_of(ran)
    assert ran.exit_code == 3
    assert result["cause"] == "judge"
    assert result["judge_cost"] > 0


def test_progress_is_one_line_on_a_terminal(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [str(BIN / "salvo"), "run", "-n", "3"],
            cwd=project.folder,
            env={**os.environ, **project.environ},
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
        )
        os.close(theirs)
        out, _ = process.communicate(timeout=30)
    shown = os.read(ours, 65_536).decode()
    os.close(ours)
    assert "\r\x1b[K3/3 runs done, 3 passed" in shown
    destination, progress = shown.split("\n")
    assert "Calls go to " in destination
    assert "runs done" in progress
    assert "3/3 runs" in out


def test_a_file_that_cannot_be_used_is_a_sentence_whatever_the_system_says(project: UserProject) -> None:
    refused = project.salvo("run", "a" * 300)
    assert (refused.exit_code, refused.stderr.endswith("cannot be used: File name too long.\n")) == (2, True)
