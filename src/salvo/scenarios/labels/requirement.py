"""Whether a scenario has judges, and whether it requires labels. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from salvo.scenarios.result import Batch

DEFAULT_CONFIDENCE = 0.95


def required_labels(batch: Batch) -> float | None:
    """Return the confidence that the scenario's `labels` require; None if it has none."""
    labels = batch.scenario.get("labels")
    if not labels:
        return None
    confidence = labels.get("confidence") if isinstance(labels, Mapping) else None
    valid = isinstance(confidence, float) and 0 < confidence < 1
    return confidence if valid else DEFAULT_CONFIDENCE


def has_judge(document: object) -> bool:
    """Return whether a scenario's document has a judge anywhere, also inside other assertions and turns."""
    if isinstance(document, Mapping):
        return document.get("type") == "llm_judge" or any(map(has_judge, document.values()))
    return isinstance(document, list) and any(map(has_judge, document))
