"""Votes into their table, as many as arrived together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select

from salvo.engine.jsonio.canonical import sha256
from salvo.errors import StoreError
from salvo.playbooks.audit.text_hashing import vote_without_texts
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.store.columns import as_name, as_text
from salvo.playbooks.store.tables import votes

# Made once: a statement that is made anew costs as much as what it does.
_CAST = select(votes.c.sequence, votes.c.check_id, votes.c.run, votes.c.valid).where(
    votes.c.evaluation_id == bindparam("named")
)
_REMOVE = delete(votes).where(votes.c.evaluation_id == bindparam("named"), votes.c.sequence == bindparam("number"))
_PUT_IN = insert(votes)


def insert_votes(connection: Connection, evaluation_id: str, cast: Sequence[Vote], *, in_full: bool) -> list[int]:
    """Their numbers. Only in a transaction in which nobody else adds to the evaluation."""
    there = {(row.check_id, row.run): row for row in connection.execute(_CAST, {"named": evaluation_id})}
    last = max((row.sequence for row in there.values()), default=0)
    new = []
    for sequence, vote in enumerate(cast, start=last + 1):
        before = there.get((as_name(vote.check_id), vote.run))
        if before is not None:
            if before.valid:
                raise StoreError(f"Run {vote.run} of {vote.check_id} has its vote already.")
            connection.execute(_REMOVE, {"named": evaluation_id, "number": before.sequence})
        new.append(_row(evaluation_id, sequence, vote if in_full else vote_without_texts(vote)))
    if new:
        connection.execute(_PUT_IN, new)
    return [row["sequence"] for row in new]


def _row(evaluation_id: str, sequence: int, vote: Vote) -> dict[str, Any]:
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
