"""The assertion `playbook`: a BYOP playbook on what an agent said in the end.

It knows both products, which do not know each other, and comes to the scenarios as a user's own type would.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from salvo.engine import jsontext
from salvo.engine.chat import catalog
from salvo.errors import SalvoError, UsageError
from salvo.playbooks import library, prompts
from salvo.playbooks.build import JudgedBy, conclude, standing
from salvo.playbooks.inputs import Inputs
from salvo.playbooks.judges import by_rules
from salvo.playbooks.judges.model import ballot_of
from salvo.playbooks.order import Order, new_order, runs_for
from salvo.playbooks.report import Report
from salvo.playbooks.runner import case_of, judged_by, scan
from salvo.playbooks.verdict import Mode, Status
from salvo.playbooks.votes import Vote
from salvo.scenarios.evaluators.base import EvalServices, Evaluate, EvaluatorType, Load, Place
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult
from salvo.scenarios.schema import Assertion, FileModel, Scenario

_NO_BASELINE = "A run of a scenario is compared with the other runs of its batch, not with a baseline."


class PlaybookFields(FileModel):
    """A BYOP playbook on the final output."""

    playbook: str = Field(library.STARTER, description="The id of one in the library, or the path of a file.")
    evaluator: str = Field(by_rules.NAME, description="rules, or a judge as provider/model.")
    runs: int | None = Field(None, ge=1, le=100, description="How often each check is judged. Default: the playbook's.")
    fail_on: Literal["alert", "review", "observe"] = Field(
        "alert", description="The mildest status of the report that fails the assertion."
    )


def _evaluator(services: EvalServices) -> Evaluate:
    async def evaluate(scenario: Scenario, assertion: Assertion, result: AgentRunResult) -> EvalResult:
        fields = PlaybookFields.model_validate(assertion.fields)
        said = _text(result)
        if not said.strip():
            return EvalResult.judged(False, "The final output is empty, so there is nothing to evaluate.")
        report = await _report(_order(fields, scenario, result, said), result.timestamp, services)
        verdict = _verdict(report, fields.fail_on)
        verdict.attachments = {"byop_report": report.document()}
        return verdict

    return evaluate


def _text(result: AgentRunResult) -> str:
    if result.final_text is not None:
        return result.final_text
    output = result.final_output
    return output if isinstance(output, str) else jsontext.dumps(output).decode()


def _order(fields: PlaybookFields, scenario: Scenario, result: AgentRunResult, said: str) -> Order:
    return new_order(
        report_id=result.run_id,
        playbook=library.named(fields.playbook),
        inputs=Inputs.of(said, prompt=scenario.user_message, system_instructions=scenario.system_prompt),
        evaluator=fields.evaluator,
        runs=fields.runs,
        subject=scenario.scenario,
        producer=result.model or None,
    )


async def _report(order: Order, timestamp: str, services: EvalServices) -> Report:
    scanned = await asyncio.to_thread(scan, order)
    if order.evaluator == by_rules.NAME:
        rules = by_rules.RulesJudge()
        cases = [case_of(order, scanned, check, run) for check, run in order.cases]
        votes = [Vote(case.check.id, case.run, await rules.worked_out(case)) for case in cases]
        judge = judged_by(rules)
    else:
        provider, model = catalog.find(order.evaluator)
        judge = JudgedBy(provider.name, model, prompts.PROMPT_ID, deterministic=False)
        votes = []
        for check in order.playbook.judged:
            question = prompts.question(case_of(order, scanned, check, run=1))
            cast = await services.ask(order.evaluator, question, order.runs)
            # What it cost is in the run's own account of its judges.
            votes += [Vote(check.id, run, ballot_of(vote, question, None)) for run, vote in enumerate(cast, start=1)]
    return conclude(order, votes, scanned, judge, timestamp=timestamp, baseline=_NO_BASELINE)


def _verdict(report: Report, fail_on: str) -> EvalResult:
    status = standing(report)
    reasons = " ".join(report.summary.status_reasons)
    if status.is_as_grave_as(Status(fail_on.upper())):
        verdict = EvalResult.judged(False, f"The playbook says {status}: {reasons}")
    elif report.incomplete:
        return EvalResult.unjudged("Too few votes were cast on the playbook's checks.", Cause.JUDGE)
    else:
        verdict = EvalResult.judged(True, f"The playbook says {status}: {reasons}")
    verdict.expected = f"milder than {fail_on.upper()}"
    verdict.actual = str(status)
    return verdict


def _check(_scenario: Scenario, given: Mapping[str, Any], _load: Load) -> list[tuple[str | Place, str]]:
    fields = PlaybookFields.model_validate(given)
    problems: list[tuple[str | Place, str]] = []
    try:
        playbook = library.named(fields.playbook)
    except SalvoError as fault:
        problems.append(("playbook", str(fault)))
    else:
        try:
            runs_for(Mode.FULL, playbook, fields.runs)
        except UsageError as fault:
            problems.append(("runs", str(fault)))
    if fields.evaluator != by_rules.NAME:
        try:
            catalog.find(fields.evaluator)
        except UsageError as fault:
            problems.append(("evaluator", str(fault)))
    return problems


TYPE = EvaluatorType("playbook", _evaluator, PlaybookFields, _check)
