"""Review events in both databases: stored with their entry in the audit log, verified, and erased with their report."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text

from salvo.errors import UsageError
from salvo.playbooks.audit.verification import verify_store
from salvo.playbooks.audit.verification.finding import VerificationState
from salvo.playbooks.enums import Result
from salvo.playbooks.review.queue import QueueFilter
from salvo.playbooks.review.state import state
from salvo.playbooks.store.store import EvaluationStore
from salvo.playbooks.store.tables import evaluations
from tests.support.reviews import FAILED, PASSED, accept, amend, comment, override, sign_off, withdraw
from tests.support.stored_evaluations import begin_evaluation, finish_evaluation


def alter(store: EvaluationStore, statement: str, **values: Any) -> None:
    with store._database.writing() as connection:
        connection.execute(text(statement), values)


def review_findings(store: EvaluationStore, report_id: str = "id-0001") -> list[tuple[VerificationState, str]]:
    findings = verify_store.verify_one(store, report_id, store.audit_log())
    return [(finding.standing, finding.message) for finding in findings if finding.part == "reviews"]


def test_events_come_back_as_they_were_added(store: EvaluationStore) -> None:
    finish_evaluation(store)
    added = [
        store.reviews.add("id-0001", draft)
        for draft in (override(reason="Ünïcode, “quotes” and\nlines"), comment(), sign_off())
    ]
    assert store.review_events("id-0001") == added
    assert [event.sequence for event in added] == [1, 2, 3]


def test_every_event_has_an_entry_in_the_audit_log_without_its_text(store: EvaluationStore) -> None:
    finish_evaluation(store)
    event = store.reviews.add("id-0001", override(reason="A secret reason"))
    entry = store.audit_log("id-0001")[-1]
    assert entry.action == "review"
    assert entry.content["review"]["event_id"] == event.event_id
    assert entry.content["review"]["result"] == "pass"
    assert "secret" not in entry.text


def test_the_report_itself_is_not_altered(store: EvaluationStore) -> None:
    report = finish_evaluation(store)
    store.reviews.add("id-0001", override())
    assert store.load("id-0001").report == report


def test_an_evaluation_without_report_cannot_be_reviewed(store: EvaluationStore) -> None:
    begin_evaluation(store)
    with pytest.raises(UsageError, match="has no report to review: it is running"):
        store.reviews.add("id-0001", accept())


def test_two_reviewers_at_once_are_both_stored_in_one_order(store: EvaluationStore) -> None:
    report = finish_evaluation(store)
    drafts = [override(f"Reviewer {number}", seen=0) for number in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda draft: store.reviews.add("id-0001", draft), drafts))
    events = store.review_events("id-0001")
    assert [event.sequence for event in events] == list(range(1, 9))
    review = state(report, events).check(FAILED)
    assert review is not None
    assert {event.actor for event in review.decisions} == {draft.actor for draft in drafts}
    assert review_findings(store)[0][0] is VerificationState.HOLDS


def test_reviewed_reports_verify_and_others_verify_as_before(store: EvaluationStore) -> None:
    finish_evaluation(store)
    assert review_findings(store) == []
    event = store.reviews.add("id-0001", override())
    store.reviews.add("id-0001", amend(event.event_id, reason="Better said."))
    standing, message = review_findings(store)[0]
    assert standing is VerificationState.HOLDS
    assert message.startswith("2 review events are what the audit log says")
    assert all(not finding.failed for finding in verify_store.verify_all(store))


@pytest.mark.parametrize(
    "statement, message",
    [
        (
            "UPDATE byop_reviews SET result = 'indeterminate'",
            "byop_reviews.result is indeterminate, the audit log says",
        ),
        ("UPDATE byop_reviews SET actor = 'Eve'", "byop_reviews.actor is Eve, the audit log says Ada"),
        ("UPDATE byop_review_texts SET reason = '\"Other\"'", "does not match its hash in the audit log"),
        ("DELETE FROM byop_review_texts", "was removed from byop_review_texts"),
        ("DELETE FROM byop_reviews", "was removed from byop_reviews"),
        (
            (
                "INSERT INTO byop_reviews "
                "(event_id, evaluation_id, sequence, at, actor, authenticated, action, blind, seen) "
                "SELECT 'forged', evaluation_id, 9, at, 'Eve', authenticated, 'sign_off', blind, 0 FROM byop_reviews"
            ),
            "the event forged (sign_off by Eve, 2026-",
        ),
    ],
)
def test_an_altered_removed_or_added_event_is_named(store: EvaluationStore, statement: str, message: str) -> None:
    finish_evaluation(store)
    store.reviews.add("id-0001", override())
    alter(store, statement)
    standing, found = review_findings(store)[0]
    assert standing is VerificationState.ALTERED
    assert message in found


def test_deleting_a_report_deletes_its_reviews_and_leaves_the_log_whole(store: EvaluationStore) -> None:
    finish_evaluation(store)
    store.reviews.add("id-0001", override(reason="A secret reason"))
    store.delete("id-0001")
    with store._database.reading() as connection:
        for table in ("byop_reviews", "byop_review_texts"):
            assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() == 0  # noqa: S608 - our names
    assert not any(finding.failed for finding in verify_store.verify_all(store))


def test_labels_have_a_row_per_report_check_and_reviewer(store: EvaluationStore) -> None:
    finish_evaluation(store)
    finish_evaluation(store, "id-0002")
    store.reviews.add("id-0001", accept("Ada"))
    store.reviews.add("id-0001", override("Ada", reason="I was wrong."))
    store.reviews.add("id-0001", override("Bob", blind=True, result=Result.FAIL, reason=""))
    store.reviews.add("id-0001", override("Bob", reason="Convinced by Ada."))
    taken_back = store.reviews.add("id-0002", accept("Ada", PASSED))
    store.reviews.add("id-0002", withdraw(taken_back.event_id))
    store.reviews.add("id-0002", accept("Cyd", PASSED))
    labels = [
        (label.report_id, label.check_id, label.reviewer, label.evaluator_result, label.reviewer_result, label.blind)
        for label in store.labels()
    ]
    assert labels == [
        ("id-0001", FAILED, "Ada", Result.FAIL, Result.PASS, False),
        ("id-0001", FAILED, "Bob", Result.FAIL, Result.FAIL, True),
        ("id-0002", PASSED, "Cyd", Result.PASS, Result.PASS, False),
    ]
    playbook_hash = store.labels()[0].playbook_hash
    assert len(store.labels(playbook_hash=playbook_hash, check_id=PASSED)) == 1
    assert store.labels(playbook_hash="sha256:other") == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE byop_reviews SET action = 'nonsense'",
        "UPDATE byop_evaluations SET outcomes = '[' WHERE id = 'id-0001'",
        "UPDATE byop_review_texts SET reason = '{'",
    ],
)
def test_a_damaged_report_does_not_keep_the_others_out_of_the_queue(store: EvaluationStore, statement: str) -> None:
    finish_evaluation(store)
    finish_evaluation(store, "id-0002")
    store.reviews.add("id-0001", comment())
    alter(store, statement)
    assert [item.report_id for item in store.reviews.queue(QueueFilter()).items] == ["id-0002"]
    assert any(finding.failed for finding in verify_store.verify_all(store))


def test_the_queue_has_the_oldest_of_many_reports(store: EvaluationStore) -> None:
    for number in range(1, 4):
        finish_evaluation(store, f"id-{number:04}")
    _copy_reports(store, 1500)
    queue = store.reviews.queue(QueueFilter(), limit=2, offset=1501)
    assert (queue.total, queue.waiting) == (1503, 1503)
    assert [item.report_id for item in queue.items] == ["id-0002", "id-0001"]


def _copy_reports(store: EvaluationStore, count: int) -> None:
    columns = ", ".join(column.name for column in evaluations.c if column.name != "id")
    copy = (
        f"INSERT INTO byop_evaluations (id, {columns}) "  # noqa: S608 - the names of our own columns
        f"SELECT :name, {columns} FROM byop_evaluations WHERE id = 'id-0003'"
    )
    with store._database.writing() as connection:
        connection.execute(text(copy), [{"name": f"id-1{number:05}"} for number in range(count)])
