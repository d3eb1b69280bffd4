"""`salvo merge`: join the stores of shards, and report them as one batch."""

from __future__ import annotations

from typing import Any

import click

from salvo.cli.output import echo
from salvo.cli.output_options import result_options
from salvo.cli.salvo.baseline_options import baseline_options, read_baseline
from salvo.cli.salvo.run_output import RunOutput, batch_exit_code, check_outputs, show_stored
from salvo.engine.text.formatting import pluralize
from salvo.errors import NothingFoundError
from salvo.scenarios.result import Batch
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import open_existing, open_store
from salvo.scenarios.store.merge import merge_stores


@click.command
@click.argument("stores", nargs=-1, required=True, metavar="STORE...")
@click.option(
    "--into",
    metavar="STORE",
    envvar="SALVO_STORE",
    help="The store to add to: a folder, or an object store such as s3://bucket/prefix. [default: SALVO_STORE, or "
    ".salvo]",
)
@baseline_options
@result_options
def merge(
    stores: tuple[str, ...],
    into: str | None,
    baseline: str | None,
    commits: int,
    **options: Any,
) -> None:
    """Join the stores of `salvo run --shard` and report their runs as one batch.

    Each STORE is a folder .salvo, a folder that has one, or an object store. Its batches, runs and recordings are added
    to the project's store; scores and judgings are not. Joining a store twice, or stores that overlap, changes nothing.
    The report is about the newest command of which the stores have a batch.

    Exits as `salvo run` does: 0 when every scenario passes, 1 when one fails or is significantly worse than its
    baseline, 2 on bad usage or if two stores have different content under one id, 3 when something could not be judged
    or missing runs leave the verdict open, 4 when the runs cannot show it with the required confidence.
    """
    output = RunOutput(**options)
    check_outputs(output.outputs)
    project = Project.find(store_address=into)
    target = open_store(project)
    blessed = read_baseline(project, baseline)
    merged = merge_stores(target, [open_existing(text, project.cwd) for text in stores])
    batches, others = _newest_command(merged.batches)
    note = f", {merged.already_there} already there" if merged.already_there else ""
    echo(f"{pluralize(merged.added, 'run')} added to {target.address}{note}.", err=True)
    if others:
        echo(f"Not in this report: {pluralize(others, 'batch', 'batches')} of other commands.", err=True)
    summaries, compared = show_stored(target, batches, blessed, commits, output)
    raise SystemExit(batch_exit_code(summaries, compared))


def _newest_command(batches: list[Batch]) -> tuple[list[Batch], int]:
    """Return the batches of the newest command, in its order, and the number of other batches."""
    if not batches:
        raise NothingFoundError("The stores have no batch.", hint="Make one with `salvo run --shard`.")
    newest = max(batches, key=lambda batch: batch.created_at)
    if not newest.command:
        return [newest], len(batches) - 1
    chosen = [batch for batch in batches if batch.command == newest.command]
    return chosen, len(batches) - len(chosen)
