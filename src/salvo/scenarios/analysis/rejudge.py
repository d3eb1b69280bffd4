"""Stored transcripts judged again, without running the agent: is the variation the agent's, or the judge's?

The same questions as in the run, to the same judge, in lanes of their own. Nothing of the stored runs changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from salvo.engine.chat import catalog, judge
from salvo.engine.chat.judge import JudgeVote, Question
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pool import Pool, PoolStopped, gather
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import Wire
from salvo.errors import StoreError
from salvo.scenarios.evaluators.evaluate import evaluate_all
from salvo.scenarios.evaluators.registry import Registry
from salvo.scenarios.result import UNFINISHED, AgentRunResult, EvalResult
from salvo.scenarios.run.environment import judging_lane
from salvo.scenarios.run.journal import Journal
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.rejudge_store import JudgeVerdict, Rejudgement, RejudgeStore

JUDGE = "llm_judge"
_NOT_STORED = "judgings cannot be stored"


def judges_of(scenario: Scenario) -> Scenario:
    """The scenario with those assertions alone that a model judges."""
    judged = [assertion for assertion in scenario.assertions if assertion.type == JUDGE]
    return scenario.model_copy(update={"assertions": judged})


def is_transcript(result: AgentRunResult) -> bool:
    """A run that did not get to its end was never judged."""
    return result.cause not in UNFINISHED and bool(result.eval_results)


def still_to_do(
    transcripts: Sequence[AgentRunResult], made: Iterable[Rejudgement], times: int
) -> list[tuple[AgentRunResult, int]]:
    """All first judgings before any second: what a budget cuts short is then still even."""
    done = {(of.run_id, of.time) for of in made if of.voted}
    return [
        (result, time) for time in range(1, times + 1) for result in transcripts if (result.run_id, time) not in done
    ]


@dataclass(frozen=True, slots=True)
class RejudgeSession:
    """What judging needs; the judges sit on it."""

    wire: Wire
    registry: Registry
    redactor: Redactor
    clock: Clock
    pool: Pool
    judgings: RejudgeStore
    load: Callable[[str], Any]
    version: str
    on_judged: Callable[[Rejudgement], None]

    async def judge(self, scenario: Scenario, work: Sequence[tuple[AgentRunResult, int]]) -> list[PoolStopped]:
        """Each transcript once for each of its times to do; what was stopped is given back."""
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
        asked = [_Asked(self, scenario, place, time, Journal(self.clock)) for place in range(len(scenario.assertions))]
        verdicts = await evaluate_all(scenario, result, self.registry, asked.__getitem__)
        costs = [of.journal.cost if of.journal.model_calls else 0.0 for of in asked]
        for cost in costs:
            self.pool.budget.spend(cost)
        kept = [_kept(verdict, cost, self.redactor) for verdict, cost in zip(verdicts, costs, strict=True)]
        judging = Rejudgement(result.run_id, time, self.version, kept)
        try:
            self.judgings.append(result.batch_id, judging)
        except StoreError:
            self.pool.stop(_NOT_STORED)  # what cannot be kept must not be bought
            raise
        self.on_judged(judging)
        return judging


@dataclass(frozen=True, slots=True)
class _Asked:
    """The services of one assertion in one judging; what it asks is paid for apart."""

    bench: RejudgeSession
    scenario: Scenario
    place: int
    time: int
    journal: Journal

    async def ask(self, model: str, question: Question, votes: int) -> list[JudgeVote]:
        chat = catalog.chat_model(model, self.bench.wire)
        lane = f"judging-{self.time}/{judging_lane(self.scenario, self.place)}"
        cast = await judge.poll(chat, question, votes, lane)
        for vote in cast:
            for reply in vote.replies:
                self.journal.record_reply(chat.provider, reply)
        return cast

    def load(self, path: str) -> Any:
        return self.bench.load(path)


def _kept(verdict: EvalResult, cost: float | None, redactor: Redactor) -> JudgeVerdict:
    votes = verdict.details.get("votes", ())
    return JudgeVerdict(
        assertion=verdict.name,
        passed=verdict.passed,
        votes=[vote["passed"] for vote in votes],
        reasons=redactor.json([vote["reason"] or vote.get("problem", "") for vote in votes]),
        error=redactor.json(verdict.error),
        cost=cost,
    )
