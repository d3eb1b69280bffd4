"""Compare every column of every row with the audit log. Pure.

Only the columns in `NOT_EVIDENCE` are left out: they coordinate processes and say nothing about an evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Table

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import sha256
from salvo.engine.text.formatting import pluralize
from salvo.errors import InputError
from salvo.playbooks.audit.audit_log import LONG_COLUMNS
from salvo.playbooks.audit.integrity import report_hash
from salvo.playbooks.audit.projection import LoggedEvaluation, LoggedRows
from salvo.playbooks.audit.verification.finding import VerificationFinding, VerificationState, join_first
from salvo.playbooks.playbook.definition import Playbook, Variance
from salvo.playbooks.store.column_text import as_name, as_text
from salvo.playbooks.store.records import RawRow, RawRows, State
from salvo.playbooks.store.tables import (
    NOT_EVIDENCE,
    baselines,
    batches,
    documents,
    evaluations,
    playbook_versions,
    playbooks,
    votes,
)

_ALL_UNKNOWN = "no entry of the audit log is about it, and earlier versions did not log an evaluation before its end"


def check_rows(rows: RawRows, log: LoggedRows) -> VerificationFinding:
    """Compare the rows of one evaluation, its playbook, votes and baseline with the log."""
    row = rows.evaluation
    assert row is not None  # noqa: S101 - the caller has checked that it exists
    logged = log.evaluations.get(_text(row["id"]))
    if logged is None:
        return _check_unlogged(row, log)
    if logged.unreadable:
        return _unknown("The rows cannot be compared with the audit log: an entry about them was altered.")
    expected = {**_columns_by_report(row, logged), **logged.columns}
    changes = [
        *row_changes(evaluations, row, expected),
        *_playbook_changes(rows.playbook, log, _text(row["playbook_hash"])),
        *_vote_changes(rows.votes, logged.runs, running=row["state"] == State.RUNNING),
        *_single_row_changes(baselines, rows.baseline, logged.baseline),
        *_single_row_changes(documents, rows.document, logged.document),
    ]
    if changes:
        return _altered(f"Rows were altered after they were stored: {join_first(changes)}.")
    unverified = [*_unverified(rows, expected, logged, log)]
    if unverified:
        return _unknown(
            "These columns cannot be verified, because the audit log does not have them (an earlier version of Salvo "
            f"wrote it, or the evaluation is running): {', '.join(unverified)}. The other columns are what it says."
        )
    return VerificationFinding("rows", VerificationState.HOLDS, "Every column of its rows is what the audit log says.")


def _check_unlogged(row: RawRow, log: LoggedRows) -> VerificationFinding:
    since = log.complete_since
    if since is not None and _text(row["created_at"]) >= since:
        return _altered(f"The evaluation was inserted: the audit log, complete since {since}, has no entry about it.")
    return _unknown(f"Nothing of the evaluation can be verified: {_ALL_UNKNOWN}. It could have been inserted.")


def _columns_by_report(row: RawRow, logged: LoggedEvaluation) -> dict[str, Any]:
    """Return the columns that follow from a report with the logged hash, for entries of earlier versions."""
    try:
        report = json_codec.loads(row["report"])
        if report_hash(report) != logged.columns.get("report_hash"):
            return {}
        outcomes = as_text({check["check_id"]: check["result"] for check in report["check_results"]})
        return {
            "subject": as_name(report["subject"]),
            "evaluator": as_name(report["evaluator"]),
            "mode": report["execution_mode"],
            "runs": report["variance_summary"]["num_runs"],
            "consistency": report["variance_summary"]["consistency_score"],
            "incomplete": report["incomplete"],
            "stored_in_full": not report["texts_withheld"],
            "outcomes": sha256(outcomes.encode()),
        }
    except (ValueError, TypeError, KeyError, AttributeError, InputError):
        return {}


def row_changes(table: Table, row: RawRow, expected: Mapping[str, Any]) -> Iterator[str]:
    """Yield which columns of a row are not what the audit log says."""
    for column in _evidence(table):
        if column in expected and (change := _change(column, row[column], expected[column])):
            yield f"{table.name}.{change}"


def _change(column: str, value: Any, expected: Any) -> str | None:
    if column not in LONG_COLUMNS or value is None or expected is None:
        if _same(value, expected):
            return None
        if column in LONG_COLUMNS:
            return f"{column} was {'removed' if value is None else 'added'}"
        return f"{column} is {_excerpt(value)}, the audit log says {_excerpt(expected)}"
    return None if sha256(_bytes(value)) == expected else f"{column} does not match its hash in the audit log"


def _same(value: Any, expected: Any) -> bool:
    """SQLite has numbers for booleans, and a number may be stored as another type of number."""
    if isinstance(value, str | bytes) or isinstance(expected, str | bytes) or value is None or expected is None:
        return type(value) is type(expected) and value == expected
    return bool(value == expected)


def _playbook_changes(row: RawRow | None, log: LoggedRows, logic_hash: str) -> Iterator[str]:
    if row is None:
        yield f"the row {logic_hash} of {playbooks.name} was removed"
        return
    yield from row_changes(playbooks, row, {**_columns_by_document(row), **log.playbooks.get(logic_hash, {})})


def _columns_by_document(row: RawRow) -> dict[str, Any]:
    """Return the columns that follow from the document, which the hash covers except for two dates."""
    try:
        document = json_codec.loads(row["document"])
        metadata = document["metadata"]
        return {
            "logic_hash": Playbook("", "", (), Variance(), document).logic_hash,
            "id": as_name(metadata["id"]),
            "version": as_name(metadata["version"]),
        }
    except (ValueError, TypeError, KeyError, AttributeError, InputError):
        return {"document": "a playbook"}


def _vote_changes(rows: Sequence[RawRow], runs: list[Mapping[str, Any]] | None, *, running: bool) -> Iterator[str]:
    stored = {(row["check_id"], row["run"]): row for row in rows}
    logged = {(run.get("check_id"), run.get("run")): run for run in runs or ()}
    for place, row in stored.items():
        run = logged.get(place)
        name = f"run {_excerpt(place[1])} of {_excerpt(place[0])}"
        yield from _hash_changes(row, name)
        if run is None:
            if runs is not None and not running:
                yield f"{name} was added to {votes.name}"
        elif not (running and not run.get("valid")):  # a run without a vote may be asked again
            yield from _vote_differences(row, run, name)
    for place in logged.keys() - stored.keys():
        yield f"run {_excerpt(place[1])} of {_excerpt(place[0])} was removed from {votes.name}"


def _hash_changes(row: RawRow, name: str) -> Iterator[str]:
    for column, hash_column in (("vote", "vote_sha256"), ("exchanges", "exchanges_sha256")):
        if sha256(_bytes(row[column])) != row[hash_column]:
            yield f"{votes.name}.{column} of {name} does not match {hash_column}"
    document = _object(row["vote"])
    answer = document.get("ballot")
    if not isinstance(answer, dict):
        yield f"{votes.name}.vote of {name} is not a vote"
        return
    result = answer.get("result")
    expected = {
        "check_id": as_name(str(document.get("check_id"))),
        "run": document.get("run"),
        "valid": result is not None,
        "result": result or "indeterminate",
    }
    for column, value in expected.items():
        if not _same(row[column], value):
            yield f"{votes.name}.{column} of {name} is {_excerpt(row[column])}, its vote says {_excerpt(value)}"


def _vote_differences(row: RawRow, run: Mapping[str, Any], name: str) -> Iterator[str]:
    for column, key in {
        "sequence": "sequence",
        "valid": "valid",
        "result": "result",
        "vote_sha256": "sha256",
        "exchanges_sha256": "exchanges_sha256",
    }.items():
        if key in run and not _same(row[column], run[key]):
            yield f"{votes.name}.{column} of {name} is {_excerpt(row[column])}, the audit log says {_excerpt(run[key])}"


def _single_row_changes(table: Table, row: RawRow | None, logged: Mapping[str, Any] | None) -> Iterator[str]:
    """Compare the one row that an evaluation may have in this table."""
    if row is None and logged is not None:
        yield f"its row in {table.name} was removed"
    elif row is not None and logged is None:
        yield f"its row in {table.name} was inserted"
    elif row is not None and logged is not None:
        yield from row_changes(table, row, logged)


def _unverified(rows: RawRows, expected: Mapping[str, Any], logged: LoggedEvaluation, log: LoggedRows) -> Iterator[str]:
    checked_otherwise = {"inputs", "report"} if "report_hash" in expected else set()
    for column in _evidence(evaluations):
        if column not in expected and column not in checked_otherwise:
            yield f"{evaluations.name}.{column}"
    if not log.playbooks.get(_text((rows.evaluation or {}).get("playbook_hash"))):
        yield f"{playbooks.name}.document (only its two dates; the rest is covered by its hash)"
    runs = {(run.get("check_id"), run.get("run")): run for run in logged.runs or ()}
    if any("sequence" not in runs.get((row["check_id"], row["run"]), {}) for row in rows.votes):
        is_new = any((row["check_id"], row["run"]) not in runs for row in rows.votes)
        yield f"{votes.name} (votes that arrived since the last entry)" if is_new else f"{votes.name}.sequence"


def check_unreferenced(
    log: LoggedRows,
    *,
    stored_ids: Iterable[str],
    playbook_rows: Iterable[RawRow],
    orphans: Iterable[tuple[str, str]],
) -> list[VerificationFinding]:
    """Find rows that belong to no evaluation, and playbooks that were inserted, altered or removed.

    `orphans` are the names of tables with the ids of evaluations that are not stored.
    """
    evaluation_ids = set(stored_ids)
    changes = [f"a row of {table} is about {_excerpt(name)}, which is not stored" for table, name in orphans]
    hashes = set()
    unlogged = []
    for row in playbook_rows:
        logic_hash = _text(row["logic_hash"])
        hashes.add(logic_hash)
        changes += _playbook_changes(row, log, logic_hash)
        if logic_hash not in log.playbooks:
            unlogged.append(logic_hash)
    changes += [f"the row {name} of {playbooks.name} was removed" for name in log.playbooks if name not in hashes]
    findings = []
    if changes:
        findings.append(_altered(f"Rows were altered after they were stored: {join_first(changes)}."))
    if unlogged:
        findings.append(
            _unknown(
                f"No entry of the audit log names these playbooks: {join_first(unlogged, ', ')}. They were "
                "inserted, or used by an earlier version of Salvo in an evaluation that did not end with a report."
            )
        )
    if not findings:
        counts = f"{pluralize(len(hashes), 'playbook')}, {pluralize(len(evaluation_ids), 'evaluation')}"
        message = f"No other row was added or removed: {counts}."
        findings.append(VerificationFinding("rows", VerificationState.HOLDS, message))
    return findings


def check_saved_playbooks(rows: Iterable[RawRow], log: LoggedRows) -> VerificationFinding:
    """Compare the saved versions of playbooks with the log: none may have been altered, inserted or removed."""
    stored = {(_text(row["playbook_id"]), row["number"]): row for row in rows}
    changes: list[str] = []
    for place, row in stored.items():
        logged = log.playbook_versions.get(place)
        if logged is None:
            changes.append(f"version {_excerpt(place[1])} of {_excerpt(place[0])} was inserted or renamed")
        else:
            changes += row_changes(playbook_versions, row, logged)
    removed = [place for place in log.playbook_versions if place not in stored]
    changes += [f"version {number} of {_excerpt(name)} was removed" for name, number in removed]
    if changes:
        return _altered(f"Saved playbooks were altered: {join_first(changes)}.")
    message = f"Saved playbooks: {pluralize(len(stored), 'version')}, each as it was saved."
    return VerificationFinding("rows", VerificationState.HOLDS, message)


def check_document_batches(rows: Iterable[RawRow], log: LoggedRows) -> VerificationFinding:
    """Compare the batches of documents with the log. Those of earlier versions are not in it."""
    stored = {_text(row["id"]): row for row in rows}
    changes: list[str] = []
    unlogged = []
    for batch_id, row in stored.items():
        if (logged := log.document_batches.get(batch_id)) is not None:
            changes += row_changes(batches, row, logged)
        elif log.batches_since is not None and _text(row["created_at"]) >= log.batches_since:
            changes.append(f"the batch {_excerpt(batch_id)} was inserted or renamed")
        else:
            unlogged.append(_excerpt(batch_id))
    changes += [f"the batch {_excerpt(name)} was removed" for name in log.document_batches if name not in stored]
    if changes:
        return _altered(f"Batches of documents were altered: {join_first(changes)}.")
    if unlogged:
        return _unknown(f"The audit log has no entry about these batches of documents: {join_first(unlogged, ', ')}.")
    message = f"{pluralize(len(stored), 'batch', 'batches')} of documents: what the audit log says."
    return VerificationFinding("rows", VerificationState.HOLDS, message)


def _evidence(table: Table) -> list[str]:
    coordination = NOT_EVIDENCE.get(table.name, {})
    return [column.name for column in table.c if column.name not in coordination]


def _object(text: Any) -> dict[str, Any]:
    try:
        document = json_codec.loads(text)
    except (ValueError, TypeError):
        return {}
    return document if isinstance(document, dict) else {}


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _excerpt(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _altered(message: str) -> VerificationFinding:
    return VerificationFinding("rows", VerificationState.ALTERED, message)


def _unknown(message: str) -> VerificationFinding:
    return VerificationFinding("rows", VerificationState.UNKNOWN, message)
