"""Judge stored transcripts again, without running the agent: does the agent vary, or the judge?

The judge is asked the same questions as in the run, in separate lanes. The stored runs do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pool import Pool, PoolStopped, gather
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import Wire
from salvo.errors import StoreError
from salvo.scenarios.evaluators.base import LoadObject
from salvo.scenarios.evaluators.evaluate import evaluate_all
from salvo.scenarios.evaluators.registry import Registry, builtin_registry
from salvo.scenarios.result import UNFINISHED, AgentRunResult, EvalResult
from salvo.scenarios.run.environment import JudgingServices
from salvo.scenarios.run.journal import Journal
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.rejudge_store import JudgeVerdict, Rejudgement, RejudgeStore

JUDGE = "llm_judge"
_NOT_STORED = "judgings cannot be stored"


def only_judges(scenario: Scenario) -> Scenario:
    """Return the scenario with only the assertions that a model judges."""
    assertions = [assertion for assertion in scenario.assertions if assertion.type == JUDGE]
    return scenario.model_copy(update={"assertions": assertions})


def is_transcript(result: AgentRunResult) -> bool:
    """Return whether a run was judged: a run that did not finish was not."""
    return result.cause not in UNFINISHED and bool(result.eval_results)


def missing_rejudgements(
    transcripts: Sequence[AgentRunResult], stored: Iterable[Rejudgement], times: int
) -> list[tuple[AgentRunResult, int]]:
    """Return what is still to be judged. Every transcript comes once before any comes twice, in case a budget ends."""
    stored_keys = {(rejudgement.run_id, rejudgement.time) for rejudgement in stored if rejudgement.voted}
    return [
        (result, time)
        for time in range(1, times + 1)
        for result in transcripts
        if (result.run_id, time) not in stored_keys
    ]


@dataclass(frozen=True, slots=True)
class RejudgeSession:
    """What is needed to judge transcripts again."""

    wire: Wire
    redactor: Redactor
    clock: Clock
    pool: Pool
    judgings: RejudgeStore
    load: LoadObject
    version: str
    on_judged: Callable[[Rejudgement], None]
    registry: Registry = field(default_factory=builtin_registry)

    async def judge(self, scenario: Scenario, work: Sequence[tuple[AgentRunResult, int]]) -> list[PoolStopped]:
        """Judge each transcript in the list. Return what was stopped."""
        waiting = iter(work)
        stopped: list[PoolStopped] = []

        async def worker() -> None:
            for result, time in waiting:
                outcome = await self.pool.run(partial(self._once, scenario, result, time))
                if isinstance(outcome, PoolStopped):
                    stopped.append(outcome)

        await gather(worker() for _ in range(min(self.pool.limit, len(work))))
        return stopped

    async def _once(self, scenario: Scenario, result: AgentRunResult, time: int) -> Rejudgement:
        services = [
            JudgingServices(
                self.wire,
                Journal(self.clock, spend=self.pool.budget.spend),
                self.load,
                scenario,
                index,
                lane_prefix=f"judging-{time}/",
            )
            for index in range(len(scenario.assertions))
        ]
        verdicts = await evaluate_all(scenario, result, self.registry, services.__getitem__)
        costs = [service.journal.cost if service.journal.model_calls else 0.0 for service in services]
        stored = [_judge_verdict(verdict, cost, self.redactor) for verdict, cost in zip(verdicts, costs, strict=True)]
        rejudgement = Rejudgement(result.run_id, time, self.version, stored)
        try:
            self.judgings.append(result.batch_id, rejudgement)
        except StoreError:
            self.pool.stop(_NOT_STORED)  # do not pay for what cannot be stored
            raise
        self.on_judged(rejudgement)
        return rejudgement


def _judge_verdict(verdict: EvalResult, cost: float | None, redactor: Redactor) -> JudgeVerdict:
    votes = verdict.details.get("votes", ())
    return JudgeVerdict(
        assertion=verdict.name,
        passed=verdict.passed,
        votes=[vote["passed"] for vote in votes],
        reasons=redactor.json([vote["reason"] or vote.get("problem", "") for vote in votes]),
        error=redactor.json(verdict.error),
        cost=cost,
    )
