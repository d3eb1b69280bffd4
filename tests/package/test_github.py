"""What GitHub would read, checked by its schemas and by linters, since it cannot run here."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.documents import blocks
from tests.package.conftest import CHECKOUT

GITHUB = CHECKOUT / ".github"
ACTION = CHECKOUT / "action.yml"
WORKFLOWS = sorted(GITHUB.glob("workflows/*"))
FORMS = sorted(path for path in GITHUB.glob("ISSUE_TEMPLATE/*") if path.stem != "config")
SCRIPTS = [CHECKOUT / ".ci" / "run", CHECKOUT / "examples" / "demo.sh", *GITHUB.glob("action/*")]
SCHEMAS = [
    (ACTION, "github-actions"),
    *((path, "github-workflows") for path in WORKFLOWS),
    *((path, "github-issue-forms") for path in FORMS),
    (GITHUB / "ISSUE_TEMPLATE" / "config.yml", "github-issue-config"),
    (GITHUB / "dependabot.yml", "dependabot"),
]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


@pytest.mark.parametrize("path, schema", SCHEMAS, ids=[path.name for path, _ in SCHEMAS])
def test_each_file_is_of_the_shape_that_github_publishes(path: Path, schema: str) -> None:
    found = run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", str(path))
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_workflows_that_the_documentation_proposes_are_workflows(tmp_path: Path) -> None:
    shards, agents = (block for block in blocks(CHECKOUT / "docs" / "ci.md") if block.language == "yaml")
    proposed = tmp_path / "agents.yml"
    for block in (shards, agents):
        proposed.write_text(block.content)
        test_each_file_is_of_the_shape_that_github_publishes(proposed, "github-workflows")
    steps = [step for job in read(proposed)["jobs"].values() for step in job["steps"]]
    [ours] = [step for step in steps if step["uses"].startswith("OWNER/salvo@")]
    assert ours["with"].keys() <= read(ACTION)["inputs"].keys()
    [named] = {name for step in steps for name in re.findall(r"salvo\.outputs\.([\w-]+)", str(step))}
    assert named in read(ACTION)["outputs"]


def test_no_workflow_does_what_is_known_to_be_dangerous() -> None:
    """Injection, unpinned actions, credentials left behind, too many permissions."""
    found = run("zizmor", "--offline", "--no-progress", "--format=plain", str(ACTION), str(GITHUB / "workflows"))
    assert found.returncode == 0, found.stdout


def test_the_scripts_are_sound() -> None:
    found = run("shellcheck", *map(str, SCRIPTS))
    assert found.returncode == 0, found.stdout
    assert [script for script in SCRIPTS if not script.stat().st_mode & 0o100] == []


def test_the_actions_script_gets_every_input_and_action_yml_every_output() -> None:
    action = read(ACTION)
    script = (GITHUB / "action" / "run.sh").read_text()
    [step] = [step for step in action["runs"]["steps"] if step.get("id") == "run"]
    used = set(re.findall(r"inputs\.([\w-]+)", json.dumps(action["runs"])))
    assert used == set(action["inputs"])
    assert set(re.findall(r"SALVO_[A-Z_]+", script)) == set(step["env"])
    assert set(re.findall(r'echo "([\w-]+)=', script)) == set(action["outputs"])


def test_no_expression_stands_in_a_script() -> None:
    """What is put into a script is read by its shell; what is put into a variable is not."""
    steps = [*read(ACTION)["runs"]["steps"]]
    for path in WORKFLOWS:
        steps += [step for job in read(path)["jobs"].values() for step in job["steps"]]
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = Path(sys.executable).with_name(program)
    return subprocess.run([path, *arguments], capture_output=True, text=True, check=False)
