"""What runs show about a pass rate, if a confidence is required. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from salvo.engine.stats.gating import GateVerdict, fixed_runs_needed, gate
from salvo.engine.stats.rates import Interval, clopper_pearson, confidence_sequence
from salvo.scenarios.result import Batch

Method: TypeAlias = Literal["exact interval", "confidence sequence"]


@dataclass(frozen=True, slots=True)
class GateEvidence:
    verdict: GateVerdict
    confidence: float
    method: Method
    """An exact interval is valid for a fixed number of runs, a confidence sequence at every look."""
    interval: Interval
    more: int | None
    """How many more passing runs would settle the verdict; null if it is settled, or if too many would be needed."""
    fixed_runs: int | None = None
    """For runs that stopped when the verdict was settled: how many runs a plan with a fixed number would have needed
    for such a pass rate; null if the verdict is not settled, or if thousands would not have been enough."""


def required_confidence(batch: Batch) -> float | None:
    """Return None if no confidence is required, or if the values in the file make no sense."""
    valid = batch.confidence is not None and 0 < batch.confidence < 1 and 0 <= batch.min_pass_rate < 1
    return batch.confidence if valid else None


POWER = 0.9
"""How often the fixed number of runs, with which stopping early is compared, would have settled the verdict."""


def gate_evidence(batch: Batch, passed: int, completed: int) -> GateEvidence | None:
    """Return None if no confidence is required."""
    confidence, least = required_confidence(batch), batch.min_pass_rate
    if confidence is None:
        return None
    method: Method = "exact interval" if batch.max_runs is None else "confidence sequence"
    bounds = clopper_pearson if batch.max_runs is None else confidence_sequence
    result = gate(passed, completed, least, confidence, bounds)
    fixed = None
    if batch.max_runs is not None and result.verdict != "inconclusive":
        fixed = fixed_runs_needed(least, passed / completed, confidence, POWER)
    return GateEvidence(result.verdict, confidence, method, result.interval, result.more, fixed)
