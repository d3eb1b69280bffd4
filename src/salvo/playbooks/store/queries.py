"""What is read of evaluations: all of one, or what a list needs and nothing longer."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select

from salvo.playbooks.store.columns import as_name
from salvo.playbooks.store.records import State
from salvo.playbooks.store.tables import baselines, evaluations, playbooks

_JOINED = evaluations.join(playbooks).outerjoin(baselines, baselines.c.evaluation_id == evaluations.c.id)
_IS_BASELINE = baselines.c.evaluation_id.is_not(None).label("baseline")


def whole() -> Select[Any]:
    """Everything, the texts too."""
    columns = (evaluations, playbooks.c.document.label("playbook"), baselines.c.saved_at)
    return select(*columns).select_from(_JOINED)


def listed() -> Select[Any]:
    """A row of the history."""
    return select(
        evaluations.c.id,
        evaluations.c.created_at,
        evaluations.c.finished_at,
        evaluations.c.state,
        evaluations.c.owner,
        evaluations.c.touched_at,
        evaluations.c.subject,
        evaluations.c.mode,
        evaluations.c.runs,
        evaluations.c.evaluator,
        playbooks.c.id.label("playbook_id"),
        playbooks.c.version.label("playbook_version"),
        evaluations.c.playbook_hash,
        evaluations.c.status,
        evaluations.c.consistency,
        evaluations.c.incomplete,
        evaluations.c.stored_in_full,
        _IS_BASELINE,
        evaluations.c.group_id.label("group"),
    ).select_from(_JOINED)


def holds(search: str) -> ColumnElement[bool]:
    """Whether a row of the history has it in one of its names, in any case."""
    looked_in = (evaluations.c.id, evaluations.c.subject, evaluations.c.evaluator, evaluations.c.status, playbooks.c.id)
    return or_(*(column.icontains(as_name(search), autoescape=True) for column in looked_in))


def series(playbook_hash: str, subject: str) -> Select[Any]:
    """The ids of its reports."""
    return (
        select(evaluations.c.id)
        .select_from(evaluations.outerjoin(baselines, baselines.c.evaluation_id == evaluations.c.id))
        .where(
            evaluations.c.playbook_hash == playbook_hash,
            evaluations.c.subject == as_name(subject),
            evaluations.c.state == State.DONE,
        )
    )


def used() -> Select[Any]:
    """A playbook and the newest evaluation that used it."""
    newest = (
        select(evaluations.c.playbook_hash, func.max(evaluations.c.id).label("used_by"))
        .group_by(evaluations.c.playbook_hash)
        .subquery()
    )
    return select(playbooks.c.logic_hash, playbooks.c.document, newest.c.used_by).join(
        newest, newest.c.playbook_hash == playbooks.c.logic_hash
    )


def points() -> Select[Any]:
    """A point of the timeline."""
    return (
        select(
            evaluations.c.id,
            evaluations.c.created_at,
            evaluations.c.mode,
            evaluations.c.evaluator,
            evaluations.c.playbook_hash,
            evaluations.c.inputs_fingerprint,
            evaluations.c.status,
            evaluations.c.consistency,
            evaluations.c.incomplete,
            evaluations.c.outcomes,
            _IS_BASELINE,
        )
        .select_from(_JOINED)
        .where(evaluations.c.state == State.DONE)
    )


def saved() -> Select[Any]:
    """A baseline."""
    return (
        select(
            evaluations.c.id.label("evaluation_id"),
            evaluations.c.subject,
            playbooks.c.id.label("playbook_id"),
            playbooks.c.version.label("playbook_version"),
            evaluations.c.playbook_hash,
            evaluations.c.evaluator,
            evaluations.c.created_at.label("evaluated_at"),
            baselines.c.saved_at,
            evaluations.c.status,
            evaluations.c.consistency,
        )
        .select_from(_JOINED)
        .where(baselines.c.saved_at.is_not(None))
    )
