"""Judge a run in two steps: take the questions to its judges, and give the verdict when their answers have come.

Only assertions with such questions are evaluated again in the second step. What the others found when the agent had
just run is kept: a function that looks at a database would find something else a day later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from salvo.engine.batches.client import dialect_of_path
from salvo.engine.batches.deferral import AnswerWire, DeferringWire, question_body
from salvo.engine.chat.base import Usage
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pricing import PriceBook, UnitPrices
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import RecordingOptions
from salvo.engine.wire.record import RecordingWire
from salvo.engine.wire.tape import Tape
from salvo.errors import StoreError
from salvo.scenarios.analysis.cost_estimate import CHARACTERS_PER_TOKEN
from salvo.scenarios.evaluators.evaluate import scored_positions
from salvo.scenarios.evaluators.registry import Registry
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult, Outcome
from salvo.scenarios.run.attempt import judge, without_verdict
from salvo.scenarios.run.environment import PreparedScenario, RunEnvironment, judging_lane
from salvo.scenarios.run.journal import Journal
from salvo.scenarios.run.redaction import redact_verdicts
from salvo.scenarios.run.stopwatch import Stopwatch
from salvo.scenarios.run.tools.toolbox import ReplayedToolBox
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.recordings.recording import Recording

_ANSWER_TOKENS = 300
"""What a vote with its reason is expected to have at most."""
PENDING = "The votes of its judge wait for the provider's batch: salvo collect"


class CollectedRun(NamedTuple):
    """A run that has its verdict now."""

    result: AgentRunResult
    prices: Mapping[str, UnitPrices | None]
    """The prices by which the judges were charged, by model."""
    recording: dict[str, bytes] | None = None
    """The files of its recording, if there is one."""


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


async def judge_pending(
    pending: AgentRunResult,
    answered: Tape,
    prepared: PreparedScenario,
    registry: Registry,
    redactor: Redactor,
    clock: Clock,
    price_book: PriceBook,
    recording: Recording | None = None,
    options: RecordingOptions | None = None,
) -> CollectedRun:
    """Return a pending run with its verdict."""
    answers = AnswerWire(answered, redactor)
    ignored = recording.tape.ignored if recording is not None and recording.tape.matching else None
    recorder = RecordingWire(answers, redactor, options, ignored=ignored) if recording is not None else None
    environment = RunEnvironment(
        prepared=prepared,
        wire=recorder or answers,
        toolbox=ReplayedToolBox([], [], clock, redactor),
        journal=Journal(clock, price_book=price_book),
        judging=Journal(clock, price_book=price_book),
        stopwatch=Stopwatch(clock),
        clock=clock,
        number=pending.number,
        timestamp=pending.timestamp,
        latency=pending.metrics.latency,
    )
    positions = [positions.start for positions in scored_positions(prepared.assertions_scenario())]
    if len(positions) != len(pending.eval_results):
        raise StoreError(f"The pending run {pending.run_id} does not have the assertions of its batch.")
    known = {
        position: item
        for position, item in zip(positions, pending.eval_results, strict=True)
        if item.cause is not Cause.JUDGE_PENDING
    }
    result = without_verdict(pending)
    result.error = None
    await judge(result, environment, registry, known)
    redact_verdicts(result, redactor)
    if recording is None or recorder is None:
        return CollectedRun(result, environment.judging.prices)
    tape = recording.tape
    tape.ambiguous += recorder.tape.ambiguous
    tape.exchanges += recorder.tape.exchanges
    for exchange in recorder.tape.exchanges:
        exchange.span = None  # its calls come after all of the agent's, a day later
    complete = replace(recording, result=result, prices={**recording.prices, **environment.judging.prices})
    if options is not None and options.hashes_only:
        complete = complete.without_content()
    return CollectedRun(result, environment.judging.prices, complete.to_files(redactor))
