"""The texts about batches and runs that all renderings share. Foreign texts are returned unescaped. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from salvo.engine.text.formatting import NamedValue, at_least, at_most, money, or_unknown, percent, pluralize, seconds
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.analysis.confidence_gate import GateEvidence
from salvo.scenarios.analysis.divergence import Branch, Divergence
from salvo.scenarios.analysis.summary import AssertionSummary, BatchSummary, BatchVerdict, Cost, Failure, Group
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult, Outcome, Replayable

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
    Cause.JUDGE: "the judge failed",
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
VERDICTS: Mapping[BatchVerdict, str] = {
    BatchVerdict.PASSED: "The required pass rate was reached.",
    BatchVerdict.FAILED: "The required pass rate was not reached.",
    BatchVerdict.ERROR: "No run was completed, so nothing is known about the agent.",
    BatchVerdict.OPEN: "The remaining runs could still decide the verdict.",
    BatchVerdict.INCONCLUSIVE: "These runs cannot show whether the required pass rate is reached.",
}
REPLAYS: Mapping[Replayable, str] = {
    "full": "Replays completely, without network, tools or keys.",
    "model-only": "The model’s responses are replayed; the program’s own tools run again.",
    "frozen-tools": "The agent runs again with the recorded tool results.",
    "no": "Cannot be replayed.",
}


def why(summary: BatchSummary) -> str:
    """Return the reason for the verdict, as the end of a sentence that begins with the verdict."""
    if summary.verdict is BatchVerdict.ERROR:
        return "no run was completed, so nothing is known about the agent"
    passed = f"{summary.passed} of {summary.completed} completed runs passed"
    target = f"min_pass_rate is {percent(summary.min_pass_rate)}"
    if summary.evidence is not None:
        return f"{passed}; {_evidence(summary, summary.evidence)}; {target}"
    if summary.verdict is BatchVerdict.OPEN:
        return f"{passed}, and {_depends(summary)}; {target}"
    missing = f", whatever the {summary.without_result} without a result would show" if summary.without_result else ""
    return f"{passed}; {target}{missing}"


def _depends(summary: BatchSummary) -> str:
    return f"the verdict depends on the {summary.without_result} without a result"


def _evidence(summary: BatchSummary, evidence: GateEvidence) -> str:
    """Return what the runs show with the required confidence, and what would settle the verdict."""
    low, high = evidence.interval
    if summary.verdict is BatchVerdict.PASSED:
        return f"with {_confidence(evidence)} confidence the pass rate is at least {at_least(low)}"
    if summary.verdict is BatchVerdict.FAILED:
        return f"with {_confidence(evidence)} confidence the pass rate is at most {at_most(high)}"
    if summary.verdict is BatchVerdict.OPEN and evidence.method == "exact interval":
        return _depends(summary)
    text = f"with {_confidence(evidence)} confidence it is {at_least(low)} to {at_most(high)}"
    if evidence.more is None:
        return f"{text}, and thousands of passing runs would not settle it"
    return f"{text}, and {pluralize(evidence.more, 'more passing run')} would settle it"


def figures(summary: BatchSummary) -> Iterator[NamedValue]:
    """Yield pass rate, pass^k, cost and latency, as far as they are known."""
    if summary.completed:
        low, high = summary.evidence.interval if summary.evidence else summary.interval
        method = f"{_confidence(summary.evidence)} {summary.evidence.method}" if summary.evidence else "95% interval"
        yield NamedValue(
            "pass rate",
            f"{rate(summary)}, {method} {at_least(low)} to {at_most(high)}: "
            f"{summary.passed} of {summary.completed} shows at least {at_least(low)}",
        )
    if summary.evidence and summary.evidence.method == "confidence sequence" and summary.verdict in _SETTLED:
        yield NamedValue("saving", _saving(summary.evidence, summary))
    if summary.completed:
        chances = "  ".join(f"{k}: {percent(chance)}" for k, chance in summary.pass_hat.items())
        yield NamedValue("pass^k", f"{chances}  (the chance that k runs all pass)")
    yield NamedValue("cost", _cost(summary))
    if summary.latency:
        latency = summary.latency
        yield NamedValue(
            "latency", f"p50 {seconds(latency.p50)}  p95 {seconds(latency.p95)}  max {seconds(latency.max)}"
        )


def _confidence(evidence: GateEvidence) -> str:
    return f"{evidence.confidence * 100:.4g}%"


def _saving(evidence: GateEvidence, summary: BatchSummary) -> str:
    settled = f"settled after {pluralize(summary.completed, 'run')}"
    if evidence.fixed_runs is None:
        return f"{settled}; a fixed number up to 5,000 would not settle such a pass rate 9 times in 10"
    saved = evidence.fixed_runs - summary.completed
    planned = f"a fixed number of {evidence.fixed_runs} would settle a pass rate of {rate(summary)} 9 times in 10"
    return f"{settled}; {planned}: " + (f"{pluralize(saved, 'run')} saved" if saved > 0 else "no saving")


def rate(summary: BatchSummary) -> str:
    return or_unknown(summary.pass_rate, percent)


def interval(summary: BatchSummary) -> str:
    """Return the 95% interval of the pass rate, rounded outward."""
    return f"{at_least(summary.interval.low)} to {at_most(summary.interval.high)}" if summary.completed else "unknown"


def score(value: float | None) -> str:
    return or_unknown(value, "{:.2f}".format)


def _cost(summary: BatchSummary) -> str:
    text = total(summary.cost)
    if summary.completed and text != "unknown":
        text += f", {_average(summary.cost)} per run"
    if summary.judge_cost.unknown or summary.judge_cost.at_least:
        text += f"; judge: {total(summary.judge_cost)}"
    if summary.cost.unknown and text != "unknown":
        text += f" (unknown for {pluralize(summary.cost.unknown, 'run')})"
    return text


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
            judged = "" if assertion.judged == summary.completed else " that judged it"
            passed = "which" if assertion.judged == 1 else f"{assertion.tolerated} of them"
            yield f'The assertion "{assertion.label}" failed in {every}{judged}; {passed} passed nevertheless.'


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


def label(result: EvalResult) -> str:
    return result.name or result.type


def about(result: EvalResult) -> str:
    """Return what follows the label of an assertion: its type, unless that is the label, and its weight."""
    kind = f" ({result.type})" if label(result) != result.type else ""
    return f"{kind}{', required' if result.required else ''}, weight {result.weight:g}"


def outcome(result: EvalResult) -> Outcome:
    return Outcome.ERROR if result.passed is None else Outcome.PASSED if result.passed else Outcome.FAILED


def metrics(result: AgentRunResult) -> Iterator[NamedValue]:
    """Yield the latency, cost, tokens and calls of a run."""
    metrics = result.metrics
    yield NamedValue("latency", seconds(metrics.latency))
    sources = ", ".join(_price_sources(result))
    by = f" (with prices of {sources})" if sources else ""
    yield NamedValue("cost", f"{or_unknown(metrics.cost, money)}; judge: {or_unknown(result.judge_cost, money)}{by}")
    if metrics.tokens:
        cached = f", {metrics.tokens.cache_read} read from the cache" if metrics.tokens.cache_read else ""
        yield NamedValue("tokens", f"{metrics.tokens.input} in, {metrics.tokens.output} out{cached}")
    if result.from_cache:
        yield NamedValue("cache", "replies came from the cache; cost and latency are of the time when they were made")
    yield NamedValue(
        "calls",
        f"{pluralize(metrics.model_calls, 'model call')}, {pluralize(metrics.tool_count, 'tool call')}, "
        f"{pluralize(metrics.tool_errors, 'tool error')}, {pluralize(metrics.retries, 'retry', 'retries')}",
    )


def _price_sources(result: AgentRunResult) -> list[str]:
    """Return the files with prices of the user's own that a run was charged by. A stored run may contain anything."""
    prices = result.details.get("prices")
    entries = prices.values() if isinstance(prices, dict) else ()
    sources = {entry.get("source") for entry in entries if isinstance(entry, dict)}
    return sorted(printable(source) for source in sources if source and isinstance(source, str))


def replay(result: AgentRunResult) -> str:
    """Return the command that replays a run, or why there is none."""
    if not result.recorded:
        return "not recorded; record runs with `salvo run --record`"
    note = f"  ({result.replay_note})" if result.replay_note else ""
    return f"salvo replay {result.run_id}{note}"
