"""Take the questions to the judges of a run, which wait for a provider's batch. `batch_judging` gives the verdict."""

from __future__ import annotations

from salvo.engine.batches.client import dialect_of_path
from salvo.engine.batches.deferral import DeferringWire, question_body
from salvo.engine.chat.base import Usage
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.tape import Tape
from salvo.scenarios.analysis.cost_estimate import CHARACTERS_PER_TOKEN
from salvo.scenarios.evaluators.evaluate import scored_positions
from salvo.scenarios.evaluators.registry import Registry
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult, Outcome
from salvo.scenarios.run.environment import RunEnvironment, judging_lane
from salvo.scenarios.run.journal import Journal
from salvo.scenarios.run.judging import judge
from salvo.scenarios.spec.schema import Scenario

_ANSWER_TOKENS = 300
"""What a vote with its reason is expected to have at most."""
PENDING = "The votes of its judge wait for the provider's batch: salvo collect"


async def defer_judges(
    result: AgentRunResult, environment: RunEnvironment, registry: Registry, redactor: Redactor
) -> bytes | None:
    """Evaluate a run without its judges. Return the questions to them as JSON; None if it has its verdict already."""
    wire = DeferringWire(redactor)
    environment.judge_wire = wire
    cause = result.cause
    await judge(result, environment, registry)
    if not wire.questions.exchanges:
        return None
    expect_votes(wire.questions, environment.judging)
    scenario = environment.prepared.assertions_scenario()
    waiting = _waiting(scenario, wire.questions)
    result.eval_results = [
        _pending(item) if is_waiting else item for item, is_waiting in zip(result.eval_results, waiting, strict=True)
    ]
    result.outcome, result.passed, result.weighted_score = Outcome.PENDING, False, None
    result.cause, result.error = cause or Cause.JUDGE_PENDING, None
    result.judge_cost = None
    return json_codec.dumps(wire.questions)


def expect_votes(questions: Tape, judging: Journal) -> None:
    """Count what the votes will cost, so that `--max-cost` limits it: when their price is known, they are paid for."""
    for exchange in questions.exchanges:
        body = question_body(exchange)
        usage = Usage(input=len(json_codec.dumps(body)) // CHARACTERS_PER_TOKEN, output=_ANSWER_TOKENS)
        judging.expect_reply(dialect_of_path(exchange.request.path), str(body.get("model", "")), usage)


def _waiting(scenario: Scenario, questions: Tape) -> list[bool]:
    """Return for each scored assertion whether it, or one inside it, has asked a judge."""
    lanes = {exchange.lane for exchange in questions.exchanges}

    def has_asked(position: int) -> bool:
        prefix = f"{judging_lane(scenario, position)}/"
        return any(lane.startswith(prefix) for lane in lanes)

    return [any(map(has_asked, positions)) for positions in scored_positions(scenario)]


def _pending(item: EvalResult) -> EvalResult:
    pending = EvalResult.unjudged(PENDING, Cause.JUDGE_PENDING)
    fields = {name: getattr(item, name) for name in ("name", "type", "required", "weight", "turn")}
    return pending.model_copy(update=fields)
