"""`salvo report`: what the stored runs came to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from salvo.scenarios.analysis.summary import BatchSummary
    from salvo.scenarios.store.index import Entries
    from salvo.scenarios.store.store import RunStore


@click.command
@click.argument("run_id", required=False)
@click.option("--last", type=click.IntRange(min=1), default=10, show_default=True, help="How many batches to show.")
@click.option("--failures", is_flag=True, help="List the failed runs only.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Write a batch as one HTML file, for people without Salvo; - is standard output.",
)
@click.option("--rebuild", is_flag=True, help="Make the index again from the run files first.")
def report(run_id: str | None, last: int, failures: bool, as_json: bool, html: Path | None, rebuild: bool) -> None:
    """Show stored results: the newest batches, one batch, or one run.

    Without RUN_ID, the newest batches are listed. RUN_ID is the id of a run, which is shown in full, or of a batch,
    whose table is shown; the beginning of an id is enough where only one begins so, and `latest` is the newest
    batch.

    With --html, RUN_ID is a batch's, and without one the newest batch is written: its verdict and what the runs show,
    the failed runs with each step they took, and a passing one beside them. The file asks nothing of anyone.
    """
    if html and (failures or as_json):
        raise click.UsageError("--html writes a whole batch: leave out --failures and --json.")
    from salvo.scenarios.store.store import RunStore

    store = RunStore(_store_folder())
    if rebuild:
        rebuilt = store.rebuild_index()
        click.echo(f"Index rebuilt: {rebuilt.runs} runs{_unread(rebuilt.skipped)}.", err=True)
    if html is not None:
        _write_page(store, run_id, html)
        return
    if run_id is None:
        _show_newest(store, last, failures, as_json)
        return
    batch_id = _batch_named(store, run_id)
    if batch_id is None:
        _show_run(store, run_id, as_json)
    else:
        _show_batch(store, batch_id, failures, as_json)


def _show_newest(store: RunStore, last: int, failures: bool, as_json: bool) -> None:
    from salvo.cli.exit_codes import ExitCode

    entries = store.last(last)
    summaries = _summaries(store, store.newest_batches(last), entries)
    _warn(entries.skipped, "Make the index again with `salvo report --rebuild`.")
    _show(summaries, failures, as_json)
    if not summaries:
        click.echo(f"No runs are stored in {store.folder}. Make some with `salvo run`.", err=True)
        raise click.exceptions.Exit(ExitCode.NOTHING)


def _show_batch(store: RunStore, batch_id: str, failures: bool, as_json: bool) -> None:
    from salvo.scenarios.analysis.summary import summarise
    from salvo.scenarios.report.terminal import batch_table

    entries = store.load_entries(batch_id)
    summary = summarise(store.load_batch(batch_id), entries)
    _warn(entries.skipped, _damaged(store))
    if failures or as_json:
        _show([summary], failures, as_json)
    else:
        _print(batch_table(summary, colour=True))


def _write_page(store: RunStore, text: str | None, path: Path) -> None:
    from salvo.engine.runtime.files import write_document
    from salvo.engine.text.unicode_escape import printable
    from salvo.scenarios.report.html_export import export
    from salvo.scenarios.report.terminal import verdict
    from salvo.scenarios.store.store import LATEST

    written = export(store, store.find_batch(text or LATEST))
    _warn(written.unread, _damaged(store), "in the file")
    if str(path) == "-":
        click.echo(written.html, nl=False)
        return
    write_document(path, written.html.encode())
    click.echo(f"{path}: {printable(written.summary.scenario_id)}, {verdict(written.summary)}")


def _show_run(store: RunStore, text: str, as_json: bool) -> None:
    from salvo.engine.jsonio import json_codec
    from salvo.scenarios.report.terminal import run_in_full

    result = store.load_run(store.find_run(text))
    if as_json:
        click.echo(json_codec.dumps(result, indent=2))
    else:
        _print(run_in_full(result, colour=True))


def _show(summaries: Sequence[BatchSummary], failures: bool, as_json: bool) -> None:
    from salvo.scenarios.report import files
    from salvo.scenarios.report.terminal import list_batches, list_failures

    if as_json:
        shown = [summary for summary in summaries if summary.failures] if failures else summaries
        click.echo(files.as_json(shown))
    elif summaries:
        lines = list_failures if failures else list_batches
        _print(lines(summaries, colour=True))


def _summaries(store: RunStore, batch_ids: Sequence[str], entries: Entries) -> list[BatchSummary]:
    """One batch that cannot be read must not hide the others."""
    from salvo.errors import StoreError, TapeError
    from salvo.scenarios.analysis.summary import summarise

    summaries = []
    for batch_id in batch_ids:
        try:
            summaries.append(summarise(store.load_batch(batch_id), entries))
        except (StoreError, TapeError) as fault:
            click.echo(f"Left out: {fault}", err=True)
    return summaries


def _batch_named(store: RunStore, text: str) -> str | None:
    """None where it must be a run that is meant."""
    from salvo.errors import UnknownIdError

    try:
        return store.find_batch(text)
    except UnknownIdError:
        return None


def _warn(skipped: int, mend: str, where: str = "below") -> None:
    if skipped:
        click.echo(f"Some runs may be missing {where}{_unread(skipped)}. {mend}", err=True)


def _damaged(store: RunStore) -> str:
    return f"Look for damaged files in {store.runs}."


def _unread(skipped: int) -> str:
    return f", {skipped} could not be read" if skipped else ""


def _print(lines: Sequence[str]) -> None:
    click.echo("\n".join(lines))


def _store_folder() -> Path:
    from salvo.scenarios.spec.project import Project

    return Project.find(Path.cwd()).store
