"""`byop verify` computes the results again from the votes: a report that was altered and hashed again is found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from salvo.engine.jsonio import json_codec
from salvo.playbooks.audit.integrity import report_hash
from salvo.playbooks.playbook import library
from tests.support.byop_project import CERTAIN, ByopProject, ScriptedJudge, UnusableAnswer, check, verdict
from tests.support.playbook import document as playbook_document
from tests.support.provider import LoopbackProvider, Say

OLD_REPORT = Path(__file__).parents[2] / "playbooks" / "audit" / "verification" / "files" / "signed_over_content.json"
MODEL = ("--evaluator", "openai/gpt-5.4-mini", "-j", "1")


@pytest.fixture
def report(project: ByopProject) -> dict[str, Any]:
    """Votes that disagree, one that could not be read, and an ALERT."""
    judge = ScriptedJudge(
        certainty_language=["fail", Say(verdict("fail", CERTAIN, confidence=0.7)), "pass"],
        escalation_signal=["pass", UnusableAnswer("garbled"), "pass"],
    )
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        project.byop("run", "output.md", "--subject", "DPA", *MODEL, "-o", "report.json")
    file: dict[str, Any] = json.loads((project.folder / "report.json").read_bytes())
    document: dict[str, Any] = file["byop_report"]
    return document


def verified(project: ByopProject, document: Any, *options: str) -> tuple[int, str, str]:
    """The exit code, and the finding on the results of a file that was hashed again."""
    document["integrity"]["report_hash"] = report_hash(document)
    content = json_codec.dumps({"byop_report": document, "signature": None}, indent=2) + b"\n"
    project.write("altered.json", content)
    shown = project.byop("verify", "altered.json", "--json", *options)
    [finding] = [part for part in json.loads(shown.stdout)["findings"] if part["part"] == "results"]
    return shown.exit_code, finding["standing"], finding["message"]


def change(name: str, **changes: Any) -> Callable[[dict[str, Any]], object]:
    """An edit of one check."""

    def edit(document: dict[str, Any]) -> None:
        [result] = [result for result in document["check_results"] if result["check_id"] == name]
        result.update(changes)

    return edit


def remove_dissent(document: dict[str, Any]) -> None:
    for result in document["check_results"]:
        result["raw_runs"] = result["raw_runs"][:2]


EDITS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "result": (change("certainty_language", result="pass"), "the result of certainty_language is pass, by the votes it is fail"),
    "confidence": (change("certainty_language", per_check_confidence=0.99), "the confidence of certainty_language is 0.99, by the votes it is 0.8"),
    "consistency": (change("certainty_language", per_check_consistency=1.0), "the consistency of certainty_language is 1.0, by the votes it is 0.5"),
    "overall consistency": (
        lambda document: document["variance_summary"].update(consistency_score=1.0),
        "the overall consistency is 1.0, by the votes it is 0.8",
    ),
    "divergent": (lambda document: document["variance_summary"].update(divergent_findings=[]), "the list of divergent findings is empty"),
    "status": (lambda document: document["summary"].update(overall_status="STABLE"), "the status is STABLE, by the votes it is ALERT"),
    "reasons": (lambda document: document["summary"].update(status_reasons=["All is well."]), "the list of reasons for the status is “All is well.”"),
    "variance": (change("run_variance", result="pass"), "the result of run_variance is pass, by the votes it is "),
    "derived confidence": (change("drift_over_time_support", per_check_confidence=1.0), "the confidence of drift_over_time_support is 1.0, by the votes it is 0.0"),
    "abstention": (change("certainty_language", abstained=True), "whether the evaluator abstained on certainty_language is True"),
    "incomplete": (lambda document: document.update(incomplete=True), "incomplete is True, by the votes it is False"),
    "missing votes": (change("escalation_signal", incomplete=True), "whether votes are missing for escalation_signal is True"),
    "runs": (remove_dissent, "certainty_language lists 2 runs, the report says 3 per check"),
    "drift": (change("drift_over_time_support", result="pass"), "the result of drift_over_time_support is pass"),
}  # fmt: skip


def test_every_number_and_word_that_the_votes_decide_is_computed_again(
    project: ByopProject, report: dict[str, Any]
) -> None:
    code, standing, message = verified(project, json.loads(json.dumps(report)))
    assert (code, standing) == (0, "holds"), message
    project.environ["DATABASE_URL"] = "sqlite:///none.db"  # the file alone, without a database that has the report
    for name, (edit, expected) in EDITS.items():
        document = json.loads(json.dumps(report))
        edit(document)
        code, standing, message = verified(project, document)
        assert (name, code, standing) == (name, 1, "contradicted")
        assert expected in message


def test_a_report_that_is_altered_everywhere_but_in_its_votes_is_found(
    project: ByopProject, report: dict[str, Any]
) -> None:
    """As somebody would do it who makes a failed check pass."""
    for edit in (EDITS["result"][0], EDITS["status"][0], EDITS["reasons"][0]):
        edit(report)
    assert check(report, "certainty_language")["result"] == "pass"
    project.environ["DATABASE_URL"] = "sqlite:///none.db"
    code, standing, message = verified(project, report)
    assert (code, standing) == (1, "contradicted")
    assert message.startswith(
        "The report does not follow from the votes that the report lists: the result of certainty"
    )


def test_a_stored_report_is_compared_with_its_votes_and_its_playbook(
    project: ByopProject, report: dict[str, Any]
) -> None:
    def results_after(edit: Callable[[dict[str, Any]], object]) -> str:
        document = json.loads(json.dumps(report))
        edit(document)
        document["integrity"]["report_hash"] = report_hash(document)
        content = json.dumps(document).replace("'", "''")
        project.alter(f"UPDATE byop_evaluations SET report = '{content}'")  # noqa: S608 - a test's own words
        shown = project.byop("verify", "latest", "--json")
        [message] = [part["message"] for part in json.loads(shown.stdout)["findings"] if part["part"] == "results"]
        assert shown.exit_code == 1
        return str(message)

    def make_votes_pass(document: dict[str, Any]) -> None:
        for run in check(document, "certainty_language")["raw_runs"]:
            run.update(result="pass")

    assert "run 1 of certainty_language is pass, its vote is fail" in results_after(make_votes_pass)
    severity = change("certainty_language", severity="medium")
    assert "the severity of certainty_language is medium, by the playbook it is high" in results_after(severity)
    lenient = results_after(lambda document: document["variance_summary"].update(threshold_ok=0.1))
    assert "the upper threshold is 0.1, by the playbook it is 0.85" in lenient


def test_drift_is_computed_again_where_the_baseline_is_stored(project: ByopProject, report: dict[str, Any]) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        project.byop("run", "output.md", "--subject", "DPA", *MODEL, "-o", "second.json")
    second = json.loads((project.folder / "second.json").read_bytes())["byop_report"]
    assert second["drift_summary"]["baseline_id"] == report["report_id"]
    shown = json.loads(project.byop("verify", "latest", "--json").stdout)
    [stored] = [part["message"] for part in shown["findings"] if part["part"] == "results"]
    assert stored == "The results, their confidence and consistency, and the status follow from the stored votes."
    _, standing, message = verified(project, second)
    assert (standing, "Not recomputed: drift_over_time_support (its baseline is not at hand)" in message) == (
        "holds",
        True,
    )


def test_a_report_of_an_earlier_version_is_computed_by_its_own_rules(project: ByopProject) -> None:
    project.write("old.json", OLD_REPORT.read_bytes())
    [finding] = [
        part
        for part in json.loads(project.byop("verify", "old.json", "--json").stdout)["findings"]
        if part["part"] == "results"
    ]
    assert finding["standing"] == "holds"
    assert "counted as earlier versions did (also votes whose quotes are not in the text)" in finding["message"]
    newer = json.loads(OLD_REPORT.read_bytes())["byop_report"]
    newer["variance_summary"]["vote_rule"] = 99
    assert verified(project, newer)[1:] == (
        "unknown",
        "Not recomputed: its votes are counted by rule 99, which this version of Salvo does not know.",
    )


def test_whether_a_vote_counts_follows_from_its_quotes(project: ByopProject) -> None:
    invented = Say(verdict("fail", "This sentence is nowhere in the text."))
    with LoopbackProvider(ScriptedJudge(certainty_language=[invented, invented, "pass"])) as provider:
        project.reach(provider)
        report = project.evaluate(*MODEL)
    assert check(report, "certainty_language")["result"] == "indeterminate"
    assert verified(project, report)[:2] == (0, "holds")
    project.environ["DATABASE_URL"] = "sqlite:///none.db"
    for run in check(report, "certainty_language")["raw_runs"]:
        run.pop("unsupported", None)
    code, standing, message = verified(project, report)
    assert (code, standing) == (1, "contradicted")
    assert "run 1 of certainty_language is counted (no reason), by its quotes it is not counted" in message


def test_a_file_without_votes_says_that_nothing_was_computed_again(
    project: ByopProject, report: dict[str, Any]
) -> None:
    project.byop("show", "latest", "-o", "report.html")
    shown = project.byop("verify", "report.html").stdout
    assert "unknown  results    Not recomputed: this kind of file does not have the votes as data." in shown


def test_an_unsupported_vote_that_is_made_to_count_is_found(project: ByopProject) -> None:
    judge = ScriptedJudge(certainty_language=Say(verdict("pass", "Nobody wrote this.")))
    with LoopbackProvider(judge) as provider:
        project.reach(provider)
        project.byop("run", "output.md", *MODEL, "-o", "report.json")
    document = json.loads((project.folder / "report.json").read_bytes())["byop_report"]
    assert verified(project, document)[:2] == (0, "holds")
    unsupported = check(document, "certainty_language")
    unsupported.update(result="pass", raw_result=None, per_check_confidence=0.9, per_check_consistency=1.0)
    for run in unsupported["raw_runs"]:
        del run["unsupported"]
    code, standing, message = verified(project, document)
    assert (code, standing) == (1, "contradicted")
    assert "run 1 of certainty_language is counted" in message
    assert "None of its quotes is a passage of the text that can be evidence." in message


def test_whatever_an_evaluation_ends_with_follows_from_its_votes(project: ByopProject) -> None:
    split = ScriptedJudge(
        assumption_disclosure=["pass", "fail", "indeterminate"],
        certainty_language=["fail", Say(verdict("fail", "This is nowhere in the text.")), "pass"],
        escalation_signal=[Say(verdict("pass")), "pass", "fail"],
        unchecked_areas_disclosure=UnusableAnswer("garbled"),
    )
    strict = json.loads(json.dumps(library.load(library.STARTER).document))
    strict["variance_handling"]["aggregation"] = "consensus_required"
    consensus = project.write_playbook(strict, "consensus.json")
    patterns = project.write_playbook(playbook_document(), "patterns.json")
    with LoopbackProvider(split) as provider:
        project.reach(provider)
        for options in (
            MODEL,
            (*MODEL, "--hashes-only", "--subject", "DPA"),
            (*MODEL, "--subject", "DPA", "--runs", "5"),
            (*MODEL, "--mode", "screening"),
            (*MODEL, "--playbook", consensus),
            ("--evaluator", "rules", "--subject", "DPA"),
            ("--evaluator", "rules", "--mode", "screening"),
            ("--evaluator", "rules", "--playbook", patterns),
        ):
            report = project.evaluate(*options)
            assert verified(project, report)[1] == "holds", (options, verified(project, report))
    shown = project.byop("verify", "--all", "--json")
    assert [part for part in json.loads(shown.stdout)["findings"] if part["part"] == "results"] == []
    assert shown.exit_code == 0
