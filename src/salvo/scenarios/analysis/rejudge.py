"""Judge stored transcripts again, without running the agent: does the agent vary, or the judge?

The judge is asked the same questions as in the run, in separate lanes. The stored runs do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from salvo.engine.batches.deferral import DeferringWire
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.pool import PoolStopped, call_blocking
from salvo.engine.runtime.redact import Redactor
from salvo.errors import ProviderError
from salvo.records import record
from salvo.scenarios.evaluators.base import refuse_to_load
from salvo.scenarios.evaluators.evaluate import evaluate_all
from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.result import UNFINISHED, AgentRunResult, EvalResult
from salvo.scenarios.run.deferred_judging import expect_votes
from salvo.scenarios.run.environment import JudgeEndpoints, JudgingServices
from salvo.scenarios.run.transcripts import TranscriptSession
from salvo.scenarios.spec.judge_server import JUDGE
from salvo.scenarios.spec.schema import Assertion, Scenario
from salvo.scenarios.store.rejudge_store import JudgeVerdict, JudgingKey, PendingKey, Rejudgement, RejudgeStore


def only_judges(scenario: Scenario) -> Scenario:
    """Return the scenario with only the assertions that a model judges, also those inside others."""
    assertions = [judge for _, outer in scenario.scored_assertions() for judge in _judges(outer)]
    turns = [turn.model_copy(update={"assertions": []}) for turn in scenario.turns]
    return scenario.model_copy(update={"assertions": assertions, "turns": turns})


def _judges(outer: Assertion) -> list[Assertion]:
    """Return the judges of an assertion. Those inside it are asked when it is judged."""
    judges = (assertion for _, assertion in outer.walk() if assertion.type == JUDGE)
    return [judge if judge.at == outer.at else judge.model_copy(update={"at": outer.at}) for judge in judges]


def stored_verdicts(scenario: Scenario, result: AgentRunResult) -> list[bool | None]:
    """Return the stored verdict of each judge, in the order of `only_judges`; None where it is not known."""
    verdicts: list[bool | None] = []
    for (_, outer), stored in zip(scenario.scored_assertions(), result.eval_results, strict=False):
        of_judges = list(_verdicts(stored.type, stored.passed, stored.details))
        expected = len(_judges(outer))
        verdicts += of_judges if len(of_judges) == expected else [None] * expected
    return verdicts


def _verdicts(kind: object, passed: object, details: object) -> Iterator[bool | None]:
    """Yield the verdict of a judge, or of those inside a composed assertion. A stored file may hold anything there."""
    if kind == JUDGE:
        yield passed if isinstance(passed, bool) else None
    parts = details.get("parts") if isinstance(details, Mapping) else None
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, Mapping):
            yield from _verdicts(part.get("type"), part.get("passed"), part.get("details"))


def is_transcript(result: AgentRunResult) -> bool:
    """Return whether a run was judged: a run that did not finish was not."""
    return result.cause not in UNFINISHED and bool(result.eval_results)


def missing_rejudgements(
    transcripts: Sequence[AgentRunResult], stored: Iterable[Rejudgement], times: int, pending: Iterable[JudgingKey] = ()
) -> list[tuple[AgentRunResult, int]]:
    """Return what is still to be judged. Every transcript comes once before any comes twice, in case a budget ends.

    `pending` are judgings whose votes were asked for already.
    """
    stored_keys = {rejudgement.key for rejudgement in stored if rejudgement.voted} | set(pending)
    return [
        (result, time)
        for time in range(1, times + 1)
        for result in transcripts
        if (result.run_id, time) not in stored_keys
    ]


async def rejudge(
    scenario: Scenario,
    result: AgentRunResult,
    time: int,
    version: str,
    redactor: Redactor,
    services_for: Callable[[int, str], JudgingServices],
) -> tuple[Rejudgement, list[ProviderError]]:
    """Ask the judges of a scenario about a transcript. Return their verdicts, and what providers did wrong.

    `services_for` gets the position of a judge, and what its lane begins with.
    """
    services = [services_for(index, f"judging-{time}/") for index in range(len(scenario.assertions))]
    verdicts = await evaluate_all(scenario, result, builtin_registry(), services.__getitem__)
    costs = [service.journal.cost if service.journal.model_calls else 0.0 for service in services]
    stored = [_judge_verdict(verdict, cost, redactor) for verdict, cost in zip(verdicts, costs, strict=True)]
    faults = [fault for service in services for fault, _ in service.faults]
    return Rejudgement(result.run_id, time, version, stored), faults


@record
class RejudgeSession:
    """What is needed to judge transcripts again."""

    transcripts: TranscriptSession
    judgings: RejudgeStore
    version: str
    on_judged: Callable[[Rejudgement | None], None]
    """Is called with each judging; with None for one whose votes wait for a batch."""
    endpoints: JudgeEndpoints
    batch_command: str | None = None
    """The id of this command, if the questions wait for a provider's batch."""

    async def judge(self, scenario: Scenario, work: Sequence[tuple[AgentRunResult, int]]) -> list[PoolStopped]:
        """Judge each transcript in the list. Return what was stopped."""
        return await self.transcripts.evaluate_each(work, partial(self._once, scenario))

    async def _once(self, scenario: Scenario, work: tuple[AgentRunResult, int]) -> None:
        result, time = work
        session = self.transcripts
        deferring = None if self.batch_command is None else DeferringWire(session.redactor)

        def services(index: int, lane_prefix: str) -> JudgingServices:
            return JudgingServices(
                deferring or session.wire,
                session.journal(),
                refuse_to_load,
                scenario,
                index,
                lane_prefix=lane_prefix,
                endpoints=self.endpoints,
            )

        rejudgement, faults = await rejudge(scenario, result, time, self.version, session.redactor, services)
        in_thread = self.judgings.is_shared
        if deferring is not None and self.batch_command is not None and deferring.questions.exchanges:
            expect_votes(deferring.questions, session.journal())
            key = PendingKey(rejudgement.key, self.batch_command)
            questions = json_codec.dumps(deferring.questions)
            save = self.judgings.save_pending
            await call_blocking(save, result.batch_id, key, self.version, questions, in_thread=in_thread)
            self.on_judged(None)
            return
        await call_blocking(self.judgings.append, result.batch_id, rejudgement, in_thread=in_thread)
        self.on_judged(rejudgement)
        if (fault := next((fault for fault in faults if fault.is_permanent), None)) is not None:
            session.pool.stop(f"every further one would meet the same fault of its judge: {fault.message.rstrip('.')}")


def _judge_verdict(verdict: EvalResult, cost: float | None, redactor: Redactor) -> JudgeVerdict:
    votes = _votes(verdict)
    return JudgeVerdict(
        assertion=verdict.name,
        passed=verdict.passed,
        votes=[vote["passed"] for vote in votes],
        reasons=redactor.json([vote["reason"] or vote.get("problem", "") for vote in votes]),
        error=redactor.json(verdict.error),
        cost=cost,
    )


def _votes(verdict: EvalResult) -> Sequence[Mapping[str, Any]]:
    """Return the votes of a judge. At every turn, its first votes of all turns are one vote, and so on: the one that
    failed a turn, or else one that gave no vote, or else the last."""
    turns = verdict.details.get("turns")
    if turns is None:
        votes: Sequence[Mapping[str, Any]] = verdict.details.get("votes", ())
        return votes
    by_vote = zip(*(turn["details"].get("votes", ()) for turn in turns), strict=False)
    return [min(same, key=lambda vote: _ORDER[vote["passed"]]) for same in by_vote]


_ORDER: Mapping[bool | None, int] = {False: 0, None: 1, True: 2}
