"""`salvo run --dry-run`: what would be run, where calls would go, and what it would cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from salvo.cli.output import echo, echo_json
from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import money, pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.analysis.cost_estimate import CostEstimate, estimate_cost
from salvo.scenarios.destinations import destination_lines
from salvo.scenarios.result import PROVIDER_ADAPTERS, Batch, full_model
from salvo.scenarios.run.environment import PreparedScenario
from salvo.scenarios.run.runner import ScenarioRuns
from salvo.scenarios.store.index import IndexEntry
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.workspace import Workspace

_MOST_BATCHES = 10
"""Earlier batches of a scenario from which its cost is estimated."""
_MOST_LOOKED_AT = 1000
"""Stored batches among which they are looked for."""


def show(
    workspace: Workspace, work: Sequence[ScenarioRuns], max_cost: float | None, *, use_cache: bool, as_json: bool
) -> None:
    """Print the plan. Nothing is stored, and nothing is called."""
    planned = [(item, item.prepared) for item in work if item.prepared is not None]
    earlier = _earlier_batches(workspace.store(), {item.batch.scenario_id for item, _ in planned})
    estimates = [
        (item, _estimate(workspace, item, prepared, earlier[item.batch.scenario_id])) for item, prepared in planned
    ]
    destinations = destination_lines(workspace, [prepared.scenario for _, prepared in planned])
    if as_json:
        echo_json(json_codec.dumps(_document(estimates, destinations, max_cost), indent=2))
        return
    lines = []
    for item, estimate in estimates:
        lines += [_scenario_line(item), f"  {printable(str(estimate))}"]
    lines += ["", *destinations, _total_line([estimate for _, estimate in estimates])]
    if any(item.batch.max_runs is not None for item, _ in planned):
        lines.append("This is for all runs up to --max-runs; it costs less if fewer settle the verdict.")
    if use_cache:
        lines.append("Replies that the cache has would cost nothing (--cache); the estimate does not know which.")
    if max_cost is not None:
        lines.append(f"No more runs would be started once {money(max_cost)} is spent (--max-cost).")
    echo("\n".join([*lines, "Nothing was run, and nothing was stored."]))


def _earlier_batches(store: RunStore, names: set[str]) -> dict[str, list[tuple[Batch, list[IndexEntry]]]]:
    """Return the newest stored batches of each scenario with their runs."""
    earlier: dict[str, list[tuple[Batch, list[IndexEntry]]]] = {name: [] for name in names}
    for batch in islice(store.newest_first(), _MOST_LOOKED_AT):
        batches = earlier.get(batch.scenario_id)
        if batches is not None and len(batches) < _MOST_BATCHES:
            batches.append((batch, store.batch_entries(batch)))
    return earlier


def _run_count(item: ScenarioRuns) -> int:
    """Return the most runs that would be made."""
    batch = item.batch
    return len(item.pending) if batch.max_runs is None else batch.max_runs - len(item.earlier)


def _estimate(
    workspace: Workspace,
    item: ScenarioRuns,
    prepared: PreparedScenario,
    earlier: list[tuple[Batch, list[IndexEntry]]],
) -> CostEstimate:
    scenario, prices, characters = prepared.scenario, None, None
    if scenario.adapter in PROVIDER_ADAPTERS:
        book = workspace.price_book()
        _, prices = book.find(scenario.adapter, (scenario.model,), workspace.clock.now())
        tools = [tool.make(workspace.clock).definition for tool in prepared.tools]
        message = scenario.turns[0].user if scenario.turns else scenario.user_message
        request = [scenario.system_prompt, message, scenario.output_schema, tools]
        characters = len(json_codec.dumps(request))
    return estimate_cost(item.batch, _run_count(item), earlier, prices, characters)


def _scenario_line(item: ScenarioRuns) -> str:
    batch = item.batch
    limit = "up to " if batch.max_runs is not None else ""
    model = full_model(batch.provider, batch.model) if batch.model else batch.adapter
    recorded = ", recorded" if batch.recorded else ""
    text = f"{batch.scenario_id}: {limit}{pluralize(_run_count(item), 'run')} of {model}{recorded} ({batch.source})"
    return printable(text)


def _total_line(estimates: Sequence[CostEstimate]) -> str:
    costs = [estimate.dollars for estimate in estimates if estimate.dollars is not None]
    if not costs:
        return "Estimated cost: unknown."
    is_partial = len(costs) < len(estimates) or any(estimate.is_lower_bound for estimate in estimates)
    unknown = len(estimates) - len(costs)
    note = f", without {pluralize(unknown, 'scenario')} of unknown cost" if unknown else ""
    return f"Estimated cost: {'at least about' if is_partial else 'about'} {money(math.fsum(costs))}{note}."


def _document(
    estimates: Sequence[tuple[ScenarioRuns, CostEstimate]], destinations: list[str], max_cost: float | None
) -> dict[str, Any]:
    return {
        "salvo_dry_run": 1,
        "scenarios": list(_scenario_documents(estimates)),
        "destinations": destinations,
        "max_cost": max_cost,
    }


def _scenario_documents(estimates: Sequence[tuple[ScenarioRuns, CostEstimate]]) -> Iterator[dict[str, Any]]:
    for item, estimate in estimates:
        batch = item.batch
        yield {
            "scenario_id": batch.scenario_id,
            "source": batch.source,
            "adapter": batch.adapter,
            "model": batch.model,
            "runs": _run_count(item),
            "recorded": batch.recorded,
            "cost": asdict(estimate),
        }
