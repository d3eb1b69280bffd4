"""What a report says is true on every surface: missing votes, screenings, rules, baselines and comparisons."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from salvo.playbooks.audit.integrity import report_hash
from salvo.playbooks.audit.report_file import parse_json
from salvo.playbooks.report.export import json as json_export
from tests.cli.byop.test_decisions import starter
from tests.support.byop_project import ASSUMED, CERTAIN, CLAUDE, JUDGED, ByopProject, ScriptedJudge, check, verdict
from tests.support.provider import Fault, LoopbackProvider, Say

# The end of the reference script of the specification, which formats every number with two decimals.
SCRIPT = """\
import json

from salvo.playbooks import run_playbook

with open("starter.json") as file:
    playbook = json.load(file)
report = run_playbook(playbook, open("output.md").read(), mode="full")
with open("byop_report.json", "w") as file:
    json.dump(report, file, indent=2)
print(f"Overall status: {report['summary']['overall_status']}")
print(f"Consistency: {report['variance_summary']['consistency_score']:.2f}")
for check in report["check_results"]:
    print(f"  {check['check_id']}: {check['result']} (confidence: {check['per_check_confidence']:.2f})")
"""


FILLER = (
    "The agreement has nine clauses and two annexes. The fees are due within thirty days, and the term is two years. "
    "The supplier may assign the agreement to a company of its group, and notices go to the address on the first page. "
    "The liability cap is the sum of the fees of twelve months."
)


@pytest.mark.parametrize("works", [True, False])
def test_a_script_that_formats_every_number_prints_its_whole_table_on_a_first_run(
    project: ByopProject, works: bool
) -> None:
    document = starter()
    project.write("starter.json", json.dumps(document))
    project.write("script.py", SCRIPT)
    with LoopbackProvider(ScriptedJudge() if works else lambda _: Fault.unauthorized()) as provider:
        project.reach(provider)
        ended = subprocess.run(
            [sys.executable, "script.py"],
            cwd=project.folder,
            env={"PATH": "", **project.environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert (ended.returncode, ended.stderr) == (0, "")
    status, consistency, *checks = ended.stdout.splitlines()
    assert status.startswith("Overall status: ")
    assert re.fullmatch(r"Consistency: \d\.\d\d", consistency)
    assert [line.partition(":")[0].strip() for line in checks] == [each["id"] for each in document["checks"]]
    assert checks[-1].endswith("drift_over_time_support: indeterminate (confidence: 0.00)")


def test_missing_votes_are_shown_as_incomplete_everywhere_and_are_no_finding(project: ByopProject) -> None:
    with LoopbackProvider(lambda _: Fault.unauthorized()) as provider:
        project.reach(provider)
        shown = project.byop(
            "run", "output.md", "--evaluator", CLAUDE, "--subject", "DPA", "-o", "r.md", "-o", "r.html", "-o", "r.xml"
        )
    assert shown.exit_code == 3
    report_id = project.latest()
    assert "Votes are missing." in shown.stderr
    assert f"`byop run --resume {report_id}`" in shown.stderr
    files = {name: (project.folder / name).read_text() for name in ("r.md", "r.html", "r.xml")}
    listed = (project.byop("history").stdout, project.byop("drift", "--subject", "DPA").stdout)
    for text in (shown.stdout, project.byop("show", report_id).stdout, *files.values(), *listed):
        assert "INCOMPLETE" in text
        assert not re.search(r"(?<!\.)\bREVIEW\b", text), "only the stylesheet names it"
    for text in files.values():
        assert "API_KEY" not in text
    [suite] = ET.fromstring(files["r.xml"])  # noqa: S314 - our own
    assert (suite.get("failures"), suite.get("errors")) == ("0", "5")
    assert "is incomplete" in project.byop("baseline", "set", report_id).stderr
    assert report_id in project.byop("history", "--status", "incomplete").stdout
    assert project.byop("history", "--status", "review").exit_code == 5
    stored = json.loads(project.byop("show", report_id, "--json").stdout)["byop_report"]
    assert (stored["summary"]["overall_status"], stored["incomplete"]) == ("REVIEW", True)


@pytest.mark.parametrize("fail_on", ["alert", "review", "observe"])
@pytest.mark.parametrize(
    "votes",
    [
        {},
        {"certainty_language": "fail"},
        {"certainty_language": "indeterminate"},
        {"escalation_signal": "fail"},
        {"certainty_language": "fail", "escalation_signal": Fault.context_too_long()},
    ],
)
def test_junit_agrees_with_the_exit_code(project: ByopProject, votes: dict[str, str | Fault], fail_on: str) -> None:
    with LoopbackProvider(ScriptedJudge(votes)) as provider:
        project.reach(provider)
        shown = project.byop("run", "output.md", "--no-store", "--fail-on", fail_on, "-j", "1", "-o", "r.xml")
    root = ET.fromstring((project.folder / "r.xml").read_text())  # noqa: S314 - our own
    failures, errors = (int(root.get(name, "")) for name in ("failures", "errors"))
    assert (failures > 0, errors > 0) == (shown.exit_code == 1, shown.exit_code == 3)


def test_a_screening_shows_no_variance_no_votes_and_no_consistency(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        shown = project.byop("run", "output.md", "--mode", "screening", "-o", "r.md", "-o", "r.html")
    for text in (shown.stdout, *((project.folder / name).read_text() for name in ("r.md", "r.html"))):
        assert "certainty_language" in text
        for word in ("Variance<", "\nVariance", "## Variance", "Votes", "1 of 1", "onsistency"):
            assert word not in text, word


def test_the_agreement_of_rules_with_themselves_is_not_shown(project: ByopProject) -> None:
    shown = project.byop("run", "output.md", "--evaluator", "rules", "--subject", "DPA", "-o", "r.md", "-o", "r.html")
    listed = (project.byop("history").stdout, project.byop("drift", "--subject", "DPA").stdout)
    compared = project.byop("compare", "latest", "latest").stdout
    files = ((project.folder / name).read_text() for name in ("r.md", "r.html"))
    for text in (shown.stdout, *listed, compared, *files):
        assert "3 of 3" not in text
        assert "1.00" not in text


def test_the_agreement_of_rules_is_not_shown_beside_a_baseline_nor_run_by_run(project: ByopProject) -> None:
    command = ("run", "output.md", "--evaluator", "rules", "--subject", "DPA")
    project.byop(*command)
    shown = project.byop(*command, "-o", "r.md", "-o", "r.html")
    texts = [shown.stdout, *((project.folder / name).read_text() for name in ("r.md", "r.html"))]
    for text in texts:
        assert "latest earlier full report" in text
        for words in ("1.00", "+0.00", "Baseline consistency", "runs 1, 2, 3", "run 1"):
            assert words not in text, words
    [rows] = re.findall(r"## Raw runs\n\n(.*?)\n\n", texts[1], re.DOTALL)
    assert [row.split(" | ")[1] for row in rows.splitlines()[2:]] == ["all"] * 4
    assert check(project.evaluate("--evaluator", "rules"), "certainty_language")["evidence_citations"][0]["runs"] == [
        1,
        2,
        3,
    ]


def test_the_agreement_of_rules_is_no_baseline_for_the_consistency_of_a_model(project: ByopProject) -> None:
    """A model that disagrees with itself is no less consistent than rules, which cannot disagree."""
    project.byop("run", "output.md", "--evaluator", "rules", "--subject", "DPA", "--save-baseline")
    votes = {"escalation_signal": ["pass", "pass", "fail"], "assumption_disclosure": ["pass", "pass", "fail"]}
    with LoopbackProvider(ScriptedJudge({**votes, "certainty_language": "fail"})) as provider:
        project.reach(provider)
        report = project.evaluate("--evaluator", CLAUDE, "--subject", "DPA")
    assert report["variance_summary"]["consistency_score"] == 0.75
    assert (report["drift_summary"]["consistency_before"], report["drift_summary"]["consistency_delta"]) == (None, None)
    assert check(report, "drift_over_time_support")["result"] == "pass"
    assert "Baseline consistency" not in project.byop("show", "latest").stdout
    assert project.byop("verify", "latest").exit_code == 0


def test_drift_by_rules_does_not_speak_of_unanimous_votes(project: ByopProject) -> None:
    project.byop("run", "output.md", "--evaluator", "rules", "--subject", "DPA")
    project.write("output.md", (project.folder / "output.md").read_text().replace(ASSUMED, "") * 2)
    report = project.evaluate("--evaluator", "rules", "--subject", "DPA")
    drift = check(report, "drift_over_time_support")
    assert (drift["result"], report["drift_summary"]["kind"]) == ("fail", "output")
    assert "The evaluator does not vary and only the text is different" in drift["notes"]


def test_what_the_rules_say_about_a_text_is_what_they_read_in_it(project: ByopProject) -> None:
    """A rule can be wrong, so its note is no statement about the text."""
    project.write("closing.md", f"{CERTAIN}\n\n{FILLER}\n\nLet me know which of these points I should draft next.\n")
    first, second = (project.evaluate(name, "--evaluator", "rules") for name in ("output.md", "closing.md"))
    for report in (first, second):
        for judged in JUDGED:
            assert check(report, judged)["notes"].startswith("The rules "), check(report, judged)["notes"]
    unchecked = check(second, "unchecked_areas_disclosure")
    assert [quote["span"] for quote in unchecked["evidence_citations"]] == [
        "Let me know which of these points I should draft next."
    ]
    assert unchecked["notes"] == (
        "The rules found nothing that names what was not checked or is missing, up to the last statement of the text, "
        "which is quoted."
    )


def test_a_source_that_the_rules_do_not_read_is_listed_as_not_checked(project: ByopProject) -> None:
    project.write("source.md", "The agreement.")
    areas = {
        evaluator: [area["area"] for area in _with_source(project, evaluator)["unchecked_areas"]]
        for evaluator in ("rules", CLAUDE)
    }
    unread = "Whether the text agrees with its source: the rules read only the AI output."
    assert [unread in listed for listed in areas.values()] == [True, False]


def _with_source(project: ByopProject, evaluator: str) -> dict[str, Any]:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        return project.evaluate("--source", "source.md", "--evaluator", evaluator)


def test_a_check_that_the_rules_do_not_know_is_an_abstention(project: ByopProject) -> None:
    document = starter()
    document["checks"] = [{**document["checks"][0], "id": "my_own"}, *document["checks"][-2:]]
    own = project.write_playbook(document)
    report = project.evaluate("--playbook", own, "--evaluator", "rules")
    abstained = check(report, "my_own")
    assert (abstained["abstained"], abstained["per_check_confidence"], abstained["per_check_consistency"]) == (
        True,
        0.0,
        None,
    )
    assert report["variance_summary"]["consistency_score"] == 0.0
    assert "is not a measurement" in report["variance_summary"]["note"]
    assert check(report, "run_variance")["result"] == "indeterminate"
    shown = project.byop("show", "latest").stdout
    for words in ("3 of 3", "0.50", "1.00", "consistency 0.00"):
        assert words not in shown
    assert project.byop("verify", "latest").exit_code == 0


def test_compare_calls_unchanged_only_what_it_compared(project: ByopProject) -> None:
    for votes in ({}, {"certainty_language": Fault.context_too_long()}):
        with LoopbackProvider(ScriptedJudge(votes)) as provider:
            project.reach(provider)
            project.evaluate("output.md", "-j", "1")
    first, second = (row["id"] for row in json.loads(project.byop("history", "--json").stdout)[::-1])
    compared = json.loads(project.byop("compare", first, second, "--json").stdout)
    skipped = {each["check_id"]: each["reason"] for each in compared["not_compared"]}
    assert skipped["run_variance"] == skipped["drift_over_time_support"] == "derived from the other results"
    assert skipped["certainty_language"] == "votes are missing"
    assert not set(compared["unchanged"]) & set(skipped)
    shown = project.byop("compare", first, second).stdout
    assert "not compared (votes are missing): certainty_language" in shown
    assert "INCOMPLETE" in shown
    # Without votes there is no evidence, but none was lost.
    assert "certainty_language" not in [change["check_id"] for change in compared["evidence"]]
    assert CERTAIN not in shown


def test_a_difference_between_two_verdicts_of_the_rules_comes_from_the_text(project: ByopProject) -> None:
    project.write("other.md", f"{CERTAIN}\n\n{FILLER}\n")
    ids = [project.evaluate(name, "--evaluator", "rules")["report_id"] for name in ("output.md", "other.md")]
    shown = " ".join(project.byop("compare", *ids).stdout.split())
    assert "The evaluator is the same and does not vary, so a difference comes from the text" in shown


def test_a_report_without_a_baseline_does_not_deny_the_screening_before_it(project: ByopProject) -> None:
    project.evaluate("--evaluator", "rules", "--subject", "DPA", "--mode", "screening")
    report = project.evaluate("--evaluator", "rules", "--subject", "DPA")
    assert check(report, "drift_over_time_support")["notes"] == (
        "There is no earlier report of the subject “DPA” to compare with: a full and complete one under this playbook."
    )


def test_a_verdict_that_its_evidence_does_not_support_is_not_called_a_verdict(project: ByopProject) -> None:
    votes = {judged: Say(verdict("fail", "This is nowhere in the text.")) for judged in JUDGED}
    with LoopbackProvider(ScriptedJudge(votes)) as provider:
        project.reach(provider)
        shown = " ".join(project.byop("run", "output.md", "--no-store").stdout.split())
    assert "By the answers it would be fail, but not enough evidence for that was found in the text" in shown
    assert (
        "No verdict: 0 of 3 runs gave a vote that counts. Runs 1, 2, 3 (fail) not counted: None of their quotes is"
    ) in shown
    assert "The verdict was" not in shown


@pytest.mark.parametrize("name", ["source_document", "source_document_text"])
def test_a_required_input_is_required_in_both_spellings(project: ByopProject, name: str) -> None:
    document = starter()
    document["input_contract"]["required_inputs"] = ["ai_output", name]
    own = project.write_playbook(document)
    assert project.byop("validate", own).exit_code == 0
    refused = project.byop("run", "output.md", "--playbook", own)
    assert (refused.exit_code, "cannot be run without the source document" in refused.stderr) == (2, True)
    assert project.byop("run", "output.md", "--source", "output.md", "--playbook", own).exit_code in (0, 1)


@pytest.mark.parametrize("name, hint", [("source_documnt", 'did you mean "source_document"?'), ("tool_trace", "")])
def test_a_required_input_that_nobody_can_give_is_refused(project: ByopProject, name: str, hint: str) -> None:
    document = starter()
    document["input_contract"]["required_inputs"] = [name]
    refused = project.byop("validate", project.write_playbook(document))
    assert refused.exit_code == 2
    assert "$.input_contract.required_inputs[0]" in refused.stdout + refused.stderr
    assert hint in refused.stdout + refused.stderr
    document["input_contract"] |= {"required_inputs": ["ai_output_text"], "optional_inputs": ["tool_trace"]}
    assert project.byop("validate", project.write_playbook(document)).exit_code == 0


def test_a_series_has_one_baseline(project: ByopProject) -> None:
    for _ in range(2):
        shown = project.byop("run", "output.md", "--evaluator", "rules", "--subject", "DPA", "--save-baseline")
        assert f"{project.latest()} is now the baseline of the subject “DPA”" in shown.stderr
    rows = json.loads(project.byop("history", "--json").stdout)
    assert [row["baseline"] for row in rows] == [True, False]
    [saved] = json.loads(project.byop("baseline", "list", "--json").stdout)
    assert saved["evaluation_id"] == rows[0]["id"]
    assert project.byop("verify", "--all").exit_code == 0
    # A database of an earlier version may have two.
    project.alter(
        "INSERT INTO byop_baselines SELECT id, playbook_hash, subject, '2020-01-01' FROM byop_evaluations "
        "WHERE id NOT IN (SELECT evaluation_id FROM byop_baselines)"
    )
    assert [row["baseline"] for row in json.loads(project.byop("history", "--json").stdout)] == [True, False]


def test_without_a_subject_a_baseline_says_that_nothing_is_compared_with_it(project: ByopProject) -> None:
    shown = project.byop("run", "output.md", "--evaluator", "rules", "--save-baseline")
    assert "nothing is compared with it: no subject was named" in shown.stderr


def test_assumptions_are_missing_only_where_they_were_looked_for(project: ByopProject) -> None:
    document = starter()
    document["checks"] = document["checks"][1:]
    own = project.write_playbook(document)
    project.byop("run", "output.md", "--evaluator", "rules", "--no-store", "--playbook", own, "-o", "r.md")
    text = (project.folder / "r.md").read_text()
    assert "They were not looked for: the playbook has no check that asks for them." in text


def test_the_duration_is_wall_time(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        spent = project.evaluate("--no-store")["spent"]
        shown = project.byop("run", "output.md", "--no-store").stdout
    assert spent["wall_seconds"] > 0
    assert re.search(r"Duration +[\d.]+m?s\n +Time in calls +[\d.]+m?s, summed over all calls", shown)


def test_a_report_of_an_earlier_version_keeps_its_hash_when_it_is_written_again() -> None:
    old = Path(__file__).parents[2] / "playbooks" / "audit" / "verification" / "files" / "signed_over_content.json"
    content = parse_json(old.read_bytes(), old.name)
    written = json.loads(json_export.render(content.report))["byop_report"]
    assert written == content.document
    assert report_hash(written) == written["integrity"]["report_hash"]
