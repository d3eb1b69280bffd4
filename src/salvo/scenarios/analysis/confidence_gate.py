"""What runs show about a pass rate, where a confidence is asked for. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from salvo.engine.stats import GateVerdict, Interval, clopper_pearson, confidence_sequence, fixed_runs_needed, gate
from salvo.scenarios.result import Batch

Method: TypeAlias = Literal["exact interval", "confidence sequence"]

POWER = 0.9
"""How often the fixed number of runs, with which stopping early is compared, would have settled it."""


@dataclass(frozen=True, slots=True)
class GateEvidence:
    verdict: GateVerdict
    confidence: float
    method: Method
    """The exact interval holds for a number of runs that was fixed; the sequence however often one looks."""
    interval: Interval
    more: int | None
    """How many further runs, all of them passing, would settle it; None where it is, or where too many would."""
    fixed_runs: int | None = None
    """Of runs that were stopped when it was settled: how many would have had to be planned instead, if that many were
    enough for such a pass rate; None where it is not settled, or where thousands would not do."""


def confidence_of(batch: Batch) -> float | None:
    """None where nothing is asked for, or where what a file asks for makes no sense."""
    sensible = batch.confidence is not None and 0 < batch.confidence < 1 and 0 <= batch.min_pass_rate < 1
    return batch.confidence if sensible else None


def evidence_of(batch: Batch, passed: int, completed: int) -> GateEvidence | None:
    """None where no confidence is asked for."""
    confidence, least = confidence_of(batch), batch.min_pass_rate
    if confidence is None:
        return None
    method: Method = "exact interval" if batch.max_runs is None else "confidence sequence"
    bounds = clopper_pearson if batch.max_runs is None else confidence_sequence
    found = gate(passed, completed, least, confidence, bounds)
    fixed = None
    if batch.max_runs is not None and found.verdict != "inconclusive":
        fixed = fixed_runs_needed(least, passed / completed, confidence, POWER)
    return GateEvidence(found.verdict, confidence, method, found.interval, found.more, fixed)
