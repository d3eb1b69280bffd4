"""What a comparison needs from the store: which batches are compared, their runs, and where the runs diverge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

from salvo.engine.text.formatting import p_value as format_p_value
from salvo.engine.text.formatting import pluralize
from salvo.errors import NothingFoundError, StoreError, TapeError, UsageError
from salvo.scenarios.analysis.batch_stats import BatchStats, config_differences, measure, seeded_inputs
from salvo.scenarios.analysis.compare import ALPHA, ComparedSides, Comparison, ComparisonReport, PairedRuns, compare
from salvo.scenarios.analysis.divergence import Divergence, find_divergence, nearest, tool_path
from salvo.scenarios.analysis.scored_sides import ScoredSides
from salvo.scenarios.analysis.summary import BatchSummary, summarise
from salvo.scenarios.labels.lookup import required_evidence
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
    *,
    paired: bool = False,
) -> ComparisonReport:
    """Compare batches of the same scenario, A first. `list_entries` replaces that of the store.

    With `paired`, runs with the same seed are compared pair by pair; UsageError where there are none.
    """
    batch_ids = dict.fromkeys(batch.batch_id for pair in pairs for batch in pair)
    entries = (list_entries or store.list_entries)(batch_ids)
    by_batch: dict[str, list[IndexEntry]] = {batch_id: [] for batch_id in batch_ids}
    for entry in entries:
        by_batch[entry.batch_id].append(entry)
    sides = [
        ComparedSides(
            measure(a, by_batch[a.batch_id]),
            measure(b, by_batch[b.batch_id]),
            pair_runs(a, b, by_batch[a.batch_id], by_batch[b.batch_id]) if paired else None,
        )
        for a, b in pairs
    ]
    unreadable = [f"Left out, because unreadable: {pluralize(entries.skipped, 'run')}."] if entries.skipped else []
    return ComparisonReport(
        compare(sides),
        find_divergences(store, [(b.scenario_id, [*by_batch[a.batch_id], *by_batch[b.batch_id]]) for a, b in pairs]),
        [*notes, *unreadable, *_sequential_note(pairs), *_repeated_runs_note(pairs, by_batch)],
    )


def pair_runs(a: Batch, b: Batch, entries_a: Sequence[IndexEntry], entries_b: Sequence[IndexEntry]) -> PairedRuns:
    """Return how often runs with the same seed came out alike; UsageError if no runs have the same seed."""
    outcomes_a, outcomes_b = _outcomes_by_seed(a, entries_a), _outcomes_by_seed(b, entries_b)
    pairs = [(outcome, outcomes_b[seed]) for seed, outcome in outcomes_a.items() if seed in outcomes_b]
    if not pairs:
        with_cached = [_outcomes_by_seed(*side, with_cached=True) for side in ((a, entries_a), (b, entries_b))]
        cached = " but those answered from a cache" if with_cached[0].keys() & with_cached[1].keys() else ""
        raise UsageError(
            f"--paired compares runs with the same seed, and the two batches of {b.scenario_id} have none{cached}.",
            hint="Set the same `seed` for both, or compare without --paired.",
        )
    counts = Counter(pairs)
    passed, failed, error = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR
    completed = sum(counts[pair] for pair in ((passed, passed), (passed, failed), (failed, passed), (failed, failed)))
    only_a = counts[passed, failed]
    at_worst = only_a + counts[passed, error] + counts[error, failed] + counts[error, error]
    return PairedRuns(completed, only_a, counts[failed, passed], at_worst)


def _outcomes_by_seed(batch: Batch, entries: Iterable[IndexEntry], *, with_cached: bool = False) -> dict[int, Outcome]:
    if batch.seed is None:
        return {}
    outcomes = (Outcome.PASSED, Outcome.FAILED, Outcome.ERROR)
    return {
        batch.seed + entry.number: entry.outcome
        for entry in entries
        if entry.outcome in outcomes and (with_cached or not entry.from_cache)
    }


def _repeated_runs_note(pairs: Sequence[tuple[Batch, Batch]], by_batch: Mapping[str, list[IndexEntry]]) -> list[str]:
    """Return a note on runs of B that are those of A again: with the same seed, model, calls and output."""
    repeated = 0
    for a, b in pairs:
        if seeded_inputs(a) == seeded_inputs(b):
            hashes_a, hashes_b = _hashes_by_seed(a, by_batch[a.batch_id]), _hashes_by_seed(b, by_batch[b.batch_id])
            repeated += len(hashes_a.items() & hashes_b.items())
    if not repeated:
        return []
    runs = f"{pluralize(repeated, 'run')} of B {'has' if repeated == 1 else 'have'}"
    return [
        f"{runs} the seed, model, calls and output of a run of A: they may only repeat it, and are no new evidence."
    ]


def _hashes_by_seed(batch: Batch, entries: Iterable[IndexEntry]) -> dict[int, str]:
    if batch.seed is None:
        return {}
    return {batch.seed + entry.number: entry.content_hash for entry in entries if entry.content_hash}


def _repeated_seeds_note(sides: Sequence[ComparedSides]) -> list[str]:
    """Return a note where B has the seeds, the model and the configuration of A, whose single runs are not known."""
    repeated = any(
        item.a.settings.get("seed") is not None
        and item.a.full_model == item.b.full_model
        and not config_differences(item.a, item.b)
        for item in sides
    )
    if not repeated:
        return []
    what = "B repeats the seeds of A with the same model and configuration"
    return [f"{what}: where these decide what happens, its runs repeat those of A and are no new evidence."]


def _sequential_note(pairs: Sequence[tuple[Batch, Batch]]) -> list[str]:
    sides = [name for pair in pairs for name, batch in zip("AB", pair, strict=True) if batch.max_runs is not None]
    if not sides:
        return []
    names = " and ".join(sorted(set(sides)))
    return [f"{names}: the number of runs depends on their results (--until-sure), so p-values are slightly off."]


def compare_with_baseline(
    store: RunStore,
    baseline: Sequence[BatchStats],
    current: Sequence[tuple[BatchStats, Iterable[IndexEntry]]],
    notes: Iterable[str],
    commits: int = 1,
) -> ComparisonReport:
    """Compare the current runs (B) with the statistics in a baseline (A).

    Each commit is compared with the same baseline, and each comparison may be a false alarm. Over all `commits` the
    probability of one is at most ALPHA, because each may use only its share of it (Bonferroni): this holds although the
    comparisons depend on each other by their baseline. Only "worse" is an alarm, which is half of what a two-sided test
    finds by chance; with several scenarios, the test over all of them uses the other half.
    """
    by_scenario = {stats.scenario_id: stats for stats in baseline}
    sides = [
        ComparedSides(by_scenario[stats.scenario_id], stats) for stats, _ in current if stats.scenario_id in by_scenario
    ]
    runs = [(stats.scenario_id, entries) for stats, entries in current if stats.scenario_id in by_scenario]
    comparison = compare(sides, min(ALPHA, ALPHA / commits * (2 if len(sides) == 1 else 1)))
    return ComparisonReport(
        comparison,
        find_divergences(store, runs),
        [*notes, *_suspects(comparison, commits), *_repeated_seeds_note(sides)],
    )


def _suspects(comparison: Comparison, commits: int) -> Iterator[str]:
    """Yield what a single comparison would have found, but a gate over many commits may not."""
    for scenario in comparison.scenarios:
        p_value = scenario.p_value
        if p_value is not None and comparison.level < p_value <= ALPHA and (scenario.difference or 0.0) < 0:
            single = f"p = {format_p_value(p_value, ALPHA)} would be a finding in a single comparison"
            yield (
                f"{scenario.scenario_id} may be worse than its baseline: {single}, but {commits} commits need p up to "
                f"{comparison.level:g} to keep false alarms at 5%. Run it with more --runs to be sure."
            )


def find_divergences(store: RunStore, scenarios: Iterable[tuple[str, Iterable[IndexEntry]]]) -> dict[str, Divergence]:
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


def suite_summaries(
    store: RunStore, batch: Batch, list_entries: Callable[[Iterable[str]], Entries] | None = None
) -> tuple[list[BatchSummary], int]:
    """Return the summaries of all cells of a batch's suite in its command, and how many runs could not be read.

    Raise UsageError if the batch is no cell, or the only one.
    """
    batches = [item for item in store.batches_of_command(batch) if batch.suite and item.suite == batch.suite]
    if len(batches) < 2:
        raise UsageError(
            f"The batch {batch.batch_id} is not one of several cells of its command.",
            hint="A grid needs a scenario file with cases or a matrix.",
        )
    entries = (list_entries or store.list_entries)([item.batch_id for item in batches])
    by_batch: dict[str, list[IndexEntry]] = {item.batch_id: [] for item in batches}
    for entry in entries:
        by_batch[entry.batch_id].append(entry)
    summaries = [summarise(item, by_batch[item.batch_id], labels=required_evidence(store, item)) for item in batches]
    return summaries, entries.skipped


def newest_by_scenario(batches: Iterable[Batch], matches: Callable[[Batch], bool]) -> dict[str, Batch]:
    """Return the first matching batch of each scenario. The batches must be sorted, newest first."""
    newest: dict[str, Batch] = {}
    for batch in batches:
        if batch.scenario_id not in newest and matches(batch):
            newest[batch.scenario_id] = batch
    return newest


def by_shared_parameters(a: Iterable[Batch], b: Iterable[Batch]) -> tuple[dict[str, Batch], dict[str, Batch]]:
    """Return both sides by the names under which they are paired.

    A cell of a matrix over models has the model in its name. A parameter that is the same in all cells of a side, and
    another one on the other side, is what is compared, so it is left out of the names.
    """
    sides = (list(a), list(b))
    values: tuple[_ParameterValues, _ParameterValues] = (_parameter_values(sides[0]), _parameter_values(sides[1]))
    compared = {
        key
        for key, ids in values[0].items()
        if len(ids) == 1 and len(values[1].get(key, ())) == 1 and ids != values[1][key]
    }

    def name(batch: Batch) -> str:
        shared = [value for key, value in batch.parameters.items() if (batch.suite, key) not in compared]
        if not batch.suite or len(shared) == len(batch.parameters):
            return batch.scenario_id
        return f"{batch.suite}[{'-'.join(shared)}]" if shared else batch.suite

    return {name(batch): batch for batch in sides[0]}, {name(batch): batch for batch in sides[1]}


_ParameterValues: TypeAlias = dict[tuple[str, str], set[str]]
"""The ids that a parameter has, by its suite and its name."""


def _parameter_values(batches: Iterable[Batch]) -> _ParameterValues:
    values: _ParameterValues = {}
    for batch in batches:
        for name, value in batch.parameters.items():
            values.setdefault((batch.suite, name), set()).add(value)
    return values


def uses_model(batch: Batch, model: str) -> bool:
    """Return whether a batch uses a model, given with or without its provider."""
    return model in (batch.model, f"{batch.provider}/{batch.model}")


def sample_runs(store: RunStore, entries: Iterable[IndexEntry]) -> Iterator[AgentRunResult]:
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
