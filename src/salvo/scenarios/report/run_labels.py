"""What reports say about one run and its assertions."""

from __future__ import annotations

from collections.abc import Iterator

from salvo.engine.text.formatting import NamedValue, money, or_unknown, pluralize, seconds
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult, Outcome


def label(result: EvalResult) -> str:
    return result.name or result.type


def about(result: EvalResult) -> str:
    """Return what follows the label of an assertion: its type, unless that is the label, and its weight."""
    kind = f" ({result.type})" if label(result) != result.type else ""
    return f"{kind}{', required' if result.required else ''}, weight {result.weight:g}"


def turn(result: EvalResult) -> str:
    """Return what follows that: the turn of a conversation, if it is about one."""
    return "" if result.turn is None else f", turn {result.turn}"


def outcome(result: EvalResult) -> Outcome:
    if result.cause is Cause.JUDGE_PENDING:
        return Outcome.PENDING
    return Outcome.ERROR if result.passed is None else Outcome.PASSED if result.passed else Outcome.FAILED


def metrics(result: AgentRunResult) -> Iterator[NamedValue]:
    """Yield the latency, cost, tokens and calls of a run."""
    metrics = result.metrics
    yield NamedValue("latency", seconds(metrics.latency))
    sources = ", ".join(_price_sources(result))
    by = f" (with prices of {sources})" if sources else ""
    if result.outcome is Outcome.PENDING:
        others = "; judge: pending, at half the price through the batch API"
    else:
        others = f"; judge: {or_unknown(result.judge_cost, money)}"
    others += f"; user: {or_unknown(result.user_cost, money)}" if result.user_cost != 0 else ""
    yield NamedValue("cost", f"{or_unknown(metrics.cost, money)}{others}{by}")
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
