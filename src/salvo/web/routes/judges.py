"""/api/evaluations/…/again, /api/reports/…/judges: the same text judged by others, and where they agree."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

from fastapi import APIRouter
from pydantic import Field

from salvo.engine.text.formatting import pluralize
from salvo.playbooks.enums import Result, Severity, ShownStatus
from salvo.playbooks.evaluate.request import requested_by, stored_request
from salvo.playbooks.report import labels
from salvo.playbooks.report.compare import agreement
from salvo.playbooks.report.report import Report
from salvo.playbooks.report.verdict_reasons import check_title
from salvo.playbooks.store.records import StoredEvaluation
from salvo.records import record
from salvo.web.request_models import Name, RequestModel, Seconds, check_key, evaluator_config
from salvo.web.responses import JsonRoute
from salvo.web.routes.evaluations import Evaluation, Key, show
from salvo.web.services import ClientDep, Services, ServicesDep, UserDep

router = APIRouter(prefix="/api", tags=["evaluations"], route_class=JsonRoute)

MAX_JUDGES = 10
"""Reports in the table: the newest ones."""


class EvaluationAgain(RequestModel, json_schema_extra={"examples": [{"evaluator": "rules"}]}):
    """Another evaluator for the text of a stored evaluation. Its API key is sent in the header."""

    evaluator: Name = Field(description='"rules", or a model such as "anthropic/claude-sonnet-4-6".')
    base_url: Name | None = Field(None, description="Another address for the model, which the server must allow.")
    timeout: Seconds | None = Field(None, description="How many seconds one call may take.")


@router.post("/evaluations/{evaluation_id}/again", status_code=202, operation_id="evaluateAgain")
async def again(
    evaluation_id: str, body: EvaluationAgain, services: ServicesDep, client: ClientDep, user: UserDep, key: Key = None
) -> Evaluation:
    """Evaluate the same text again: with the same playbook, mode, runs and subject, by the evaluator that is named."""
    stored = await asyncio.to_thread(services.load, evaluation_id)
    config = evaluator_config(body.evaluator, body.base_url, key, services.settings, timeout=body.timeout)
    check_key(config)
    request = await asyncio.to_thread(stored_request, stored)
    name = user.authenticated_name
    repeated = replace(requested_by(request, name), report_id=config.clock.new_id(), evaluator=config.name)
    group = await asyncio.to_thread(_group, stored, services)
    new_id = await services.jobs.start(repeated, config, client=client, user=name, group=group)
    return await show(new_id, services)


def _group(stored: StoredEvaluation, services: Services) -> str:
    """Return the group of the judges of one text. A batch of documents is another kind of group."""
    if stored.group is None or services.store.batches.exists(stored.group):
        return stored.id
    return stored.group


@record
class JudgedReport:
    report_id: str
    evaluator: str
    """With a number where one evaluator judged several times."""
    timestamp: str
    status: ShownStatus


@record
class JudgedCheck:
    check_id: str
    title: str
    severity: Severity
    results: list[Result | None]
    """In the order of the reports; None where a report does not have the check."""
    agree: bool | None
    """None if not all of them judged it."""


@record
class JudgeTable:
    reports: list[JudgedReport]
    """All reports on the same text with the same playbook that were made together or again, the oldest first."""
    checks: list[JudgedCheck]
    summary: str


@router.get("/reports/{report_id}/judges", operation_id="compareJudges")
def judges(report_id: str, services: ServicesDep) -> JudgeTable:
    """Return where the evaluators of one text agree: a row per check, a column per report."""
    stored, own = services.load_with_report(report_id)
    ids = services.store.same_text(stored.id)[-MAX_JUDGES:]
    others = {name: services.load_with_report(name)[1] for name in ids if name != stored.id}
    reports = [own, *others.values()] if stored.id not in ids else [others.get(name, own) for name in ids]
    names = _names(reports)
    severities = {check.check_id: check.severity for report in reports for check in report.check_results}
    checks = [
        JudgedCheck(
            row.check_id,
            check_title(row.check_id),
            severities[row.check_id],
            [row.results.get(name) for name in names],
            row.agree,
        )
        for row in agreement(reports, names)
    ]
    entries = [
        JudgedReport(report.report_id, name, report.timestamp, labels.status(report))
        for report, name in zip(reports, names, strict=True)
    ]
    return JudgeTable(entries, checks, _summary(checks))


def _names(reports: list[Report]) -> list[str]:
    """Return the evaluators' names, with a number where they are not unique."""
    repeated = Counter(report.evaluator for report in reports)
    numbers: Counter[str] = Counter()
    names = []
    for report in reports:
        numbers[report.evaluator] += 1
        is_unique = repeated[report.evaluator] == 1
        names.append(report.evaluator if is_unique else f"{report.evaluator} #{numbers[report.evaluator]}")
    return names


def _summary(checks: list[JudgedCheck]) -> str:
    by_all = [check for check in checks if check.agree is not None]
    agreed = sum(bool(check.agree) for check in by_all)
    return f"The evaluators agree on {agreed} of {pluralize(len(by_all), 'check')} that all of them judged."
