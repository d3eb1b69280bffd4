"""Try a playbook on a text, or on the examples that its checks have. Nothing is stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from salvo.engine.runtime.pool import PoolStopped, gather
from salvo.errors import SalvoError, UsageError
from salvo.playbooks.enums import Mode, Result
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.request import EvaluationRequest, new_request
from salvo.playbooks.evaluate.runner import EvaluationContext, evaluate
from salvo.playbooks.evaluate.session import EvaluatorConfig
from salvo.playbooks.playbook.definition import Check, Playbook
from salvo.playbooks.playbook.document import EXAMPLES
from salvo.playbooks.report.report import CheckResult, Report
from salvo.records import record

MAX_TRIED_EXAMPLES = 200
"""Examples of all checks together: each may be a call of a model."""


@record
class TriedExample:
    check_id: str
    number: int
    """From 1, within the check."""
    expected: Result
    result: CheckResult
    agrees: bool | None
    """None if the evaluator did not judge it."""


async def try_text(playbook: Playbook, inputs: Inputs, config: EvaluatorConfig) -> Report:
    """Evaluate a text once, as a screening does."""
    request = new_request(config.clock.new_id(), playbook, inputs, config.name, mode=Mode.SCREENING)
    async with config.session() as context:
        return await _report(request, context)


async def try_examples(playbook: Playbook, config: EvaluatorConfig) -> list[TriedExample]:
    """Judge each example by its check alone, once."""
    examples = list(_examples(playbook))
    if len(examples) > MAX_TRIED_EXAMPLES:
        raise UsageError(
            f"The playbook has {len(examples)} examples, and {MAX_TRIED_EXAMPLES} can be tried at once.",
            hint="Try it with fewer examples.",
        )
    async with config.session() as context:

        async def judge(check: Check, number: int, text: str, expected: Result) -> TriedExample:
            request = EvaluationRequest(
                config.clock.new_id(),
                replace(playbook, checks=(check,)),
                Inputs.from_texts(text),
                config.name,
                Mode.SCREENING,
                runs=1,
            )
            [result] = (await _report(request, context)).check_results
            is_judged = not (result.incomplete or result.abstained)
            return TriedExample(check.id, number, expected, result, result.result is expected if is_judged else None)

        return await gather(judge(*example) for example in examples)


def _examples(playbook: Playbook) -> Iterator[tuple[Check, int, str, Result]]:
    for check, document in zip(playbook.checks, playbook.document["checks"], strict=True):
        if not check.derived:
            for number, example in enumerate(document.get(EXAMPLES, ()), start=1):
                yield check, number, example["text"], Result(example["expected"])


async def _report(request: EvaluationRequest, context: EvaluationContext) -> Report:
    outcome = await evaluate(request, context)
    if isinstance(outcome.report, PoolStopped):
        raise SalvoError(f"The trial was stopped: {outcome.report.reason}.")
    return outcome.report
