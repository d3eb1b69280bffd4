"""`salvo validate --trust`: what the scenarios of a folder would run, without running it."""

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.support.project import UserProject

TOUCH = "import pathlib\npathlib.Path('executed').touch()\n"
ENDING = "user_message: hi\nassertions:\n  - {type: jmespath, path: final_output, operator: exists}\n"


def test_python_code_and_commands_are_listed_and_nothing_is_executed(project: UserProject) -> None:
    project.write("scenarios/agents/__init__.py", TOUCH)
    project.write("scenarios/agents/refund.py", TOUCH + "class Agent:\n    pass\ndef answer(request): return 1\n")
    project.write("checks.py", TOUCH + "def is_right(*_): return True\n")
    project.write("tools.py", TOUCH + "def find(): return 1\n")
    project.write("scenarios/tools.py", TOUCH)
    project.write("agent.sh", "#!/bin/sh\ntouch executed\n").chmod(0o755)
    (project.folder / "scenarios/book_flight.yaml").unlink()
    project.write("scenarios/a.yaml", f"scenario: a\nadapter: agents.refund:Agent\ntools: [find]\n{ENDING}")
    custom = "  - {type: custom, function: checks.is_right}\n  - {type: playbook}\n"
    project.write("scenarios/b.yaml", f"scenario: b\nadapter: function:agents.refund.answer\n{ENDING}{custom}")
    command = (
        "adapter: command\nadapter_options:\n  command: [./agent.sh, 'a b']\n  allow_paths: [/files/*, /batches]\n"
    )
    project.write("scenarios/c.yaml", f"scenario: c\n{command}{ENDING}")
    project.write("scenarios/d.yaml", f"scenario: d\nadapter: nowhere:Agent\n{ENDING}")
    project.write("scenarios/e.yaml", f"scenario: e\nadapter: function:json.dumps\n{ENDING}")
    listed = project.salvo("validate", "--trust")
    assert (listed.exit_code, listed.stderr) == (0, "")
    installed = str(Path(json.__file__))
    assert listed.stdout.replace(installed, "JSON") == snapshot("""\
scenarios/a.yaml:2: adapter: Python agents.refund:Agent -> scenarios/agents/__init__.py (in the project)
scenarios/a.yaml:2: adapter: Python agents.refund:Agent -> scenarios/agents/refund.py:3 (in the project)
scenarios/a.yaml:3: tools: Python find -> scenarios/tools.py (in the project)
scenarios/a.yaml:3: tools: Python find -> tools.py (in the project)
scenarios/b.yaml:2: adapter: Python function:agents.refund.answer -> scenarios/agents/__init__.py (in the project)
scenarios/b.yaml:2: adapter: Python function:agents.refund.answer -> scenarios/agents/refund.py:5 (in the project)
scenarios/b.yaml:6: assertions.1: Python checks.is_right -> checks.py:3 (in the project)
scenarios/c.yaml:4: adapter_options.command: command ./agent.sh 'a b' -> agent.sh (in the project)
scenarios/c.yaml:5: adapter_options.allow_paths: the command may use the provider's /files/* with your key
scenarios/c.yaml:5: adapter_options.allow_paths: the command may use the provider's /batches with your key
scenarios/d.yaml:2: adapter: Python nowhere:Agent -> not found
scenarios/e.yaml:2: adapter: Python function:json.dumps -> JSON:183 (outside the project)
5 scenarios: 6 Python modules, 1 command. Nothing was imported or started.
""")
    assert not (project.folder / "executed").exists()
    document = json.loads(project.salvo("validate", "--trust", "--json").stdout)
    assert document["code"][0] == snapshot(
        {
            "file": "scenarios/a.yaml",
            "line": 2,
            "field": "adapter",
            "kind": "python",
            "name": "agents.refund:Agent",
            "path": "scenarios/agents/__init__.py",
            "path_line": None,
            "in_project": True,
        }
    )
    code = [item for item in document["code"] if item["kind"] != "allowed_path"]
    assert [item["in_project"] for item in code] == [True] * 8 + [False] * 2
    paths = [(item["kind"], item["name"]) for item in document["code"] if item not in code]
    assert paths == [("allowed_path", "/files/*"), ("allowed_path", "/batches")]


def test_assertions_of_installed_packages_are_listed_and_not_imported(
    project: UserProject, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path_factory.mktemp("installed")
    info = installed / "their_evals-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-evals\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[salvo.evaluators]\nshouting = their_evals:shouting\n")
    (installed / "their_evals.py").write_text(f"{TOUCH}def shouting(*_): return True\n")
    monkeypatch.syspath_prepend(installed)
    (project.folder / "scenarios/book_flight.yaml").unlink()
    project.write("scenarios/a.yaml", f"scenario: a\nadapter: openai\nmodel: gpt-4o\n{ENDING}  - {{type: shouting}}\n")
    listed = project.salvo("validate", "--trust")
    place = installed / "their_evals.py"
    assert listed.stdout.splitlines()[0] == (
        f"scenarios/a.yaml:7: assertions.1: Python shouting (their_evals:shouting) -> {place}:3 (outside the project)"
    )
    assert not (project.folder / "executed").exists()


def test_a_command_is_listed_with_the_variables_that_decide_what_it_starts(project: UserProject) -> None:
    project.write("work/bin/git", "#!/bin/sh\ntouch executed\n").chmod(0o755)
    options = "{command: git status, cwd: ../work, env: {PATH: 'bin:/usr/bin', LD_PRELOAD: './a b.so'}}"
    command = f"scenario: a\nadapter: command\nadapter_options: {options}\n{ENDING}"
    project.write("scenarios/book_flight.yaml", command)
    listed = project.salvo("validate", "--trust").stdout
    program = "command PATH=bin:/usr/bin LD_PRELOAD='./a b.so' git status -> work/bin/git (in the project)"
    assert program in listed.replace("scenarios/../", "")


def test_a_file_that_cannot_be_read_is_a_problem_and_what_can_be_read_is_listed(project: UserProject) -> None:
    project.write("evil.py", TOUCH)
    project.write("scenarios/bad.yaml", f"scenario: bad\nadaptr: evil:Agent\n{ENDING}")
    project.write("scenarios/worse.yaml", "scenario: [\n")
    listed = project.salvo("validate", "--trust")
    assert listed.exit_code == 2
    assert "Python evil:Agent -> evil.py (in the project)" in listed.stdout
    assert "scenarios/worse.yaml:" in listed.stdout
    assert not (project.folder / "executed").exists()


def test_a_scenario_of_a_provider_with_yaml_tools_runs_no_code(project: UserProject) -> None:
    (project.folder / "tools.py").unlink()
    project.write("tools/find.yaml", "name: find\nresponse: 1\n")
    project.write("scenarios/book_flight.yaml", f"scenario: a\nadapter: openai\nmodel: gpt-4o\ntools: [find]\n{ENDING}")
    listed = project.salvo("validate", "--trust")
    assert listed.stdout == "1 scenario: 0 Python modules, 0 commands. Nothing was imported or started.\n"
    assert project.salvo("validate", "--json").exit_code == 2


def test_code_in_a_folder_without_init_inside_a_package_is_listed(project: UserProject) -> None:
    project.write("agents/__init__.py", TOUCH)
    project.write("agents/support/refund.py", TOUCH + "class Agent:\n    pass\n")
    project.write("scenarios/a.yaml", f"scenario: a\nadapter: agents.support.refund:Agent\n{ENDING}")
    listed = project.salvo("validate", "--trust", "scenarios/a.yaml")
    assert listed.exit_code == 0
    assert "agents.support.refund:Agent -> agents/support/refund.py:3 (in the project)" in listed.stdout
    assert not (project.folder / "executed").exists()


def test_the_servers_of_every_cell_are_listed(project: UserProject) -> None:
    (project.folder / "scenarios/book_flight.yaml").unlink()
    project.write(
        "scenarios/ask.yaml",
        """
        scenario: ask
        adapter: openai
        model: gpt-5.4-mini
        user_message: Hello
        matrix:
          mcp_servers:
            first: {shop: {command: [python3, first.py]}}
            second: {shop: {command: [python3, second.py]}}
        assertions: [{type: jmespath, path: final_output, operator: exists}]
        """,
    )
    listed = project.salvo("validate", "--trust").output
    assert "first.py" in listed
    assert "second.py" in listed
