"""The two sides of a comparison, from the store: which batches they are, what is known of them, where runs part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from salvo.engine.text.formatting import pluralize
from salvo.errors import NothingFoundError, StoreError, TapeError, UsageError
from salvo.scenarios.analysis.batch_stats import BatchStats, measure
from salvo.scenarios.analysis.compare import compare
from salvo.scenarios.analysis.divergence import Divergence, find_divergence, nearest, tool_path
from salvo.scenarios.analysis.summary import summarise
from salvo.scenarios.report.comparison import ComparisonReport
from salvo.scenarios.result import AgentRunResult, Batch, Outcome
from salvo.scenarios.store.index import Entries, IndexEntry
from salvo.scenarios.store.store import LATEST, RunStore

MOST_READ = 50
"""Run files that are read for each batch and outcome, to see where runs part: more would tell no more."""


def compared(
    store: RunStore,
    pairs: Sequence[tuple[Batch, Batch]],
    notes: Iterable[str] = (),
    listed: Callable[[Iterable[str]], Entries] | None = None,
) -> ComparisonReport:
    """Batches of the same scenario side by side, A first. `listed` is who knows their runs, if it is not the store."""
    batch_ids = dict.fromkeys(batch.batch_id for pair in pairs for batch in pair)
    entries = (listed or store.listed)(batch_ids)
    of_batch: dict[str, list[IndexEntry]] = {batch_id: [] for batch_id in batch_ids}
    for entry in entries:
        of_batch[entry.batch_id].append(entry)
    measured = [(measured_of(a, of_batch[a.batch_id]), measured_of(b, of_batch[b.batch_id])) for a, b in pairs]
    unread = [f"Not to be read, and left out: {pluralize(entries.skipped, 'run')}."] if entries.skipped else []
    return ComparisonReport(
        compare(measured),
        partings(store, [(b.scenario_id, [*of_batch[a.batch_id], *of_batch[b.batch_id]]) for a, b in pairs]),
        [*notes, *unread, *_stopped_when_sure(pairs)],
    )


def _stopped_when_sure(pairs: Sequence[tuple[Batch, Batch]]) -> list[str]:
    sides = [name for pair in pairs for name, batch in zip("AB", pair, strict=True) if batch.max_runs is not None]
    if not sides:
        return []
    which = " and ".join(sorted(set(sides)))
    return [f"{which}: runs were made until sure, so their number depends on their results, and p-values err a little."]


def against(
    store: RunStore,
    before: Sequence[BatchStats],
    now: Sequence[tuple[BatchStats, Sequence[IndexEntry]]],
    notes: Iterable[str],
) -> ComparisonReport:
    """What was measured before, as a baseline holds it, beside the runs of now."""
    earlier = {of.scenario_id: of for of in before}
    known = [(earlier[of.scenario_id], of) for of, _ in now if of.scenario_id in earlier]
    runs = [(of.scenario_id, entries) for of, entries in now if of.scenario_id in earlier]
    return ComparisonReport(compare(known), partings(store, runs), list(notes))


def measured_of(batch: Batch, entries: Sequence[IndexEntry]) -> BatchStats:
    return measure(batch, summarise(batch, entries))


def partings(store: RunStore, scenarios: Iterable[tuple[str, Sequence[IndexEntry]]]) -> dict[str, Divergence]:
    """Reads run files only where runs of one scenario both passed and failed."""
    found: dict[str, Divergence] = {}
    for scenario_id, entries in scenarios:
        if len({of.outcome for of in entries} & {Outcome.PASSED, Outcome.FAILED}) < 2:
            continue
        ways = [tool_path(result) for result in some_runs(store, entries)]
        if (parted := find_divergence(ways)) is not None:
            found[scenario_id] = parted
    return found


def pair_named(
    store: RunStore, text_a: str, text_b: str, *, whole: bool
) -> tuple[list[tuple[Batch, Batch]], list[str]]:
    """Two batches, or with `whole` all that their commands began: each pair one scenario's; then what was left out."""
    a, b = (store.load_batch(store.find_batch(text)) for text in (text_a, text_b))
    if a.batch_id == b.batch_id:
        raise UsageError(f"{text_a} and {text_b} are the same batch.", hint="Name two.")
    if not whole:
        return [(a, b)], []
    sides = [{each.scenario_id: each for each in store.batches_of_command(batch)} for batch in (a, b)]
    return paired(sides[0], sides[1])


def paired(
    a: Mapping[str, Batch], b: Mapping[str, Batch], mend: str = ""
) -> tuple[list[tuple[Batch, Batch]], list[str]]:
    """Those of the same scenario, and a note for each that has no counterpart; `mend` is what to do about it."""
    both = [name for name in sorted(a) if name in b]
    if not both:
        raise NothingFoundError(
            f"The two sides have no scenario in common: A has {', '.join(sorted(a))}, B has {', '.join(sorted(b))}.",
            hint=mend,
        )
    alone = [("A", name) for name in sorted(a) if name not in b] + [("B", name) for name in sorted(b) if name not in a]
    notes = [f"Only {side} has runs of {name}." for side, name in alone]
    return [(a[name], b[name]) for name in both], [*notes, *([mend] if notes and mend else [])]


def named(store: RunStore, text: str) -> list[Batch]:
    """One batch by its id; `latest` means every batch of the newest command."""
    batch = store.load_batch(store.find_batch(text))
    return store.batches_of_command(batch) if text == LATEST else [batch]


def newest_of(batches: Iterable[Batch], wanted: Callable[[Batch], bool]) -> dict[str, Batch]:
    """The newest that is wanted, by scenario; `batches` come newest first."""
    found: dict[str, Batch] = {}
    for batch in batches:
        if batch.scenario_id not in found and wanted(batch):
            found[batch.scenario_id] = batch
    return found


def is_of(batch: Batch, model: str) -> bool:
    """Named alone, or with its provider."""
    return model in (batch.model, f"{batch.provider}/{batch.model}")


def some_runs(store: RunStore, entries: Sequence[IndexEntry]) -> Iterator[AgentRunResult]:
    """Completed ones, whole: of each batch and outcome the first, as many as are worth reading."""
    met: Counter[tuple[str, Outcome]] = Counter()
    for of in entries:
        if of.outcome not in (Outcome.PASSED, Outcome.FAILED):
            continue
        met[of.batch_id, of.outcome] += 1
        if met[of.batch_id, of.outcome] <= MOST_READ:
            with suppress(StoreError, TapeError):  # it was counted; only its steps are not known
                yield store.load_run(of.run_id)


def nearest_counterpart(store: RunStore, result: AgentRunResult, entries: Sequence[IndexEntry]) -> str | None:
    """Return the run to compare a run with: of its batch, with the other outcome, and with the most similar path.

    A passed run is compared with a failed one, and every other run with a passed one.
    """
    outcome = Outcome.FAILED if result.passed else Outcome.PASSED
    others = [entry for entry in entries if entry.outcome is outcome]
    others.sort(key=lambda entry: (abs(entry.tool_count - result.metrics.tool_count), entry.number))
    paths = []
    for entry in others[:MOST_READ]:
        with suppress(StoreError, TapeError):  # a run that cannot be read cannot be shown
            paths.append(tool_path(store.load_run(entry.run_id)))
    path = nearest(tool_path(result), paths)
    return path.run_id if path else None
