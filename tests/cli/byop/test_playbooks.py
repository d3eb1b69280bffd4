"""`byop playbooks`, and what every command says of a playbook that it cannot read."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from inline_snapshot import snapshot

from salvo.cli.byop import byop
from salvo.cli.exit_codes import ExitCode
from salvo.playbooks.playbook import library
from tests.support.playbook import changed


def run(*arguments: str) -> Result:
    return CliRunner().invoke(byop, list(arguments))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("mine.json")


def write(file: Path, content: Any) -> None:
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize("command", [["validate"], ["playbooks", "show"]], ids=" ".join)
def test_a_folder_is_no_playbook(command: list[str], file: Path) -> None:
    file.mkdir()
    ended = run(*command, "mine.json")
    assert (ended.exit_code, ended.stderr) == (ExitCode.USAGE, "Error: mine.json is a folder, not a file.\n")


@pytest.mark.usefixtures("file")
def test_a_file_that_is_not_there_is_named() -> None:
    ended = run("validate", "mine.json")
    assert ended.exit_code == ExitCode.USAGE
    assert ended.stderr == "Error: mine.json cannot be read: No such file or directory.\n"


def test_playbooks_lists_the_library() -> None:
    ended = run("playbooks")
    assert ended.exit_code == ExitCode.OK
    assert ended.output == snapshot("""\
ID                          VERSION  CHECKS  LOGIC HASH
ai_plugin_observability_v1  1.1.0    6       sha256:e6f736365c8a7bd8359fac7b909c73ff9f4099ca6796f73e5d52a523951f38f6
""")


def test_playbooks_lists_the_library_in_json_too() -> None:
    starter = library.load(library.STARTER)
    assert json.loads(run("playbooks", "--json").stdout) == [
        {"id": starter.id, "version": "1.1.0", "checks": 6, "logic_hash": starter.logic_hash}
    ]


def test_a_playbook_is_shown_with_how_each_check_is_decided(file: Path) -> None:
    mine = changed("checks.0.evidence_requirements.min_citations_per_fail", 2)
    mine["checks"].append({**mine["checks"][0], "id": "run_variance", "question": "Do \x1b[2J runs differ?"})
    write(file, mine)
    ended = run("playbooks", "show", "mine.json")
    assert ended.exit_code == ExitCode.OK
    assert ended.output == snapshot("""\
lease_review 2.0
   author        A. Writer
   jurisdiction  DE, AT
   intended use  reviews of leases
   logic hash    sha256:19559083fe8f71d32018adaf1ca216ed4c4bbf0c4642e1eed5f0d76dbcc3552d
   runs          at least 3, consensus_required
   consistency   stable from 0.9, not reliable below 0.6

1. names_the_law (high, semantic)
   question      Does it name the law that applies?
   decided by    the evaluator
   instructions  PASS if a law is named.
   evidence      a fail quotes the AI output at least 2 times

2. no_guarantee (medium, pattern)
   question      Does it guarantee an outcome?
   decided by    its patterns: fail if one matches, otherwise pass
   patterns      guarantee[ds]?  certainly

3. run_variance (high, semantic)
   question      Do \\x1b[2J runs differ?
   decided by    the results of the other checks, without the evaluator
   instructions  PASS if a law is named.
   evidence      a fail quotes the AI output at least 2 times
""")


def test_a_playbook_of_the_library_is_shown_by_its_id() -> None:
    ended = run("playbooks", "show", library.STARTER)
    assert ended.output.startswith("ai_plugin_observability_v1 1.1.0\n")
    assert "6. drift_over_time_support (medium, hybrid)\n" in ended.output


def test_a_playbook_is_shown_as_its_document() -> None:
    shown = json.loads(run("playbooks", "show", library.STARTER, "--json").stdout)
    assert shown == library.load(library.STARTER).document


def test_a_playbook_with_errors_is_not_shown_but_they_are(file: Path) -> None:
    write(file, changed("checks.0.severity", "low"))
    ended = run("playbooks", "show", "mine.json")
    assert ended.exit_code == ExitCode.USAGE
    assert ended.stderr == snapshot("""\
Error: mine.json cannot be used as a playbook.
$.checks[0].severity: must be one of high, medium
`byop validate FILE` shows these and the warnings.
""")


@pytest.mark.usefixtures("file")
def test_a_playbook_that_is_nowhere_is_told_what_there_is() -> None:
    ended = run("playbooks", "show", "ai_plugin_observability_v2")
    assert ended.exit_code == ExitCode.USAGE
    assert ended.stderr == snapshot("""\
Error: There is no playbook 'ai_plugin_observability_v2', neither in the library nor as a file; did you mean "ai_plugin_observability_v1"?
The library has: ai_plugin_observability_v1.
""")


def test_a_saved_playbook_is_listed_used_and_compared_by_its_id(file: Path) -> None:
    write(file, changed("checks.0.severity", "high"))
    assert run("playbooks", "save", "mine.json", "--by", "Dana").output == (
        "Saved lease_review 2.0 as version 1. Use it with --playbook lease_review.\n"
    )
    again = run("playbooks", "save", "mine.json", "--by", "Dana")
    assert again.exit_code == ExitCode.USAGE
    assert (
        again.stderr
        == "Error: The playbook cannot be saved. The playbook has not changed since version 2.0 was saved.\n"
    )
    second = changed("checks.0.severity", "medium")
    second["metadata"]["version"] = "2.1"
    write(file, second)
    run("playbooks", "save", "mine.json", "--by", "Kim", "--note", "Softer.")
    assert [row["version"] for row in json.loads(run("playbooks", "--json").stdout)] == ["1.1.0", "2.1"]
    versions = json.loads(run("playbooks", "versions", "lease_review", "--json").stdout)
    assert [(version["number"], version["saved_by"]) for version in versions] == [(1, "Dana"), (2, "Kim")]
    assert "Softer." in run("playbooks", "versions", "lease_review").stdout
    assert run("playbooks", "diff", "lease_review", "1", "2").stdout.startswith(
        "names_the_law: Severity: changed from “high” to “medium”.\n"
    )
    assert run("playbooks", "show", "lease_review").stdout.startswith("lease_review 2.1\n")
    assert run("playbooks", "show", "lease_review@1").stdout.startswith("lease_review 2.0\n")
    Path("text.txt").write_text("It is guaranteed under German law.", encoding="utf-8")
    evaluated = run("run", "text.txt", "--playbook", "lease_review@1", "--evaluator", "rules", "--json")
    report = json.loads(evaluated.stdout)["byop_report"]
    assert report["integrity"]["playbook_logic_hash"] == versions[0]["logic_hash"]
    assert run("playbooks", "show", "lease_review@7").exit_code == ExitCode.USAGE
    assert run("playbooks", "versions", "nothing").exit_code == ExitCode.USAGE
