"""The hash of an agent's code: which changes it notices, and which files it leaves alone."""

from pathlib import Path
from typing import Any

import pytest

from salvo.scenarios.agent_code import agent_fingerprint
from salvo.scenarios.spec.project import Project
from tests.support.evaluation import scenario
from tests.support.scenario_files import write

FILES = {
    "pyproject.toml": "",
    "scenarios/s.yaml": "",
    "agent.py": "import json, pack.inner\nfrom lib import tool\n\ndef run(request):\n    from late import word\n",
    "pack/__init__.py": "from . import sibling\nfrom .sub.deep import thing\n",
    "pack/inner.py": "from ..nowhere import x\n",
    "pack/sibling.py": "",
    "pack/sub/deep.py": "thing = 1\n",
    "lib/tool.py": "",
    "late.py": "word = 1\n",
    "unused.py": "",
    "pack/unused.py": "",
    ".venv/pyvenv.cfg": "",
    ".venv/lib/json.py": "",
    "cli.py": "import late\n",
    "agent.js": "console.log(1)\n",
}


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        write(name, content)


def fingerprint(adapter: str = "function:agent.run", **options: Any) -> str | None:
    wanted = scenario(adapter=adapter, adapter_options=options)
    return agent_fingerprint(wanted, Path("scenarios/s.yaml"), Project.find())


def noticed(adapter: str = "function:agent.run", **options: Any) -> set[str]:
    """Return the files whose change changes the hash."""
    before = fingerprint(adapter, **options)
    changed = set()
    for name, content in FILES.items():
        write(name, f"{content}\n# changed\n")
        if fingerprint(adapter, **options) != before:
            changed.add(name)
        write(name, content)
    assert fingerprint(adapter, **options) == before
    return changed


AGENT = {
    "agent.py",
    "pack/__init__.py",
    "pack/inner.py",
    "pack/sibling.py",
    "pack/sub/deep.py",
    "lib/tool.py",
    "late.py",
}


def test_it_covers_what_the_agent_imports_from_the_project_and_nothing_else() -> None:
    assert noticed() == AGENT
    assert noticed("agent:Agent") == AGENT
    assert noticed("pack.inner.Agent") == {"pack/__init__.py", "pack/inner.py", "pack/sibling.py", "pack/sub/deep.py"}


@pytest.mark.parametrize(
    "command, files",
    [
        (["python3", "cli.py", "--fast"], {"cli.py", "late.py"}),
        ("python3 cli.py", {"cli.py", "late.py"}),
        (["python3", "-m", "pack.sub.deep"], {"pack/__init__.py", "pack/sibling.py", "pack/sub/deep.py"}),
        (["node", "agent.js"], {"agent.js"}),
    ],
)
def test_a_command_is_known_by_the_files_it_names(command: Any, files: set[str]) -> None:
    assert noticed("command", command=command) == files


@pytest.mark.parametrize("command", [["node", "nowhere.js"], "unclosed ' quote", [], 5, ["x\0y", "\0"]])
def test_a_command_without_files_in_the_project_has_no_hash(command: Any) -> None:
    assert fingerprint("command", command=command) is None


def test_an_agent_without_code_has_no_hash() -> None:
    assert fingerprint("openai") is None
    assert fingerprint("function:nowhere.run") is None


def test_code_that_cannot_be_parsed_still_has_a_hash() -> None:
    before = fingerprint()
    write("agent.py", "def broken(:\n")
    assert fingerprint() not in (None, before)
    write("agent.py", b"\x00\xff")
    assert fingerprint() is not None


def test_modules_that_import_each_other_end() -> None:
    write("late.py", "import agent\n")
    assert fingerprint() is not None
