"""The pytest plugin, as people who know pytest expect it. Every run here is one of pytest in a folder of its own."""

import json
import re
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from inline_snapshot import snapshot

from salvo.cli.exit_codes import ExitCode
from salvo.cli.salvo import salvo
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import open_store
from tests.support.provider import Fault, LoopbackProvider, Say
from tests.support.wires import OPENAI_KEY, environment

pytest_plugins = ["pytester"]
for _module in ("salvo.pytest_plugin", "salvo.pytest_scenarios"):
    import_module(_module)  # here, so that their coverage is measured: pytest imports plugins past all other finders

# What a run in this process is the first to load is forgotten after it, and some of it can be loaded only once.
for needed in (
    "salvo.scenarios.workspace",
    "salvo.scenarios.spec.python_scenario",
    "salvo.scenarios.report.junit",
    "aiohttp",
    "genai_prices",
):
    import_module(needed)

AGENTS = """
import os
import signal
from itertools import count

turns = count(1)


def good(request):
    return {"answer": 42}


def bad(request):
    return {"answer": 41}


def broken(request):
    raise RuntimeError("the line is dead")


def sometimes_broken(request):
    return broken(request) if next(turns) == 2 else good(request)


def interrupted(request):
    if next(turns) == 2:
        os.kill(os.getpid(), signal.SIGINT)
    return {"answer": 42}
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A user's project, in which nothing of ours lies about and no other plugin speaks."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    pytester.makepyfile(agents=AGENTS)
    silent = ("inline_snapshot", "asyncio", "hypothesispytest", "schemathesis", "anyio")
    pytester.makeini(f"[pytest]\naddopts = {' '.join(f'-p no:{name}' for name in silent)} --strict-markers\n")
    (pytester.path / ".salvo").mkdir()
    return pytester


def add(project: pytest.Pytester, name: str, agent: str = "good", more: str = "") -> Path:
    file = project.path / "scenarios" / f"{name}.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        f"scenario: {name}\nadapter: function:agents.{agent}\nuser_message: What is 6 × 7?\n"
        f"assertions: [{{type: jmespath, path: final_output.answer, operator: eq, value: 42}}]\n{more}",
        encoding="utf-8",
    )
    return file


def stored(project: pytest.Pytester, what: str) -> list[dict[str, object]]:
    return [json.loads(file.read_text()) for file in sorted((project.path / ".salvo" / what).glob("*.json"))]


def tidy(text: str) -> str:
    """Without what differs every time: ids, moments and durations."""
    text = re.sub(r"\b[0-9a-z]{16}\b", "BATCH", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "WHEN", text)
    return re.sub(r"\b\d+(?:\.\d+)?m?s\b", "TIME", text)


def section(lines: list[str], title: str) -> str:
    """From a title to the next one of its kind."""
    start = next(number for number, line in enumerate(lines) if title in line)
    end = next(number for number, line in enumerate(lines) if number > start and line.startswith("==="))
    return tidy("\n".join(lines[start + 1 : end]))


def test_runs_are_stored_where_the_option_says(project: pytest.Pytester, bucket: str) -> None:
    add(project, "six_times_seven", more="runs: 3\n")
    project.runpytest_inprocess("--salvo", "scenarios", "--salvo-store", bucket).assert_outcomes(passed=1)
    assert list((project.path / ".salvo").iterdir()) == []
    store = open_store(Project(project.path, project.path, store_address=bucket))
    assert [entry.outcome for entry in store.last(1)] == ["passed"] * 3


def test_each_scenario_is_an_item_with_its_runs_inside(project: pytest.Pytester) -> None:
    add(project, "six_times_seven", more="runs: 3\n")
    add(project, "again")
    ran = project.runpytest_inprocess("--salvo", "scenarios", "-v")
    ran.assert_outcomes(passed=2)
    ran.stdout.fnmatch_lines(
        ["scenarios/again.yaml::again PASSED*", "scenarios/six_times_seven.yaml::six_times_seven PASSED*"]
    )
    assert [batch["runs"] for batch in stored(project, "batches")] == [1, 3]
    assert len(stored(project, "runs")) == 4


def test_without_the_option_scenarios_are_left_alone(project: pytest.Pytester) -> None:
    file = add(project, "six_times_seven")
    project.makepyfile("def test_it(): pass")
    project.runpytest_inprocess().assert_outcomes(passed=1)
    assert project.runpytest_inprocess(file).ret == pytest.ExitCode.USAGE_ERROR
    assert stored(project, "batches") == []


def test_python_tests_and_scenarios_are_collected_together(project: pytest.Pytester) -> None:
    add(project, "six_times_seven")
    project.makepyfile("def test_it(): pass")
    project.runpytest_inprocess("--salvo").assert_outcomes(passed=2)


def test_a_failure_shows_the_table_and_the_assertions_and_no_traceback(project: pytest.Pytester) -> None:
    add(project, "six_times_seven", "bad", "runs: 2\nconcurrency: 1\n")
    ran = project.runpytest_inprocess("--salvo", "scenarios", "--salvo-record")
    ran.assert_outcomes(failed=1)
    assert section(ran.outlines, "= FAILURES =") == snapshot("""\
_______________________________ six_times_seven ________________________________
0 of 2 completed runs passed (shown with 95% confidence: at most 85%); min_pass_rate is 100%

six_times_seven  2/2 runs  pass-rate: 0%  avg-score: 0.00
─────────────────────────────────────────────────────────
answer    0/2 passed
─────────────────────────────────────────────────────────
2 failures recorded. Replay with:
  salvo replay BATCH-0001
  salvo replay BATCH-0002

verdict    failed: 0 of 2 completed runs passed (shown with 95% confidence: at most 85%); min_pass_rate is 100%
pass rate  0%, 95% interval 0% to 85%: 0 of 2 shows at least 0%
pass^k     1: 0% (0% to 85%)  (the chance that k runs all pass)
cost       unknown
latency    p50 TIME  p95 TIME  max TIME
identical  2 of 2 runs have the same calls and output as another

six_times_seven  run 1  failed (assertion)  score: 0.00
BATCH-0001  custom  WHEN
  failed  answer (jmespath), weight 1
          expected final_output.answer to be 42, got 41
          expected  42
          actual    41

six_times_seven  run 2  failed (assertion)  score: 0.00
BATCH-0002  custom  WHEN
  failed  answer (jmespath), weight 1
          expected final_output.answer to be 42, got 41
          expected  42
          actual    41\
""")
    ran.stdout.fnmatch_lines(["FAILED scenarios/six_times_seven.yaml::six_times_seven - Failed: 0 of 2 comp*"])


def test_what_could_not_be_judged_is_an_error_and_no_failure(project: pytest.Pytester) -> None:
    add(project, "six_times_seven", "broken", "runs: 2\n")
    ran = project.runpytest_inprocess("--salvo", "scenarios")
    ran.assert_outcomes(errors=1)
    assert section(ran.outlines, "= ERRORS =") == snapshot("""\
______________________ ERROR at setup of six_times_seven _______________________
no run was completed, so nothing is known about the agent

six_times_seven  0/2 runs  pass-rate: unknown  avg-score: unknown
─────────────────────────────────────────────────────────────────

2 runs could not be judged (errors, not failures):
  2 × the adapter failed: RuntimeError: the line is dead (agents.py, line 17)  (BATCH-0001)

verdict    error: no run was completed, so nothing is known about the agent
cost       unknown\
""")


def test_one_run_that_could_not_be_judged_is_not_hidden_by_those_that_passed(project: pytest.Pytester) -> None:
    add(project, "six_times_seven", "sometimes_broken", "runs: 3\nconcurrency: 1\n")
    ran = project.runpytest_inprocess("--salvo", "scenarios")
    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines(["1 run could not be judged*", "*the line is dead*"])


def test_what_the_runs_cannot_show_is_an_error_too(project: pytest.Pytester) -> None:
    add(project, "six_times_seven", more="runs: 3\nmin_pass_rate: 0.9\nconfidence: 0.95\n")
    ran = project.runpytest_inprocess("--salvo", "scenarios")
    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines(["verdict    inconclusive: *"])


def test_a_provider_out_of_reach_is_an_error(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    file = add(project, "six_times_seven")
    file.write_text(file.read_text().replace("function:agents.good", "openai\nmodel: gpt-5.4-mini"))
    with LoopbackProvider(Fault.unauthorized()) as provider:
        for name, value in environment(provider).items():
            monkeypatch.setenv(name, value)
        ran = project.runpytest_inprocess("--salvo", "scenarios")
    ran.assert_outcomes(errors=1)
    assert OPENAI_KEY not in ran.stdout.str()


def test_an_expected_failure_is_one_of_the_agent(project: pytest.Pytester) -> None:
    add(project, "known", "bad", "tags: [xfail]\n")
    add(project, "out_of_reach", "broken", "tags: [xfail]\n")
    project.runpytest_inprocess("--salvo", "scenarios").assert_outcomes(xfailed=1, errors=1)


def test_junit_tells_failures_errors_and_what_the_runs_show(project: pytest.Pytester) -> None:
    add(project, "bad", "bad", "runs: 2\n")
    add(project, "broken", "broken")
    add(project, "good")
    project.runpytest_inprocess("--salvo", "scenarios", "--junitxml=junit.xml")
    [suite] = ET.parse(project.path / "junit.xml").getroot()  # noqa: S314 - written by this very test
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    cases = {case.get("name"): case for case in suite}
    assert [cases[name].find(tag) is not None for name, tag in [("bad", "failure"), ("broken", "error")]] == [True] * 2
    assert cases["bad"].get("classname") == "scenarios.bad.yaml"
    told = {of.get("name"): of.get("value") for of in cases["bad"].iter("property")}
    assert (told["verdict"], told["completed"], told["pass_rate"]) == ("failed", "2", "0")
    assert told["batch"] in {str(batch["batch_id"]) for batch in stored(project, "batches")}


def test_an_invalid_file_is_a_collection_error_that_says_where(project: pytest.Pytester) -> None:
    file = add(project, "six_times_seven")
    file.write_text(file.read_text().replace("user_message", "user_mesage"))
    ran = project.runpytest_inprocess("--salvo", "scenarios")
    ran.assert_outcomes(errors=1)
    assert section(ran.outlines, "= ERRORS =") == snapshot("""\
_______________ ERROR collecting scenarios/six_times_seven.yaml ________________
scenarios/six_times_seven.yaml:3:1: user_mesage: no such field; did you mean "user_message"?\
""")


def test_other_yaml_is_left_alone_unless_it_is_named(project: pytest.Pytester) -> None:
    add(project, "six_times_seven")
    other = project.path / "scenarios" / "config.yaml"
    other.write_text("colour: blue\n")
    project.runpytest_inprocess("--salvo", "scenarios").assert_outcomes(passed=1)
    named = project.runpytest_inprocess("--salvo", other)
    named.stdout.fnmatch_lines(["scenarios/config.yaml:1:1:*"])
    assert named.ret == pytest.ExitCode.INTERRUPTED


def test_two_scenarios_of_one_name_are_a_collection_error(project: pytest.Pytester) -> None:
    file = add(project, "six_times_seven")
    file.with_name("zwilling.yaml").write_text(file.read_text())
    ran = project.runpytest_inprocess("--salvo", "scenarios")
    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines(['"six_times_seven" is also the name of scenarios/six_times_seven.yaml.'])


@pytest.mark.parametrize(
    "arguments, selected",
    [
        (["-k", "refund"], ["refund"]),
        (["-m", "smoke"], ["booking"]),
        (["-m", "salvo and not smoke"], ["refund"]),
        (["-m", "tier_1"], ["refund"]),
        (["scenarios/refund.yaml::refund"], ["refund"]),
    ],
)
def test_scenarios_are_selected_as_tests_are(
    project: pytest.Pytester, arguments: list[str], selected: list[str]
) -> None:
    add(project, "booking", more="tags: [smoke]\n")
    add(project, "refund", more='tags: ["tier 1", "__"]\n')
    where = [] if "::" in arguments[0] else ["scenarios"]
    ran = project.runpytest_inprocess("--salvo", *where, *arguments)
    assert [batch["scenario_id"] for batch in stored(project, "batches")] == selected, ran.stdout.str()


def test_x_stops_at_the_first_failure_and_lf_comes_back_to_it(project: pytest.Pytester) -> None:
    add(project, "a_good")
    add(project, "b_bad", "bad")
    add(project, "c_broken", "broken")
    project.runpytest_inprocess("--salvo", "scenarios", "-x").assert_outcomes(passed=1, failed=1)
    project.runpytest_inprocess("--salvo", "scenarios").assert_outcomes(passed=1, failed=1, errors=1)
    project.runpytest_inprocess("--salvo", "scenarios", "--lf").assert_outcomes(failed=1, errors=1)


def test_collecting_makes_no_call(project: pytest.Pytester) -> None:
    add(project, "six_times_seven")
    project.runpytest_inprocess("--salvo", "scenarios", "--collect-only", "-q").stdout.fnmatch_lines(
        ["scenarios/six_times_seven.yaml::six_times_seven"]
    )
    assert stored(project, "batches") == []


def test_the_command_decides_on_runs_model_and_recording(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = add(project, "six_times_seven")
    file.write_text(file.read_text().replace("function:agents.good", "openai\nmodel: gpt-5.4-mini"))
    with LoopbackProvider(Say('{"answer": 42}')) as provider:
        for name, value in environment(provider).items():
            monkeypatch.setenv(name, value)
        ran = project.runpytest_inprocess(
            "--salvo", "scenarios", "--salvo-runs", "2", "--salvo-model", "gpt-4o", "--salvo-record"
        )
    ran.assert_outcomes(passed=1)
    assert [asked.model for asked in provider.requests] == ["gpt-4o"] * 2
    [batch] = stored(project, "batches")
    assert (batch["runs"], batch["model"], batch["recorded"]) == (2, "gpt-4o", True)
    assert [run["replayable"] for run in stored(project, "runs")] == ["full"] * 2


def test_a_credential_is_sent_to_an_address_of_the_file_only_with_the_option(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI_KEY)
    with LoopbackProvider(Say('{"answer": 42}')) as provider:
        options = f"adapter_options: {{base_url: '{provider.openai_url}', api_key: '${{OPENAI_API_KEY}}'}}\n"
        file = add(project, "six_times_seven", more=options)
        file.write_text(file.read_text().replace("function:agents.good", "openai\nmodel: gpt-5.4-mini"))
        for grant in ([], ["--salvo-allow-env", "OTHER"]):
            refused = project.runpytest_inprocess("--salvo", "scenarios", *grant)
            refused.assert_outcomes(errors=1)
            refused.stdout.fnmatch_lines(["*OPENAI_API_KEY is a credential*--salvo-allow-env*"])
        assert provider.requests == []
        allowed = project.runpytest_inprocess(
            "--salvo", "scenarios", "--salvo-allow-env", "OTHER", "--salvo-allow-env", "OPENAI_API_KEY"
        )
    allowed.assert_outcomes(passed=1)
    assert {request.headers["authorization"] for request in provider.requests} == {f"Bearer {OPENAI_KEY}"}


def test_a_credential_of_a_scenario_in_python_needs_the_option_too(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI_KEY)
    with LoopbackProvider(Say('{"answer": 42}')) as provider:
        options = {"base_url": provider.openai_url, "api_key": "${OPENAI_API_KEY}"}
        test = f"""
            def test_it(salvo_scenario):
                salvo_scenario(
                    adapter="openai", model="gpt-5.4-mini", user_message="What?", adapter_options={options!r},
                    assertions=[dict(type="jmespath", path="final_output.answer", operator="eq", value=42)],
                )
            """
        refused = written(project, test)
        refused.assert_outcomes(errors=1)
        refused.stdout.fnmatch_lines(["*OPENAI_API_KEY is a credential*--salvo-allow-env*"])
        assert provider.requests == []
        written(project, test, "--salvo-allow-env", "OPENAI_API_KEY").assert_outcomes(passed=1)


@pytest.mark.parametrize("runs", ["0", "many"])
def test_no_number_of_runs_is_bad_usage(project: pytest.Pytester, runs: str) -> None:
    ran = project.runpytest_inprocess("--salvo", "--salvo-runs", runs)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines([f"*--salvo-runs: '{runs}' is not a number of runs"])


def test_the_table_of_what_passed_is_there_for_who_asks(project: pytest.Pytester) -> None:
    add(project, "six_times_seven", more="runs: 3\n")
    project.runpytest_inprocess("--salvo", "scenarios", "-rP").stdout.fnmatch_lines(["six_times_seven  3/3 runs*"])


def test_a_store_that_cannot_be_written_is_an_error(project: pytest.Pytester) -> None:
    add(project, "six_times_seven")
    (project.path / ".salvo").rmdir()
    (project.path / ".salvo").write_text("no folder")
    project.runpytest_inprocess("--salvo", "scenarios").assert_outcomes(errors=1)


@pytest.mark.load
def test_processes_of_xdist_share_the_store_and_the_command(project: pytest.Pytester) -> None:
    for number in range(4):
        add(project, f"good_{number}", more="runs: 5\n")
    add(project, "bad", "bad")
    add(project, "broken", "broken")
    ran = project.runpytest_subprocess("--salvo", "scenarios", "-n", "2", "--junitxml=junit.xml")
    ran.assert_outcomes(passed=4, failed=1, errors=1)
    batches = stored(project, "batches")
    assert len(batches) == 6
    assert len({batch["command"] for batch in batches}) == 1
    history = (project.path / ".salvo" / "history.jsonl").read_text().split()
    assert len([line for line in history if line.startswith("{")]) >= 22
    assert len(stored(project, "runs")) == 22


def test_ctrl_c_keeps_what_was_done_and_says_how_to_go_on(project: pytest.Pytester) -> None:
    add(project, "six_times_seven", "interrupted", "runs: 3\nconcurrency: 1\n")
    ran = project.runpytest_subprocess("--salvo", "scenarios")
    assert ran.ret == pytest.ExitCode.INTERRUPTED
    [batch] = stored(project, "batches")
    assert [run["number"] for run in stored(project, "runs")] == [1]
    ran.stdout.fnmatch_lines(["Interrupted. Finished runs are saved*", f"*--resume {batch['batch_id']}"])


def test_an_agent_that_blocks_for_good_ends_pytest(project: pytest.Pytester) -> None:
    project.makeconftest("from salvo.engine.runtime import event_loop\nevent_loop.LOST_SECONDS = 1.5\n")
    ran = written_in_process_of_its_own(
        project,
        """
        import time
        from salvo import BaseAdapter

        class Agent(BaseAdapter):
            async def run(self, request):
                while True:
                    try: time.sleep(60)
                    except BaseException: pass

        def test_it(salvo_scenario):
            salvo_scenario(adapter=Agent, user_message="Go.", assertions=[lambda *_: True], runs=2, timeout=1)
        """,
    )
    assert ran.ret == pytest.ExitCode.INTERRUPTED
    assert [(run["outcome"], run["cause"]) for run in stored(project, "runs")] == [("failed", "timeout")]
    ran.stdout.fnmatch_lines(
        ["The event loop has been blocked for * so pytest ends here.*", "Finished runs are saved."]
    )
    assert "--resume" not in ran.stdout.str(), "no file says what to resume"


def test_without_the_option_nothing_of_salvo_is_loaded_but_the_plugin(project: pytest.Pytester) -> None:
    add(project, "six_times_seven")
    project.makepyfile(
        """
        import sys

        def test_loaded():
            ours = {name for name in sys.modules if name.partition(".")[0] == "salvo"}
            assert ours == {"salvo", "salvo.version", "salvo.pytest_plugin"}
        """
    )
    project.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_plugin_alone_loads_nothing_heavy(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # other people's plugins load what they like
    project.makepyfile(
        """
        import sys

        def test_loaded():
            heavy = {"pydantic", "yaml", "aiohttp", "sqlalchemy", "genai_prices", "jmespath", "asyncio"}
            assert "salvo.pytest_plugin" in sys.modules
            assert heavy & set(sys.modules) == set()
        """
    )
    project.runpytest_subprocess("-p", "salvo.pytest_plugin").assert_outcomes(passed=1)


FIXTURE = '''
import pytest

def multiply(a: int, b: int) -> int:
    """Multiplies."""
    return a * b
'''


def written(project: pytest.Pytester, text: str, *arguments: str) -> pytest.RunResult:
    """One test module of a user's, run."""
    project.makepyfile(test_written=FIXTURE + dedent(text))
    return project.runpytest_inprocess(*arguments)


def written_in_process_of_its_own(project: pytest.Pytester, text: str) -> pytest.RunResult:
    project.makepyfile(test_written=FIXTURE + dedent(text))
    return project.runpytest_subprocess()


def test_a_scenario_is_written_in_python(project: pytest.Pytester) -> None:
    ran = written(
        project,
        """
        from salvo import AdapterResponse, BaseAdapter

        class Agent(BaseAdapter):
            async def run(self, request):
                found = await self.context.toolbox.call("multiply", {"a": 6, "b": 7})
                return AdapterResponse({"answer": found.result})

        def is_even(scenario, assertion, result):
            return result.final_output["answer"] % 2 == 0

        def test_six_times_seven(salvo_scenario):
            result = salvo_scenario(
                adapter=Agent,
                tools=[multiply],
                user_message="What is 6 × 7?",
                assertions=[
                    {"type": "tool_sequence", "expected": ["multiply"]},
                    {"type": "custom", "function": is_even, "required": True},
                    lambda scenario, assertion, result: result.final_output == {"answer": 42},
                ],
                runs=3,
            )
            assert result.passed
            assert result.verdict == "passed"
            assert result.pass_rate == 1
            assert [run.final_output["answer"] for run in result.runs] == [42] * 3
            assert repr(result) == (
                "<test_six_times_seven passed: 3 of 3 completed runs passed (observed; not shown: the runs are compatible with 29%); min_pass_rate is 100%>"
            )
        """,
    )
    ran.assert_outcomes(passed=1)
    [batch] = stored(project, "batches")
    assert (batch["scenario_id"], batch["source"], batch["adapter"]) == snapshot(
        ("test_six_times_seven", "test_written.py", "test_written.Agent")
    )


def test_a_scenario_in_python_takes_what_a_file_has(project: pytest.Pytester) -> None:
    (project.path / "tools.py").write_text(FIXTURE)
    ran = written(
        project,
        """
        def test_it(salvo_scenario):
            fields = {
                "scenario": "six times seven",
                "adapter": "function:agents.good",
                "tools": ["multiply", {"name": "add", "response": 13}],
                "user_message": "What is 6 × 7?",
                "assertions": [{"type": "jmespath", "path": "final_output.answer", "operator": "eq", "value": 42}],
            }
            assert salvo_scenario(**fields).passed
        """,
        "--salvo",
        "--salvo-runs=2",
    )
    ran.assert_outcomes(passed=1)
    [batch] = stored(project, "batches")
    assert (batch["scenario_id"], batch["runs"]) == ("six times seven", 2)


def test_a_run_of_a_scenario_in_python_is_replayed_and_only_its_test_runs_it_again(project: pytest.Pytester) -> None:
    written(
        project,
        """
        def agent(request):
            return 42

        def is_right(scenario, assertion, result):
            return result.final_output == 42

        def test_it(salvo_scenario):
            assert salvo_scenario(adapter=agent, user_message="What?", assertions=[is_right]).passed
        """,
        "--salvo-record",
    ).assert_outcomes(passed=1)
    [run] = stored(project, "runs")
    replayed = CliRunner().invoke(salvo, ["replay", str(run["run_id"])])
    assert (replayed.exit_code, replayed.stdout.splitlines()[-1]) == snapshot(
        (ExitCode.OK, "Reconstructed from what was stored; the agent was not called.")
    )
    again = CliRunner().invoke(salvo, ["replay", str(run["run_id"]), "--re-eval"])
    assert (again.exit_code, again.stderr) == snapshot(
        (
            ExitCode.USAGE,
            """\
Error: This scenario is written in Python, in test_written.py: only its test can run it.
Run that test again, or name a scenario file.
""",
        )
    )


def test_an_agent_of_a_test_is_replayed_once_the_user_names_it(project: pytest.Pytester) -> None:
    written(
        project,
        """
        from salvo import AdapterResponse, BaseAdapter

        def six() -> int:
            return 6

        class Agent(BaseAdapter):
            async def run(self, request):
                return AdapterResponse((await self.context.toolbox.call("six", {})).result * 7)

        def is_right(scenario, assertion, result):
            return result.final_output == 42

        def test_it(salvo_scenario):
            assert salvo_scenario(adapter=Agent, tools=[six], user_message="What?", assertions=[is_right]).passed
        """,
        "--salvo-record",
    ).assert_outcomes(passed=1)
    [run] = stored(project, "runs")
    refused = CliRunner().invoke(salvo, ["replay", str(run["run_id"])])
    assert (refused.exit_code, refused.stderr) == snapshot(
        (
            ExitCode.NOT_JUDGED,
            """\
Error: The recording names the adapter test_written.Agent, and the scenario is written in Python, in test_written.py, so nothing was started.
If that is your agent, name it: --adapter test_written.Agent
""",
        )
    )
    replayed = CliRunner().invoke(salvo, ["replay", str(run["run_id"]), "--adapter", "test_written.Agent"])
    assert replayed.exit_code == 0, replayed.output
    assert replayed.stdout.splitlines()[-1].startswith("Identical: ")


def test_the_example_of_the_documentation_passes(project: pytest.Pytester) -> None:
    text = (Path(__file__).parents[1] / "docs" / "pytest.md").read_text()
    [example] = [part for part in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "salvo_scenario" in part]
    project.makepyfile(test_example=example)
    project.runpytest_inprocess().assert_outcomes(passed=1)


def test_ctrl_c_in_a_scenario_in_python_promises_no_resumption(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import agents

        def test_it(salvo_scenario):
            salvo_scenario(
                adapter=agents.interrupted,
                user_message="What?",
                assertions=[lambda *_: True],
                runs=3,
                concurrency=1,
            )
        """
    )
    ran = project.runpytest_subprocess()
    assert ran.ret == pytest.ExitCode.INTERRUPTED
    assert [run["number"] for run in stored(project, "runs")] == [1]
    assert "--resume" not in ran.stdout.str()


def test_a_failure_in_python_can_be_told_as_that_of_a_file(project: pytest.Pytester) -> None:
    ran = written(
        project,
        """
        def test_it(salvo_scenario):
            result = salvo_scenario(
                adapter=lambda request: 41, user_message="What?", assertions=[lambda *_: False], runs=2
            )
            assert result.passed, str(result)
        """,
    )
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(
        [
            "E * 0 of 2 completed runs passed (shown with 95% confidence: at most 85%); min_pass_rate is 100%",
            "*test_it  2/2 runs*",
        ]
    )


@pytest.mark.parametrize(
    "fields, said",
    [
        ("adapter=lambda request: 1 / 0, assertions=[lambda *_: True]", "*ZeroDivisionError*"),
        ("adapter=lambda request: 1, asertions=[]", '*asertions: no such field; did you mean "assertions"?*'),
        ("adapter=int, assertions=[lambda *_: True]", "*builtins.int is not a class derived from salvo.BaseAdapter*"),
        ("adapter=lambda request: 1, assertions=[lambda: True]", "*must take three arguments*"),
        ("adapter=lambda request: 1, assertions={}", "*assertions: *"),
        ("adapter=lambda request: 1, assertions=[1], tools='multiply'", "*assertions[[]0[]]*tools*"),
        (
            "adapter=lambda request: 1, assertions=[lambda *_: True], tools=[multiply, lambda: 1, lambda: 2]",
            "*two of its tools are called <lambda>*",
        ),
    ],
)
def test_a_scenario_in_python_that_cannot_be_judged_is_an_error(
    project: pytest.Pytester, fields: str, said: str
) -> None:
    ran = written(project, f'def test_it(salvo_scenario): salvo_scenario(user_message="What?", {fields})')
    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines([said])
    assert "Traceback" not in ran.stdout.str()


def test_the_fixture_cannot_be_used_inside_an_event_loop_and_says_so(project: pytest.Pytester) -> None:
    ran = written(
        project,
        """
        import asyncio

        def test_it(salvo_scenario):
            async def inside():
                salvo_scenario(adapter=lambda request: 1, user_message="What?", assertions=[lambda *_: True])

            asyncio.run(inside())
        """,
    )
    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines(["salvo_scenario runs its own event loop*"])


def test_conversations_and_their_cells_are_items(project: pytest.Pytester) -> None:
    file = project.path / "scenarios" / "talk.yaml"
    file.parent.mkdir()
    file.write_text(
        """
scenario: talk
adapter: function:agents.echo
cases: [{id: late, order: A-1001}, {id: lost, order: A-2002}]
matrix: {greeting: [Hello, Hi]}
turns:
  - user: "{{ greeting }}, it is order {{ order }}."
    assertions: [{type: text, name: repeats it, contains_all: ["{{ order }}"]}]
  - user: Where is it?
    assertions: [{type: text, name: knows, contains_all: [A-1001]}]
"""
    )
    with (project.path / "agents.py").open("a") as agents:
        agents.write("\n\ndef echo(request):\n    return request.messages[0]['content']\n")
    ran = project.runpytest_inprocess("--salvo", "scenarios", "-v")
    ran.assert_outcomes(passed=2, failed=2)
    ran.stdout.fnmatch_lines(["*talk.yaml::talk[[]late-Hello[]] PASSED*", "*failed  knows (text), weight 1, turn 2"])
    project.runpytest_inprocess("--salvo", "scenarios", "-k", "late and Hi").assert_outcomes(passed=1)
    project.runpytest_inprocess("--salvo", "scenarios", "-k", "talk[late").assert_outcomes(passed=2)
    project.runpytest_inprocess("--salvo", "scenarios", "--lf").assert_outcomes(failed=2)
    project.runpytest_inprocess("--salvo", "--lf", "-k", "Hi").assert_outcomes(failed=1)
    ran = project.runpytest_inprocess("--salvo", "scenarios", "--ff", "-v")
    ran.stdout.fnmatch_lines(["*::talk[[]lost-Hi[]] FAILED*", "*::talk[[]late-Hello[]] PASSED*"])


def test_a_conversation_may_be_written_in_python(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_talk="""
        class Customer:
            def next_message(self, transcript):
                return ["Hello.", "It is order A-1001."][len(transcript) // 2] if len(transcript) < 4 else None

        def agent(request):
            return f"{len(request.messages)} messages, the last: {request.user_message}"

        def asserts_turns(scenario, assertion, result):
            return [turn.user for turn in result.turns] == ["Hello.", "It is order A-1001."]

        def test_scripted(salvo_scenario):
            turns = ["Hello.", {"user": "It is order A-1001.", "assertions": [lambda s, a, r: "3 messages" in r.final_text]}]
            assert salvo_scenario(adapter=agent, turns=turns, assertions=[asserts_turns]).passed

        def test_user(salvo_scenario):
            assert salvo_scenario(adapter=agent, user={"python": Customer}, assertions=[asserts_turns]).passed
        """
    )
    project.runpytest_subprocess("-q", "test_talk.py").assert_outcomes(passed=2)
