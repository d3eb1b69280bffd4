"""What runs show about a pass rate, if a confidence is required. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, TypeAlias

from salvo.engine.stats.gating import GateVerdict, exact_interval, fewest_runs_to_pass, fixed_runs_needed, gate
from salvo.engine.stats.pass_rates import Interval, Tally, confidence_sequence
from salvo.engine.stats.sequential import SequentialPlan
from salvo.engine.text.formatting import at_least, exact_percent, pluralize
from salvo.records import record
from salvo.scenarios.result import Batch, Outcome
from salvo.scenarios.store.index import IndexEntry

EXACT: Literal["exact interval"] = "exact interval"
SEQUENCE: Literal["confidence sequence"] = "confidence sequence"
CORRECTED: Literal["exact interval, corrected for early stopping"] = "exact interval, corrected for early stopping"
Method: TypeAlias = Literal["exact interval", "confidence sequence", "exact interval, corrected for early stopping"]


@record
class GateEvidence:
    verdict: GateVerdict
    confidence: float
    method: Method
    """An exact interval is valid for a fixed number of runs, a confidence sequence at every look, and a corrected one
    after runs that stopped when their verdict was settled."""
    interval: Interval
    more: int | None
    """How many more runs without a failure would settle the verdict; null if it is settled, or if too many would be
    needed."""
    fixed_runs: int | None = None
    """For runs that stopped early because the verdict was settled: how many runs a plan with a fixed number would have
    needed for such a pass rate; null if they did not, or if thousands would not have been enough."""
    one_sided: bool = False
    """Whether the confidence is that of each bound of the interval."""
    corrected_rate: float | None = None
    """The median-unbiased estimate of the pass rate; null where the runs did not stop early, or it is not known."""


def required_confidence(batch: Batch) -> float | None:
    """Return None if no confidence is required, or if the values in the file make no sense."""
    valid = batch.confidence is not None and 0 < batch.confidence < 1 and 0 <= batch.min_pass_rate < 1
    return batch.confidence if valid else None


POWER = 0.9
"""How often the fixed number of runs, with which stopping early is compared, would have settled the verdict."""


def independent_tally(entries: Iterable[IndexEntry]) -> Tally:
    """Return the completed runs that are evidence. A run that was answered from a cache repeats another one."""
    outcomes = [entry.outcome for entry in entries if not entry.from_cache]
    passed = outcomes.count(Outcome.PASSED)
    return Tally(passed, passed + outcomes.count(Outcome.FAILED))


def settled_verdict(batch: Batch, tally: Tally) -> Literal["pass", "fail"] | None:
    """Return the verdict that the runs of `--until-sure` have settled; None if it is open, or none is required."""
    plan = _plan(batch, tally.runs)
    return None if plan is None else plan.verdict(*tally)


def is_unsettled(batch: Batch, entries: Iterable[IndexEntry]) -> bool:
    """Return whether a batch needs more runs (`--until-sure`) before its verdict can be given, and may have them.

    Runs are made in rounds, and the verdict is looked at only when all runs of a round have ended: looking earlier
    would be biased towards fast runs. The test is valid after every run, so it may be looked at after every round.
    """
    if batch.max_runs is None or batch.runs >= batch.max_runs:
        return False
    return required_confidence(batch) is not None and settled_verdict(batch, independent_tally(entries)) is None


def gate_evidence(batch: Batch, tally: Tally, looks: Sequence[int] = ()) -> GateEvidence | None:
    """Return None if no confidence is required.

    `looks` has the number of completed runs after each round of `--until-sure`, if it stopped by its rule.
    """
    confidence, plan = required_confidence(batch), _plan(batch, tally.runs)
    if confidence is None:
        return None
    one_sided = _one_sided(batch, confidence)
    if plan is None:
        result = gate(*tally, batch.min_pass_rate, confidence, one_sided=one_sided)
        return GateEvidence(result.verdict, confidence, EXACT, result.interval, result.more, one_sided=one_sided)
    settled = plan.verdict(*tally)
    estimate = plan.estimate(tally.passes, looks)
    if estimate is None:
        return GateEvidence(
            verdict=settled or "inconclusive",
            confidence=confidence,
            method=SEQUENCE,
            interval=confidence_sequence(*tally, 1 - 2 * plan.tail),
            more=None if settled else plan.more(*tally),
            one_sided=one_sided,
        )
    # After the last round nothing is kept for later looks, so the interval itself decides.
    low, high = estimate.interval
    verdict: GateVerdict = "inconclusive"
    if low >= plan.min_pass_rate or high < plan.min_pass_rate:
        verdict = "pass" if low >= plan.min_pass_rate else "fail"
    fixed = None
    if verdict != "inconclusive" and batch.runs < plan.max_runs:
        fixed = fixed_runs_needed(plan.min_pass_rate, estimate.rate, confidence, POWER, one_sided=one_sided)
    return GateEvidence(verdict, confidence, CORRECTED, estimate.interval, None, fixed, one_sided, estimate.rate)


def corrected_interval(batch: Batch, tally: Tally, looks: Sequence[int]) -> Interval | None:
    """Return the 95 % interval of the pass rate after runs that stopped early, whatever confidence was required."""
    plan = _plan(batch, tally.runs)
    estimate = plan.estimate(tally.passes, looks) if plan else None
    return estimate.interval_95 if estimate else None


def looks_until_stop(batch: Batch, entries: Collection[IndexEntry]) -> list[int]:
    """Return the number of independent completed runs after each round of `--until-sure`.

    Empty if the runs did not stop by their rule: rounds are missing, or were interrupted.
    """
    plan = _plan(batch, len(entries))
    rounds = batch.rounds if batch.rounds and batch.rounds[-1] == batch.runs else []
    if plan is None or not rounds or rounds != sorted(set(rounds)):
        return []
    by_number = {entry.number: entry for entry in entries}
    if by_number.keys() != set(range(1, batch.runs + 1)):
        return []
    tallies, passed, completed = [], 0, 0
    for first, last in zip([0, *rounds], rounds, strict=False):
        more = independent_tally(by_number[number] for number in range(first + 1, last + 1))
        passed, completed = passed + more.passes, completed + more.runs
        tallies.append(Tally(passed, completed))
    *earlier, stop = [plan.verdict(*tally) for tally in tallies]
    if any(earlier) or (stop is None and batch.runs < plan.max_runs):
        return []
    return sorted({tally.runs for tally in tallies} - {0})


def too_few_runs(batch: Batch) -> str | None:
    """Return a warning if the planned runs cannot show the required pass rate, even if all of them pass."""
    confidence = required_confidence(batch)
    if confidence is None:
        return None
    one_sided = _one_sided(batch, confidence)
    runs = batch.runs if batch.max_runs is None else batch.max_runs
    needed = fewest_runs_to_pass(batch.min_pass_rate, confidence, one_sided=one_sided)
    if runs >= needed:
        return None
    low = exact_interval(runs, runs, confidence, one_sided=one_sided).low
    target = exact_percent(batch.min_pass_rate)
    return (
        f"{batch.scenario_id}: {pluralize(runs, 'run')} cannot show a pass rate of {target} "
        f"with {exact_percent(confidence)} confidence: {runs} of {runs} would show at least "
        f"{at_least(low, batch.min_pass_rate)}. At least {needed} runs are needed."
    )


def _plan(batch: Batch, runs: int) -> SequentialPlan | None:
    """Return the plan of `--until-sure`; None for a fixed number of runs, or where no confidence is required."""
    confidence = required_confidence(batch)
    if confidence is None or batch.max_runs is None:
        return None
    return SequentialPlan(batch.min_pass_rate, confidence, max(batch.max_runs, runs, 1), _one_sided(batch, confidence))


def _one_sided(batch: Batch, confidence: float) -> bool:
    """Return whether the bounds are one-sided. Up to 50 % there is no such interval."""
    return batch.one_sided and confidence > 0.5
