"""Find what labels show of a batch, without any cost for batches that have none."""

from __future__ import annotations

from salvo.scenarios.labels.label_store import LabelStore
from salvo.scenarios.labels.records import LabelEvidence
from salvo.scenarios.labels.requirement import required_labels
from salvo.scenarios.result import Batch
from salvo.scenarios.store.store import RunStore


def required_evidence(store: RunStore, batch: Batch) -> LabelEvidence | None:
    """Return what labels show of a batch whose scenario requires them; None for any other."""
    return None if required_labels(batch) is None else _load(store, batch)


def stored_evidence(store: RunStore, batch: Batch) -> LabelEvidence | None:
    """Return what labels show of a batch; None if it requires none and has none."""
    if required_labels(batch) is None and LabelStore(store).draw(batch.batch_id) is None:
        return None
    return _load(store, batch)


def _load(store: RunStore, batch: Batch) -> LabelEvidence | None:
    from salvo.scenarios.labels.batch_labels import BatchLabels  # to hash transcripts it needs the evaluators

    return BatchLabels.load(store, batch).evidence
