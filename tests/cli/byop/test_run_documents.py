"""`byop run` for several documents, and `byop batch`."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.cli.byop.test_faults import Slow
from tests.support.byop_project import TEXT, ByopProject, ScriptedJudge, interrupt, masked, wait_until
from tests.support.provider import Fault, LoopbackProvider
from tests.support.web import CAREFUL, CARELESS


@pytest.fixture
def letters(project: ByopProject) -> Path:
    """A folder with two documents, one that cannot be read, and files that are none."""
    folder = project.folder / "letters"
    (folder / "later").mkdir(parents=True)
    (folder / "careless.txt").write_text(CARELESS)
    (folder / "later" / "careful.md").write_text(CAREFUL)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 no")
    for name in (".hidden.txt", "~$careless.docx", "picture.png"):
        (folder / name).write_text("no document")
    return folder


def _matrix(project: ByopProject, *arguments: str, exit_code: int) -> dict[str, Any]:
    result = project.byop(*arguments, "--json")
    assert result.exit_code == exit_code, result.output
    matrix: dict[str, Any] = json.loads(result.stdout)
    return matrix


def test_a_folder_is_evaluated_and_shown_as_a_matrix(project: ByopProject, letters: Path) -> None:
    shown = project.byop("run", "letters", "--evaluator", "rules")
    assert shown.exit_code == 1, "the worst of all"
    assert masked(shown.stdout) == snapshot("""\
This is an observability report, not legal advice.
Pass ≠ safe. Fail ≠ wrong. Indeterminate is expected.
Report describes behavior under this playbook and inputs.

DOCUMENT       STATUS  1  2  3  4  5  6  ID
careless       ALERT   ✗  ✗  ✗  ✗  ✓  ?  ID
later/careful  STABLE  ✓  ✓  ✓  ✓  ✓  ?  ID
failed                 1  1  1  1  0  0

✓ pass, ✗ fail, ? indeterminate, · no result
1 Assumption disclosure
2 Certainty language
3 Escalation signal
4 Unchecked areas disclosure
5 Run variance
6 Drift over time support
broken.pdf was not read. The file is not a readable PDF. Save its text as a .txt file, or copy and paste it.

3 documents: 1 ALERT, 1 STABLE, 1 not read.
""")
    assert "broken.pdf was not read. The file is not a readable PDF." in shown.stderr
    assert "2 of 2: " in shown.stderr


def test_a_batch_is_listed_shown_and_written_again(project: ByopProject, letters: Path) -> None:
    matrix = _matrix(project, "run", "letters", "--evaluator", "rules", "--subject", "Letters", exit_code=1)
    batch = matrix["batch"]["id"]
    assert re.search(rf"{batch} .* 3 +2 +Letters +letters", project.byop("batch").stdout)
    for name in (batch, batch[:-1], "latest"):
        assert _matrix(project, "batch", name, exit_code=0) == matrix
    assert [row["title"] for row in matrix["rows"]] == ["careless", "later/careful"]
    assert [row["file_name"] for row in matrix["rows"]] == ["careless.txt", "careful.md"]
    assert matrix["totals"]["statuses"] == {"ALERT": 1, "STABLE": 1}
    written = project.byop("batch", "latest", "-o", "m.csv", "-o", "m.html")
    assert written.stderr == "Written: m.csv\nWritten: m.html\n"
    table = list(csv.reader(io.StringIO((project.folder / "m.csv").read_text("utf-8-sig"))))
    assert [line[0] for line in table] == ["Document", "careless", "later/careful", "broken.pdf"]
    assert [line[5] for line in table] == ["Status", "ALERT", "STABLE", ""]
    assert "later/careful" in (project.folder / "m.html").read_text()
    refused = project.byop("batch", "latest", "-o", "m.xml")
    assert (refused.exit_code, ".csv, .json, .html" in refused.stderr) == (2, True)
    assert project.byop("batch", "zzz").exit_code == 2
    assert project.byop("verify", "--all").exit_code == 0


def test_documents_of_one_batch_are_not_compared_with_each_other_but_with_themselves(
    project: ByopProject, letters: Path
) -> None:
    first = _matrix(project, "run", "letters", "--evaluator", "rules", "--subject", "Letters", exit_code=1)
    second = _matrix(project, "run", "letters", "--evaluator", "rules", "--subject", "Letters", exit_code=1)
    for matrix in (first, second):
        for row in matrix["rows"]:
            report = json.loads(project.byop("show", row["evaluation_id"], "--json").stdout)["byop_report"]
            earlier = {each["title"]: each["evaluation_id"] for each in first["rows"]} if matrix is second else {}
            assert report["drift_summary"]["baseline_id"] == earlier.get(row["title"])


def test_what_is_about_one_report_is_refused_for_several(project: ByopProject, letters: Path) -> None:
    for options in (("--title", "x"), ("--save-baseline",), ("-o", "r.md")):
        refused = project.byop("run", "letters", *options)
        assert (refused.exit_code, project.stored("SELECT count(*) FROM byop_evaluations")) == (2, [(0,)])
    empty = project.folder / "empty"
    empty.mkdir()
    assert "There are no documents in empty" in project.byop("run", "empty").stderr
    assert project.byop("run", "output.md", "-").exit_code == 2


def test_links_out_of_a_folder_and_files_given_twice_are_left_out(project: ByopProject, letters: Path) -> None:
    (letters / "broken.pdf").unlink()
    (letters / "secret.txt").symlink_to(project.folder / "output.md")
    matrix = _matrix(
        project, "run", "letters", "letters/careless.txt", "--no-store", "--evaluator", "rules", exit_code=1
    )
    assert [row["title"] for row in matrix["rows"]] == ["careless", "later/careful"]
    assert project.stored("SELECT count(*) FROM byop_evaluations") == [(0,)]


def test_missing_votes_are_never_a_failure_and_all_are_resumed(project: ByopProject) -> None:
    for name in ("a.txt", "b.txt"):
        project.write(name, TEXT)
    with LoopbackProvider(ScriptedJudge(certainty_language=Fault.context_too_long())) as provider:
        project.reach(provider)
        matrix = _matrix(project, "run", "a.txt", "b.txt", exit_code=3)
    assert [row["status"] for row in matrix["rows"]] == ["INCOMPLETE", "INCOMPLETE"]
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        resumed = _matrix(project, "run", "--resume", matrix["batch"]["id"], exit_code=0)
    assert [row["status"] for row in resumed["rows"]] == ["STABLE", "STABLE"]
    assert [row["title"] for row in resumed["rows"]] == ["a", "b"]


@pytest.mark.usefixtures("coverage_in_processes")
def test_ctrl_c_ends_all_documents_and_resume_continues_all(project: ByopProject) -> None:
    for number in range(3):
        project.write(f"{number}.txt", TEXT)
    judge = Slow(5)
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        child = project.process("run", "0.txt", "1.txt", "2.txt", "-j", "1")
        wait_until(lambda: project.stored("SELECT count(*) FROM byop_votes") == [(5,)])
        wait_until(lambda: len(provider.requests) == 6)
        printed, notices = interrupt(child)
        assert (child.returncode, "3 documents" in printed) == (130, True)
        [resuming] = re.findall(r"continue with `byop (run --resume \w+)`", notices)
        judge.let_go()
        before = len(provider.requests)
        matrix = _matrix(project, *resuming.split(), exit_code=0)
    assert len(provider.requests) - before == 3 * 12 - 5, "no stored vote is asked for again"
    assert [row["status"] for row in matrix["rows"]] == ["STABLE"] * 3


def test_kill_9_loses_no_document(project: ByopProject) -> None:
    for number in range(20):
        project.write(f"{number:02}.txt", TEXT)
    judge = Slow(5)
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        child = project.process("run", *(f"{number:02}.txt" for number in range(20)), "-j", "1")
        wait_until(lambda: project.stored("SELECT count(*) FROM byop_votes") == [(5,)])
        child.kill()
        child.communicate(timeout=30)
        judge.let_go()
        stopped = _matrix(project, "batch", "latest", exit_code=0)
        assert {row["state"] for row in stopped["rows"]} == {"interrupted"}
        assert len(stopped["rows"]) == 20
        matrix = _matrix(project, "run", "--resume", stopped["batch"]["id"], exit_code=0)
    assert [row["status"] for row in matrix["rows"]] == ["STABLE"] * 20
