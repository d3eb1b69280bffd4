"""`salvo report`: what the stored runs came to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from salvo.scenarios.report.data import BatchSummary
    from salvo.scenarios.store import Entries, Store


@click.command
@click.argument("run_id", required=False)
@click.option("--last", type=click.IntRange(min=1), default=10, show_default=True, help="How many batches to show.")
@click.option("--failures", is_flag=True, help="List the failed runs only.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--rebuild", is_flag=True, help="Make the index again from the run files first.")
def report(run_id: str | None, last: int, failures: bool, as_json: bool, rebuild: bool) -> None:
    """Show stored results: the newest batches, one batch, or one run.

    Without RUN_ID, the newest batches are listed. RUN_ID is the id of a run, which is shown in full, or of a batch,
    whose table is shown; the beginning of an id is enough where only one begins so, and `latest` is the newest
    batch.
    """
    from salvo.scenarios.store import Store

    store = Store(_store_folder())
    if rebuild:
        rebuilt = store.rebuild_index()
        click.echo(f"Index rebuilt: {rebuilt.runs} runs{_unread(rebuilt.skipped)}.", err=True)
    if run_id is None:
        _show_newest(store, last, failures, as_json)
        return
    batch_id = _batch_named(store, run_id)
    if batch_id is None:
        _show_run(store, run_id, as_json)
    else:
        _show_batch(store, batch_id, failures, as_json)


def _show_newest(store: Store, last: int, failures: bool, as_json: bool) -> None:
    from salvo.cli.exit_codes import ExitCode

    entries = store.last(last)
    summaries = _summaries(store, store.newest_batches(last), entries)
    _warn(entries, "Make the index again with `salvo report --rebuild`.")
    _show(summaries, failures, as_json)
    if not summaries:
        click.echo(f"No runs are stored in {store.folder}. Make some with `salvo run`.", err=True)
        raise click.exceptions.Exit(ExitCode.NOTHING)


def _show_batch(store: Store, batch_id: str, failures: bool, as_json: bool) -> None:
    from salvo.scenarios.report.data import summarise
    from salvo.scenarios.report.terminal import table

    entries = store.entries_of(batch_id)
    summary = summarise(store.load_batch(batch_id), entries)
    _warn(entries, f"Look for damaged files in {store.runs}.")
    if failures or as_json:
        _show([summary], failures, as_json)
    else:
        _print(table(summary, colour=True))


def _show_run(store: Store, text: str, as_json: bool) -> None:
    from salvo.engine import jsontext
    from salvo.scenarios.report.terminal import run_in_full

    result = store.load_run(store.find_run(text))
    if as_json:
        click.echo(jsontext.dumps(result, indent=2))
    else:
        _print(run_in_full(result, colour=True))


def _show(summaries: Sequence[BatchSummary], failures: bool, as_json: bool) -> None:
    from salvo.scenarios.report import documents
    from salvo.scenarios.report.terminal import list_batches, list_failures

    if as_json:
        shown = [summary for summary in summaries if summary.failures] if failures else summaries
        click.echo(documents.as_json(shown))
    elif summaries:
        lines = list_failures if failures else list_batches
        _print(lines(summaries, colour=True))


def _summaries(store: Store, batch_ids: Sequence[str], entries: Entries) -> list[BatchSummary]:
    """One batch that cannot be read must not hide the others."""
    from salvo.errors import StoreError, TapeError
    from salvo.scenarios.report.data import summarise

    summaries = []
    for batch_id in batch_ids:
        try:
            summaries.append(summarise(store.load_batch(batch_id), entries))
        except (StoreError, TapeError) as fault:
            click.echo(f"Left out: {fault}", err=True)
    return summaries


def _batch_named(store: Store, text: str) -> str | None:
    """None where it must be a run that is meant."""
    from salvo.errors import UnknownIdError

    try:
        return store.find_batch(text)
    except UnknownIdError:
        return None


def _warn(entries: Entries, mend: str) -> None:
    if entries.skipped:
        click.echo(f"Some runs may be missing below{_unread(entries.skipped)}. {mend}", err=True)


def _unread(skipped: int) -> str:
    return f", {skipped} could not be read" if skipped else ""


def _print(lines: Sequence[str]) -> None:
    click.echo("\n".join(lines))


def _store_folder() -> Path:
    from salvo.scenarios.project import Project

    return Project.find(Path.cwd()).store
