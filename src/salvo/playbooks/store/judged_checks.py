"""The checks of all reports, each with its result and whether its votes agree."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from salvo.engine.jsonio import json_codec
from salvo.playbooks.calibration.judged_check import JudgedCheck
from salvo.playbooks.enums import Result
from salvo.playbooks.store.column_text import as_name
from salvo.playbooks.store.damage import PARSE_ERRORS, damaged_evaluation
from salvo.playbooks.store.tables import evaluations, playbooks, votes


def list_judged_checks(connection: Connection, subject: str | None) -> list[JudgedCheck]:
    """Return every check that was judged by votes, the oldest report first; of one subject, or of all."""
    results = (
        select(votes.c.evaluation_id, votes.c.check_id, func.count(votes.c.result.distinct()))
        .where(votes.c.valid)
        .group_by(votes.c.evaluation_id, votes.c.check_id)
    )
    different = {(row[0], row[1]): row[2] for row in connection.execute(results)}
    columns = (
        evaluations.c.id,
        evaluations.c.evaluator,
        evaluations.c.subject,
        evaluations.c.playbook_hash,
        evaluations.c.outcomes,
        playbooks.c.id.label("playbook_id"),
        playbooks.c.version.label("playbook_version"),
    )
    reports = select(*columns).join(playbooks).where(evaluations.c.outcomes.is_not(None)).order_by(evaluations.c.id)
    if subject is not None:
        reports = reports.where(evaluations.c.subject == as_name(subject))
    checks = []
    for row in connection.execute(reports).mappings():
        try:
            outcomes = {check_id: Result(result) for check_id, result in json_codec.loads(row["outcomes"]).items()}
        except PARSE_ERRORS as error:
            raise damaged_evaluation(row["id"], error) from error
        for check_id, result in outcomes.items():
            number = different.get((row["id"], as_name(check_id)))
            if number is not None:
                facts = {name: row[name] for name in ("playbook_id", "playbook_version", "playbook_hash", "evaluator")}
                checks.append(JudgedCheck(row["id"], check_id, result, number == 1, subject=row["subject"], **facts))
    return checks
