"""The statistics of one side of a comparison: counts, costs, and the configuration of the runs, without texts.

They come from a batch and its runs, or from a baseline file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from salvo.engine.jsonio.canonical import stable_key
from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.engine.stats.pass_rates import Tally
from salvo.engine.text.formatting import path_label
from salvo.records import record
from salvo.scenarios.analysis.summary import AssertionSummary, summarise
from salvo.scenarios.result import CUSTOM, DEFAULT_JUDGES, Batch, full_model
from salvo.scenarios.store.index import IndexEntry

VERSION = "salvo version"
COMMIT = "git commit"
_AGENT = "the agent's code"
_KNOWN_ON_BOTH_SIDES = frozenset({COMMIT, _AGENT})
"""What is compared only if both sides have it: earlier versions did not store it, and not every project has it."""
_HASH = 16
"""Hexadecimal digits of a fingerprint: enough to distinguish two texts, and short enough to review."""

_NOT_FINGERPRINTED = frozenset(
    {"scenario", "adapter", "model", "runs", "min_pass_rate", "confidence", "concurrency", "seed", "threshold"}
    | {"tags", "description", "assertions", "tools", "record", "labels"}
)
"""Fields of a scenario that do not affect a run, or that are compared elsewhere."""

_SETTINGS = frozenset({"timeout", "max_turns", "temperature"})
"""Fields whose values are shown. Of the others it is only said that they differ."""


@record
class BatchStats:
    """The values of `settings` are shown; `fingerprints` only say whether something differs."""

    scenario_id: str
    batch_id: str
    created_at: str
    provider: str
    model: str
    passed: int
    completed: int
    errors: int
    unmade: int
    assertions: list[AssertionSummary]
    average_cost: float | None
    latency_p50: float | None
    latency_p95: float | None
    settings: dict[str, Any]
    fingerprints: dict[str, str]
    cached: int = 0
    """Completed runs that were answered from a cache. They are not counted in `passed` and `completed`."""
    simulator_errors: int = 0
    """Those of the errors whose cause is the user of the conversation."""
    pending: int = 0
    """Runs whose judges' votes wait for a provider's batch."""

    @property
    def tally(self) -> Tally:
        return Tally(self.passed, self.completed)

    @property
    def rate(self) -> float | None:
        return self.passed / self.completed if self.completed else None

    @property
    def full_model(self) -> str:
        return full_model(self.provider, self.model)


@record
class ConfigDifference:
    """Something that differs between the two sides, with its values if they can be shown."""

    what: str
    a: Any
    b: Any


def measure(batch: Batch, entries: Collection[IndexEntry]) -> BatchStats:
    summary = summarise(batch, entries)
    return copy_fields(
        BatchStats,
        summary,
        passed=summary.independent_passed,
        completed=summary.independent,
        cached=summary.completed - summary.independent,
        unmade=summary.without_result,
        average_cost=summary.cost.average,
        latency_p50=summary.latency.p50 if summary.latency else None,
        latency_p95=summary.latency.p95 if summary.latency else None,
        settings=run_settings(batch),
        fingerprints=run_fingerprints(batch),
    )


def config_differences(a: BatchStats, b: BatchStats) -> list[ConfigDifference]:
    """Return the differences in scenario, tools, judges, version, seed and settings. Models may differ."""
    differences = []
    if a.scenario_id != b.scenario_id:
        differences.append(ConfigDifference("the scenario's name", a.scenario_id, b.scenario_id))
    if bool(a.fingerprints) != bool(b.fingerprints):
        differences.append(ConfigDifference("unknown: the scenario of one side was not stored", None, None))
    else:
        differences += _fingerprint_differences(a.fingerprints, b.fingerprints)
    for name in dict.fromkeys([*a.settings, *b.settings]):
        if name in _KNOWN_ON_BOTH_SIDES and None in (a.settings.get(name), b.settings.get(name)):
            continue
        if a.settings.get(name) != b.settings.get(name):
            differences.append(ConfigDifference(name, a.settings.get(name), b.settings.get(name)))
    return differences


def seeded_inputs(batch: Batch) -> tuple[object, ...]:
    """Return all that decides what happens in runs, where their seeds do."""
    return batch.scenario_id, batch.provider, batch.model, batch.seed, run_fingerprints(batch)


def run_fingerprints(batch: Batch) -> dict[str, str]:
    """Return a hash of every text that a run depends on."""
    document = batch.scenario
    if not document:
        return {}
    texts = {
        f"the scenario's {name}": text
        for name, text in document.items()
        if name not in _NOT_FINGERPRINTED | _SETTINGS and text not in (None, "", {}, [])
    }
    tools = {f"the tool {name}": fingerprint for name, fingerprint in batch.tools.items()}
    tools |= {
        f"the tool {tool} of the MCP server {name}": fingerprint
        for name, server in batch.mcp_servers.items()
        for tool, fingerprint in server.tools.items()
    }
    # The model of a judge is compared by its name, and may be the default of the adapter.
    assertions = {
        name: {**assertion, "model": None} if _is_judge(assertion) else assertion
        for name, assertion in _assertions(document)
    }
    agent = {} if batch.code.agent is None else {_AGENT: batch.code.agent}
    return {name: stable_key(text)[:_HASH] for name, text in {**texts, **agent, **tools, **assertions}.items()}


def run_settings(batch: Batch) -> dict[str, Any]:
    """Return the values that a run depends on and that can be shown."""
    document = batch.scenario
    settings: dict[str, Any] = {"adapter": batch.adapter} if batch.provider == CUSTOM else {}
    settings |= {
        f"the model of {name}": assertion.get("model") or DEFAULT_JUDGES.get(batch.adapter)
        for name, assertion in _assertions(document)
        if _is_judge(assertion)
    }
    settings |= {name: document.get(name) for name in sorted(_SETTINGS)} if document else {}
    if (commit := batch.code.commit_text) is not None:
        settings[COMMIT] = commit
    return settings | {"threshold": batch.threshold, "seed": batch.seed, VERSION: batch.salvo_version or None}


def _assertions(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the assertions with unique names: their labels, numbered if several have the same."""
    counts: Counter[str] = Counter()
    for assertion in document.get("assertions", ()):
        path = assertion.get("path")
        label = assertion.get("name") or (path_label(str(path)) if path else assertion.get("type"))
        counts[label] += 1
        kind = "the judge" if _is_judge(assertion) else "the assertion"
        yield f"{kind} {label}" + (f" ({counts[label]})" if counts[label] > 1 else ""), assertion


def _is_judge(assertion: Mapping[str, Any]) -> bool:
    return assertion.get("type") == "llm_judge"


def _fingerprint_differences(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[ConfigDifference]:
    for name in dict.fromkeys([*a, *b]):
        if name in _KNOWN_ON_BOTH_SIDES and not (name in a and name in b):
            continue
        if name not in b:
            yield ConfigDifference(name, "there", "not there")
        elif name not in a:
            yield ConfigDifference(name, "not there", "there")
        elif a[name] != b[name]:
            yield ConfigDifference(name, None, None)
