"""`make demo`, as a newcomer sees it; make only puts the commands on its path."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click import Context

from salvo.cli.byop import byop
from salvo.cli.salvo import salvo
from tests.package.conftest import CHECKOUT

pytestmark = pytest.mark.load  # many processes


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """With keys and a database in the environment, that it must not touch."""
    folder = tmp_path_factory.mktemp("demo")
    keys = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "DATABASE_URL": f"sqlite:///{folder}/mine.db"}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(
        [CHECKOUT / "examples" / "demo.sh", folder / "demo"],
        env={**os.environ, **keys, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not (folder / "mine.db").exists()
    assert (folder / "demo" / "report.html").is_file()
    return ran


def test_it_shows_runs_a_replay_a_report_and_the_drift(shown: subprocess.CompletedProcess[str]) -> None:
    assert shown.returncode == 0, shown.stderr
    for sight in (
        "8 of 10 completed runs passed",
        "Identical: the same agent code, on the recorded tool results, did the same.",
        "STABLE No issues",
        "ALERT At least one high-severity check failed.",
        "so this is output drift.",
        "Consistent with the audit log.",
    ):
        assert sight in " ".join(shown.stdout.split())
    assert "Evaluating with rules: nothing leaves this machine." in shown.stderr
    assert "Traceback" not in shown.stdout + shown.stderr


def test_what_it_says_to_try_next_exists(shown: subprocess.CompletedProcess[str]) -> None:
    after = shown.stdout.partition("Try next")[2]
    named = re.findall(r"^ +(salvo|byop) (\w+)", after, re.MULTILINE)
    assert len(named) > 3
    commands = {of.name: of.list_commands(Context(of)) for of in (salvo, byop)}
    assert [f"{group} {name}" for group, name in named if name not in commands[group]] == []
    for page in re.findall(r"docs/\w+\.md", after):
        assert (CHECKOUT / page).is_file()
