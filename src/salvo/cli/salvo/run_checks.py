"""What `salvo run` checks before anything is run or spent: which options do not go together, and repeated seeds."""

from __future__ import annotations

from itertools import islice

import click

from salvo.errors import UsageError
from salvo.scenarios.analysis.batch_stats import seeded_inputs
from salvo.scenarios.result import Batch
from salvo.scenarios.run.runner import ScenarioRuns
from salvo.scenarios.shards import Shard
from salvo.scenarios.store.store import RunStore

_MOST_EARLIER = 100
"""Batches among which an earlier one with the same seeds is looked for."""


def check_until_sure(runs: int | None, *, until_sure: bool, max_runs: int | None) -> None:
    if until_sure != (max_runs is not None):
        raise click.UsageError(
            "--until-sure and --max-runs go together: runs are made until the verdict is settled, but no more than "
            "--max-runs."
        )
    if until_sure and runs is not None:
        raise click.UsageError("--until-sure makes as many runs as are needed, at most --max-runs: it takes no --runs.")


def check_shard(
    shard: str | None,
    batch_name: str | None,
    *,
    resume: str | None,
    needs_one_store: dict[str, bool],
    has_one_store: bool,
    needs_all_runs: dict[str, bool],
) -> Shard | None:
    """Return the shard to make, if there is one. Refuse what one part of the runs cannot decide."""
    if resume is not None and (shard is not None or batch_name is not None):
        raise click.UsageError("--resume takes a batch by its id: leave out --shard and --batch.")
    if batch_name is not None and not batch_name.strip():
        raise click.UsageError("--batch needs a name.")
    if shard is None:
        return None
    if option := next((name for name, is_used in needs_all_runs.items() if is_used), None):
        raise click.UsageError(
            f"{option} looks at the runs of all shards, and this one has only its own in its store."
            + (" Give it to `salvo merge`." if option == "--against-baseline" else "")
        )
    if not has_one_store and (option := next((name for name, is_used in needs_one_store.items() if is_used), None)):
        raise click.UsageError(
            f"{option} looks at the runs of all shards, so these need one store: name it with --store, an object store "
            "or a folder that all of them reach."
        )
    try:
        return Shard.parse(shard)
    except ValueError as error:
        raise click.UsageError(f"--shard: {error}") from error


def check_judges(
    judges: str, *, until_sure: bool, baseline: str | None, cache: bool, shard: str | None, resume: str | None
) -> None:
    """Refuse what needs the verdicts at once, and what a store of one part cannot collect."""
    if judges != "batch":
        return
    refused = {
        "--until-sure": until_sure,
        "--against-baseline": baseline is not None,
        "--cache": cache,
        "--shard": shard is not None,
        "--resume": resume is not None,
    }
    option = next((name for name, is_used in refused.items() if is_used), None)
    if option is None:
        return
    reasons = {
        "--until-sure": "needs the verdict of each round, which `--judges batch` has a day later.",
        "--against-baseline": "needs verdicts, which `--judges batch` has a day later. Give it to `salvo collect`.",
        "--cache": "is for development, and `--judges batch` is for large runs.",
        "--shard": "gives a part of the runs, and their judges are collected together: run without --judges batch.",
        "--resume": "continues a batch as it was started: leave out --judges.",
    }
    raise click.UsageError(f"{option} {reasons[option]}")


def check_cache(*, cache: bool, needs_evidence: bool) -> None:
    if cache and needs_evidence:
        raise click.UsageError(
            "--cache repeats earlier replies, which show nothing new: leave it out with --confidence, --until-sure and "
            "--against-baseline."
        )


def check_one_sided(work: list[ScenarioRuns], *, one_sided: bool) -> None:
    if not one_sided:
        return
    for item in work:
        if item.batch.confidence is None or item.batch.confidence <= 0.5:
            raise UsageError(
                f"{item.batch.scenario_id}: --one-sided needs a confidence above 0.5.",
                hint="Use, for example, --confidence 0.95. Nothing was run, and nothing was spent.",
            )


def repeated_seeds(store: RunStore, batch: Batch) -> str | None:
    """Return a warning if an earlier batch had the seeds, the model and the scenario of this one.

    Only the newest batches are looked at.
    """
    if batch.seed is None:
        return None
    key = seeded_inputs(batch)
    for earlier in islice(store.newest_first(), _MOST_EARLIER):
        if earlier.batch_id != batch.batch_id and seeded_inputs(earlier) == key:
            return (
                f"{batch.scenario_id}: these are the seeds of batch {earlier.batch_id}, with the same model. "
                "Where they decide what happens, its runs are repeated: they are no new evidence beside it."
            )
    return None
