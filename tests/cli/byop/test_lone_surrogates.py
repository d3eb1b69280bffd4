r"""A lone surrogate and the six characters \ud800 are different texts: different hashes, different series."""

import json
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.playbooks.api import run_playbook
from salvo.playbooks.playbook.library import STARTER
from tests.support.byop_project import TEXT, ByopProject, ScriptedJudge, verdict
from tests.support.provider import LoopbackProvider, Say

LITERAL, SURROGATE = f"{TEXT} Broken: \\ud800.", f"{TEXT} Broken: \ud800."


def evaluated(project: ByopProject, text: str) -> dict[str, Any]:
    return run_playbook(STARTER, text, evaluator="rules", subject="odd", database=f"sqlite:///{project.database}")


def replace_in_column(project: ByopProject, column: str, old: str, new: str) -> None:
    [(content,)] = project.stored(f"SELECT {column} FROM byop_evaluations")  # noqa: S608 - a test's own words
    assert old in content
    quoted = content.replace(old, new).replace("'", "''")
    project.alter(f"UPDATE byop_evaluations SET {column} = '{quoted}'")  # noqa: S608 - as above


def test_two_texts_that_look_alike_escaped_have_different_fingerprints_and_are_not_the_same_text(
    project: ByopProject,
) -> None:
    one, other = evaluated(project, LITERAL), evaluated(project, SURROGATE)
    assert one["integrity"]["inputs_fingerprint"] != other["integrity"]["inputs_fingerprint"]
    assert other["drift_summary"]["same_text"] is False
    again = evaluated(project, SURROGATE)
    assert again["integrity"]["inputs_fingerprint"] == other["integrity"]["inputs_fingerprint"]
    assert again["drift_summary"]["same_text"] is True
    for report in (one, other, again):
        assert project.byop("verify", report["report_id"]).exit_code == 0
        assert project.byop("replay", report["report_id"]).exit_code == 0


def test_a_stored_text_that_was_replaced_by_its_escaped_form_is_found(project: ByopProject) -> None:
    evaluated(project, SURROGATE)
    replace_in_column(project, "inputs", "\\ud800", "\\\\ud800")
    found = json.loads(project.byop("verify", "latest", "--json").stdout)["findings"]
    assert next(part["standing"] for part in found if part["part"] == "inputs") == "altered"


def test_a_report_file_in_which_a_surrogate_was_replaced_by_its_escaped_form_is_found(project: ByopProject) -> None:
    note = verdict("pass", notes="It ends in half a character: \\ud800")
    with LoopbackProvider(ScriptedJudge(assumption_disclosure=Say(note))) as provider:
        project.reach(provider)
        project.byop("run", "output.md", "--evaluator", "openai/gpt-5.4-mini", "-o", "report.json")
    file = project.folder / "report.json"
    assert project.byop("verify", "report.json").exit_code == 0
    document = json.loads(file.read_text())
    [check] = [c for c in document["byop_report"]["check_results"] if c["check_id"] == "assumption_disclosure"]
    assert "\\ud800" in check["notes"]
    check["notes"] = check["notes"].replace("\\ud800", "\ud800")
    file.write_bytes(json_codec.dumps(document, indent=2) + b"\n")
    found = json.loads(project.byop("verify", "report.json", "--json").stdout)["findings"]
    assert next(part["standing"] for part in found if part["part"] == "report") == "altered"


def test_a_name_that_is_not_utf_8_is_refused(project: ByopProject) -> None:
    refused = project.byop("run", "output.md", "--subject", "caf\udce9")
    assert (refused.exit_code, "not UTF-8" in refused.stderr) == (2, True)


def test_halves_of_one_character_are_that_character(project: ByopProject) -> None:
    whole, halves = evaluated(project, f"{TEXT} 😀"), evaluated(project, f"{TEXT} \ud83d\ude00")
    assert whole["integrity"]["inputs_fingerprint"] == halves["integrity"]["inputs_fingerprint"]
    assert project.byop("verify", "latest").exit_code == 0
