"""Which code a batch ran: the commit, whether files were changed, and the agent's own code; and what changed since."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import UserProject

SCENARIO = """
    scenario: greet
    adapter: function:agent.answer
    user_message: hi
    runs: 3
    assertions:
      - {type: jmespath, path: final_output, operator: eq, value: hello}
"""


@pytest.fixture
def agent(project: UserProject, monkeypatch: pytest.MonkeyPatch) -> UserProject:
    """An agent in two files, in a repository with one commit."""
    shutil.rmtree(project.folder / "scenarios")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "somebody@example.com")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    project.write("scenarios/greet.yaml", SCENARIO)
    project.write("agent.py", "from helpers.words import greeting\n\ndef answer(request):\n    return greeting()\n")
    project.write("helpers/words.py", "def greeting():\n    return 'hello'\n")
    git(project, "init", "--quiet")
    commit(project)
    return project


def git(project: UserProject, *arguments: str) -> str:
    ran = subprocess.run(["git", "-C", project.folder, *arguments], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def commit(project: UserProject) -> str:
    git(project, "add", "agent.py", "helpers", "scenarios")
    git(project, "commit", "--quiet", "--allow-empty", "-m", "a change")
    return git(project, "rev-parse", "HEAD")


def newest_code(project: UserProject) -> dict[str, Any]:
    newest = max((project.store / "batches").glob("*.json"))
    code: dict[str, Any] = json.loads(newest.read_text())["code"]
    return code


def test_a_batch_has_the_commit_and_whether_tracked_files_were_changed(agent: UserProject) -> None:
    agent.salvo("run")
    assert newest_code(agent)["commit"] == git(agent, "rev-parse", "HEAD")
    assert newest_code(agent)["dirty"] is False  # the store itself is not tracked
    agent.write("helpers/words.py", "def greeting():\n    return 'hello'  # changed\n")
    agent.salvo("run")
    assert newest_code(agent)["dirty"] is True
    [batch] = json.loads(agent.salvo("report", "latest", "--json").stdout)["batches"]
    assert batch["code"] == newest_code(agent)
    agent.salvo("report", "latest", "--html", "report.html")
    assert f"{newest_code(agent)['commit'][:12]} with uncommitted changes" in (agent.folder / "report.html").read_text()


def test_compare_says_what_changed_in_the_code(agent: UserProject) -> None:
    agent.salvo("run")
    before = git(agent, "rev-parse", "HEAD")[:12]
    agent.write("helpers/words.py", "def greeting():\n    return 'bye'\n")
    after = commit(agent)[:12]
    agent.salvo("run")
    compared = agent.salvo("compare", "latest~1", "latest").stdout
    assert "A and B differ in the agent's code and git commit." in compared
    assert f"  git commit: {before} against {after}\n" in compared


def test_a_commit_that_leaves_the_agent_alone_is_only_a_commit(agent: UserProject) -> None:
    agent.salvo("run")
    agent.write("scenarios/README.md", "words")
    commit(agent)
    agent.salvo("run")
    compared = agent.salvo("compare", "latest~1", "latest").stdout
    assert "the agent's code" not in compared
    assert "git commit:" in compared


def test_a_baseline_has_the_commit_and_later_runs_say_what_changed(agent: UserProject) -> None:
    agent.salvo("run")
    agent.salvo("baseline", "bless", "latest")
    agent.write("agent.py", "def answer(request):\n    return 'hello'\n")
    compared = agent.salvo("run", "--against-baseline").stdout
    assert "A and B differ in the agent's code and git commit." in compared
    assert "with uncommitted changes" in compared


def test_what_an_earlier_version_did_not_store_is_no_difference(agent: UserProject) -> None:
    agent.salvo("run")
    agent.salvo("baseline", "bless", "latest")
    path = agent.store / "baseline.json"
    baseline = json.loads(path.read_text())
    del baseline["scenarios"]["greet"]["settings"]["git commit"]
    del baseline["scenarios"]["greet"]["fingerprints"]["the agent's code"]
    path.write_text(json.dumps(baseline))
    assert "differ in" not in agent.salvo("run", "--against-baseline").stdout
    batch = max((agent.store / "batches").glob("*.json"))
    old = json.loads(batch.read_text())
    del old["code"]
    batch.write_text(json.dumps(old))
    assert agent.salvo("report", "latest").exit_code == 0
    assert "differ in" not in agent.salvo("compare", "latest~1", "latest").stdout


def test_a_batch_is_not_resumed_with_another_version_of_the_agent(agent: UserProject) -> None:
    agent.salvo("run")
    agent.runs()[-1].unlink()
    (agent.store / "history.jsonl").unlink()
    agent.write("helpers/words.py", "def greeting():\n    return 'hello!'\n")
    refused = agent.salvo("run", "--resume", "latest")
    assert refused.exit_code == 2
    assert "The agent's code has changed since the batch" in refused.stderr
    git(agent, "checkout", "--quiet", "helpers")
    assert agent.salvo("run", "--resume", "latest").exit_code == 0


@pytest.mark.parametrize("make", ["remove", "empty", "not_git"])
def test_without_a_commit_nothing_is_claimed(agent: UserProject, make: str) -> None:
    shutil.rmtree(agent.folder / ".git")
    if make == "empty":
        git(agent, "init", "--quiet")
    if make == "not_git":
        agent.write(".git", "gitdir: /nowhere")
    assert agent.salvo("run").exit_code == 0
    code = newest_code(agent)
    assert code["commit"] is None
    assert code["agent"] is not None


def test_no_program_that_the_repository_names_is_started(agent: UserProject, tmp_path: Path) -> None:
    executed, program = tmp_path / "executed", tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $0 $* >> {executed}\ncat\n")
    program.chmod(0o755)
    for setting in (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.alternateRefsCommand",
        "filter.x.clean", "filter.x.smudge", "filter.x.process", "filter.a=b.clean", "diff.external", "diff.x.command",
        "diff.x.textconv", "gpg.program", "credential.helper",
    ):  # fmt: skip
        git(agent, "config", setting, str(program))
    git(agent, "config", "filter.x.required", "true")
    git(agent, "config", "status.submoduleSummary", "true")
    (agent.folder / ".git/info/attributes").write_text("*.py filter=x diff=x\n*.yaml filter=a=b\n")
    for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout"):
        shutil.copy(program, agent.folder / ".git/hooks" / hook)
    # Files that were touched are read again, and so would be converted by the filter.
    for name in ("agent.py", "helpers/words.py", "scenarios/greet.yaml"):
        path = agent.folder / name
        path.write_text(path.read_text() + "# changed\n")
    assert agent.salvo("run").exit_code == 0
    assert not executed.exists(), executed.read_text()
    code = newest_code(agent)
    assert code["commit"] == git(agent, "-c", "core.fsmonitor=false", "rev-parse", "HEAD")
    assert code["dirty"] is None  # only the filter could tell


def test_without_git_the_run_goes_on(agent: UserProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert agent.salvo("run").exit_code == 0
    assert newest_code(agent)["commit"] is None
