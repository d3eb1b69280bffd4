"""`salvo validate`, `schema`, `init` and what a scenario may name: tools, adapters, endpoints."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from jsonschema import Draft202012Validator

import salvo
from salvo.engine.wire.offline import offline
from salvo.errors import TapeMissError
from tests.cli.salvo.test_run import GOOD, results_of
from tests.support.project import BIN, BOOK_FLIGHT, UserProject
from tests.support.provider import LoopbackProvider, Say, Use, UseTools, by_turn

LEAST = "scenario: least\nadapter: openai\nmodel: gpt-5.4-mini\nuser_message: hi\n"
EXISTS = "assertions:\n  - {type: jmespath, path: final_output, operator: exists}\n"


def test_validate_says_that_all_is_well_or_lists_every_problem_of_every_file(project: UserProject) -> None:
    good = project.salvo("validate")
    assert (good.exit_code, good.stdout) == (0, "1 scenario is valid.\n")
    project.write("scenarios/mine.py", "def answer(request):\n    return 1\n")
    project.write("scenarios/a.yaml", LEAST.replace("gpt-5.4-mini", "''") + "tools: [nowhere]\n" + EXISTS)
    project.write("scenarios/b.yaml", LEAST.replace("adapter: openai", "adapter: not_there:Nothing") + EXISTS)
    project.write("scenarios/c.yaml", LEAST.replace("adapter: openai", "adapter: function:mine.answr") + EXISTS)
    project.write("scenarios/d.yaml", LEAST.replace("adapter: openai", "adapter: collections.OrderedDict") + EXISTS)
    project.write("scenarios/e.yaml", LEAST.replace("adapter: openai", "adapter: function:math.pi") + EXISTS)
    bad = project.salvo("validate")
    assert bad.exit_code == 2
    assert bad.stdout.replace(str(project.folder), "HERE") == snapshot("""\
scenarios/a.yaml:2:1: adapter: the adapter openai needs a model
scenarios/a.yaml:5:9: tools[0]: there is no tool 'nowhere'; looked in the scenario, HERE/scenarios/tools.py, HERE/tools.py, HERE/scenarios/tools/nowhere.yaml, HERE/tools/nowhere.yaml
scenarios/b.yaml:2:1: adapter: There is no module "not_there". Looked in scenarios, the current folder, and among the installed packages.
scenarios/c.yaml:2:1: adapter: "mine.answr": there is no "answr" in scenarios/mine.py. Did you mean "answer"?
scenarios/d.yaml:2:1: adapter: collections.OrderedDict is not a class derived from salvo.BaseAdapter
scenarios/e.yaml:2:1: adapter: function:math.pi is not callable
6 files, 6 problems
""")


def test_the_schema_accepts_the_document_s_scenario_and_refuses_a_typo(project: UserProject) -> None:
    import yaml

    schema = Draft202012Validator(json.loads(project.salvo("schema").stdout))
    scenario = yaml.safe_load(BOOK_FLIGHT)
    assert list(schema.iter_errors(scenario)) == []
    assert list(schema.iter_errors({**scenario, "modle": "x"}))
    scenario["assertions"][1]["opertor"] = "eq"
    assert list(schema.iter_errors(scenario))


def test_init_never_overwrites_and_leaves_a_project_that_validates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = UserProject(tmp_path, monkeypatch)
    made.write("tools.py", "# mine\n")
    first = made.salvo("init")
    assert "kept     tools.py" in first.stdout
    assert (tmp_path / "tools.py").read_text() == "# mine\n"
    (tmp_path / "tools.py").unlink()
    made.salvo("init")
    assert made.salvo("validate").exit_code == 0
    assert "recordings" not in (tmp_path / ".salvo" / ".gitignore").read_text().split("\n", 1)[1]
    assert "All files exist already." in made.salvo("init").stdout


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


def test_a_yaml_tool_must_have_its_files_name(project: UserProject) -> None:
    project.write("tools/one.yaml", "name: two\nresponse: 1\n")
    project.write("scenarios/s.yaml", LEAST + "tools: [one, search_flights, search_flights]\n" + EXISTS)
    shown = project.salvo("validate", "scenarios/s.yaml").stdout
    assert "defines 'two', not 'one'" in shown
    assert "the tool search_flights is listed twice" in shown


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
    assert [asked.key for asked in provider.asked] == ["gateway-0123456789", None]
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
    assert "\n" not in shown
    assert "3/3 runs" in out


def test_every_public_name_is_there_and_a_wrong_one_is_an_attribute_error() -> None:
    for name in salvo.__all__:
        assert getattr(salvo, name)
    assert set(dir(salvo)) == set(salvo.__all__)
    with pytest.raises(AttributeError, match="no attribute 'BaseAdaptor'"):
        _ = salvo.BaseAdaptor


def test_importing_salvo_is_cheap() -> None:
    code = "import sys, salvo; print(sorted({'pydantic', 'asyncio', 'aiohttp', 'click'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_offline_ends_where_it_was_meant_to_end() -> None:
    import socket

    with offline(), pytest.raises(TapeMissError, match="tried to use the network"):
        socket.create_connection(("127.0.0.1", 9))
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", 9))


def test_all_examples_are_valid(project: UserProject) -> None:
    examples = UserProject(Path(__file__).parents[3] / "examples", project.monkeypatch)
    count = len(list(examples.folder.glob("scenarios/*.yaml")))
    assert examples.salvo("validate").stdout == f"{count} scenarios are valid.\n"


def test_a_file_that_cannot_be_used_is_a_sentence_whatever_the_system_says(project: UserProject) -> None:
    refused = project.salvo("run", "a" * 300)
    assert (refused.exit_code, refused.stderr.endswith("cannot be used: File name too long.\n")) == (2, True)


def test_a_name_that_no_encoding_has_is_still_shown(project: UserProject) -> None:
    folder = project.folder / os.fsdecode(b"caf\xe9")
    made = project.salvo("init", str(folder))
    assert (made.exit_code, r"caf\udce9" in made.stdout) == (0, True), made.output
