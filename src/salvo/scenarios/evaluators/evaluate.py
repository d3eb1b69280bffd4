"""Evaluate all assertions of a run at once, and score the run by their results.

An evaluator that fails leaves its own assertion unjudged; the run and the other assertions are never lost.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from salvo.engine.runtime.pool import gather
from salvo.errors import ProviderError, SalvoError, TapeError
from salvo.records import record
from salvo.scenarios.evaluators import turns
from salvo.scenarios.evaluators.base import RunServices
from salvo.scenarios.evaluators.registry import Registry
from salvo.scenarios.evaluators.verdict import as_eval_result
from salvo.scenarios.result import AgentRunResult, Cause, ConversationTurn, EvalResult, Outcome
from salvo.scenarios.spec.judge_server import JudgeServer
from salvo.scenarios.spec.schema import END, EVERY_TURN, TURN, Assertion, Scenario

if TYPE_CHECKING:
    from salvo.engine.chat.judge import JudgeVote, Question

TOLERANCE = 1e-9
"""A score this close to the threshold reaches it: 0.7 + 0.1 must reach 0.8, and the mean of two thirds and one third
must reach a half. Exact fractions would fix the first sum but not the second."""


async def evaluate_all(
    scenario: Scenario,
    result: AgentRunResult,
    registry: Registry,
    services_for: Callable[[int], RunServices],
    known: Mapping[int, EvalResult] | None = None,
) -> list[EvalResult]:
    """Return the results in the order of the assertions, those inside turns of a conversation first.

    `services_for` gets the position of an assertion among all of the scenario, also those inside others. `known` are
    results, by position, that are not evaluated again.
    """
    assertions = [assertion for _, assertion in scenario.scored_assertions()]
    return await _Evaluation(scenario, result, registry, services_for, known or {}).run(assertions, 0)


def scored_positions(scenario: Scenario) -> list[range]:
    """Return the positions of each scored assertion and of those inside it, among all assertions."""
    sizes = [sum(1 for _ in assertion.walk()) for _, assertion in scenario.scored_assertions()]
    starts = accumulate(sizes[:-1], initial=0) if sizes else ()
    return [range(start, start + size) for start, size in zip(starts, sizes, strict=True)]


@record
class _Evaluation:
    scenario: Scenario
    result: AgentRunResult
    registry: Registry
    services_for: Callable[[int], RunServices]
    known: Mapping[int, EvalResult]
    turn: int | None = None
    """The turn at which everything is judged; None where each assertion says it."""

    async def run(self, assertions: Sequence[Assertion], first: int) -> list[EvalResult]:
        """Evaluate these assertions at once; `first` is the position of the first of them."""
        sizes = [sum(1 for _ in assertion.walk()) for assertion in assertions]
        positions = accumulate(sizes[:-1], initial=first)
        started = [self._start(assertion, position) for assertion, position in zip(assertions, positions, strict=True)]
        awaited = iter(await gather(item for item in started if not isinstance(item, EvalResult)))
        results = [item if isinstance(item, EvalResult) else next(awaited) for item in started]
        for verdict, assertion in zip(results, assertions, strict=True):
            verdict.name, verdict.type = assertion.label, assertion.type
            verdict.required, verdict.weight = assertion.required, assertion.weight
        return results

    def _start(self, assertion: Assertion, position: int) -> EvalResult | Coroutine[Any, Any, EvalResult]:
        """Return the result if the evaluator gives it at once, as most do; else what to wait for."""
        if (earlier := self.known.get(position)) is not None:
            return earlier
        if self.turn is None and assertion.at not in (None, END):
            return self._at_turns(assertion, position)
        timeout = asyncio.timeout(self.scenario.timeout)

        def evaluate_parts() -> Awaitable[list[EvalResult]]:
            parts = [part.model_copy(update={"at": assertion.at}) for _, part in assertion.parts]
            return self.run(parts, position + 1)

        services = _TimedServices(self.services_for(position), timeout, evaluate_parts, self.turn)
        try:
            evaluate = self.registry.find(assertion.type).evaluate
            returned = evaluate(self.scenario, assertion, self.result, services)
            if not inspect.isawaitable(returned):
                return as_eval_result(returned, assertion.type)
        except Exception as error:  # noqa: BLE001 - whatever it is, the run that has been paid for is kept
            return _failed(assertion, error)
        return _finish(returned, assertion, timeout, self.scenario.timeout)

    async def _at_turns(self, assertion: Assertion, position: int) -> EvalResult:
        async def at(turn: ConversationTurn) -> EvalResult:
            there = assertion.model_copy(update={"at": f"{TURN}{turn.number}"})
            view = replace(self, result=turns.run_at_turn(self.result, turn), turn=turn.number)
            [verdict] = await view.run([there], position)
            verdict.turn = turn.number
            return verdict

        if assertion.at == EVERY_TURN:
            return turns.every_turn(await gather(at(turn) for turn in self.result.turns))
        number = assertion.turn
        turn = next((turn for turn in self.result.turns if turn.number == number), None)
        return turns.not_reached(number or 0, self.result) if turn is None else await at(turn)


async def _finish(
    awaitable: Awaitable[EvalResult], assertion: Assertion, limit: asyncio.Timeout, seconds: float
) -> EvalResult:
    """Wait for the result, at most for the scenario's timeout: an evaluator that never ends must not block the run."""
    try:
        async with limit:
            return as_eval_result(await awaitable, assertion.type)
    except Exception as error:  # noqa: BLE001 - as above
        if not limit.expired():
            return _failed(assertion, error)
        name = assertion.fields.get("function") or assertion.fields.get("path") or assertion.type
        message = f"{name} was stopped after {seconds:g} s, the scenario's timeout."
        return EvalResult.unjudged(message, Cause.EVALUATOR)


class _TimedServices:
    """The services of an evaluator with a timeout, which stands still while a judge or another evaluator works.

    These have their own limits.
    """

    def __init__(
        self,
        services: RunServices,
        timeout: asyncio.Timeout,
        evaluate_parts: Callable[[], Awaitable[list[EvalResult]]],
        turn: int | None,
    ) -> None:
        self.load = services.load
        self._services = services
        self._timeout = timeout
        self._evaluate_parts = evaluate_parts
        self._turn = turn
        self._waiting = 0
        self._seconds_left = 0.0

    async def ask(
        self, model: str, question: Question, votes: int, server: JudgeServer | None = None
    ) -> list[JudgeVote]:
        if self._turn is not None:
            question = replace(question, part=f"turn-{self._turn}")
        with self._paused():
            return await self._services.ask(model, question, votes, server)

    async def evaluate_parts(self) -> list[EvalResult]:
        with self._paused():
            return await self._evaluate_parts()

    @contextmanager
    def _paused(self) -> Iterator[None]:
        now = asyncio.get_running_loop().time
        deadline = self._timeout.when()
        if deadline is not None and not self._waiting:
            self._seconds_left = deadline - now()
            self._timeout.reschedule(None)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:  # the last of what was asked at the same time
                self._timeout.reschedule(now() + self._seconds_left)


def _failed(assertion: Assertion, error: Exception) -> EvalResult:
    # Only a judge calls a provider here, or a tape in its place.
    cause = Cause.JUDGE if isinstance(error, (ProviderError, TapeError)) else Cause.EVALUATOR
    description = str(error) if isinstance(error, SalvoError) else f"{type(error).__name__}: {error}"
    return EvalResult.unjudged(f"{assertion.type} could not be evaluated. {description}", cause)


class RunVerdict(NamedTuple):
    outcome: Outcome
    cause: Cause | None
    passed: bool
    weighted_score: float | None
    """None if the run could not be judged."""


def score(results: Sequence[EvalResult], threshold: float) -> RunVerdict:
    """Return the verdict on a run.

    A required assertion that failed fails the run, even if others could not be judged. Otherwise, one that could not
    be judged makes the run an error.
    """
    if any(result.required and result.passed is False for result in results):
        return RunVerdict(Outcome.FAILED, Cause.ASSERTION, passed=False, weighted_score=0.0)
    unjudged = next((result for result in results if result.passed is None), None)
    if unjudged is not None or not results:
        cause = unjudged.cause if unjudged is not None else None
        return RunVerdict(Outcome.ERROR, cause or Cause.EVALUATOR, passed=False, weighted_score=None)
    weighted = _weighted_score(results)
    if abs(weighted - threshold) <= TOLERANCE:
        weighted = threshold  # so that the stored score is not below the threshold of a run that passed
    if weighted >= threshold:
        return RunVerdict(Outcome.PASSED, None, passed=True, weighted_score=weighted)
    return RunVerdict(Outcome.FAILED, Cause.ASSERTION, passed=False, weighted_score=weighted)


def _weighted_score(results: Sequence[EvalResult]) -> float:
    max_weight = max(result.weight for result in results)
    if max_weight == 0:
        return 1.0
    # Scaling by a power of two changes no digit, and keeps a sum of huge weights from overflowing.
    # fsum is exact to the last bit, so the order does not matter.
    _, exponent = math.frexp(max_weight)
    weights = [math.ldexp(result.weight, -exponent) for result in results]
    scores = [float(bool(result.passed) if result.score is None else result.score) for result in results]
    return math.fsum(map(float.__mul__, scores, weights)) / math.fsum(weights)
