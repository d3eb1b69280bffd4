"""The assertion `playbook`: evaluates an agent's final output with a BYOP playbook.

It uses both products, which do not know each other. Scenarios find it by its entry point, as a user's own type.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from pydantic import Field

from salvo.engine.chat import catalog
from salvo.engine.sandbox.workers import in_killable_thread
from salvo.errors import SalvoError, UsageError
from salvo.playbooks.enums import Mode, Status
from salvo.playbooks.evaluate import prompts
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.judges import rules_judge
from salvo.playbooks.evaluate.judges.model import judge_answer
from salvo.playbooks.evaluate.request import EvaluationRequest, new_request, runs_for
from salvo.playbooks.evaluate.runner import build_case, judged_by, scan
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.playbook import library
from salvo.playbooks.report.builder import JudgedBy, build_report, judged_status
from salvo.playbooks.report.report import Report
from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType, FieldMessages, LoadObject
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Assertion, Scenario

_NO_BASELINE = "A run of a scenario is compared with the other runs of its batch, not with a baseline."


class PlaybookFields(FileModel):
    """A BYOP playbook on the final output."""

    playbook: str = Field(library.STARTER, description="The id of one in the library, or the path of a file.")
    evaluator: str = Field(rules_judge.NAME, description="rules, or a judge as provider/model.")
    runs: int | None = Field(None, ge=1, le=100, description="How often each check is judged. Default: the playbook's.")
    fail_on: Literal["alert", "review", "observe"] = Field(
        "alert", description="The mildest status of the report that fails the assertion."
    )


async def _evaluate(
    scenario: Scenario, assertion: Assertion, result: AgentRunResult, services: EvalServices
) -> EvalResult:
    fields = assertion.typed_fields(PlaybookFields)
    text = result.output_text
    if not text.strip():
        return EvalResult.judged(False, "The final output is empty, so there is nothing to evaluate.")
    request = new_request(
        report_id=result.run_id,
        playbook=library.find(fields.playbook),
        inputs=Inputs.from_texts(text, prompt=scenario.user_message, system_instructions=scenario.system_prompt),
        evaluator=fields.evaluator,
        runs=fields.runs,
        subject=scenario.scenario,
        producer=result.model or None,
    )
    report = await _report(request, result.timestamp, services)
    verdict = _verdict(report, fields.fail_on)
    verdict.attachments = {"byop_report": report.document()}
    return verdict


async def _report(request: EvaluationRequest, timestamp: str, services: EvalServices) -> Report:
    scanned = await in_killable_thread(scan, request)
    if request.evaluator == rules_judge.NAME:
        rules = rules_judge.RulesJudge()
        cases = [build_case(request, scanned, check, run) for check, run in request.cases]
        votes = [Vote(case.check.id, case.run, await rules.judge(case)) for case in cases]
        judge = judged_by(rules)
    else:
        provider, model = catalog.find(request.evaluator)
        judge = JudgedBy(provider.name, model, prompts.PROMPT_ID, deterministic=False)
        votes = []
        for check in request.playbook.judged_checks:
            question = prompts.question(build_case(request, scanned, check, run=1))
            answers = await services.ask(request.evaluator, question, request.runs)
            # Without a cost: the run counts the cost of its judges itself.
            votes += [
                Vote(check.id, run, judge_answer(answer, question, None)) for run, answer in enumerate(answers, start=1)
            ]
    build = partial(build_report, timestamp=timestamp, baseline=_NO_BASELINE)
    return await in_killable_thread(build, request, votes, scanned, judge)


def _verdict(report: Report, fail_on: str) -> EvalResult:
    status = judged_status(report)
    reasons = " ".join(report.summary.status_reasons)
    failed = status.reaches(Status(fail_on.upper()))
    if report.incomplete and not failed:
        return EvalResult.unjudged("Too few votes were cast on the playbook's checks.", Cause.JUDGE)
    message = f"The playbook says {status}: {reasons}"
    return EvalResult.judged(not failed, message, expected=f"milder than {fail_on.upper()}", actual=str(status))


def _check_fields(_: Scenario, values: Mapping[str, Any], __: LoadObject) -> FieldMessages:
    fields = PlaybookFields.model_validate(values)
    field = "playbook"
    try:
        playbook = library.find(fields.playbook)
        field = "runs"
        runs_for(Mode.FULL, playbook, fields.runs)
    except SalvoError as error:
        yield field, str(error)
    if fields.evaluator != rules_judge.NAME:
        try:
            catalog.find(fields.evaluator)
        except UsageError as error:
            yield "evaluator", str(error)


def _judge_model(_: Scenario, values: Mapping[str, Any]) -> str | None:
    evaluator = PlaybookFields.model_validate(values).evaluator
    return None if evaluator == rules_judge.NAME else evaluator


TYPE = EvaluatorType("playbook", _evaluate, PlaybookFields, _check_fields, _judge_model)
