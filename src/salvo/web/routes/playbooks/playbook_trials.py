"""/api/playbook-trials: try a playbook on a text or on its own examples. Nothing is stored."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import Field

from salvo.engine.sandbox.workers import in_killable_thread
from salvo.engine.text.formatting import pluralize
from salvo.playbooks.enums import Result, Severity
from salvo.playbooks.evaluate.inputs import Inputs, key_warnings
from salvo.playbooks.evaluate.judges import rules_judge
from salvo.playbooks.evaluate.session import EvaluatorConfig
from salvo.playbooks.evaluate.trial import TriedExample, try_examples, try_text
from salvo.playbooks.playbook.definition import Playbook
from salvo.playbooks.playbook.validate import playbook_without_errors
from salvo.playbooks.report import check_labels
from salvo.playbooks.report.claims import forbidden_claims
from salvo.playbooks.report.report import CheckResult
from salvo.records import record
from salvo.web.disconnection import while_connected
from salvo.web.request_models import Name, RequestModel, Seconds, Text, check_key, evaluator_config
from salvo.web.responses import JsonRoute
from salvo.web.routes.evaluations import Key
from salvo.web.routes.playbooks.playbooks import DocumentOrText, examine_input
from salvo.web.services import Services, ServicesDep

router = APIRouter(prefix="/api/playbook-trials", tags=["playbooks"], route_class=JsonRoute)

_EXAMPLE = {"playbook": {"metadata": {}}, "ai_output": "The clause is compliant.", "evaluator": "rules"}


class TrialCreate(RequestModel, json_schema_extra={"examples": [_EXAMPLE]}):
    playbook: DocumentOrText = Field(description="The document, or the text of its file. It need not be saved.")
    ai_output: Text = Field(description="A sample text, as an AI might write it.")
    source_document: Text | None = Field(None, description="The document that the AI was asked about.")
    evaluator: Name = Field(rules_judge.NAME, description='"rules", or a model such as "anthropic/claude-sonnet-4-6".')
    base_url: Name | None = Field(None, description="Another address for the model, which the server must allow.")
    timeout: Seconds | None = Field(None, description="How many seconds one call may take.")


class ExampleTrialCreate(RequestModel, json_schema_extra={"examples": [{"playbook": {"metadata": {}}}]}):
    playbook: DocumentOrText = Field(description="The document, or the text of its file. It need not be saved.")
    evaluator: Name = Field(rules_judge.NAME, description='"rules", or a model such as "anthropic/claude-sonnet-4-6".')
    base_url: Name | None = Field(None, description="Another address for the model, which the server must allow.")
    timeout: Seconds | None = Field(None, description="How many seconds one call may take.")


@record
class TriedCheck:
    check_id: str
    severity: Severity
    result: Result
    is_judged: bool
    """Whether the result means something: not if votes are missing, or the evaluator does not know the check."""
    notes: str
    quotes: tuple[str, ...]
    notices: tuple[str, ...]


@record
class TrialResult:
    evaluator: str
    checks: list[TriedCheck]
    warnings: tuple[str, ...]
    """That the text seems to contain a credential, if it does."""


@record
class ExampleResult:
    check_id: str
    number: int
    expected: Result
    agrees: bool | None
    """None if the evaluator did not judge it."""
    tried: TriedCheck


@record
class ExampleTrialResult:
    evaluator: str
    examples: list[ExampleResult]
    summary: str


@router.post("", operation_id="tryPlaybook")
async def try_playbook(body: TrialCreate, request: Request, services: ServicesDep, key: Key = None) -> TrialResult:
    """Evaluate a sample text once with a playbook that may not be saved. Nothing is stored."""
    config = _config(body, key, services)
    return await while_connected(request, _try_text(body, config, services))


def _config(body: TrialCreate | ExampleTrialCreate, key: Key, services: Services) -> EvaluatorConfig:
    config = evaluator_config(body.evaluator, body.base_url, key, services.settings, timeout=body.timeout)
    check_key(config)
    return config


async def _try_text(body: TrialCreate, config: EvaluatorConfig, services: Services) -> TrialResult:
    playbook = await in_killable_thread(_playbook, body.playbook)
    async with services.trials:
        report = await try_text(playbook, Inputs.from_texts(body.ai_output, body.source_document), config)
    warnings = key_warnings({"ai_output": body.ai_output, "source_document": body.source_document})
    return TrialResult(config.name, [_tried(check) for check in report.check_results], warnings)


@router.post("/examples", operation_id="tryPlaybookExamples")
async def try_playbook_examples(
    body: ExampleTrialCreate, request: Request, services: ServicesDep, key: Key = None
) -> ExampleTrialResult:
    """Judge the labelled examples of the checks, each once, and say where the result is not the expected one."""
    config = _config(body, key, services)
    return await while_connected(request, _try_examples(body, config, services))


async def _try_examples(body: ExampleTrialCreate, config: EvaluatorConfig, services: Services) -> ExampleTrialResult:
    playbook = await in_killable_thread(_playbook, body.playbook)
    async with services.trials:
        tried = await try_examples(playbook, config)
    examples = [
        ExampleResult(example.check_id, example.number, example.expected, example.agrees, _tried(example.result))
        for example in tried
    ]
    return ExampleTrialResult(config.name, examples, _summary(tried))


def _playbook(playbook: DocumentOrText) -> Playbook:
    return playbook_without_errors(*examine_input(playbook), "The playbook")


def _tried(check: CheckResult) -> TriedCheck:
    return TriedCheck(
        check_id=check.check_id,
        severity=check.severity,
        result=check.result,
        is_judged=not (check.incomplete or check.abstained),
        notes=check_labels.WITHHELD if forbidden_claims(check.notes) else check.notes,
        quotes=tuple(citation.span for citation in check.evidence_citations),
        notices=tuple(check_labels.check_notices(check)),
    )


def _summary(tried: list[TriedExample]) -> str:
    if not tried:
        return "No check has an example."
    decided = [example for example in tried if example.agrees is not None]
    agreeing = sum(bool(example.agrees) for example in decided)
    sentence = f"{agreeing} of {pluralize(len(decided), 'judged example')} as expected."
    if unjudged := len(tried) - len(decided):
        sentence += f" The evaluator did not judge {pluralize(unjudged, 'example')}."
    return sentence
