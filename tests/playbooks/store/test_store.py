"""The store, on both databases: what goes in comes out, in the right order, and only what may."""

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from sqlalchemy import event

from salvo.engine.jsonio.canonical import sha256
from salvo.errors import AmbiguousIdError, StoreError, UnknownIdError, UsageError
from salvo.playbooks.audit import audit_log
from salvo.playbooks.enums import Mode, Result, ShownStatus, Status
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.report.report import Report
from salvo.playbooks.store.history import HistoryFilters, HistorySort
from salvo.playbooks.store.queueing.leases import Submission
from salvo.playbooks.store.records import ErrorDetail, HistoryRow, State
from salvo.playbooks.store.store import EvaluationStore
from tests.support.clock import HeldClock
from tests.support.playbooks import CERTAIN, TEXT, a_playbook, a_report, a_vote, some_inputs, some_votes
from tests.support.stored_evaluations import begin_evaluation, finish_evaluation

HOSTILE = "NUL \x00, half a pair \ud83d, the other \udca9, bidi \u202e, zero\u200bwidth, \U0001f4a9"


def test_what_is_asked_for_is_stored_before_the_first_call(store: EvaluationStore) -> None:
    inputs = some_inputs(source_document="The contract.", prompt="Review it.")
    begin_evaluation(
        store,
        inputs=inputs,
        subject="DPA review",
        producer="openai/gpt-5.5",
        settings={"concurrency": 4},
        group="id-0000",
    )
    found = store.load("id-0001")
    assert found.state is State.RUNNING
    assert found.created_at == "2026-11-15T12:00:00.000+00:00"
    assert (found.finished_at, found.report, found.baseline_since) == (None, None, None)
    assert (found.subject, found.producer, found.evaluator) == (
        "DPA review",
        "openai/gpt-5.5",
        "anthropic/claude-sonnet-4-6",
    )
    assert (found.mode, found.runs, found.group, found.settings) == (Mode.FULL, 3, "id-0000", {"concurrency": 4})
    assert (found.inputs, found.inputs_fingerprint) == (inputs, inputs.fingerprint)
    assert found.raw_hashes == inputs.raw_hashes
    assert (found.playbook, found.playbook_hash) == (a_playbook().document, a_playbook().logic_hash)


def test_votes_come_back_as_they_were_in_the_order_in_which_they_came(store: EvaluationStore) -> None:
    begin_evaluation(store)
    cast = [a_vote(run=2, result=None, hopeless=True), a_vote("certainty_language", 1, Result.FAIL), a_vote(run=1)]
    assert store.save_votes("id-0001", cast) == [1, 2, 3]
    came = store.votes("id-0001")
    assert [number for number, _ in came] == [1, 2, 3]
    assert [_plain(vote) for _, vote in came] == [_plain(vote) for vote in cast]
    assert [number for number, _ in store.votes("id-0001", after=2)] == [3]
    assert store.votes("id-0001", after=3) == []


def _plain(vote: Vote) -> tuple[object, ...]:
    """Exchanges have no equality of their own."""
    return (
        vote.check_id,
        vote.run,
        vote.answer,
        [(part.lane, part.key, part.request, part.reply) for part in vote.exchanges],
    )


def test_a_report_comes_back_as_it_was(store: EvaluationStore, clock: HeldClock) -> None:
    report = finish_evaluation(store)
    found = store.load("id-0001")
    assert found.report == report
    assert found.state is State.DONE
    assert found.finished_at == "2026-11-15T12:00:00.000+00:00"


@pytest.mark.parametrize("text", [HOSTILE, "x" * 5_000_000], ids=["hostile", "5 MB"])
def test_any_text_survives(store: EvaluationStore, text: str) -> None:
    inputs = some_inputs(text)
    report = a_report(inputs=inputs, limitations=(text,), subject=text[:30])
    vote = a_vote(raw=text, notes=text)
    finish_evaluation(
        store, report=report, votes=[vote], inputs=inputs, subject=text[:30], evaluator=f"openai/{text[:30]}"
    )
    found = store.load("id-0001")
    assert (found.inputs, found.report, found.subject) == (inputs, report, text[:30])
    assert found.evaluator == f"openai/{text[:30]}"
    [(_, stored)] = store.votes("id-0001")
    assert stored.answer == vote.answer
    assert [row.id for row in store.history(HistoryFilters(subject=text[:30])).rows] == ["id-0001"]
    assert audit_log.check(store.audit_log()) is None


def test_names_of_any_length_and_content_are_stored_and_told_apart(store: EvaluationStore) -> None:
    long = "check \x00" + "x" * 5000
    begin_evaluation(store, subject=long, playbook=a_playbook(id=long))
    store.save_votes("id-0001", [a_vote(long + "1")])
    store.save_votes("id-0001", [a_vote(long + "2")])
    assert [vote.check_id for _, vote in store.votes("id-0001")] == [long + "1", long + "2"]
    assert store.history(HistoryFilters(subject=long)).rows
    assert not store.history(HistoryFilters(subject=long + "x")).rows


def test_a_run_without_a_vote_may_be_asked_again_and_a_vote_stays(store: EvaluationStore) -> None:
    begin_evaluation(store)
    store.save_votes("id-0001", [a_vote(run=1)])
    store.save_votes("id-0001", [a_vote(run=2, result=None)])
    assert store.save_votes("id-0001", [a_vote(run=2)]) == [3]
    assert [(number, vote.run, vote.answer.result) for number, vote in store.votes("id-0001")] == [
        (1, 1, Result.PASS),
        (3, 2, Result.PASS),
    ]
    with pytest.raises(StoreError, match="Run 1 of assumption_disclosure already has a vote"):
        store.save_votes("id-0001", [a_vote(run=1, result=Result.FAIL)])


def test_what_is_done_is_not_changed_any_more(store: EvaluationStore) -> None:
    report = finish_evaluation(store)
    for change in (
        lambda: store.save_votes("id-0001", [a_vote(run=9)]),
        lambda: store.finish("id-0001", replace(report, subject="another")),
        lambda: store.cancel("id-0001"),
        lambda: store.interrupt("id-0001"),
        lambda: store.resume("id-0001"),
    ):
        with pytest.raises(UsageError, match="is done"):
            change()
    assert store.load("id-0001").report == report


def test_what_was_interrupted_or_cancelled_keeps_its_votes_and_can_be_resumed(store: EvaluationStore) -> None:
    for name, end in (("id-0001", store.interrupt), ("id-0002", store.cancel)):
        begin_evaluation(store, name)
        store.save_votes(name, [a_vote()])
        end(name)
        # An answer that was on its way has been paid for.
        assert store.save_votes(name, [a_vote(run=2)]) == [2]
    assert [row.state for row in store.history().rows] == [State.CANCELLED, State.INTERRUPTED]
    store.resume("id-0001")
    assert store.load("id-0001").state is State.RUNNING
    store.finish("id-0001", a_report())
    assert store.load("id-0001").state is State.DONE


def test_what_another_process_runs_is_not_resumed_here(store: EvaluationStore, url: str, clock: HeldClock) -> None:
    with EvaluationStore.open(url, clock) as other:
        begin_evaluation(other)
        with pytest.raises(UsageError, match="still running in another process"):
            store.resume("id-0001")
        with pytest.raises(UsageError, match="still running"):
            store.delete("id-0001")


def test_what_failed_says_why_and_can_be_resumed(store: EvaluationStore) -> None:
    begin_evaluation(store)
    store.save_votes("id-0001", [a_vote()])
    store.fail("id-0001", ErrorDetail("store", "The disk is full.", "Free some space."))
    found = store.load("id-0001")
    assert (found.state, found.error) == (State.FAILED, ErrorDetail("store", "The disk is full.", "Free some space."))
    assert (found.subject, found.evaluator) == ("default", "anthropic/claude-sonnet-4-6")
    assert [row.state for row in store.history().rows] == [State.FAILED]
    store.resume("id-0001")
    assert (store.load("id-0001").state, store.load("id-0001").error) == (State.RUNNING, None)


def test_ids_are_found_by_their_beginning_or_as_the_latest(store: EvaluationStore) -> None:
    for name in ("01k9aaa", "01k9abb", "01k9abb2"):
        begin_evaluation(store, name)
    assert store.find("01k9aaa") == "01k9aaa"
    assert store.find("01k9aa") == "01k9aaa"
    assert store.find("01k9abb") == "01k9abb"
    assert store.find("latest") == "01k9abb2"
    with pytest.raises(AmbiguousIdError) as several:
        store.find("01k9")
    assert str(several.value) == snapshot(
        "3 of the stored ids begin with '01k9'. Which one? 01k9abb2, 01k9abb, 01k9aaa."
    )
    for unknown in ("01k9abc", "01K9AAA", "%", "", "\x00"):
        with pytest.raises(UnknownIdError):
            store.find(unknown)
    with pytest.raises(UnknownIdError) as near:
        store.find("01k9abc")
    assert str(near.value) == snapshot(
        "No evaluation has an id that begins with '01k9abc'. The nearest: 01k9abb, 01k9abb2, 01k9aaa."
    )


def test_nothing_stored_says_how_to_begin(store: EvaluationStore) -> None:
    with pytest.raises(UnknownIdError, match="Start with `byop run FILE`"):
        store.find("latest")
    with pytest.raises(UnknownIdError, match="There is no evaluation id-1"):
        store.load("id-1")
    with pytest.raises(UnknownIdError, match="There is no evaluation id-1"):
        store.save_votes("id-1", [a_vote()])


def test_history_lists_the_newest_first_and_can_be_narrowed(store: EvaluationStore) -> None:
    finish_evaluation(store, "id-0001", subject="Müller GmbH")
    begin_evaluation(store, "id-0002", evaluator="rules")
    finish_evaluation(store, "id-0003", mode=Mode.SCREENING)
    store.set_baseline("id-0001")
    assert [row.id for row in store.history().rows] == ["id-0003", "id-0002", "id-0001"]
    assert [row.id for row in store.history(limit=1, offset=1).rows] == ["id-0002"]
    assert [row.id for row in store.history(offset=2).rows] == ["id-0001"]
    assert [row.id for row in store.history(HistoryFilters(subject="Müller GmbH")).rows] == ["id-0001"]
    assert [row.id for row in store.history(HistoryFilters(status=ShownStatus.ALERT)).rows] == ["id-0003", "id-0001"]
    assert [row.id for row in store.history(HistoryFilters(status=ShownStatus.STABLE)).rows] == []
    assert [row.id for row in store.history(HistoryFilters(mode=Mode.FULL)).rows] == ["id-0002", "id-0001"]
    assert [row.id for row in store.history(HistoryFilters(mode=Mode.SCREENING, status=ShownStatus.ALERT)).rows] == [
        "id-0003"
    ]
    assert [row.id for row in store.history(HistoryFilters(search="RULES")).rows] == ["id-0002"]
    assert [row.id for row in store.history(HistoryFilters(search="ller g")).rows] == ["id-0001"]
    assert [row.id for row in store.history(HistoryFilters(search="%")).rows] == []
    [row] = store.history(HistoryFilters(search="id-0001")).rows
    assert row == snapshot(
        HistoryRow(
            id="id-0001",
            created_at="2026-11-15T12:00:00.000+00:00",
            finished_at="2026-11-15T12:00:00.000+00:00",
            state=State.DONE,
            subject="Müller GmbH",
            title=None,
            mode=Mode.FULL,
            runs=3,
            evaluator="anthropic/claude-sonnet-4-6",
            playbook_id="a_playbook",
            playbook_version="1.0.0",
            playbook_hash="sha256:0736cc78e20d99632e999a86fdcd81786f026c1290e3956f14b4d6f27fd8a731",
            status=Status.ALERT,
            consistency=1.0,
            incomplete=False,
            stored_in_full=True,
            baseline=True,
            group=None,
        )
    )


def test_a_timeline_has_the_reports_of_a_subject_with_their_outcomes(store: EvaluationStore) -> None:
    another = a_playbook(version="2.0.0")
    finish_evaluation(store, "id-0001")
    finish_evaluation(store, "id-0002", playbook=another)
    finish_evaluation(store, "id-0003", subject="another")
    begin_evaluation(store, "id-0004")
    store.set_baseline("id-0002")
    assert [point.id for point in store.timeline("default")] == ["id-0001", "id-0002"]
    [point] = store.timeline("default", another.logic_hash)
    assert (point.id, point.baseline, point.status, point.consistency) == ("id-0002", True, Status.ALERT, 1.0)
    assert point.outcomes == {
        "assumption_disclosure": Result.PASS,
        "certainty_language": Result.FAIL,
        "run_variance": Result.PASS,
        "drift_over_time_support": Result.INDETERMINATE,
    }


def test_subjects_are_those_that_have_reports_the_one_with_the_newest_first(store: EvaluationStore) -> None:
    finish_evaluation(store, "id-0001")
    finish_evaluation(store, "id-0002", subject="another")
    finish_evaluation(store, "id-0003", subject="another")
    begin_evaluation(store, "id-0004", subject="not yet")
    assert store.subjects() == [("another", 2), ("default", 1)]


def test_the_newest_saved_baseline_is_compared_with(store: EvaluationStore, clock: HeldClock) -> None:
    playbook = a_playbook()
    for number in (1, 2, 3, 4):
        finish_evaluation(store, f"id-000{number}")
    store.set_baseline("id-0002")
    clock._elapsed += 1
    store.set_baseline("id-0001")
    found = store.baseline_for(playbook.logic_hash, "default", before="id-0004")
    assert found is not None
    assert (found.id, found.baseline_since) == ("id-0001", "2026-11-15T12:00:01.000+00:00")
    assert [row.evaluation_id for row in store.baselines()] == ["id-0001"]
    assert store.baselines()[0].status is Status.ALERT


def test_without_a_saved_baseline_the_newest_earlier_full_report_is_compared_with(store: EvaluationStore) -> None:
    playbook = a_playbook()
    assert store.baseline_for(playbook.logic_hash, "default") is None
    finish_evaluation(store, "id-0001")
    finish_evaluation(store, "id-0002")
    finish_evaluation(store, "id-0003", mode=Mode.SCREENING)
    finish_evaluation(store, "id-0004", report=a_report(report_id="id-0004", incomplete=True))
    finish_evaluation(store, "id-0005", subject="another")
    finish_evaluation(store, "id-0006", playbook=a_playbook(version="2.0.0"))
    begin_evaluation(store, "id-0007")
    finish_evaluation(store, "id-0008")

    def compared_with(before: str | None) -> tuple[str, str | None] | None:
        found = store.baseline_for(playbook.logic_hash, "default", before)
        return None if found is None else (found.id, found.baseline_since)

    assert compared_with("id-0008") == ("id-0002", None)
    assert compared_with("id-0002") == ("id-0001", None)
    assert compared_with("id-0001") is None
    assert compared_with(None) == ("id-0008", None)


def test_only_a_full_and_complete_report_becomes_a_baseline(store: EvaluationStore) -> None:
    finish_evaluation(store, "id-0001", mode=Mode.SCREENING)
    finish_evaluation(store, "id-0002", report=a_report(report_id="id-0002", incomplete=True))
    begin_evaluation(store, "id-0003")
    refused = {}
    for name in ("id-0001", "id-0002", "id-0003"):
        with pytest.raises(UsageError) as refusal:
            store.set_baseline(name)
        refused[name] = str(refusal.value)
    assert refused == snapshot(
        {
            "id-0001": "The report id-0001 is a screening: Non-auditable quick check (not comparable over time). Run a full evaluation, and save that as the baseline.",
            "id-0002": "The report id-0002 is incomplete: some checks have fewer than a majority of valid votes. Later reports could not be compared with what is missing. Run the evaluation again.",
            "id-0003": "The evaluation id-0003 has no report: it is running. Save one that is done as the baseline.",
        }
    )
    assert store.baselines() == []
    with pytest.raises(UsageError, match="is not saved as a baseline"):
        store.clear_baseline("id-0001")


def test_whatever_happens_is_in_the_audit_log(store: EvaluationStore) -> None:
    report = finish_evaluation(store)
    store.set_baseline("id-0001")
    store.set_baseline("id-0001")
    store.record_export("id-0001", "html", b"<html>")
    store.clear_baseline("id-0001")
    store.set_baseline("id-0001")
    store.delete("id-0001")
    log = store.audit_log()
    assert [entry.action for entry in log] == [
        "created",
        "evaluation",
        "baseline_set",
        "export",
        "baseline_cleared",
        "baseline_set",
        "baseline_cleared",
        "erasure",
    ]
    assert {entry.report_id for entry in log} == {"id-0001"}
    assert log[3].content["file_sha256"] == sha256(b"<html>")
    assert log[-1].content["byop_report"] == {"report_id": "id-0001", "report_hash": report.integrity.report_hash}
    assert audit_log.check(log) is None
    assert store.audit_log("id-0002") == []


def test_a_deletion_removes_the_texts_and_leaves_the_chain(store: EvaluationStore) -> None:
    finish_evaluation(store, "id-0001")
    finish_evaluation(store, "id-0002")
    store.set_baseline("id-0001")
    store.delete("id-0001")
    assert [row.id for row in store.history().rows] == ["id-0002"]
    assert store.votes("id-0001") == []
    assert store.load_raw("id-0001") is None
    assert store.baselines() == []
    found = store.baseline_for(a_playbook().logic_hash, "default")
    assert found is not None
    assert found.id == "id-0002"
    assert audit_log.check(store.audit_log()) is None
    with pytest.raises(UnknownIdError):
        store.delete("id-0001")


def test_nothing_of_what_was_deleted_is_left_in_the_file(tmp_path: Path, clock: HeldClock) -> None:
    secret = "Projekt Abendrot"
    with EvaluationStore.open(f"sqlite:///{tmp_path / 'runs.db'}", clock) as store:
        begin_evaluation(store, inputs=some_inputs(secret * 1000))
        store.save_votes("id-0001", [a_vote(raw=secret)])
        store.interrupt("id-0001")
        assert _in_files(tmp_path, secret)
        store.delete("id-0001")
        assert not _in_files(tmp_path, secret)


def _in_files(folder: Path, text: str) -> bool:
    return any(text.encode() in file.read_bytes() for file in folder.iterdir())


def test_hashes_only_keeps_no_text(store: EvaluationStore, clock: HeldClock, tmp_path: Path) -> None:
    inputs = some_inputs(prompt="Review the clause, please.")
    report = finish_evaluation(store, inputs=inputs, in_full=False)
    found = store.load("id-0001")
    assert found.inputs is None
    assert (found.inputs_fingerprint, found.raw_hashes) == (inputs.fingerprint, inputs.raw_hashes)
    assert found.report is not None
    assert found.report.texts_withheld
    assert _verdicts(found.report) == _verdicts(report)
    kept = store.load_raw("id-0001")
    assert kept is not None
    everything = repr((found, kept, store.votes("id-0001"), store.audit_log()))
    for text in (TEXT, CERTAIN, "German law", "Review the clause", '{"result": …}', "as it says"):
        assert text not in everything
    assert all(vote.exchanges == () for _, vote in store.votes("id-0001"))
    assert [vote.answer.confidence for _, vote in store.votes("id-0001")] == [0.9] * 6


def _verdicts(report: Report) -> list[tuple[object, ...]]:
    return [
        (check.check_id, check.result, check.per_check_confidence, [run.result for run in check.raw_runs])
        for check in report.check_results
    ]


def test_history_and_the_queue_read_no_texts(tmp_path: Path, clock: HeldClock) -> None:
    """A column that stands behind a long one would make SQLite read through all of it, unless an index has it."""
    statements: list[tuple[str, Any]] = []
    with EvaluationStore.open(f"sqlite:///{tmp_path / 'runs.db'}", clock) as store:
        finish_evaluation(store)
        begin_evaluation(store, "id-0002", submission=Submission("one", ""))
        event.listen(
            store._database._engine,
            "before_cursor_execute",
            lambda *arguments: statements.append((arguments[2], arguments[3])),
        )
        store.history()
        for sort in HistorySort:
            store.history(HistoryFilters("default", ShownStatus.ALERT, Mode.FULL, "x"), sort=sort, limit=1, offset=1)
        store.queue.claim({"address x"})
        store.queue.release_abandoned()
        store.queue.position("id-0002")
        store.queue.counts()
    with closing(sqlite3.connect(tmp_path / "runs.db")) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(byop_evaluations)")]
        late = columns[columns.index("request") :]
        for statement, values in statements:
            is_one_row = "byop_evaluations.id = ?" in statement
            if not is_one_row and any(f"byop_evaluations.{column}" in statement for column in late):
                plan = str(database.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall())
                assert re.search("COVERING INDEX byop_evaluations_(running|listed|by_subject)", plan), (statement, plan)
    assert len(statements) >= 6


def test_a_damaged_row_says_so(url: str, store: EvaluationStore) -> None:
    finish_evaluation(store, report=replace(a_report(), report_id="id-0001"))
    with store._database.writing() as connection:
        connection.exec_driver_sql("UPDATE byop_evaluations SET report = '{\"half'")
    with pytest.raises(StoreError, match=r"The stored evaluation id-0001 is damaged"):
        store.load("id-0001")


def test_votes_of_a_later_run_can_be_more_than_three(store: EvaluationStore) -> None:
    begin_evaluation(store, runs=5)
    for vote in some_votes(5):
        store.save_votes("id-0001", [vote])
    assert len(store.votes("id-0001")) == 10


def test_the_reason_for_a_baseline_is_in_the_audit_log(store: EvaluationStore) -> None:
    finish_evaluation(store)
    store.set_baseline("id-0001", "Accepted by the partner.")
    assert store.audit_log("id-0001")[-1].content["reason"] == "Accepted by the partner."
