"""What was altered is named, whatever it is; on both databases, altered as an intruder would do it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from inline_snapshot import snapshot
from sqlalchemy import text

from salvo.engine.jsonio import json_codec
from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.integrity import report_hash
from salvo.playbooks.audit.text_hashing import without_texts
from salvo.playbooks.audit.verification import verify, verify_store
from salvo.playbooks.audit.verification.finding import VerificationFinding, VerificationState
from salvo.playbooks.store.store import EvaluationStore
from tests.support.playbooks import a_report, a_vote, masked, some_inputs
from tests.support.stored_evaluations import begin_evaluation, finish_evaluation


def verified(store: EvaluationStore, report_id: str = "id-0001") -> list[VerificationFinding]:
    return verify_store.verify_one(store, report_id, store.audit_log())


def not_holding(findings: list[VerificationFinding]) -> dict[str, str]:
    return {
        finding.part: masked(finding.message) for finding in findings if finding.standing is not VerificationState.HOLDS
    }


def altered(findings: list[VerificationFinding]) -> dict[str, str]:
    return {
        finding.part: masked(finding.message) for finding in findings if finding.standing is VerificationState.ALTERED
    }


def change(store: EvaluationStore, statement: str, **values: Any) -> None:
    with store._database.writing() as connection:
        connection.execute(text(statement), values)


def change_json(store: EvaluationStore, table: str, column: str, where: str, edit: Callable[[Any], object]) -> None:
    """As somebody does who knows what is in there."""
    with store._database.writing() as connection:
        found = connection.execute(text(f"SELECT {column} FROM {table} WHERE {where}")).scalar_one()  # noqa: S608 - a test's own words
        document = json.loads(found)
        edit(document)
        connection.execute(
            text(f"UPDATE {table} SET {column} = :new WHERE {where}"),  # noqa: S608 - as above
            {"new": json.dumps(document)},
        )


def change_report(store: EvaluationStore, edit: Callable[[Any], object]) -> None:
    change_json(store, "byop_evaluations", "report", "id = 'id-0001'", edit)


def test_what_nobody_touched_holds(store: EvaluationStore) -> None:
    finish_evaluation(store)
    store.set_baseline("id-0001")
    assert not_holding(verified(store)) == {}
    assert [masked(f"{finding.part}: {finding.message}") for finding in verified(store)] == snapshot(
        [
            "playbook: The playbook is the one that was used: sha256:….",
            "inputs: The texts are those that were evaluated: sha256:….",
            "report: The report is unchanged: sha256:….",
            "votes: All 6 votes and their recorded calls are unchanged.",
            "history: The history agrees with the report.",
            "evidence: All 9 located quotes are in the text where the report says.",
            "results: The results, their confidence and consistency, and the status follow from the stored votes.",
            "rows: Every column of its rows is what the audit log says.",
            "audit log: The audit log is consistent: 3 entries, each with the hash of the previous one.",
        ]
    )


def test_hashes_only_holds_as_far_as_it_can_be_told(store: EvaluationStore) -> None:
    finish_evaluation(store, in_full=False)
    assert not_holding(verified(store)) == snapshot(
        {
            "inputs": "The texts are not stored, only their fingerprint: sha256:….",
            "evidence": "The quotes cannot be checked: the text is not stored.",
        }
    )


def test_an_altered_status_is_named(store: EvaluationStore) -> None:
    finish_evaluation(store)
    change_report(store, lambda report: report["summary"].update(overall_status="STABLE"))
    assert altered(verified(store)) == snapshot(
        {
            "report": "The report was altered after it was stored: summary.overall_status is STABLE, the audit log says ALERT.",
            "history": 'The history differs from the report: status: the report says "STABLE", the history says "ALERT".',
            "rows": "Rows were altered after they were stored: byop_evaluations.report does not match its hash in the audit log.",
        }
    )


def test_an_altered_status_is_named_even_where_every_hash_was_made_again(store: EvaluationStore) -> None:
    finish_evaluation(store)

    def edit(report: Any) -> None:
        report["summary"]["overall_status"] = "STABLE"
        report["integrity"]["report_hash"] = report_hash(report)

    change_report(store, edit)
    found = store.load_raw("id-0001")
    assert found is not None
    made_again = json_codec.loads(found.report or "")["integrity"]["report_hash"]
    change(store, "UPDATE byop_evaluations SET report_hash = :made, status = 'STABLE'", made=made_again)
    assert altered(verified(store)) == snapshot(
        {
            "report": "The report was altered after it was stored: summary.overall_status is STABLE, the audit log says ALERT.",
            "rows": "Rows were altered after they were stored: byop_evaluations.status is STABLE, the audit log says ALERT; byop_evaluations.report_hash is sha256:…, the audit log says sha256:…; byop_evaluations.report does not match its hash in the audit log.",
        }
    )


@pytest.mark.parametrize(
    "edit, says",
    [
        (lambda report: report.update(timestamp="2020-01-01"), "timestamp is 2020-01-01, the audit log says 2026"),
        (
            lambda report: report["check_results"][1]["raw_runs"][2].update(result="pass"),
            "result of run 3 of certainty_language is pass, the audit log says fail",
        ),
        (
            lambda report: report["check_results"][1]["raw_runs"][0].update(raw_answer="{}"),
            "raw_answer of run 1 of certainty_language differs from its vote",
        ),
        (
            lambda report: report["model_fingerprints"]["evaluator"].update(temperature=0.7),
            "model_fingerprints.evaluator.temperature: the audit log says 0, it is 0.7",
        ),
        (lambda report: report.update(limitations=[]), "The changed part is unknown"),
        (lambda report: report.update(added=True), "The changed part is unknown"),
        (lambda report: report.pop("integrity"), "was removed or damaged"),
    ],
)
def test_an_altered_part_of_the_report_is_named_as_well_as_can_be_known(
    store: EvaluationStore, edit: Callable[[Any], object], says: str
) -> None:
    finish_evaluation(store)
    change_report(store, edit)
    assert says in altered(verified(store))["report"]


@pytest.mark.parametrize(
    "statement, part, says",
    [
        ("UPDATE byop_evaluations SET report = NULL", "report", "was removed or damaged"),
        ("UPDATE byop_evaluations SET report = 'gone'", "report", "was removed or damaged"),
        ("UPDATE byop_evaluations SET inputs = NULL", "inputs", "were removed or damaged"),
        ("UPDATE byop_evaluations SET inputs_fingerprint = 'x'", "inputs", "The fingerprint of the texts was altered"),
        (
            "UPDATE byop_evaluations SET status = 'STABLE'",
            "history",
            'status: the report says "ALERT", the history says "STABLE"',
        ),
        ("UPDATE byop_evaluations SET consistency = 0.1", "history", "consistency: the report says 1.0"),
        ("UPDATE byop_playbooks SET document = '[]'", "playbook", "it is no longer a playbook"),
        (
            "UPDATE byop_votes SET vote = '{}' WHERE sequence = 2",
            "votes",
            "run 2 of assumption_disclosure does not match its hash",
        ),
        (
            "UPDATE byop_votes SET result = 'pass' WHERE sequence = 4",
            "votes",
            "run 1 of certainty_language is pass, the audit log says fail",
        ),
        (
            "UPDATE byop_votes SET exchanges = '[]' WHERE sequence = 1",
            "votes",
            "the recorded calls of run 1 of assumption_disclosure do not match their hash",
        ),
        ("DELETE FROM byop_votes WHERE sequence = 6", "votes", "run 3 of certainty_language was removed"),
        ("UPDATE byop_votes SET run = 9 WHERE sequence = 6", "votes", "run 9 of certainty_language was added"),
    ],
)
def test_each_altered_part_is_named(store: EvaluationStore, statement: str, part: str, says: str) -> None:
    finish_evaluation(store)
    change(store, statement)
    found = altered(verified(store))
    assert part in found
    assert says in found[part]


def test_an_altered_text_is_named_and_so_are_the_quotes_that_stand_there_no_more(store: EvaluationStore) -> None:
    finish_evaluation(store, inputs=some_inputs(prompt="Review it."))

    def edit(inputs: Any) -> None:
        inputs["ai_output"] = inputs["ai_output"].replace("fully compliant", "perhaps in line")

    change_json(store, "byop_evaluations", "inputs", "id = 'id-0001'", edit)
    assert altered(verified(store)) == snapshot(
        {
            "inputs": "The texts were altered after they were stored (The AI output): their fingerprint is sha256:…, the audit log says sha256:….",
            "evidence": "Quotes are not in the text where the report says: check_results[1].evidence_citations[0] is not at 0 to 43; check_results[1].raw_runs[0].evidence_citations[0] is not at 0 to 43; check_results[1].raw_runs[1].evidence_citations[0] is not at 0 to 43; check_results[1].raw_runs[2].evidence_citations[0] is not at 0 to 43.",
            "rows": "Rows were altered after they were stored: byop_evaluations.inputs does not match its hash in the audit log.",
        }
    )


def test_an_altered_playbook_is_named(store: EvaluationStore) -> None:
    finish_evaluation(store)

    def edit(playbook: Any) -> None:
        playbook["checks"][0]["severity"] = "medium"

    change_json(store, "byop_playbooks", "document", "version = '1.0.0'", edit)
    assert "The playbook was altered after it was stored" in altered(verified(store))["playbook"]


def test_a_quote_that_does_not_stand_there_is_named(store: EvaluationStore) -> None:
    finish_evaluation(store)
    change_report(store, lambda report: report["check_results"][0]["evidence_citations"][0].update(span="It is fine."))
    assert altered(verified(store))["evidence"] == snapshot(
        "Quotes are not in the text where the report says: check_results[0].evidence_citations[0] is not at 44 to 78."
    )


def test_an_altered_log_is_named_and_nothing_is_measured_by_it(store: EvaluationStore) -> None:
    finish_evaluation(store)
    finish_evaluation(store, "id-0002")
    change(store, "UPDATE byop_audit SET entry = replace(entry, 'ALERT', 'STABLE') WHERE sequence = 2")
    assert not_holding(verified(store)) == snapshot(
        {
            "report": "The audit log's entry for id-0001 was altered: the report cannot be checked against it.",
            "rows": "The rows cannot be compared with the audit log: an entry about them was altered.",
            "audit log": "Entry 2 of the audit log was altered (evaluation of id-0001, 2026-11-15T12:00:00.000+00:00): it no longer matches its hash.",
        }
    )
    assert list(altered(verified(store, "id-0002"))) == ["audit log"]


def test_a_log_entry_made_again_without_its_fields_does_not_confuse_the_verifier(store: EvaluationStore) -> None:
    finish_evaluation(store)
    made = audit_log.seal(
        {"action": "evaluation", "byop_report": {"report_id": "id-0001", "report_hash": "sha256:1"}}, None
    )
    change(store, "DELETE FROM byop_audit WHERE sequence > 1")
    change(store, "UPDATE byop_audit SET entry = :entry, hash = :hash", entry=made.text, hash=made.hash)
    assert set(altered(verified(store))) == {"playbook", "inputs", "report", "votes", "rows"}


def test_what_was_deleted_is_told_from_what_was_removed(store: EvaluationStore) -> None:
    finish_evaluation(store, "id-0001")
    finish_evaluation(store, "id-0002")
    store.delete("id-0001", by="Dana Example")
    change(store, "DELETE FROM byop_evaluations WHERE id = 'id-0002'")
    assert not_holding(verified(store, "id-0001")) == snapshot(
        {
            "evaluation": "The evaluation id-0001 was erased on 2026-11-15T12:00:00.000+00:00 by Dana Example, according to the audit log."
        }
    )
    assert altered(verified(store, "id-0002")) == snapshot(
        {"evaluation": "The evaluation id-0002 was removed, but the audit log records no deletion."}
    )


def test_a_report_that_the_log_does_not_have_was_put_there(store: EvaluationStore) -> None:
    finish_evaluation(store)
    change(store, "DELETE FROM byop_audit")
    assert altered(verified(store)) == snapshot({"report": "The audit log has no entry for the report id-0001."})


def test_an_evaluation_without_a_report_has_nothing_to_verify_yet(store: EvaluationStore) -> None:
    begin_evaluation(store)
    store.save_votes("id-0001", [a_vote()])
    assert [finding.standing for finding in verified(store)] == [
        VerificationState.UNKNOWN,  # the report
        VerificationState.UNKNOWN,  # the rows: the log gets the votes when the evaluation ends
        VerificationState.HOLDS,  # the audit log
    ]


def test_a_kept_head_shows_that_the_end_was_cut_off(store: EvaluationStore) -> None:
    finish_evaluation(store, "id-0001")
    finish_evaluation(store, "id-0002")
    log = store.audit_log()
    assert verify.chain(log, log[0].hash).standing is VerificationState.HOLDS
    assert verify.chain(log[:1]).standing is VerificationState.HOLDS
    assert masked(verify.chain(log[:1], log[1].hash).message) == snapshot(
        "The audit log was truncated or replaced: sha256:… is not in it."
    )


def a_document(**changes: Any) -> dict[str, Any]:
    return a_report(**changes).document()


def test_a_file_is_compared_with_the_database(store: EvaluationStore) -> None:
    finish_evaluation(store)

    def said(document: dict[str, Any]) -> dict[str, str]:
        found = verify.against_database(document, store.load_raw("id-0001"), store.audit_log())
        return {f"{finding.standing} {finding.part}": masked(finding.message) for finding in found}

    resealed = a_document()
    resealed["summary"]["overall_status"] = "STABLE"
    resealed["integrity"]["report_hash"] = report_hash(resealed)
    assert {
        "as stored": said(a_document()),
        "altered, and its hash made again": said(resealed),
        "another's": said(a_document(report_id="id-0009")),
    } == snapshot(
        {
            "as stored": {
                "holds database": "The audit log has had this report, with this hash, since 2026-11-15T12:00:00.000+00:00.",
                "holds audit log": "The audit log is consistent: 2 entries, each with the hash of the previous one.",
            },
            "altered, and its hash made again": {
                "altered database": 'The report in the file differs from the stored one: summary.overall_status: the database has "ALERT", the file has "STABLE".',
                "holds audit log": "The audit log is consistent: 2 entries, each with the hash of the previous one.",
            },
            "another's": {"unknown database": "This database does not have the report."},
        }
    )
    store.delete("id-0001")
    assert "holds database" in said(a_document())
    assert "altered database" in said(resealed)


def test_both_forms_of_a_report_stored_without_texts_are_known(store: EvaluationStore) -> None:
    finish_evaluation(store, in_full=False)
    for report in (a_report(), without_texts(a_report())):
        [found, _] = verify.against_database(report.document(), store.load_raw("id-0001"), store.audit_log())
        assert found.standing is VerificationState.HOLDS
    changed = {**a_document(), "limitations": []}
    [found, _] = verify.against_database(changed, store.load_raw("id-0001"), store.audit_log())
    assert found.standing is VerificationState.ALTERED
    assert "the audit log says" in found.message


def test_an_empty_log_shows_nothing() -> None:
    entries: list[AuditEntry] = []
    assert verify.chain(entries).standing is VerificationState.UNKNOWN
