"""From rows to records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import RowMapping

from salvo.engine.jsonio import json_codec
from salvo.playbooks.enums import Mode, Result, Status
from salvo.playbooks.store.columns import inputs_of, report_of
from salvo.playbooks.store.records import (
    BaselineRecord,
    HistoryRow,
    RawEvaluation,
    RawVote,
    State,
    StoredError,
    StoredEvaluation,
    TimelinePoint,
    UsedPlaybook,
)

FAULT = "fault"
"""Among what was asked for: why it failed."""


def stored_evaluation(row: RowMapping, state: State) -> StoredEvaluation:
    request = json_codec.loads(row["request"])
    return StoredEvaluation(
        id=row["id"],
        created_at=row["created_at"],
        finished_at=row["finished_at"],
        state=state,
        subject=request["subject"],
        mode=Mode(row["mode"]),
        runs=row["runs"],
        evaluator=request["evaluator"],
        producer=request["producer"],
        group=row["group_id"],
        settings=request["settings"],
        playbook_hash=row["playbook_hash"],
        playbook=json_codec.loads(row["playbook"]),
        inputs=None if row["inputs"] is None else inputs_of(row["inputs"]),
        inputs_fingerprint=row["inputs_fingerprint"],
        raw_hashes=request["raw_hashes"],
        stored_in_full=row["stored_in_full"],
        report=None if row["report"] is None else report_of(row["report"], f"The report {row['id']}"),
        baseline_since=row["saved_at"],
        fault=StoredError(**request[FAULT]) if state is State.FAILED else None,
    )


def used_playbook(row: RowMapping) -> UsedPlaybook:
    return UsedPlaybook(row["logic_hash"], json_codec.loads(row["document"]), row["used_by"])


def history_row(row: RowMapping, state: State) -> HistoryRow:
    status = row["status"]
    return HistoryRow(
        **{
            **_fields(HistoryRow, row),
            "state": state,
            "mode": Mode(row["mode"]),
            "status": None if status is None else Status(status),
        }
    )


def point(row: RowMapping) -> TimelinePoint:
    outcomes = {check_id: Result(result) for check_id, result in json_codec.loads(row["outcomes"]).items()}
    return TimelinePoint(**{**row, "mode": Mode(row["mode"]), "status": Status(row["status"]), "outcomes": outcomes})


def baseline(row: RowMapping) -> BaselineRecord:
    return BaselineRecord(**{**row, "status": Status(row["status"])})


def as_stored(row: RowMapping, votes: Iterable[RowMapping]) -> RawEvaluation:
    cast = tuple(RawVote(**_fields(RawVote, vote)) for vote in votes)
    return RawEvaluation(votes=cast, **_fields(RawEvaluation, row))


def _fields(kind: type, row: RowMapping) -> dict[str, Any]:
    return {name: row[name] for name in kind.__slots__ if name in row}  # type: ignore[attr-defined]  # slots dataclasses
