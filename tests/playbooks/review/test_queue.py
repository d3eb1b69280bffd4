"""What waits for a reviewer, in the order of its urgency."""

from typing import Any

from salvo.playbooks.enums import Result, Severity
from salvo.playbooks.review.events import ReviewAction, ReviewDraft
from salvo.playbooks.review.queue import (
    QueueAssigned,
    QueuedReport,
    QueueFilter,
    QueueItem,
    QueueResult,
    QueueShow,
    queue_items,
)
from tests.support.reviews import FAILED, PASSED, accept, events_of, override

QUESTIONS = {FAILED: (Severity.HIGH, "Is it too certain?"), PASSED: (Severity.MEDIUM, "Does it state assumptions?")}


def queued(name: str, **fields: Any) -> QueuedReport:
    outcomes = {PASSED: Result.PASS, FAILED: Result.FAIL, "run_variance": Result.PASS}
    plain: dict[str, Any] = {
        "created_at": "2026-11-15",
        "subject": "memos",
        "evaluator": "rules",
        "playbook_hash": "p",
        "inputs_fingerprint": f"text of {name}",
        "outcomes": outcomes,
        "questions": QUESTIONS,
    }
    return QueuedReport(name, **{**plain, **fields})


def places(items: list[QueueItem]) -> list[tuple[str, str]]:
    return [(item.report_id, item.check_id) for item in items]


def test_undecided_checks_come_first_then_disputes_then_disagreeing_judges_then_split_votes_then_failures() -> None:
    decided = queued("a", events=events_of([accept()]))
    split = queued("b", split_checks=frozenset({PASSED}))
    plain = queued("c")
    one_judge = queued("d", inputs_fingerprint="same")
    other_judge = queued("e", inputs_fingerprint="same", evaluator="model", outcomes={PASSED: Result.FAIL})
    disputed = queued("f", events=events_of([accept("Ada", seen=0), override("Bob", seen=0)]))
    found = queue_items([disputed, other_judge, one_judge, plain, split, decided], QueueFilter(show=QueueShow.ALL))
    assert places(found) == [
        ("f", FAILED),
        ("e", PASSED),
        ("d", PASSED),
        ("b", PASSED),
        ("d", FAILED),
        ("c", FAILED),
        ("b", FAILED),
        ("a", FAILED),
    ]


def test_a_derived_check_never_waits() -> None:
    assert "run_variance" not in {check for _, check in places(queue_items([queued("a")], QueueFilter()))}


def test_a_passed_check_is_listed_if_it_is_asked_for() -> None:
    assert places(queue_items([queued("a")], QueueFilter(result=QueueResult.PASS))) == [("a", PASSED)]
    assert len(queue_items([queued("a")], QueueFilter(result=QueueResult.ALL))) == 2


def test_a_check_is_assigned_with_its_report_unless_it_is_assigned_itself() -> None:
    report = queued(
        "a",
        events=events_of(
            [
                ReviewDraft(ReviewAction.ASSIGN, "Ada", assignee="Bob"),
                ReviewDraft(ReviewAction.ASSIGN, "Ada", assignee="Cyd", check_id=PASSED),
            ]
        ),
    )

    def listed(assigned: QueueAssigned, me: str = "") -> list[str]:
        wanted = QueueFilter(result=QueueResult.ALL, assigned=assigned, me=me)
        return [item.check_id for item in queue_items([report, queued("b", subject="other")], wanted)]

    assert listed(QueueAssigned.ME, "Bob") == [FAILED]
    assert listed(QueueAssigned.ME, "Cyd") == [PASSED]
    assert len(listed(QueueAssigned.ME_OR_NOBODY, "Bob")) == 3
    assert len(listed(QueueAssigned.NOBODY)) == 2
