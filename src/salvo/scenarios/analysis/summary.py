"""Entries of one batch -> its summary. Pure: no clock, no disk. What could not be judged is counted, never dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from salvo.engine.stats import Interval, pass_hat_k, percentile, wilson
from salvo.scenarios.analysis.confidence_gate import GateEvidence, gate_evidence
from salvo.scenarios.result import Batch, Cause, Outcome, SkippedRun
from salvo.scenarios.store.index import IndexEntry

_LADDER = (1, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


class BatchVerdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """Not one run was completed, so nothing can be said about the agent."""
    OPEN = "open"
    """Not every run was made, and those that were not could still decide it either way."""
    INCONCLUSIVE = "inconclusive"
    """The runs cannot show with the confidence asked for whether the pass rate holds."""


@dataclass(frozen=True, slots=True)
class AssertionSummary:
    """`judged` counts the runs in which it passed or failed; `unjudged` those in which neither could be said."""

    label: str
    type: str
    required: bool
    passed: int
    judged: int
    unjudged: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that failed: by which assertions, or by what else."""

    run_id: str
    number: int
    cause: Cause | None
    assertions: list[str]
    score: float | None
    error: str | None
    recorded: bool


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failed runs that share a cause and the assertions that failed."""

    cause: Cause | None
    assertions: list[str]
    count: int
    run_ids: list[str]


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that share an outcome, a cause and its message."""

    outcome: Outcome
    cause: Cause | None
    message: str
    count: int
    run_ids: list[str]

    @property
    def why(self) -> str:
        """Why these runs were not made: the same words wherever it is told."""
        reason = self.message or (self.cause or "").replace("_", " ") or "no reason is known"
        return f"{self.outcome.replace('_', ' ')}: {reason}"


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars. `total` and `average` are None where a run's cost is not known; then `at_least` is what is known.

    The total is over all runs that were made; the average is over the completed ones.
    """

    total: float | None
    at_least: float
    average: float | None
    average_at_least: float
    unknown: int


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds, over the completed runs."""

    average: float
    p50: float
    p95: float
    max: float


@dataclass(frozen=True, slots=True)
class BatchSummary:
    """Counts by outcome and `missing`, the runs without a result, add up to `runs`."""

    batch_id: str
    scenario_id: str
    provider: str
    model: str
    created_at: str
    source: str
    verdict: BatchVerdict
    runs: int
    completed: int
    passed: int
    failed: int
    errors: int
    not_run: int
    interrupted: int
    missing: int
    pass_rate: float | None
    interval: Interval
    min_pass_rate: float
    average_score: float | None
    pass_hat: dict[int, float]
    assertions: list[AssertionSummary]
    cost: Cost
    judge_cost: Cost
    latency: Latency | None
    failures: list[Failure]
    stopped: dict[Cause, int]
    """Failed runs by cause, where it was not an assertion."""
    error_groups: list[Group]
    evidence: GateEvidence | None
    """What decided, where a confidence is asked for."""
    not_made: list[Group]
    """Runs that were not run, or were interrupted, by reason."""

    @property
    def unmade(self) -> int:
        """All runs without an end: the verdict may still depend on them."""
        return self.not_run + self.interrupted + self.missing


def summarise(
    batch: Batch, entries: Sequence[IndexEntry], unmade: Mapping[int, SkippedRun] | None = None
) -> BatchSummary:
    """What the batch's runs show; entries of other batches are left aside, and of a repeated run the last counts.

    `unmade` has the runs that were not made, by number, where somebody knows why.
    """
    made = sorted({of.number: of for of in entries if of.batch_id == batch.batch_id}.values(), key=lambda of: of.number)
    counts = Counter(of.outcome for of in made)
    completed = [of for of in made if of.outcome in (Outcome.PASSED, Outcome.FAILED)]
    passed = counts[Outcome.PASSED]
    failures = [_failure(of) for of in completed if of.outcome is Outcome.FAILED]
    numbers = {of.number for of in made}
    never = {number: of for number, of in sorted((unmade or {}).items()) if number not in numbers}
    counts.update(of.outcome for of in never.values())
    cut = sum(of.outcome is Outcome.INTERRUPTED for of in never.values())
    runs = max(batch.runs, len(made) + len(never))
    pass_rate = passed / len(completed) if completed else None
    unknown = runs - len(completed) - counts[Outcome.ERROR]
    evidence = gate_evidence(batch, passed, len(completed))
    return BatchSummary(
        batch_id=batch.batch_id,
        scenario_id=batch.scenario_id,
        provider=batch.provider,
        model=batch.model,
        created_at=batch.created_at,
        source=batch.source,
        verdict=_verdict(batch, passed, len(completed), unknown, evidence),
        runs=runs,
        completed=len(completed),
        passed=passed,
        failed=counts[Outcome.FAILED],
        errors=counts[Outcome.ERROR],
        not_run=counts[Outcome.NOT_RUN],
        interrupted=counts[Outcome.INTERRUPTED],
        missing=runs - len(made) - len(never),
        pass_rate=pass_rate,
        interval=wilson(passed, len(completed)),
        min_pass_rate=batch.min_pass_rate,
        average_score=_mean([of.score for of in completed if of.score is not None]),
        pass_hat=_pass_hat(passed, len(completed)),
        assertions=_assertions(made),
        cost=_cost(made, completed, "cost", cut),
        judge_cost=_cost(made, completed, "judge_cost"),
        latency=_latency([of.latency for of in completed]),
        failures=failures,
        stopped=dict(Counter(of.cause for of in failures if of.cause not in (None, Cause.ASSERTION))),
        evidence=evidence,
        error_groups=_groups(_reason(of) for of in made if of.outcome is Outcome.ERROR),
        not_made=_groups(
            [
                *(_reason(of) for of in made if of.outcome in (Outcome.NOT_RUN, Outcome.INTERRUPTED)),
                *((of.outcome, of.cause, of.reason, batch.run_id(number)) for number, of in never.items()),
            ]
        ),
    )


def failure_groups(failures: Iterable[Failure]) -> list[FailureGroup]:
    """Failed runs by what they failed by, the largest group first."""
    groups: dict[tuple[Cause | None, tuple[str, ...]], list[str]] = {}
    for failure in failures:
        groups.setdefault((failure.cause, tuple(failure.assertions)), []).append(failure.run_id)
    found = [FailureGroup(cause, list(failed), len(ids), ids) for (cause, failed), ids in groups.items()]
    return sorted(found, key=lambda group: -group.count)


def _verdict(batch: Batch, passed: int, completed: int, unmade: int, evidence: GateEvidence | None) -> BatchVerdict:
    """Over the completed runs; open where it is not the same whether all others pass or all fail."""
    if not completed:
        return BatchVerdict.ERROR
    if evidence is not None and batch.max_runs is not None:
        # Its bounds hold whenever it was stopped, so what was not made leaves it open only where nothing is settled.
        stopped = unmade > 0 or batch.runs < batch.max_runs
        return BatchVerdict.OPEN if stopped and evidence.verdict == "inconclusive" else _GATED[evidence.verdict]
    worst, best = (_decided(batch, passed + more, completed + unmade) for more in (0, unmade))
    return worst if worst is best else BatchVerdict.OPEN


def _decided(batch: Batch, passed: int, runs: int) -> BatchVerdict:
    evidence = gate_evidence(batch, passed, runs)
    if evidence is not None:
        return _GATED[evidence.verdict]
    return BatchVerdict.PASSED if passed / runs >= batch.min_pass_rate else BatchVerdict.FAILED


_GATED = {"pass": BatchVerdict.PASSED, "fail": BatchVerdict.FAILED, "inconclusive": BatchVerdict.INCONCLUSIVE}


def _pass_hat(passed: int, completed: int) -> dict[int, float]:
    chances = {k: pass_hat_k(passed, completed, k) for k in _LADDER}
    return {k: chance for k, chance in chances.items() if chance is not None}


def _assertions(entries: Iterable[IndexEntry]) -> list[AssertionSummary]:
    """In the scenario's order. A run that was stopped has none, so a label is met where it first stands."""
    tallies: dict[tuple[str, str, bool, int], Counter[bool | None]] = {}
    for entry in entries:
        met: dict[tuple[str, str, bool], int] = {}
        for judged in entry.assertions:
            same = (judged.label, judged.type, judged.required)
            # Two assertions may look alike; they are told apart by their order.
            key = (*same, met.get(same, 0))
            if key not in tallies:
                tallies[key] = Counter()
            tallies[key][judged.passed] += 1
            met[same] = key[-1] + 1
    return [
        AssertionSummary(label, kind, required, tally[True], tally[True] + tally[False], tally[None])
        for (label, kind, required, _), tally in tallies.items()
    ]


def _cost(made: Sequence[IndexEntry], completed: Sequence[IndexEntry], which: str, cut: int = 0) -> Cost:
    """`cut` runs were ended in the middle: they have cost something, and nobody knows what."""
    all_known = [*(getattr(of, which) for of in made if of.outcome is not Outcome.NOT_RUN), *[None] * cut]
    of_completed = [getattr(of, which) for of in completed]
    known, average_known = (sum(c for c in costs if c is not None) for costs in (all_known, of_completed))
    average = average_known / len(completed) if completed else 0.0
    return Cost(
        total=None if None in all_known else known,
        at_least=known,
        average=None if None in of_completed or not completed else average,
        average_at_least=average,
        unknown=all_known.count(None),
    )


def _latency(seconds: list[float]) -> Latency | None:
    average, p50, p95 = _mean(seconds), percentile(seconds, 50), percentile(seconds, 95)
    if average is None or p50 is None or p95 is None:
        return None
    return Latency(average, p50, p95, max(seconds))


def _failure(entry: IndexEntry) -> Failure:
    return Failure(
        run_id=entry.run_id,
        number=entry.number,
        cause=entry.cause,
        assertions=[judged.label for judged in entry.assertions if judged.passed is False],
        score=entry.score,
        error=entry.error,
        recorded=entry.recorded,
    )


_Reason: TypeAlias = tuple[Outcome, Cause | None, str]


def _reason(entry: IndexEntry) -> tuple[Outcome, Cause | None, str, str]:
    return entry.outcome, entry.cause, entry.error or "", entry.run_id


def _groups(reasons: Iterable[tuple[Outcome, Cause | None, str, str]]) -> list[Group]:
    """Runs with the same outcome, cause and message together, the largest group first."""
    groups: dict[_Reason, list[str]] = {}
    for outcome, cause, message, run_id in reasons:
        groups.setdefault((outcome, cause, message), []).append(run_id)
    found = [Group(*reason, len(run_ids), run_ids) for reason, run_ids in groups.items()]
    return sorted(found, key=lambda group: -group.count)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
