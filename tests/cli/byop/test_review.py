"""`byop review`, and the reviewed result in `byop show`, its files and `byop verify`, on a real database."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from inline_snapshot import snapshot

from salvo.cli.exit_codes import ExitCode
from salvo.playbooks.audit import signing
from salvo.playbooks.enums import Result
from salvo.playbooks.store.store import EvaluationStore
from tests.support.playbooks import a_vote, some_inputs
from tests.support.reviews import FAILED, accept, comment, override
from tests.support.stored_evaluations import Byop, finish_evaluation

OVERRIDE = ("--override", f"{FAILED}=pass", "--reason", "It quotes the contract.", "--by", "Ada Brown")


@pytest.fixture
def report_id(store: EvaluationStore) -> str:
    return finish_evaluation(store, "id-0001").report_id


def words(text: str) -> str:
    """Without the wrapping, the ids and the times of day."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "TIME", " ".join(text.split()))


def test_an_override_is_shown_beside_the_evaluators_result(run: Byop, report_id: str) -> None:
    added = run("review", report_id, *OVERRIDE)
    assert added.exit_code == ExitCode.OK
    sentence = f"{FAILED}: FAIL by the evaluator; changed to PASS by the reviewer Ada Brown: It quotes the contract."
    assert sentence in words(run("review", report_id).stdout)


def test_the_review_of_a_report_on_a_terminal(run: Byop, report_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    run("review", report_id, *OVERRIDE)
    run("review", report_id, "--comment", "Is this \x1b[31mfinal?", "--on", f"{FAILED}#1", "--by", "Bob")
    run("review", report_id, "--assign", "Cyd", "--by", "Bob")
    run("review", report_id, "--sign-off", "Ada Brown")
    shown = run("review", report_id).stdout
    without_ids = re.sub(r"^[0-9a-z]{16} |^id-\d+ ", "EVENT ", shown, flags=re.MULTILINE)
    assert re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "TIME", without_ids) == snapshot("""\
ALERT by the evaluator; STABLE after the review. 1 check is not decided yet.

CHECK                    SEVERITY  EVALUATOR      REVIEWED  STATE       ASSIGNED TO  PASSAGES
assumption_disclosure    high      PASS                     undecided   Cyd          1
certainty_language       high      FAIL           PASS      overridden  Cyd          1
run_variance             medium    PASS                     derived     Cyd
drift_over_time_support  medium    INDETERMINATE            derived     Cyd

certainty_language: FAIL by the evaluator; changed to PASS by the reviewer Ada Brown: It quotes the contract.
certainty_language: Passage 1: Comment by Bob, TIME: Is this \\x1b[31mfinal?
The report is assigned to Cyd.
Signed off by Ada Brown (name as typed, not authenticated), TIME.

Review history
EVENT 1. TIME: Ada Brown (name as typed, not authenticated) changed certainty_language to
  PASS: It quotes the contract.
EVENT 2. TIME: Bob (name as typed, not authenticated) commented on passage 1 of
  certainty_language: Is this \\x1b[31mfinal?
EVENT 3. TIME: Bob (name as typed, not authenticated) assigned the report to Cyd.
EVENT 4. TIME: Ada Brown (name as typed, not authenticated) signed off the report.
""")


def test_without_a_report_it_lists_what_waits_with_disagreements_first(run: Byop, store: EvaluationStore) -> None:
    finish_evaluation(store, "id-0001", subject="first")
    votes = [a_vote(FAILED, run, Result.FAIL if run < 3 else Result.PASS) for run in (1, 2, 3)]
    finish_evaluation(store, "id-0002", subject="second", votes=votes, inputs=some_inputs("Another text."))
    store.reviews.add("id-0001", override("Ada", seen=0))
    store.reviews.add("id-0001", accept("Bob", seen=0))
    rows = run("review").stdout.splitlines()
    assert [row.split()[0] for row in rows[1:3]] == ["id-0001", "id-0002"]
    assert "reviewers disagree" in rows[1]
    assert "votes differ" in rows[2]


def test_the_list_for_a_person_has_what_is_assigned_to_them_or_to_nobody(run: Byop, store: EvaluationStore) -> None:
    for name in ("id-0001", "id-0002"):
        finish_evaluation(store, name)
    run("review", "id-0001", "--assign", "Ada")
    assert "id-0001" in run("review", "--for", "Ada").stdout
    assert "id-0001" not in run("review", "--for", "Bob").stdout
    assert "id-0002" in run("review", "--for", "Bob").stdout


def test_a_sign_off_is_marked_when_something_changes_and_can_be_withdrawn(run: Byop, report_id: str) -> None:
    run("review", report_id, *OVERRIDE)
    assert "name as typed, not authenticated" in run("review", report_id, "--sign-off", "Ada Brown").stdout
    run("review", report_id, "--comment", "Wait.", "--by", "Bob")
    assert "It no longer covers the current state: 1 step" in words(run("review", report_id).stdout)
    event = json.loads(run("review", report_id, "--json").stdout)["events"][1]["event_id"]
    assert run("review", report_id, "--withdraw", event, "--by", "Bob").exit_code == ExitCode.USAGE
    assert run("review", report_id, "--withdraw", event, "--by", "Ada Brown").exit_code == ExitCode.OK
    section = json.loads(run("review", report_id, "--json").stdout)
    assert [signed["standing"] for signed in section["sign_offs"]] == ["withdrawn"]
    assert [event["action"] for event in section["events"]] == ["override", "sign_off", "comment", "withdraw"]


def test_a_check_that_measures_the_evaluator_is_commented_on_but_not_decided(run: Byop, report_id: str) -> None:
    refused = run("review", report_id, "--accept", "run_variance")
    assert refused.exit_code == ExitCode.USAGE
    assert "it is computed from the evaluator's other results" in words(refused.stderr)
    assert run("review", report_id, "--comment", "Why?", "--on", "run_variance").exit_code == ExitCode.OK


def test_an_amended_override_has_its_new_result(run: Byop, store: EvaluationStore, report_id: str) -> None:
    event = store.reviews.add(report_id, override("Ada"))
    options = ("--amend", event.event_id, "--result", "indeterminate", "--reason", "It depends.", "--by", "Ada")
    assert run("review", report_id, *options).exit_code == ExitCode.OK
    section = json.loads(run("review", report_id, "--json").stdout)
    assert section["checks"][0]["reviewed_result"] == "indeterminate"


def test_a_decision_says_whose_decision_it_replaces(run: Byop, store: EvaluationStore, report_id: str) -> None:
    store.reviews.add(report_id, override("Ada"))
    assert "This replaces what Ada decided: PASS." in run("review", report_id, "--accept", FAILED, "--by", "Bob").stdout


def test_a_blind_decision_does_not_show_the_evaluators_result(run: Byop, report_id: str) -> None:
    same, other = (
        run("review", report_id, "--override", f"{FAILED}={result}", "--blind", "--by", name).stdout
        for result, name in (("fail", "Ada"), ("pass", "Bob"))
    )
    assert "changed" in same
    assert words(same).split("Ada")[1].replace("FAIL", "PASS") == words(other).split("Bob")[1]


def test_a_mistake_in_one_of_several_steps_stores_none(run: Byop, store: EvaluationStore, report_id: str) -> None:
    result = run("review", report_id, "--accept", FAILED, "--accept", "nothing")
    assert result.exit_code == ExitCode.USAGE
    assert "The report has no check 'nothing'." in result.stderr
    assert store.review_events(report_id) == []


@pytest.mark.parametrize(
    "options, message",
    [
        (("--override", FAILED), f"--override needs a result: --override {FAILED}=pass"),
        (("--override", f"{FAILED}=good"), "'good' is not a result: use pass, fail or indeterminate."),
        (("--override", f"{FAILED}=pass"), "An override needs a reason."),
        (("--accept", "#x"), "'#x' is neither a check nor a finding"),
        (("--on", FAILED), "--on says what --comment or --assign is about."),
        (("--result", "pass"), "--result belongs to --amend."),
    ],
)
def test_bad_usage_says_what_to_write(run: Byop, report_id: str, options: tuple[str, ...], message: str) -> None:
    result = run("review", report_id, *options)
    assert result.exit_code == ExitCode.USAGE
    assert message in words(result.stderr)


def test_exit_codes_and_junit_follow_the_evaluator_unless_the_reviewed_result_is_asked_for(
    run: Byop, report_id: str, folder: Path
) -> None:
    run("review", report_id, "--accept", "assumption_disclosure", *OVERRIDE)
    by_evaluator = run("show", report_id, "--fail-on", "review", "-o", "evaluator.xml")
    by_reviewer = run("show", report_id, "--reviewed", "--fail-on", "review", "-o", "reviewed.xml")
    assert (by_evaluator.exit_code, by_reviewer.exit_code) == (ExitCode.FAILED, ExitCode.OK)
    assert "STABLE after the review (ALERT by the evaluator)" in by_reviewer.stdout
    for file, failures in (("evaluator.xml", "2"), ("reviewed.xml", "0")):
        suite = ET.parse(folder / file).getroot()[0]  # noqa: S314 - our own file
        assert suite.get("failures") == failures
        case = next(case for case in suite.iter("testcase") if case.get("name") == FAILED)
        assert (
            case.findtext("system-out")
            == "FAIL by the evaluator; changed to PASS by the reviewer Ada Brown: It quotes the contract."
        )


@pytest.mark.parametrize("suffix", ["md", "html", "json"])
def test_files_have_both_results(run: Byop, report_id: str, folder: Path, suffix: str) -> None:
    run("review", report_id, *OVERRIDE)
    for options in ((), ("--reviewed",)):
        run("show", report_id, *options, "-o", f"r.{suffix}")
        content = (folder / f"r.{suffix}").read_text()
        assert "FAIL by the evaluator; changed to PASS by the reviewer Ada Brown: It quotes the contract." in content
        assert "name as typed, not authenticated" in content


def test_what_a_reviewer_writes_is_never_markup(run: Byop, report_id: str, folder: Path) -> None:
    run("review", report_id, "--comment", "<script>alert(1)</script> [x](http://a)", "--by", "<b>Eve</b>")
    run("show", report_id, "-o", "r.html", "-o", "r.md")
    assert "<script>" not in (folder / "r.html").read_text()
    assert "<b>Eve" not in (folder / "r.html").read_text()
    assert "<script>" not in (folder / "r.md").read_text()


def test_a_signed_file_with_a_review_verifies_and_an_altered_one_does_not(
    run: Byop, store: EvaluationStore, report_id: str, folder: Path
) -> None:
    signing.new_key(folder / "mine.key")
    run("review", report_id, *OVERRIDE)
    run("show", report_id, "--sign=mine.key", "-o", "r.json")
    assert run("verify", "r.json").exit_code == ExitCode.OK
    store.reviews.add(report_id, comment("Bob"))
    later = run("verify", "r.json")
    assert "The audit log has every review event of the file. 1 event came after it." in words(later.stdout)
    content = json.loads((folder / "r.json").read_text())
    content["signature"] = None
    content["review"]["events"][0]["actor"] = "Eve"
    (folder / "forged.json").write_text(json.dumps(content))
    forged = run("verify", "forged.json")
    assert forged.exit_code == ExitCode.FAILED
    assert "do not follow from the review events" in words(forged.stdout)
    assert "actor is Eve, the audit log says Ada Brown" in words(forged.stdout)


def test_the_audit_log_lists_reviews_and_signs_them_where_there_is_a_key(
    run: Byop, store: EvaluationStore, report_id: str, folder: Path
) -> None:
    run("keys", "new")
    run("review", report_id, *OVERRIDE)
    listed = run("audit").stdout.splitlines()[-1]
    assert "review" in listed
    assert "override certainty_language by" in listed
    assert store.head_signatures()[-1].sequence == store.audit_log()[-1].sequence
    assert run("verify", report_id).exit_code == ExitCode.OK
