"""The entries of `history.jsonl`, the index of runs: one line per run, with everything that a list of runs shows."""

from __future__ import annotations

import hashlib
import re
from dataclasses import field, replace
from functools import lru_cache

from salvo.engine.chat.base import Usage
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.records import record
from salvo.scenarios.result import UNFINISHED, AgentRunResult, Cause, Outcome, RunIdentity

LONGEST_ERROR = 300
_HASH = 16
"""Hexadecimal digits: enough to tell the runs of a batch apart."""
_BATCH_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


@record
class Judged:
    """The result of one assertion in one run; `passed` is None if it could not be judged."""

    label: str
    type: str
    passed: bool | None
    required: bool


@record
class IndexEntry(RunIdentity):
    """A run as lists show it. Every line has the fields without a default; later versions may add fields."""

    outcome: Outcome
    cause: Cause | None = None
    score: float | None = None
    latency: float = 0.0
    cost: float | None = None
    judge_cost: float | None = None
    user_cost: float | None = 0.0
    """What the simulated user of a conversation cost."""
    turns: int = 0
    """The turns of a conversation; 0 if it is none."""
    tokens: Usage | None = None
    tool_count: int = 0
    assertions: list[Judged] = field(default_factory=list)
    error: str | None = None
    recorded: bool = False
    from_cache: bool = False
    content_hash: str = ""
    """The same for runs with the same tool calls and final output; empty if the agent did not finish."""
    cache_saving: float | None = None
    """Dollars that the agent's prompt caching saved; negative if writing the cache cost more than reading it saved.
    None if nothing was cached, or if it is not known."""


_judged = lru_cache(1000)(Judged)
"""The runs of a batch share these: there may be 100,000 of them in memory."""


@lru_cache(1000)
def _all_judged(*judged: Judged) -> list[Judged]:
    """Return the same list for all runs with these results. Nobody changes it."""
    return list(judged)


class Entries(list[IndexEntry]):
    """Entries, and the number of lines or files that could not be read."""

    skipped: int = 0


def index_entry(result: AgentRunResult) -> IndexEntry:
    error = result.error
    if error is not None and len(error) > LONGEST_ERROR:
        error = error[: LONGEST_ERROR - 1] + "…"
    return copy_fields(
        IndexEntry,
        result,
        score=result.weighted_score,
        latency=result.metrics.latency,
        cost=result.metrics.cost,
        tokens=result.metrics.tokens,
        tool_count=result.metrics.tool_count,
        turns=len(result.turns),
        assertions=_all_judged(
            *(_judged(item.name or item.type, item.type, item.passed, item.required) for item in result.eval_results)
        ),
        error=error,
        cache_saving=_cache_saving(result),
        content_hash="" if result.cause in UNFINISHED else _content_hash(result),
    )


def _cache_saving(result: AgentRunResult) -> float | None:
    """Return what the agent's prompt caching saved, by the prices that the run was charged by."""
    tokens, models, prices = result.metrics.tokens, result.details.get("models"), result.details.get("prices")
    if tokens is None or not (tokens.cache_read or tokens.cache_write):
        return None
    if not (isinstance(models, dict) and len(models) == 1 and isinstance(prices, dict)):
        return None  # tokens of several models are counted together
    try:
        [rates] = prices[next(iter(models))]["tiers"]  # with several tiers it depends on the size of each call
        plain, read, write = (float(rates[name]) for name in ("input", "cache_read", "cache_write"))
    except (KeyError, TypeError, ValueError):  # a stored run may contain anything
        return None
    return (tokens.cache_read * (plain - read) - tokens.cache_write * (write - plain)) / 1_000_000


def with_shared_results(entry: IndexEntry) -> IndexEntry:
    """Return an entry that was read. Its results are those that other runs have, too: there may be very many."""
    assertions = (_judged(item.label, item.type, item.passed, item.required) for item in entry.assertions)
    return replace(entry, assertions=_all_judged(*assertions))


def _content_hash(result: AgentRunResult) -> str:
    calls = [(call.name, call.arguments, call.result, call.error) for call in result.tool_calls]
    messages = [[turn.user, turn.agent] for turn in result.turns]
    return hashlib.sha256(json_codec.dumps([result.final_output, calls, *messages])).hexdigest()[:_HASH]


def parse_batch_id(line: bytes) -> str | None:
    """Return the batch that a line belongs to, without checking its other fields."""
    try:
        fields = json_codec.loads(line)
    except ValueError:
        return None
    batch_id = fields.get("batch_id") if isinstance(fields, dict) else None
    return batch_id if isinstance(batch_id, str) and _BATCH_ID.fullmatch(batch_id) else None
