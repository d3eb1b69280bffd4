"""What a comparison needs from the store: which batches are compared, their runs, and where the runs diverge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from salvo.engine.text.formatting import pluralize
from salvo.errors import NothingFoundError, StoreError, TapeError, UsageError
from salvo.scenarios.analysis.batch_stats import BatchStats, measure
from salvo.scenarios.analysis.compare import ComparisonReport, compare
from salvo.scenarios.analysis.divergence import Divergence, find_divergence, nearest, tool_path
from salvo.scenarios.analysis.scored_sides import ScoredSides
from salvo.scenarios.result import AgentRunResult, Batch, Outcome
from salvo.scenarios.store.ids import steps_before_latest
from salvo.scenarios.store.index import Entries, IndexEntry
from salvo.scenarios.store.store import RunStore

MOST_READ = 50
"""Run files that are read per batch and outcome. More would not change the result."""


def compare_batches(
    store: RunStore,
    pairs: Sequence[tuple[Batch, Batch]],
    notes: Iterable[str] = (),
    list_entries: Callable[[Iterable[str]], Entries] | None = None,
) -> ComparisonReport:
    """Compare batches of the same scenario, A first. `list_entries` replaces that of the store."""
    batch_ids = dict.fromkeys(batch.batch_id for pair in pairs for batch in pair)
    entries = (list_entries or store.list_entries)(batch_ids)
    by_batch: dict[str, list[IndexEntry]] = {batch_id: [] for batch_id in batch_ids}
    for entry in entries:
        by_batch[entry.batch_id].append(entry)
    stats = [(measure(a, by_batch[a.batch_id]), measure(b, by_batch[b.batch_id])) for a, b in pairs]
    unreadable = [f"Left out, because unreadable: {pluralize(entries.skipped, 'run')}."] if entries.skipped else []
    return ComparisonReport(
        compare(stats),
        find_divergences(store, [(b.scenario_id, [*by_batch[a.batch_id], *by_batch[b.batch_id]]) for a, b in pairs]),
        [*notes, *unreadable, *_sequential_note(pairs)],
    )


def _sequential_note(pairs: Sequence[tuple[Batch, Batch]]) -> list[str]:
    sides = [name for pair in pairs for name, batch in zip("AB", pair, strict=True) if batch.max_runs is not None]
    if not sides:
        return []
    names = " and ".join(sorted(set(sides)))
    return [f"{names}: the number of runs depends on their results (--until-sure), so p-values are slightly off."]


def compare_with_baseline(
    store: RunStore,
    baseline: Sequence[BatchStats],
    current: Sequence[tuple[BatchStats, Sequence[IndexEntry]]],
    notes: Iterable[str],
) -> ComparisonReport:
    """Compare the current runs (B) with the statistics in a baseline (A)."""
    by_scenario = {stats.scenario_id: stats for stats in baseline}
    pairs = [(by_scenario[stats.scenario_id], stats) for stats, _ in current if stats.scenario_id in by_scenario]
    runs = [(stats.scenario_id, entries) for stats, entries in current if stats.scenario_id in by_scenario]
    return ComparisonReport(compare(pairs), find_divergences(store, runs), list(notes))


def find_divergences(store: RunStore, scenarios: Iterable[tuple[str, Sequence[IndexEntry]]]) -> dict[str, Divergence]:
    """Return the divergences by scenario. Run files are read only if runs of a scenario both passed and failed."""
    divergences: dict[str, Divergence] = {}
    for scenario_id, entries in scenarios:
        if len({entry.outcome for entry in entries} & {Outcome.PASSED, Outcome.FAILED}) < 2:
            continue
        divergence = find_divergence(tool_path(result) for result in sample_runs(store, entries))
        if divergence is not None:
            divergences[scenario_id] = divergence
    return divergences


def find_pairs(
    store: RunStore, text_a: str, text_b: str, *, all_scenarios: bool
) -> tuple[list[tuple[Batch, Batch]], list[str]]:
    """Return two batches or scores by their ids, or with `all_scenarios` all batches of their commands; and notes."""
    if all_scenarios:
        commands = [_command_batches(store, text) for text in (text_a, text_b)]
        if commands[0] == commands[1]:
            raise UsageError(f"{text_a} and {text_b} belong to the same command.", hint="Name batches of two commands.")
        by_scenario = [{batch.scenario_id: batch for batch in batches} for batches in commands]
        return pair_scenarios(by_scenario[0], by_scenario[1])
    sides = ScoredSides(store)
    a, b = sides.load(text_a), sides.load(text_b)
    if a.batch_id == b.batch_id:
        raise UsageError(f"{text_a} and {text_b} are the same batch.", hint="Name two batches.")
    sides.check_different_runs(a, b)
    return [(a, b)], []


def _command_batches(store: RunStore, text: str) -> list[Batch]:
    """Return all batches of a command by the id of one; with `latest~1` the command before the newest is meant."""
    batches = store.find_batches(text)
    return batches if steps_before_latest(text) is not None else store.batches_of_command(batches[0])


def pair_scenarios(
    a: Mapping[str, Batch], b: Mapping[str, Batch], advice: str = ""
) -> tuple[list[tuple[Batch, Batch]], list[str]]:
    """Return the batches of the same scenario, and a note for each scenario that has runs on one side only."""
    both = [name for name in sorted(a) if name in b]
    if not both:
        raise NothingFoundError(
            f"The two sides have no scenario in common: A has {', '.join(sorted(a))}, B has {', '.join(sorted(b))}.",
            hint=advice,
        )
    alone = [("A", name) for name in sorted(a) if name not in b] + [("B", name) for name in sorted(b) if name not in a]
    notes = [f"Only {side} has runs of {name}." for side, name in alone]
    return [(a[name], b[name]) for name in both], [*notes, *([advice] if notes and advice else [])]


def newest_by_scenario(batches: Iterable[Batch], matches: Callable[[Batch], bool]) -> dict[str, Batch]:
    """Return the first matching batch of each scenario. The batches must be sorted, newest first."""
    newest: dict[str, Batch] = {}
    for batch in batches:
        if batch.scenario_id not in newest and matches(batch):
            newest[batch.scenario_id] = batch
    return newest


def uses_model(batch: Batch, model: str) -> bool:
    """Return whether a batch uses a model, given with or without its provider."""
    return model in (batch.model, f"{batch.provider}/{batch.model}")


def sample_runs(store: RunStore, entries: Sequence[IndexEntry]) -> Iterator[AgentRunResult]:
    """Yield completed runs in full: the first ones of each batch and outcome."""
    counts: Counter[tuple[str, Outcome]] = Counter()
    for entry in entries:
        if entry.outcome not in (Outcome.PASSED, Outcome.FAILED):
            continue
        counts[entry.batch_id, entry.outcome] += 1
        if counts[entry.batch_id, entry.outcome] <= MOST_READ:
            with suppress(StoreError, TapeError):  # the run was counted; only its steps are unknown
                passed = entry.outcome is Outcome.PASSED
                # As listed: of a run that was scored again, the entry has another verdict than the run's file.
                yield store.load_run(entry.run_id).model_copy(update={"outcome": entry.outcome, "passed": passed})


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
