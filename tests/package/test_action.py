"""The GitHub action's script, run as a runner would run it; GitHub itself is played by a few files."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.package.conftest import CHECKOUT

pytestmark = pytest.mark.load  # many processes: the steps of the action, each as GitHub runs it

OUTPUTS = {"verdict", "exit-code", "reports", "junit", "summary", "json"}
SCENARIO = """\
scenario: greet
adapter: function:agent.answer
user_message: Greet me.
runs: 3
assertions:
  - {type: jmespath, path: final_output, operator: eq, value: hello}
"""


@dataclass(frozen=True)
class Step:
    code: int
    log: str
    summary: str
    outputs: dict[str, str]


class Runner:
    """A job's machine: a workspace, and the files that a step writes to."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "workspace"
        self.temp = folder / "temp"
        for made in (self.workspace / ".git", self.temp):
            made.mkdir(parents=True)

    def scenario(self, answer: str) -> None:
        """With an agent that always says the same; right is "hello"."""
        (self.workspace / "scenarios").mkdir(exist_ok=True)
        (self.workspace / "agent.py").write_text(f"def answer(request):\n    return {answer!r}\n")
        (self.workspace / "scenarios" / "greet.yaml").write_text(SCENARIO)

    def step(self, **inputs: str) -> Step:
        """The step with these inputs, and for all others what action.yml has by default."""
        given = {"KIND": "scenarios", "WORKING_DIRECTORY": ".", "FAIL_ON_INCONCLUSIVE": "true", **inputs}
        names = ("KIND", "PATH", "RUNS", "ARGUMENTS", "WORKING_DIRECTORY", "FAIL_ON_INCONCLUSIVE")
        summary, output = self.temp / "summary", self.temp / "output"
        ran = subprocess.run(
            [CHECKOUT / ".github" / "action" / "run.sh"],
            cwd=self.workspace,
            env={
                "PATH": os.pathsep.join([str(self.temp), str(Path(sys.executable).parent), os.environ["PATH"]]),
                "HOME": str(self.temp),
                "LANG": "C.UTF-8",
                "RUNNER_TEMP": str(self.temp),
                "GITHUB_STEP_SUMMARY": str(summary),
                "GITHUB_OUTPUT": str(output),
                **{f"SALVO_{name}": given.get(name, "") for name in names},
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        written = output.read_text().splitlines() if output.exists() else []
        return Step(
            ran.returncode,
            ran.stdout,
            summary.read_text() if summary.exists() else "",
            dict(line.split("=", 1) for line in written),
        )


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def test_scenarios_that_pass_leave_junit_a_summary_and_outputs(runner: Runner) -> None:
    runner.scenario("hello")
    step = runner.step(RUNS="5")
    assert (step.code, step.outputs["verdict"], step.outputs["exit-code"]) == (0, "passed", "0")
    assert step.outputs.keys() == OUTPUTS
    assert ET.parse(step.outputs["junit"]).getroot().get("tests") == "5"  # noqa: S314 - our own
    assert step.summary.startswith("## Scenarios: passed\n\n**1 scenario: 1 passed.**\n")
    assert Path(step.outputs["summary"]).read_text() in step.summary
    assert Path(step.outputs["json"]).parent == Path(step.outputs["reports"])


def test_a_scenario_that_fails_fails_the_step_and_says_by_what(runner: Runner) -> None:
    runner.scenario("go away")
    step = runner.step(PATH="scenarios/greet.yaml")
    assert (step.code, step.outputs["verdict"]) == (1, "failed")
    assert ET.parse(step.outputs["junit"]).getroot().get("failures") == "3"  # noqa: S314 - our own
    assert "3 runs failed:" in step.summary
    assert step.log.endswith(
        '::error title=Salvo::The verdict is "failed" (exit code 1). The summary and the log say why.\n'
    )


def test_what_is_inconclusive_fails_unless_it_may_pass(runner: Runner) -> None:
    runner.scenario("hello")
    asked = {"ARGUMENTS": "--confidence\n0.95\n--min-pass-rate=0.9\n"}
    strict = runner.step(**asked)
    assert (strict.code, strict.outputs["verdict"]) == (4, "inconclusive")
    lenient = runner.step(**asked, FAIL_ON_INCONCLUSIVE="false")
    assert (lenient.code, lenient.outputs["exit-code"]) == (0, "4")
    assert "::warning title=Salvo::" in lenient.log


@pytest.mark.parametrize(
    "text, code, verdict, status",
    [("dpa_review", 0, "passed", "STABLE"), ("dpa_review_degraded", 1, "failed", "ALERT")],
)
def test_a_playbook_fails_by_its_status(runner: Runner, text: str, code: int, verdict: str, status: str) -> None:
    step = runner.step(KIND="playbook", PATH=str(CHECKOUT / "examples" / "outputs" / f"{text}.md"), RUNS="3")
    assert (step.code, step.outputs["verdict"]) == (code, verdict)
    assert f"# BYOP observability report: {status}" in step.summary
    assert ET.parse(step.outputs["junit"]).getroot().get("tests") == "7"  # noqa: S314 - our own
    names = {path.name for path in Path(step.outputs["reports"]).iterdir()}
    assert names == {"report.xml", "report.md", "report.json", "report.html"}


def test_it_runs_where_it_is_told_to(runner: Runner) -> None:
    runner.scenario("hello")
    elsewhere = runner.workspace / "agents and more"
    elsewhere.mkdir()
    for name in ("scenarios", "agent.py"):
        (runner.workspace / name).rename(elsewhere / name)
    runner.scenario("go away")
    assert runner.step(WORKING_DIRECTORY="agents and more").code == 0


@pytest.mark.parametrize(
    "inputs, said",
    [
        ({"KIND": "else"}, "kind is scenarios or playbook."),
        ({"WORKING_DIRECTORY": "nowhere"}, "There is no such working directory."),
        ({"PATH": "a\nverdict=passed"}, "SALVO_PATH holds a line break"),
        ({"RUNS": "1\r"}, "SALVO_RUNS holds a line break"),
        ({"WORKING_DIRECTORY": "a\x1b[2J"}, "SALVO_WORKING_DIRECTORY holds a line break"),
    ],
)
def test_an_input_that_makes_no_sense_is_refused_before_anything_runs(
    runner: Runner, inputs: dict[str, str], said: str
) -> None:
    step = runner.step(**inputs)
    assert (step.code, step.outputs) == (2, {})
    assert said in step.log


@pytest.mark.parametrize(
    "inputs",
    [
        {"PATH": "$(touch pwned)"},
        {"PATH": "`touch pwned`; touch pwned #"},
        {"PATH": "--adapter=pwned"},
        {"RUNS": "1; touch pwned"},
        {"RUNS": "$(touch pwned)"},
        {"ARGUMENTS": "$(touch pwned)\n; touch pwned\n&& touch pwned"},
        {"ARGUMENTS": "-o\n../pwned\n"},
        {"KIND": "playbook", "PATH": "'; touch pwned; '"},
    ],
)
def test_no_shell_reads_an_input(runner: Runner, inputs: dict[str, str]) -> None:
    runner.scenario("hello")
    step = runner.step(**inputs)
    assert (step.code, step.outputs["verdict"]) == (2, "usage")
    assert step.outputs.keys() == OUTPUTS
    assert "before it had anything to report" in step.summary
    assert [path for path in runner.workspace.parent.rglob("*") if "pwned" in path.name] == []


def test_what_an_agent_says_is_no_command_of_the_workflow(runner: Runner) -> None:
    runner.scenario("::error::pwned\n::add-mask::a\n</details><script>pwned()</script>\n## pwned\n@everyone")
    step = runner.step()
    stopped = re.search(r"^::stop-commands::([0-9a-f]{32})$", step.log, re.MULTILINE)
    assert stopped is not None
    assert step.log.count(f"::{stopped[1]}::") == 1
    ours = step.log.partition(f"::stop-commands::{stopped[1]}")[0] + step.log.partition(f"\n::{stopped[1]}::\n")[2]
    assert "pwned" not in ours
    assert "<script>" not in step.summary.replace("\\<script\\>", "")
    assert not re.search(r"^## pwned|(?<!`)@", step.summary, re.MULTILINE)


def test_a_report_that_github_would_refuse_is_named_instead(runner: Runner) -> None:
    verbose = runner.temp / "salvo"
    verbose.write_text(
        '#!/bin/bash\nwhile [[ $1 != *.md ]]; do shift; done\nyes "a long report" | head -c 1100000 >"$1"\n'
    )
    verbose.chmod(0o755)
    step = runner.step()
    assert (step.code, len(step.summary) < 1000) == (0, True)
    assert "The report is too long to be shown here." in step.summary
    assert Path(step.outputs["summary"]).stat().st_size == 1_100_000


def test_the_installation_imports_nothing_from_the_checkout(runner: Runner) -> None:
    (runner.workspace / "pip.py").write_text("from pathlib import Path\nPath('executed').touch()\n")
    # Every command of the step is run with --help as well, so that nothing is installed here.
    (runner.temp / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@" --help\n')
    (runner.temp / "python").chmod(0o755)
    steps = yaml.safe_load((CHECKOUT / "action.yml").read_text())["runs"]["steps"]
    [script] = [step["run"] for step in steps if step.get("name") == "Install Salvo"]
    ran = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=runner.workspace,
        env={"PATH": f"{runner.temp}{os.pathsep}{os.environ['PATH']}", "GITHUB_ACTION_PATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("pip install [options]") >= 3
    assert not (runner.workspace / "executed").exists()
