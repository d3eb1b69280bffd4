"""Estimate what runs will cost, and say how: from earlier runs of the scenario, or from list prices. Pure.

What cannot be estimated stays unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from salvo.engine.runtime.pricing import UnitPrices
from salvo.engine.text.formatting import money, pluralize
from salvo.records import record
from salvo.scenarios.result import Batch, Outcome, full_model
from salvo.scenarios.store.index import IndexEntry

CHARACTERS_PER_TOKEN = 4
_MOST_RUNS = 100
"""Earlier runs that are averaged, the newest first: older ones tell less."""


@record
class CostEstimate:
    """Dollars for all runs; None if unknown."""

    dollars: float | None
    is_lower_bound: bool
    """Whether a part of the cost is not in it."""
    basis: str
    """How it was estimated, or why it is unknown."""

    def __str__(self) -> str:
        if self.dollars is None:
            return f"cost unknown: {self.basis}"
        return f"{'at least about' if self.is_lower_bound else 'about'} {money(self.dollars)}: {self.basis}"


def estimate_cost(
    batch: Batch,
    runs: int,
    earlier: Iterable[tuple[Batch, Sequence[IndexEntry]]],
    prices: UnitPrices | None,
    prompt_characters: int | None,
) -> CostEstimate:
    """Return the estimate for so many runs of a batch that is planned.

    `earlier` has stored batches of the same scenario, newest first; `prices` are those of the batch's model, and
    `prompt_characters` is the length of its first request, None if the agent's own code writes it.
    """
    same: list[IndexEntry] = []
    others: list[IndexEntry] = []
    for stored, entries in earlier:
        is_same = (stored.adapter, stored.provider, stored.model) == (batch.adapter, batch.provider, batch.model)
        completed = [entry for entry in entries if entry.outcome in (Outcome.PASSED, Outcome.FAILED)]
        (same if is_same else others).extend(completed)
    model = full_model(batch.provider, batch.model)
    is_simulated = bool(
        (batch.scenario.get("user") or {}).get("model")
    )  # a user in Python costs nothing that we know of
    extras = "judges and its simulated user" if is_simulated else "judges"
    why_not = "its earlier runs have no known cost" if same or others else "no earlier run of it was completed"
    return (
        _from_costs(runs, same[:_MOST_RUNS], extras)
        or _from_tokens(runs, same[:_MOST_RUNS], prices, f"with this model, at the prices of {model}", extras)
        or _from_tokens(runs, others[:_MOST_RUNS], prices, f"with other models, at the prices of {model}", extras)
        or _from_prompt(runs, model, prices, prompt_characters, why_not, extras)
    )


def _from_costs(runs: int, entries: Sequence[IndexEntry], extras: str) -> CostEstimate | None:
    mean = _mean_cost(((entry.cost, _other_cost(entry)) for entry in entries), extras)
    if mean is None:
        return None
    return mean.estimate(runs, f"{money(mean.per_run)} per run, the average of {mean.runs} with this model")


def _from_tokens(
    runs: int, entries: Sequence[IndexEntry], prices: UnitPrices | None, description: str, extras: str
) -> CostEstimate | None:
    if prices is None:
        return None
    # At the base rates: which tier a call reached is not known from the tokens of a whole run.
    price = prices.tiers[0]
    costs = ((price.cost(entry.tokens), _other_cost(entry)) for entry in entries if entry.tokens is not None)
    mean = _mean_cost(costs, extras)
    return None if mean is None else mean.estimate(runs, f"the tokens of {mean.runs} {description} ({prices})")


def _from_prompt(
    runs: int, model: str, prices: UnitPrices | None, characters: int | None, why_not: str, extras: str
) -> CostEstimate:
    if characters is None:
        return CostEstimate(None, False, f"{why_not}, and its own code decides which models it calls")
    if prices is None:
        return CostEstimate(None, False, f"{why_not}, and there is no price for {model}")
    tokens = max(1, round(characters / CHARACTERS_PER_TOKEN))
    basis = (
        f"only the first request of each run, about {tokens:,} tokens of {CHARACTERS_PER_TOKEN} characters, because "
        f"{why_not}; answers, further turns{',' if ' and ' in extras else ' and'} {extras} come on top"
    )
    return CostEstimate(prices.tiers[0].input * tokens / 1_000_000 * runs, True, basis)


def _other_cost(entry: IndexEntry) -> float | None:
    """Return what the judges and the simulated user of a run cost; None if a part of it is not known."""
    if entry.judge_cost is None or entry.user_cost is None:
        return None
    return entry.judge_cost + entry.user_cost


class _MeanCost(NamedTuple):
    per_run: float
    is_lower_bound: bool
    note: str
    runs: str
    """How many runs it is the mean of."""

    def estimate(self, runs: int, basis: str) -> CostEstimate:
        return CostEstimate(self.per_run * runs, self.is_lower_bound, f"{basis}{self.note}")


def _mean_cost(costs: Iterable[tuple[float | None, float | None]], extras: str) -> _MeanCost | None:
    """Return the mean of the costs of runs: that of the agent, and that of its extras, where it is known.

    Runs whose agent has no known cost do not count; None if there are no others.
    """
    counted = [(cost, other) for cost, other in costs if cost is not None]
    if not counted:
        return None
    agent = math.fsum(cost for cost, _ in counted) / len(counted)
    known = [other for _, other in counted if other is not None]
    mean = agent + (math.fsum(known) / len(known) if known else 0.0)
    runs = pluralize(len(counted), "earlier run")
    if len(known) == len(counted):
        return _MeanCost(mean, is_lower_bound=False, note="", runs=runs)
    return _MeanCost(mean, is_lower_bound=True, note=f"; the cost of its {extras} is not known", runs=runs)
