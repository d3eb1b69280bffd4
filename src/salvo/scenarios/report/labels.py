"""The texts about batches and runs that all renderings share. Foreign texts are returned unescaped. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from salvo.engine.stats.agreement_wording import bounds_text
from salvo.engine.stats.pass_rates import Interval
from salvo.engine.text.formatting import (
    NamedValue,
    at_least,
    at_most,
    exact_percent,
    money,
    or_unknown,
    percent,
    pluralize,
    seconds,
)
from salvo.records import record
from salvo.scenarios.analysis.confidence_gate import CORRECTED, EXACT, GateEvidence
from salvo.scenarios.analysis.suite import SuiteSummary
from salvo.scenarios.analysis.summary import (
    AssertionSummary,
    BatchCounts,
    BatchSummary,
    BatchVerdict,
    Cost,
    Failure,
    Group,
    LostRuns,
)
from salvo.scenarios.labels import sentences
from salvo.scenarios.result import Cause, Replayable
from salvo.scenarios.shards import is_named
from salvo.scenarios.store.backends.number_ranges import join_ranges
from salvo.scenarios.store.ids import split_run_id

if TYPE_CHECKING:
    from salvo.scenarios.analysis.divergence import Branch, Divergence

_SETTLED = (BatchVerdict.PASSED, BatchVerdict.FAILED)
CAUSES: Mapping[Cause, str] = {
    Cause.ASSERTION: "an assertion failed",
    Cause.TURN_LIMIT: "reached the turn limit",
    Cause.TIMEOUT: "timed out",
    Cause.REFUSAL: "refused to continue",
    Cause.LENGTH: "was cut off by the token limit",
    Cause.CONTEXT: "exceeded the model's context window",
    Cause.EXIT: "exited with an error",
    Cause.PROVIDER: "the provider failed",
    Cause.ADAPTER: "the adapter failed",
    Cause.MCP: "an MCP server failed",
    Cause.SIMULATOR: "the user failed",
    Cause.JUDGE: "the judge failed",
    Cause.JUDGE_PENDING: "its judges were not answered yet",
    Cause.EVALUATOR: "an evaluator failed",
    Cause.PRICE_UNKNOWN: "the price is unknown",
    Cause.STORE: "the run could not be stored",
    Cause.BUDGET: "the budget was used up",
    Cause.STOP_FIRST: "an earlier run failed",
    Cause.INTERRUPTED: "interrupted",
}
"""What the agent did in the first causes, up to EXIT; in the others, what else happened."""
_EXPLAINED = (Cause.EXIT, Cause.TIMEOUT)
"""The causes whose error says more than the cause."""
_MOST_REASONS = 5
_ONE_WAITS = "1 that waits for its judges"
VERDICTS: Mapping[BatchVerdict, str] = {
    BatchVerdict.PASSED: "The observed pass rate reaches the required one.",
    BatchVerdict.FAILED: "The observed pass rate is below the required one.",
    BatchVerdict.ERROR: "No run was completed, so nothing is known about the agent.",
    BatchVerdict.OPEN: "The remaining runs could still decide the verdict.",
    BatchVerdict.INCONCLUSIVE: "These runs cannot show whether the required pass rate is reached.",
}
_VERDICTS_BY_LABELS: Mapping[BatchVerdict, str] = {
    BatchVerdict.PASSED: "The pass rate, corrected by labels of people, reaches the required one.",
    BatchVerdict.FAILED: "The pass rate, corrected by labels of people, is below the required one.",
    BatchVerdict.INCONCLUSIVE: "There are too few labels of people to tell whether the required pass rate is reached.",
}
REPLAYS: Mapping[Replayable, str] = {
    "full": "Replays completely, without network, tools or keys.",
    "model-only": "The model’s responses are replayed; the program’s own tools run again.",
    "frozen-tools": "The agent runs again with the recorded tool results.",
    "no": "Cannot be replayed.",
}


def verdict_sentence(summary: BatchSummary) -> str:
    """Return what the verdict means."""
    by_labels = _VERDICTS_BY_LABELS.get(summary.verdict) if summary.labels_required else None
    return by_labels or VERDICTS[summary.verdict]


def why(summary: BatchSummary) -> str:
    """Return the reason for the verdict, as the end of a sentence that begins with the verdict."""
    if summary.pending and not summary.completed:
        return f"no run has a verdict yet; {_waits(summary)}"
    if summary.verdict is BatchVerdict.ERROR:
        return "no run was completed, so nothing is known about the agent"
    passed = f"{summary.passed} of {summary.completed} completed runs passed"
    target = f"min_pass_rate is {exact_percent(summary.min_pass_rate)}"
    if summary.labels_required:
        return f"{passed} by their judges; {_labelled(summary)}; {target}"
    if summary.evidence is not None:
        return f"{passed}; {_evidence(summary, summary.evidence)}; {target}"
    if summary.verdict is BatchVerdict.OPEN:
        return f"{passed}, and {_depends(summary)}; {target}"
    missing = f", whatever the {_undecided(summary)} would show" if summary.without_result or summary.pending else ""
    return f"{passed} ({_observed_evidence(summary)}); {target}{missing}"


def _labelled(summary: BatchSummary) -> str:
    """Return what labels show, if the scenario requires them."""
    if summary.verdict is BatchVerdict.OPEN:
        return _depends(summary)
    if summary.labels is None:
        return sentences.UNLABELLED
    return sentences.evidence_phrase(summary.labels, summary.min_pass_rate)


def _observed_evidence(summary: BatchSummary) -> str:
    """Return whether the runs show the verdict, which by default is that of the observed pass rate."""
    low, high = summary.interval
    least = summary.min_pass_rate
    if summary.verdict is BatchVerdict.PASSED:
        if low >= least:
            return f"shown with 95% confidence: at least {at_least(low, least)}"
        return f"observed; not shown: the runs are compatible with {at_least(low, least)}"
    if high < least:
        return f"shown with 95% confidence: at most {at_most(high, least)}"
    return f"observed; not shown: the runs are compatible with {at_most(high, least)}"


def _depends(summary: BatchSummary) -> str:
    return f"the verdict depends on the {_undecided(summary)}"


def _undecided(summary: BatchSummary) -> str:
    """Return how many runs may still decide the verdict, and why they have none."""
    counts = [
        (summary.without_result, f"{summary.without_result} without a result"),
        (summary.pending, f"{summary.pending} that wait for their judges" if summary.pending > 1 else _ONE_WAITS),
    ]
    return " and the ".join(text for number, text in counts if number)


def _waits(summary: BatchSummary) -> str:
    wait = "waits for its judges" if summary.pending == 1 else "wait for their judges"
    return f"{pluralize(summary.pending, 'run')} {wait}"


def pending(summary: BatchSummary) -> str | None:
    """Return how many runs wait for their judges, if any do."""
    return f"{_waits(summary)}, which were asked through a provider's batch API." if summary.pending else None


def _evidence(summary: BatchSummary, evidence: GateEvidence) -> str:
    """Return what the runs show with the required confidence, and what would settle the verdict."""
    low, high = evidence.interval
    least = summary.min_pass_rate
    if summary.verdict is BatchVerdict.PASSED:
        return f"with {exact_percent(evidence.confidence)} confidence the pass rate is at least {at_least(low, least)}"
    if summary.verdict is BatchVerdict.FAILED:
        return f"with {exact_percent(evidence.confidence)} confidence the pass rate is at most {at_most(high, least)}"
    if summary.verdict is BatchVerdict.OPEN and evidence.method == EXACT:
        return _depends(summary)
    text = f"with {exact_percent(evidence.confidence)} confidence it is {bounds_text(evidence.interval, least)}"
    if evidence.more is not None:
        settles = f"{text}, and {pluralize(evidence.more, 'more run')} without a failure would settle it"
        # The runs of --until-sure may be looked at at any time.
        return f"{settles}{_SECOND_LOOK}" if evidence.method == EXACT else settles
    if evidence.method == EXACT:
        return f"{text}, and thousands of passing runs would not settle it"
    if evidence.method == CORRECTED:
        return f"{text}, and --max-runs is reached"
    return f"{text}, and passing all further runs up to --max-runs would not settle it"


_SECOND_LOOK = " (but running again is a second look, which the confidence does not allow for: use --until-sure)"


def figures(summary: BatchSummary, *, pass_at_k: bool = False) -> Iterator[NamedValue]:
    """Yield pass rate, pass^k, cost and latency, as far as they are known."""
    if summary.completed:
        yield NamedValue("pass rate", _pass_rate(summary))
    if summary.labels is not None:
        yield NamedValue("corrected", sentences.corrected_rate(summary.labels, summary.min_pass_rate))
    if summary.pass_rate_bounds is not None:
        yield NamedValue("bounds", user_bounds(summary.simulator_errors, summary.pass_rate_bounds))
    if summary.verdict in _SETTLED and (saving := _saving(summary)):
        yield NamedValue("saving", saving)
    uncached = "; not from runs answered from a cache" if summary.independent < summary.completed else ""
    if summary.pass_hat:
        chances = _chances(summary.pass_hat, summary.pass_hat_intervals, summary.min_pass_rate)
        yield NamedValue("pass^k", f"{chances}  (the chance that k runs all pass{uncached})")
    if pass_at_k and summary.pass_at:
        chances = _chances(summary.pass_at, summary.pass_at_intervals, summary.min_pass_rate)
        yield NamedValue("pass@k", f"{chances}  (the chance that at least one of k runs passes{uncached})")
    yield from _cost_figures(summary)
    if summary.latency:
        latency = summary.latency
        yield NamedValue(
            "latency", f"p50 {seconds(latency.p50)}  p95 {seconds(latency.p95)}  max {seconds(latency.max)}"
        )
    if summary.turns:
        turns = summary.turns
        yield NamedValue("turns", f"{turns.average:.1f} to completion on average, {turns.min} to {turns.max}")
    if summary.identical:
        yield NamedValue(
            "identical", f"{summary.identical} of {summary.completed} runs have the same calls and output as another"
        )


def lost_runs(lost: LostRuns) -> str:
    """Return which runs were in flight when a worker or a command ended, and what that means for the cost."""
    counts = ((lost.at_worker_ends, "a worker"), (lost.at_command_ends, "a command"))
    parts = [f"{pluralize(count, 'run')} when {what} ended" for count, what in counts if count]
    numbers = join_ranges(split_run_id(run_id)[1] for run_id in lost.run_ids)
    texts = [str(item.first) if item.first == item.last else f"{item.first}-{item.last}" for item in numbers]
    runs = f"run {texts[0]}" if len(lost.run_ids) == 1 else f"runs {', '.join(texts)}"
    made = "calls that it had made" if len(lost.run_ids) == 1 else "calls that they had made"
    return f"{' and '.join(parts)} ({runs}): {made} may be paid for, and are not in the cost"


def user_bounds(runs: int, bounds: Interval) -> str:
    without = "the run without a usable user" if runs == 1 else f"all {runs:,} runs without a usable user"
    return f"{bounds_text(bounds)}: the pass rate if {without} had failed, or passed"


def _chances(chances: Mapping[int, float], intervals: Mapping[int, Interval], min_pass_rate: float) -> str:
    """Return the chance for each k. That of one run is the pass rate, so it is not rounded to the minimum either."""
    return "  ".join(
        f"{k}: {percent(chance, min_pass_rate)} ({bounds_text(intervals[k])})" for k, chance in chances.items()
    )


def _pass_rate(summary: BatchSummary) -> str:
    evidence = summary.evidence
    bounds = evidence.interval if evidence else summary.interval
    text = rate(summary)
    if evidence is None:
        text += ", 95% interval"
    elif evidence.corrected_rate is not None:
        # What is shown after early stopping is corrected for it, pass^k too; the observed rate is not.
        corrected = percent(evidence.corrected_rate, summary.min_pass_rate)
        settled = summary.verdict in _SETTLED
        why = ", biased by stopping early; corrected" if settled else "; corrected for a look after each round"
        text += f" observed{why} {corrected}, {_confidence(evidence)} interval"
    else:
        text += f", {_confidence(evidence)} {evidence.method}"
    text += f" {bounds_text(bounds, summary.min_pass_rate)}"
    if summary.independent < summary.completed:
        cached = pluralize(summary.completed - summary.independent, "run")
        return f"{text} from {summary.independent} (not from the {cached} answered from a cache)"
    least = at_least(bounds.low, summary.min_pass_rate)
    return f"{text}: {summary.passed} of {summary.completed} shows at least {least}"


def suite_counts(suite: SuiteSummary) -> str:
    """Return how many scenarios have which verdict."""
    counts = verdict_counts({verdict: suite.verdicts[verdict] for verdict in BatchVerdict if verdict in suite.verdicts})
    return f"{pluralize(suite.scenarios, 'scenario')}: {counts}"


def verdict_counts(counts: Mapping[BatchVerdict, int]) -> str:
    """Return how many scenarios have which verdict, in the given order."""
    return ", ".join(
        pluralize(count, "error") if verdict is BatchVerdict.ERROR else f"{count} {verdict}"
        for verdict, count in counts.items()
    )


def suite_mean(suite: SuiteSummary) -> str | None:
    """Return the mean pass rate over the scenarios or cases that have one, with its interval."""
    mean = suite.mean
    if mean is None:
        return None
    plural = " and ".join(f"{unit}s" for unit in suite.unit.split(" and "))
    subject = (
        f"the {plural}"
        if suite.units_with_rate == suite.units
        else f"{suite.units_with_rate} of {suite.units} {plural}"
    )
    error = f"standard error {mean.standard_error * 100:.1f} points, clustered by {suite.unit}"
    rate = f"{percent(mean.mean, *mean.interval)}, 95% interval {bounds_text(mean.interval)} ({error})"
    return f"Mean pass rate of {subject}: {rate}."


def _confidence(evidence: GateEvidence) -> str:
    return f"{exact_percent(evidence.confidence)}{' one-sided' if evidence.one_sided else ''}"


def _saving(summary: BatchSummary) -> str:
    """Return what stopping early saved; empty if the runs did not, or if it is not known."""
    evidence = summary.evidence
    if evidence is None or evidence.fixed_runs is None or evidence.corrected_rate is None:
        return ""
    saved = evidence.fixed_runs - summary.completed
    such = percent(evidence.corrected_rate, summary.min_pass_rate)
    planned = f"a fixed number of {evidence.fixed_runs} would settle a pass rate of {such} 9 times in 10"
    saving = f"{pluralize(saved, 'run')} saved" if saved > 0 else "no saving"
    return f"settled after {pluralize(summary.completed, 'run')}; {planned}: {saving}"


def rate(summary: BatchCounts) -> str:
    """Return the observed pass rate, never rounded to its minimum or to an end of its interval."""
    if summary.pass_rate is None:
        return "unknown"
    return percent(summary.pass_rate, summary.min_pass_rate, *summary.interval)


@record
class RateLabels:
    """A pass rate, its interval and its minimum as text, rounded so that none is shown as another."""

    rate: str
    interval: str
    required: str


def rate_labels(summary: BatchCounts) -> RateLabels:
    """Return the texts; the interval is the 95 % one, or that of the required confidence if the summary has it."""
    evidence = summary.evidence if isinstance(summary, BatchSummary) else None
    bounds = evidence.interval if evidence else summary.interval
    return RateLabels(
        rate(summary),
        "unknown" if summary.pass_rate is None else bounds_text(bounds, summary.min_pass_rate),
        exact_percent(summary.min_pass_rate),
    )


def interval(summary: BatchSummary) -> str:
    """Return the 95% interval of the pass rate, rounded outward, but never across its minimum."""
    return bounds_text(summary.interval, summary.min_pass_rate) if summary.completed else "unknown"


def score(value: float | None) -> str:
    return or_unknown(value, "{:.2f}".format)


def _cost(summary: BatchSummary) -> str:
    text = total(summary.cost)
    if summary.completed and text != "unknown":
        text += f", {_average(summary.cost)} per run"
    if summary.judge_cost.unknown or summary.judge_cost.at_least:
        text += f"; judge: {_judge_cost(summary)}"
    if summary.user_cost.unknown or summary.user_cost.at_least:
        text += f"; user: {total(summary.user_cost)}"
    if summary.cost.unknown and text != "unknown":
        text += f" (unknown for {pluralize(summary.cost.unknown, 'run')})"
    return text


def _judge_cost(summary: BatchSummary) -> str:
    text = total(summary.judge_cost)
    if summary.batch_judges:
        text += " through the batch API, at half the price"
    return "not known before the votes are collected" if summary.pending and not summary.completed else text


def _cost_figures(summary: BatchSummary) -> Iterator[NamedValue]:
    """Yield the cost, what it does not contain, and what prompt caching saved, where it is known."""
    yield NamedValue("cost", _cost(summary))
    if summary.lost is not None:
        yield NamedValue("in flight", lost_runs(summary.lost))
    saving = summary.cache_saving
    if saving is not None and saving >= 0:
        yield NamedValue("caching", f"saved {money(saving)} by prompt caching")
    elif saving is not None:
        more = f"prompt caching cost {money(-saving)} more than it saved"
        yield NamedValue("caching", f"{more}: the cache was written, and not read often enough yet")


def total(cost: Cost) -> str:
    return _dollars(cost.total, cost.at_least)


def _average(cost: Cost) -> str:
    return _dollars(cost.average, cost.average_at_least)


def _dollars(dollars: float | None, least: float) -> str:
    if dollars is not None:
        return money(dollars)
    return f"at least {money(least)}" if least else "unknown"


def notes(assertion: AssertionSummary, summary: BatchSummary) -> Iterator[str]:
    """Yield what else is to be said about an assertion."""
    if assertion.type == "cost_limit" and summary.completed:
        yield f"avg: {_average(summary.cost)}"
    if assertion.type == "latency_limit" and summary.latency:
        yield f"avg: {seconds(summary.latency.average)}"
    if assertion.unjudged:
        yield f"{assertion.unjudged} not judged"


def tolerated_failures(summary: BatchSummary) -> Iterator[str]:
    """Yield the assertions that failed in every run that judged them, although runs passed."""
    for assertion in summary.assertions:
        if assertion.always_tolerated:
            every = "the only run" if assertion.judged == 1 else f"all {assertion.judged} runs"
            condition = "" if assertion.judged == summary.completed else " that judged it"
            passed = "which" if assertion.judged == 1 else f"{assertion.tolerated} of them"
            yield f'The assertion "{assertion.label}" failed in {every}{condition}; {passed} passed nevertheless.'


def stopped(summary: BatchSummary) -> Iterator[str]:
    """Yield the failures that have another cause than an assertion, with what is known of it."""
    reasons = Counter(
        (failure.cause, failure.error if failure.cause in _EXPLAINED else None)
        for failure in summary.failures
        if failure.cause not in (None, Cause.ASSERTION)
    )
    for (cause, explanation), number in reasons.most_common(_MOST_REASONS):
        explained = f": {explanation}" if explanation else "."
        yield f"{pluralize(number, 'run')} failed: the agent {describe_cause(cause)}{explained}"
    if len(reasons) > _MOST_REASONS:
        rest = sum(reasons.values()) - sum(number for _, number in reasons.most_common(_MOST_REASONS))
        yield f"{pluralize(rest, 'more run')} failed for other reasons of this kind."


def describe_cause(cause: Cause | None) -> str:
    """Return what the agent did, or what else happened."""
    return CAUSES[cause] if cause else ""


def error(group: Group) -> str:
    """Return why a group of runs could not be judged."""
    return ": ".join(filter(None, [describe_cause(group.cause), group.message])) or "unknown reason"


def skipped(summary: BatchSummary) -> str | None:
    counts = [
        f"{number} {word}"
        for number, word in (
            (summary.not_run, "not run"),
            (summary.interrupted, "interrupted"),
            (summary.missing, "without a result"),
        )
        if number
    ]
    return f"Of {pluralize(summary.runs, 'run')}: {', '.join(counts)}." if counts else None


def continue_command(batch_id: str) -> str:
    """Return what makes the runs of a batch that have no result."""
    if is_named(batch_id):  # other commands may be making its runs, so it is not resumed by its id
        return "the same salvo run --batch or --shard again"
    return f"salvo run --resume {batch_id}"


def skip_reason(group: Group) -> str:
    """Return why a group of runs has no result."""
    reason = group.message or (group.cause or "").replace("_", " ") or "unknown reason"
    return f"{group.outcome.replace('_', ' ')}: {reason}"


def failure(failure: Failure) -> str:
    """Return why a run failed: its cause unless that is an assertion, and the assertions that failed."""
    cause = [describe_cause(failure.cause)] if failure.cause not in (None, Cause.ASSERTION) else []
    return ", ".join([*cause, *failure.assertions])


def divergence(divergence: Divergence) -> str:
    return f"failing and passing runs diverge at step {divergence.step}"


def branch(branch: Branch, kind: str) -> str:
    return f"{branch.count} of {branch.of} {kind} runs {branch.did}"
