"""The rows of votes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select

from salvo.engine.jsonio.canonical import sha256
from salvo.engine.jsonio.type_adapters import exception_text
from salvo.errors import StoreError
from salvo.playbooks.audit.text_hashing import vote_without_texts
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.store.column_text import as_name, as_text, parse_vote
from salvo.playbooks.store.damage import PARSE_ERRORS, as_logged, check_type, damaged_evaluation
from salvo.playbooks.store.tables import votes as votes_table

_VOTE = votes_table.c

# Built once, because building a statement costs as much as running it.
_STORED = select(_VOTE.sequence, _VOTE.check_id, _VOTE.run, _VOTE.valid).where(
    _VOTE.evaluation_id == bindparam("evaluation")
)
_REMOVE = delete(votes_table).where(
    _VOTE.evaluation_id == bindparam("evaluation"), _VOTE.sequence == bindparam("number")
)
_INSERT = insert(votes_table)


def insert_votes(connection: Connection, evaluation_id: str, votes: Sequence[Vote], *, in_full: bool) -> list[int]:
    """Store the votes, and return their numbers. The evaluation must be locked."""
    stored = {(row.check_id, row.run): row for row in connection.execute(_STORED, {"evaluation": evaluation_id})}
    last = max((row.sequence for row in stored.values()), default=0)
    new = []
    for sequence, vote in enumerate(votes, start=last + 1):
        previous = stored.get((as_name(vote.check_id), vote.run))
        if previous is not None:
            if previous.valid:
                raise StoreError(f"Run {vote.run} of {vote.check_id} already has a vote.")
            connection.execute(_REMOVE, {"evaluation": evaluation_id, "number": previous.sequence})
        new.append(_values(evaluation_id, sequence, vote if in_full else vote_without_texts(vote)))
    if new:
        connection.execute(_INSERT, new)
    return [values["sequence"] for values in new]


def _values(evaluation_id: str, sequence: int, vote: Vote) -> dict[str, Any]:
    text = as_text({"check_id": vote.check_id, "run": vote.run, "ballot": vote.answer})
    exchanges = as_text(vote.exchanges)
    return {
        "evaluation_id": evaluation_id,
        "sequence": sequence,
        "check_id": as_name(vote.check_id),
        "run": vote.run,
        "valid": vote.answer.result is not None,
        "result": vote.answer.result or Result.INDETERMINATE,
        "vote_sha256": sha256(text.encode()),
        "exchanges_sha256": sha256(exchanges.encode()),
        "vote": text,
        "exchanges": exchanges,
    }


def list_votes(connection: Connection, evaluation_id: str, after: int) -> list[tuple[int, Vote]]:
    """Return the votes with a higher number than `after`, in order."""
    rows = connection.execute(
        select(_VOTE.sequence, _VOTE.vote, _VOTE.exchanges)
        .where(_VOTE.evaluation_id == evaluation_id, _VOTE.sequence > after)
        .order_by(_VOTE.sequence)
    )
    return [(row.sequence, _parse(evaluation_id, *row)) for row in rows]


def _parse(evaluation_id: str, sequence: Any, vote: Any, exchanges: Any) -> Vote:
    try:
        check_type("sequence", sequence, int)
        return parse_vote(check_type("vote", vote, str), check_type("exchanges", exchanges, str))
    except PARSE_ERRORS as error:
        raise damaged_evaluation(evaluation_id, f"vote {as_logged(sequence)}: {exception_text(error)}") from error


def raw_runs(connection: Connection, evaluation_id: str) -> list[dict[str, Any]]:
    """Return what the audit log records of each vote; `sha256` is of the stored JSON text."""
    vote_hash = _VOTE.vote_sha256.label("sha256")
    query = select(
        _VOTE.sequence, _VOTE.check_id, _VOTE.run, _VOTE.result, _VOTE.valid, vote_hash, _VOTE.exchanges_sha256
    )
    in_order = query.where(_VOTE.evaluation_id == evaluation_id).order_by(_VOTE.check_id, _VOTE.run)
    return [{name: as_logged(value) for name, value in row.items()} for row in connection.execute(in_order).mappings()]
