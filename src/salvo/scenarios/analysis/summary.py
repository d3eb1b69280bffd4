"""Summarise the runs of a batch. Runs that could not be judged are counted separately. Pure: no clock, no disk."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias, TypeVar

from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.engine.stats.pass_rates import ChancesOfK, Interval, Tally, chances_of_k, clopper_pearson, percentile
from salvo.records import record
from salvo.scenarios.analysis.confidence_gate import (
    GateEvidence,
    corrected_interval,
    gate_evidence,
    looks_until_stop,
)
from salvo.scenarios.analysis.run_totals import CostTotal, RunTotals
from salvo.scenarios.labels.records import LabelEvidence
from salvo.scenarios.labels.requirement import required_labels
from salvo.scenarios.result import Batch, Cause, CodeVersion, Outcome, SkippedRun
from salvo.scenarios.store.index import IndexEntry
from salvo.scenarios.store.run_entries import RunEntries

K = TypeVar("K")
_Reason: TypeAlias = tuple[Outcome, Cause | None, str]
_LADDER = (1, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


class BatchVerdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """No run was completed, so nothing is known about the agent."""
    OPEN = "open"
    """Some runs have no result, and they could still change the verdict."""
    INCONCLUSIVE = "inconclusive"
    """The runs cannot show with the required confidence whether the pass rate is reached."""


WORST_FIRST = (
    BatchVerdict.FAILED,
    BatchVerdict.ERROR,
    BatchVerdict.OPEN,
    BatchVerdict.INCONCLUSIVE,
    BatchVerdict.PASSED,
)
"""Verdicts in the order of a report: first what somebody has to look at."""

_GATED = {"pass": BatchVerdict.PASSED, "fail": BatchVerdict.FAILED, "inconclusive": BatchVerdict.INCONCLUSIVE}


@record
class AssertionSummary:
    """`judged` counts the runs in which it passed or failed, `unjudged` those in which it could not be judged."""

    label: str
    type: str
    required: bool
    passed: int
    judged: int
    unjudged: int
    tolerated: int = 0
    """The number of runs that passed although it failed."""

    @property
    def always_tolerated(self) -> bool:
        """Whether it failed in every run that judged it, and runs passed all the same."""
        return self.tolerated > 0 and self.passed == 0


@record
class Failure:
    """A failed run, with the assertions or the other cause that made it fail."""

    run_id: str
    number: int
    cause: Cause | None
    assertions: list[str]
    score: float | None
    error: str | None
    recorded: bool


@record
class FailureGroup:
    """Failed runs that share a cause and the assertions that failed."""

    cause: Cause | None
    assertions: list[str]
    count: int
    run_ids: list[str]


@record
class Group:
    """Runs that share an outcome, a cause and its message."""

    outcome: Outcome
    cause: Cause | None
    message: str
    count: int
    run_ids: list[str]


@record
class Cost:
    """Dollars. `total` and `average` are null if the cost of a run is not known; `at_least` is the known part.

    The total is over all runs that were started, the average over the completed ones.
    """

    total: float | None
    at_least: float
    average: float | None
    average_at_least: float
    unknown: int


@record
class Latency:
    """Seconds, over the completed runs."""

    average: float
    p50: float
    p95: float
    max: float


@record
class TurnCounts:
    """How many turns the completed conversations had."""

    average: float
    min: int
    max: int


@record
class LostRuns:
    """Runs that were in flight when a worker or a command ended. Their calls may be paid for, and are in no cost."""

    at_worker_ends: int
    at_command_ends: int
    run_ids: list[str]
    """Of both. They were made again, or are missing."""


@record
class BatchCounts:
    """Counts by outcome and `missing`, the runs without a result, add up to `runs`."""

    batch_id: str
    scenario_id: str
    suite: str
    """The scenario's name in its file, if the file has cases or a matrix; else empty."""
    parameters: dict[str, str]
    """The ids of the cell's case and of its values of the matrix, by name."""
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
    pending: int
    """Runs whose judges' votes wait for a provider's batch. They are no part of any rate."""
    missing: int
    pass_rate: float | None
    independent: int
    """The completed runs that are evidence: not those that were answered from a cache."""
    independent_passed: int
    interval: Interval
    """The exact 95 % interval of the pass rate, over the independent runs; corrected if they stopped early."""
    min_pass_rate: float


@record
class BatchSummary(BatchCounts):
    """Counts by outcome and `missing`, the runs without a result, add up to `runs`."""

    average_score: float | None
    pass_hat: dict[int, float]
    """pass^k, the chance that k runs all pass, for k up to half of the independent runs."""
    pass_hat_intervals: dict[int, Interval]
    """With the confidence of the pass rate's interval."""
    pass_at: dict[int, float]
    """pass@k, the chance that at least one of k runs passes, for the same k."""
    pass_at_intervals: dict[int, Interval]
    identical: int
    """The completed runs whose tool calls and final output are those of another one. They are counted."""
    assertions: list[AssertionSummary]
    cost: Cost
    judge_cost: Cost
    user_cost: Cost
    """What the simulated users cost."""
    cache_saving: float | None
    """Dollars that prompt caching saved the agents, as far as it is known; negative if it cost more than it saved."""
    turns: TurnCounts | None
    """How long the conversations were, if the scenario is one."""
    simulator_errors: int
    """The errors whose cause is the user of the conversation. They are outside of the pass rate."""
    pass_rate_bounds: Interval | None
    """The pass rate if all of these had failed, and if all had passed; None if there are none."""
    latency: Latency | None
    failures: list[Failure]
    stopped: dict[Cause, int]
    """The number of failed runs by cause, apart from assertions."""
    error_groups: list[Group]
    evidence: GateEvidence | None
    """What the verdict is based on, if a confidence is required."""
    labels: LabelEvidence | None
    """The pass rate as people see it, if runs were labelled. It decides if the scenario has `labels`."""
    labels_required: bool
    not_made: list[Group]
    """Runs that were not started or were interrupted, by reason."""
    lost: LostRuns | None
    batch_judges: bool
    """Whether the judges are asked through a provider's batch API, at half the price."""
    code: CodeVersion

    @property
    def without_result(self) -> int:
        """The number of runs without a result. The verdict may depend on them."""
        return self.not_run + self.interrupted + self.missing


def summarise(
    batch: Batch,
    entries: Collection[IndexEntry],
    skipped: Mapping[int, SkippedRun] | None = None,
    labels: LabelEvidence | None = None,
) -> BatchSummary:
    """Return the summary of a batch. Entries of other batches are ignored, and the last entry of a run counts.

    `skipped` has the runs without an entry whose reason is known, by number. If the scenario requires `labels` and they
    are not passed, the verdict is inconclusive.
    """
    stored = entries if isinstance(entries, RunEntries) else _in_order(batch, entries)
    numbers = {entry.number for entry in stored} if skipped else ()
    without_entry = {number: run for number, run in sorted((skipped or {}).items()) if number not in numbers}
    unfinished = {number for number, run in without_entry.items() if run.outcome is Outcome.INTERRUPTED}
    totals = RunTotals(stored, unfinished | _lost_numbers(batch, "worker", "command"))
    counts = totals.counts
    passed = counts[Outcome.PASSED]
    completed = passed + counts[Outcome.FAILED]
    failures = [_failure(entry) for entry in totals.failed]
    counts.update(run.outcome for run in without_entry.values())
    runs = max(batch.runs, len(stored) + len(without_entry))
    tally = Tally(totals.independent[Outcome.PASSED], totals.independent.total())
    looks = looks_until_stop(batch, stored)
    evidence = gate_evidence(batch, tally, looks)
    interval = corrected_interval(batch, tally, looks) or clopper_pearson(*tally)
    chances = _chances(tally, evidence, interval)
    not_made = [_reason(entry) for entry in totals.not_made]
    not_made += [((run.outcome, run.cause, run.reason), batch.run_id(number)) for number, run in without_entry.items()]
    simulator_errors = totals.simulator_errors
    undecided = runs - completed - counts[Outcome.ERROR]
    return copy_fields(
        BatchSummary,
        batch,
        verdict=(
            _labelled_verdict(completed, undecided, labels, counts[Outcome.PENDING])
            if required_labels(batch) is not None
            else _verdict(batch, Tally(passed, completed), tally, undecided, evidence, counts[Outcome.PENDING])
        ),
        runs=runs,
        completed=completed,
        passed=passed,
        failed=counts[Outcome.FAILED],
        errors=counts[Outcome.ERROR],
        not_run=counts[Outcome.NOT_RUN],
        interrupted=counts[Outcome.INTERRUPTED],
        pending=counts[Outcome.PENDING],
        missing=runs - len(stored) - len(without_entry),
        pass_rate=passed / completed if completed else None,
        independent=tally.runs,
        independent_passed=tally.passes,
        interval=interval,
        average_score=_mean(totals.scores),
        pass_hat={k: chance.all_pass for k, chance in chances.items()},
        pass_hat_intervals={k: chance.all_pass_interval for k, chance in chances.items()},
        pass_at={k: chance.any_passes for k, chance in chances.items()},
        pass_at_intervals={k: chance.any_passes_interval for k, chance in chances.items()},
        identical=totals.identical,
        assertions=_assertions(totals),
        cost=_cost(totals.costs["cost"], completed),
        judge_cost=_cost(totals.costs["judge_cost"], completed),
        user_cost=_cost(totals.costs["user_cost"], completed),
        cache_saving=math.fsum(totals.savings) if totals.savings else None,
        turns=_turn_counts(totals.turns),
        simulator_errors=simulator_errors,
        pass_rate_bounds=bounds_with(simulator_errors, passed, completed),
        latency=_latency(totals.latencies),
        failures=failures,
        stopped=dict(Counter(run.cause for run in failures if run.cause not in (None, Cause.ASSERTION))),
        evidence=evidence,
        labels=labels,
        labels_required=required_labels(batch) is not None,
        error_groups=_groups(map(_reason, totals.errors)),
        not_made=_groups(not_made),
        lost=_lost_runs(batch),
        batch_judges=batch.defers_judges,
    )


def failure_groups(failures: Iterable[Failure]) -> list[FailureGroup]:
    """Group failed runs by cause and failed assertions, largest group first."""
    groups = _group(((failure.cause, tuple(failure.assertions)), failure.run_id) for failure in failures)
    return [FailureGroup(cause, list(labels), len(run_ids), run_ids) for (cause, labels), run_ids in groups]


def _chances(tally: Tally, evidence: GateEvidence | None, interval: Interval) -> dict[int, ChancesOfK]:
    """Return the chances for k up to half of the runs. More runs than that would all depend on single failures."""
    rate = evidence.corrected_rate if evidence else None
    bounds = evidence.interval if evidence else interval
    return {k: chances_of_k(tally, k, bounds, rate) for k in _LADDER if 2 * k <= tally.runs}


def _verdict(
    batch: Batch, observed: Tally, tally: Tally, undecided: int, evidence: GateEvidence | None, pending: int
) -> BatchVerdict:
    """Return the verdict over the completed runs; OPEN if it depends on whether the undecided runs pass or fail.

    A required confidence is about the independent runs, and otherwise all that was observed counts.
    """
    if not observed.runs:
        return BatchVerdict.OPEN if pending else BatchVerdict.ERROR
    if evidence is not None and batch.max_runs is not None:
        # The bounds are valid whenever the runs stop, so missing runs matter only if nothing is settled.
        stopped = undecided > 0 or batch.runs < batch.max_runs
        return BatchVerdict.OPEN if stopped and evidence.verdict == "inconclusive" else _GATED[evidence.verdict]
    passed, runs = observed if evidence is None else tally
    worst, best = (_final_verdict(batch, Tally(passed + more, runs + undecided)) for more in (0, undecided))
    return worst if worst is best else BatchVerdict.OPEN


def _labelled_verdict(completed: int, undecided: int, labels: LabelEvidence | None, pending: int) -> BatchVerdict:
    """Return the verdict by labels. Runs without a result have none, so they leave it open."""
    if not completed:
        return BatchVerdict.OPEN if pending else BatchVerdict.ERROR
    if undecided:
        return BatchVerdict.OPEN
    return BatchVerdict.INCONCLUSIVE if labels is None else _GATED[labels.verdict]


def _final_verdict(batch: Batch, tally: Tally) -> BatchVerdict:
    evidence = gate_evidence(batch, tally)
    if evidence is not None:
        return _GATED[evidence.verdict]
    return BatchVerdict.PASSED if tally.passes / tally.runs >= batch.min_pass_rate else BatchVerdict.FAILED


def _in_order(batch: Batch, entries: Iterable[IndexEntry]) -> list[IndexEntry]:
    """Return the entries of a batch ordered by number."""
    by_number = {entry.number: entry for entry in entries if entry.batch_id == batch.batch_id}
    return sorted(by_number.values(), key=lambda entry: entry.number)


def _assertions(totals: RunTotals) -> list[AssertionSummary]:
    return [
        AssertionSummary(*key[:3], tally[True], tally[True] + tally[False], tally[None], totals.tolerated[key])
        for key, tally in totals.assertions.items()
    ]


def _cost(costs: CostTotal, completed: int) -> Cost:
    average = costs.completed / completed if completed else 0.0
    return Cost(
        total=None if costs.unknown else costs.total,
        at_least=costs.total,
        average=None if costs.completed_unknown or not completed else average,
        average_at_least=average,
        unknown=costs.unknown,
    )


def _lost_numbers(batch: Batch, *ends: str) -> set[int]:
    """Return the runs that were in flight at these ends. A file may say anything."""
    lost = (number for item in batch.lost_attempts if item.ended in ends for number in item.numbers)
    return {number for number in lost if 0 < number <= batch.runs}


def _lost_runs(batch: Batch) -> LostRuns | None:
    at_worker_ends, at_command_ends = _lost_numbers(batch, "worker"), _lost_numbers(batch, "command")
    numbers = sorted(at_worker_ends | at_command_ends)
    if not numbers:
        return None
    return LostRuns(len(at_worker_ends), len(at_command_ends), [batch.run_id(number) for number in numbers])


def _latency(seconds: Sequence[float]) -> Latency | None:
    average, p50, p95 = _mean(seconds), percentile(seconds, 50), percentile(seconds, 95)
    if average is None or p50 is None or p95 is None:
        return None
    return Latency(average, p50, p95, max(seconds))


def _turn_counts(turns: Sequence[int]) -> TurnCounts | None:
    return TurnCounts(sum(turns) / len(turns), min(turns), max(turns)) if turns else None


def bounds_with(missing: int, passed: int, completed: int) -> Interval | None:
    """Return the pass rate with so many more runs: if all of them had failed, and if all had passed."""
    runs = completed + missing
    return Interval(passed / runs, (passed + missing) / runs) if missing else None


def _failure(entry: IndexEntry) -> Failure:
    failed = [assertion.label for assertion in entry.assertions if assertion.passed is False]
    return copy_fields(Failure, entry, assertions=failed)


def _reason(entry: IndexEntry) -> tuple[_Reason, str]:
    return (entry.outcome, entry.cause, entry.error or ""), entry.run_id


def _groups(reasons: Iterable[tuple[_Reason, str]]) -> list[Group]:
    return [Group(*reason, len(run_ids), run_ids) for reason, run_ids in _group(reasons)]


def _group(items: Iterable[tuple[K, str]]) -> list[tuple[K, list[str]]]:
    """Return the run ids by key, largest group first."""
    groups: dict[K, list[str]] = {}
    for key, run_id in items:
        groups.setdefault(key, []).append(run_id)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
