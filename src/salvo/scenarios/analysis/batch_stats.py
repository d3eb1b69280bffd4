"""What is known of one side of a comparison: counts, costs, and what the runs were made with. No texts.

It comes from a batch and its runs, or from a baseline file, and is the same either way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from salvo.engine.jsonio.canonical import stable_key
from salvo.engine.stats import Tally
from salvo.scenarios.analysis.summary import AssertionSummary, BatchSummary
from salvo.scenarios.result import CUSTOM, Batch, full_model

VERSION = "salvo version"
_HASH = 16
"""Hexadecimal digits of a fingerprint: enough to tell two texts apart, and short enough to review."""

_NOT_THE_RUNS = frozenset(
    {"scenario", "adapter", "model", "runs", "min_pass_rate", "confidence", "concurrency", "seed", "threshold"}
    | {"tags", "description", "assertions", "tools"}
)
"""Fields of a scenario that change no run, or that are told in another place."""

_TOLD = frozenset({"timeout", "max_turns", "temperature"})
"""Fields whose values are told; of the others only that they differ."""


@dataclass(frozen=True, slots=True)
class BatchStats:
    """`settings` are told by their values, `fingerprints` only by their being different."""

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

    @property
    def tally(self) -> Tally:
        return Tally(self.passed, self.completed)

    @property
    def rate(self) -> float | None:
        return self.passed / self.completed if self.completed else None

    @property
    def full_model(self) -> str:
        return full_model(self.provider, self.model)


class ConfigDifference(NamedTuple):
    """Something that was not the same on both sides; the values where they can be told."""

    what: str
    a: Any = None
    b: Any = None


def measure(batch: Batch, summary: BatchSummary) -> BatchStats:
    return BatchStats(
        scenario_id=batch.scenario_id,
        batch_id=batch.batch_id,
        created_at=batch.created_at,
        provider=batch.provider,
        model=batch.model,
        passed=summary.passed,
        completed=summary.completed,
        errors=summary.errors,
        unmade=summary.unmade,
        assertions=summary.assertions,
        average_cost=summary.cost.average,
        latency_p50=summary.latency.p50 if summary.latency else None,
        latency_p95=summary.latency.p95 if summary.latency else None,
        settings=settings_of(batch),
        fingerprints=fingerprints_of(batch),
    )


def what_differs(a: BatchStats, b: BatchStats) -> list[ConfigDifference]:
    """Scenario, tools, judges, version, seed and settings, in that order. The models are what is compared."""
    found = []
    if a.scenario_id != b.scenario_id:
        found.append(ConfigDifference("the scenario's name", a.scenario_id, b.scenario_id))
    if bool(a.fingerprints) != bool(b.fingerprints):
        found.append(ConfigDifference("what is known: the scenario of one side was not kept"))
    else:
        found += _different_texts(a.fingerprints, b.fingerprints)
    for name in dict.fromkeys([*a.settings, *b.settings]):
        if a.settings.get(name) != b.settings.get(name):
            found.append(ConfigDifference(name, a.settings.get(name), b.settings.get(name)))
    return found


def fingerprints_of(batch: Batch) -> dict[str, str]:
    """Every text that a run depends on, as a hash of it."""
    document = batch.scenario
    if not document:
        return {}
    texts = {
        f"the scenario's {name}": text
        for name, text in document.items()
        if name not in _NOT_THE_RUNS | _TOLD and text not in (None, "", {}, [])
    }
    tools = {f"the tool {name}": fingerprint for name, fingerprint in batch.tools.items()}
    # A judge's model is told by its name, and may be the adapter's choice.
    asked = {name: {**of, "model": None} if _judges(of) else of for name, of in _assertions(document)}
    return {name: stable_key(text)[:_HASH] for name, text in {**texts, **tools, **asked}.items()}


def settings_of(batch: Batch) -> dict[str, Any]:
    """What a run depends on and can be told as it is."""
    document = batch.scenario
    settings: dict[str, Any] = {"adapter": batch.adapter} if batch.provider == CUSTOM else {}
    settings |= {f"the model of {name}": _judge_model(of, batch) for name, of in _assertions(document) if _judges(of)}
    settings |= {name: document.get(name) for name in sorted(_TOLD)} if document else {}
    return settings | {"threshold": batch.threshold, "seed": batch.seed, VERSION: batch.salvo_version or None}


def _assertions(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """By label and, where several share one, their order."""
    met: Counter[str] = Counter()
    for assertion in document.get("assertions", ()):
        path = assertion.get("path")
        label = assertion.get("name") or (str(path).rsplit(".", 1)[-1] if path else assertion.get("type"))
        met[label] += 1
        kind = "the judge" if _judges(assertion) else "the assertion"
        yield f"{kind} {label}" + (f" ({met[label]})" if met[label] > 1 else ""), assertion


def _judges(assertion: Mapping[str, Any]) -> bool:
    return assertion.get("type") == "llm_judge"


def _judge_model(assertion: Mapping[str, Any], batch: Batch) -> str | None:
    from salvo.scenarios.evaluators.llm_judge import DEFAULT_JUDGES

    return assertion.get("model") or DEFAULT_JUDGES.get(batch.adapter)


def _different_texts(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[ConfigDifference]:
    for name in dict.fromkeys([*a, *b]):
        if name not in b:
            yield ConfigDifference(name, "there", "not there")
        elif name not in a:
            yield ConfigDifference(name, "not there", "there")
        elif a[name] != b[name]:
            yield ConfigDifference(name)
