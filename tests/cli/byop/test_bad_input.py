"""Whatever is fed in gets a clear sentence or a report, and never a traceback."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from salvo.errors import InputError, PlaybookError, UsageError
from salvo.playbooks import run_playbook
from tests.support.byop_project import CERTAIN, TEXT, ByopProject, ScriptedJudge, check, results
from tests.support.playbook import changed, document
from tests.support.provider import LoopbackProvider

STARTER = "ai_plugin_observability_v1"


@pytest.mark.parametrize("content", [b"", b" \r\n\t \n", "\ufeff \u00a0\u2003\n".encode()])
def test_an_empty_output_is_refused(project: ByopProject, content: bytes) -> None:
    project.write("empty", content)
    for shown in (project.byop("run", "empty"), project.byop("run", "-", stdin=content)):
        assert shown.exit_code == 2
        assert "The AI output is empty: there is nothing to evaluate." in shown.stderr


@pytest.mark.parametrize(
    "content, said",
    [
        (b"Gr\xfc\xdfe", "latin is not UTF-8: byte 2 (0xfc) is invalid there."),
        (TEXT.encode() + b"\xff", f"byte {len(TEXT.encode())} (0xff)"),
        (b"\xef\xbb\xbfab\xfc", "byte 5 (0xfc)"),
        ("in sixteen bits".encode("utf-16")[:-1], "latin is not UTF-16, though it begins like it"),
    ],
)
def test_what_is_not_utf_8_says_which_byte(project: ByopProject, content: bytes, said: str) -> None:
    project.write("latin", content)
    shown = project.byop("run", "latin")
    assert shown.exit_code == 2
    assert said in shown.stderr
    other = project.byop("run", "output.md", "--source", "latin")
    assert (other.exit_code, said in other.stderr) == (2, True)


@pytest.mark.parametrize("option", [("output.md", "--source"), ("output.md", "--prompt"), ("output.md", "--system")])
def test_a_missing_file_and_a_folder_are_named(project: ByopProject, option: tuple[str, ...]) -> None:
    (project.folder / "a folder").mkdir()
    missing, folder = (project.byop("run", *option, name) for name in ("nowhere.md", "a folder"))
    assert (missing.exit_code, folder.exit_code) == (2, 2)
    assert "nowhere.md cannot be read: No such file or directory." in missing.stderr
    assert "a folder is a folder, not a file." in folder.stderr


def test_a_missing_document_and_a_folder_without_documents_are_named(project: ByopProject) -> None:
    (project.folder / "a folder").mkdir()
    missing, folder = (project.byop("run", name) for name in ("nowhere.md", "a folder"))
    assert (missing.exit_code, folder.exit_code) == (2, 2)
    assert "nowhere.md cannot be read: No such file or directory." in missing.stderr
    assert "There are no documents in a folder." in folder.stderr


def test_more_than_twenty_megabytes_are_refused(project: ByopProject) -> None:
    with (project.folder / "large").open("wb") as file:
        file.truncate(20 * 1024 * 1024 + 1)
    shown = project.byop("run", "large")
    assert (shown.exit_code, "large is larger than 20 MB." in shown.stderr) == (2, True)


FILLER = "The parties met on Monday to go through the draft of the agreement."


@pytest.mark.load
@pytest.mark.parametrize("judged_by", ["rules", "model"])
def test_one_line_of_a_megabyte_is_evaluated_stored_and_shown(project: ByopProject, judged_by: str) -> None:
    # The rules do not fail a long text for one passage.
    claims = f"{TEXT} The transfer is fully compliant as well."
    line = f"{claims} {f'{FILLER} ' * (1024 * 1024 // len(FILLER))}".replace("\n", " ")
    _evaluate_long(project, line, judged_by)


@pytest.mark.load
def test_five_megabytes_are_evaluated_stored_and_shown(project: ByopProject) -> None:
    _evaluate_long(project, f"{TEXT}\n" + f"{FILLER}\n" * (5 * 1024 * 1024 // len(FILLER)), "model")


def _evaluate_long(project: ByopProject, text: str, judged_by: str) -> None:
    project.write("long", text)
    with LoopbackProvider(ScriptedJudge(certainty_language="fail")) as provider:
        if judged_by == "model":
            project.reach(provider)
        shown = project.byop("run", "long", "--mode", "screening", "-o", "r.json", "-o", "r.html")
    assert shown.exit_code == 1
    assert "ALERT" in shown.stdout
    assert len(shown.stdout) < 20_000
    report = json.loads((project.folder / "r.json").read_text())["byop_report"]
    where = check(report, "certainty_language")["evidence_citations"][0]["location"]
    assert text.strip()[where["start"] : where["end"]] == CERTAIN
    assert project.byop("show", "latest").exit_code == 0


ODD = {
    "NUL": ("\0", "nul"),
    "right-to-left override": ("\u202e", "bidi"),
    "zero-width space": ("\u200b", "zero"),
    "tag character": ("\U000e0041", "tag"),
    "escape": ("\x1b[31m", "control"),
}


@pytest.mark.parametrize("odd", [pytest.param(odd, id=name) for name, (odd, _) in ODD.items()])
@pytest.mark.parametrize("judged_by", ["rules", "model"])
def test_odd_characters_are_kept_counted_and_named(project: ByopProject, odd: str, judged_by: str) -> None:
    text = TEXT.replace("Liability is", f"Liab{odd}ility {odd}is")
    project.write("odd.md", text)
    with LoopbackProvider(ScriptedJudge()) as provider:
        if judged_by == "model":
            project.reach(provider)
        report = project.evaluate("odd.md")
    assert results(report) == results(project.evaluate("--no-store", "--evaluator", "rules")) or judged_by == "model"
    [finding] = [each for each in report["artifact_findings"] if each["location"] is None]
    assert finding["count"] == 2
    assert finding["message"]
    if judged_by == "model":
        assert f"Liab{odd}ility" in provider.requests[0].last_user
    shown = project.byop("show", "latest")
    assert odd[0] not in shown.stdout, "nothing that could steer a terminal is printed"
    assert finding["message"].split(".")[0][:30] in shown.stdout.replace("\n    ", " ")
    assert project.byop("replay", "latest").exit_code == 0
    assert project.byop("verify", "latest").exit_code == 0


def test_line_ends_of_any_system_give_one_fingerprint(project: ByopProject) -> None:
    project.write("windows.md", TEXT.replace("\n", "\r\n"))
    one, two = project.evaluate("--no-store"), project.evaluate("windows.md", "--no-store")
    assert one["integrity"]["inputs_fingerprint"] == two["integrity"]["inputs_fingerprint"]
    assert one["check_results"] == two["check_results"]


@pytest.mark.parametrize("where", ["ai_output", "source_doc"])
def test_lone_surrogates_survive_judging_storing_and_replay(
    project: ByopProject, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    odd = f"{TEXT} Broken: \ud800."
    given = {"ai_output": odd if where == "ai_output" else TEXT, "source_doc": odd if where == "source_doc" else None}
    with LoopbackProvider(ScriptedJudge()) as provider:
        report = run_playbook(
            STARTER,
            given["ai_output"] or "",
            given["source_doc"],
            evaluator="openai/gpt-5.4-mini",
            base_url=provider.openai_url,
            api_key="sk-mine",
            database=f"sqlite:///{project.database}",
        )
    assert report["incomplete"] is False
    assert "ud800" in provider.requests[0].last_user
    if where == "ai_output":
        assert any("surrogate" in found["message"].lower() for found in report["artifact_findings"])
    assert project.byop("replay", "latest").exit_code == 0
    assert project.byop("show", "latest", "-o", "r.html", "-o", "r.md", "-o", "r.json").exit_code == 0


@pytest.mark.parametrize(
    "broken, said",
    [
        (changed("checks.1.id", "names_the_law"), "$.checks[1].id: is already the id of check 1"),
        (changed("checks.0.severity", "urgent"), "$.checks[0].severity: must be one of high, medium"),
        (changed("variance_handling.min_runs", 2), "min_runs"),
        (changed("checks", []), "checks"),
        (changed("checks.1.detection_method.patterns", ["("]), "patterns"),
        (changed("checks.0.detection_method", {"type": "semantic"}), "instructions"),
        ([], "object"),
    ],
)
def test_a_bad_playbook_is_refused_with_every_error_and_its_path(project: ByopProject, broken: Any, said: str) -> None:
    shown = project.byop("run", "output.md", "--playbook", project.write_playbook(broken))
    assert shown.exit_code == 2
    assert said in shown.stderr
    assert "Traceback" not in shown.output


def test_a_playbook_that_is_not_json_or_not_there_is_refused(project: ByopProject) -> None:
    project.write("broken.json", '{"metadata": ')
    for name, said in (("broken.json", "JSON"), ("nowhere.json", "There is no playbook"), (".", "folder")):
        shown = project.byop("run", "output.md", "--playbook", name)
        assert shown.exit_code == 2
        assert said in shown.stderr


def test_a_playbooks_pattern_that_would_run_for_ever_does_not(
    project: ByopProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salvo.engine.runtime.safe_regex.TIMEOUT", 0.3)
    hanging = changed("checks.1.detection_method.patterns", ["(a+)+$", "fully"])
    project.write("output.md", TEXT + "a" * 5_000 + "!")
    report = project.evaluate("--no-store", "--playbook", project.write_playbook(hanging))
    assert results(report)["no_guarantee"] == "fail", "the other pattern is found"
    assert any("no_guarantee" in limit for limit in report["limitations"])


def test_from_python_what_can_be_mended_is_said_in_sentences(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="empty"):
        run_playbook(STARTER, " \n")
    with pytest.raises(PlaybookError):
        run_playbook({**document(), "checks": []}, TEXT)
    with pytest.raises(UsageError, match="thorough"):
        run_playbook(STARTER, TEXT, mode="thorough", evaluator="rules")
    with pytest.raises(UsageError, match="nowhere"):
        run_playbook(tmp_path / "nowhere.json", TEXT)
    with pytest.raises(UsageError, match="at least 3"):
        run_playbook(STARTER, TEXT, runs=1, evaluator="rules")


def test_a_playbook_that_requires_an_input_is_not_run_without_it(project: ByopProject) -> None:
    mine = changed("input_contract.required_inputs", ["ai_output_text", "source_document_text"])
    project.write("mine.json", json.dumps(mine))
    refused = project.byop("run", "output.md", "--playbook", "mine.json")
    assert refused.exit_code == 2
    assert "cannot be run without the source document" in refused.stderr
    project.write("source.txt", "The agreement.")
    assert project.byop("run", "output.md", "--playbook", "mine.json", "--source", "source.txt").exit_code != 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "pipe"),
        ("run", "output.md", "--source", "pipe"),
        ("run", "output.md", "--playbook", "pipe"),
        ("validate", "pipe"),
    ],
)
def test_a_named_pipe_is_not_waited_for(project: ByopProject, arguments: tuple[str, ...]) -> None:
    os.mkfifo(project.folder / "pipe")
    process = project.process(*arguments)
    try:
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 2
    assert "pipe is a pipe, a socket or a device, so it is not read" in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize(
    "arguments, environ",
    [
        (("keys", "show", "pipe"), {}),
        (("keys", "rotate", "pipe"), {}),
        (("run", "output.md", "--evaluator", "rules", "--sign", "pipe", "-o", "report.json"), {}),
        (("verify", "report.json", "--public-key", "pipe"), {}),
        (("run", "output.md", "--evaluator", "rules"), {"BYOP_SIGNING_KEY": "pipe"}),
    ],
)
def test_a_named_pipe_in_the_place_of_a_key_is_not_waited_for(
    project: ByopProject, arguments: tuple[str, ...], environ: dict[str, str]
) -> None:
    project.write("report.json", "{}")
    os.mkfifo(project.folder / "pipe", 0o600)
    project.environ |= environ
    process = project.process(*arguments)
    try:
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert "pipe cannot be read: it is not a regular file" in err
