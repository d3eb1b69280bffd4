"""`salvo report`: show stored runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_document, echo_json
from salvo.cli.salvo.store_option import store_option
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import write_document
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.errors import AmbiguousIdError, StoreError, TapeError, UnknownIdError
from salvo.scenarios.analysis.comparison_inputs import suite_summaries
from salvo.scenarios.analysis.grid import build_grids
from salvo.scenarios.analysis.summary import BatchSummary, summarise
from salvo.scenarios.labels.lookup import required_evidence, stored_evidence
from salvo.scenarios.report import export, html, score_report, terminal
from salvo.scenarios.report.grid import grid_lines
from salvo.scenarios.result import AgentRunResult
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.ids import LATEST, split_run_id, steps_before_latest
from salvo.scenarios.store.index import Entries
from salvo.scenarios.store.location import open_store
from salvo.scenarios.store.score_store import PREFIX, ScoreStore
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
@click.option("--pass-at-k", is_flag=True, help="Of one batch, also show pass@k: the chance that one of k runs passes.")
@click.option("--score", "score_id", metavar="SCORE", help="With the id of a run: its verdict in this scoring.")
@click.option("--grid", is_flag=True, help="Show all cells of the batch's cases and matrix as a grid.")
@click.option("--rebuild", is_flag=True, help="Rebuild the index from the run files first.")
@store_option
def report(
    run_id: str | None,
    last: int,
    failures: bool,
    as_json: bool,
    html: Path | None,
    pass_at_k: bool,
    score_id: str | None,
    grid: bool,
    rebuild: bool,
    store_address: str | None,
) -> None:
    """Show stored results: the newest batches, one batch, or one run.

    Without RUN_ID, the newest batches are listed. RUN_ID is the id of a run, which is shown in full, or of a batch,
    whose table is shown, or of a scoring by `salvo score`. Any unique prefix of an id is enough; `latest` is the
    newest batch, and `latest~1` the one before.

    With --grid, RUN_ID is the id of a batch, or else the newest batch: the cells of its cases and matrix are shown, in
    all batches of its command.

    With --html, RUN_ID is the id of a batch, or else the newest batch is written: its verdict and what the runs show,
    the failed runs with all their steps, and a passing one for comparison. The file loads nothing from elsewhere.
    """
    if html and (failures or as_json):
        raise click.UsageError("--html writes a whole batch: leave out --failures and --json.")
    store = open_store(Project.find(store_address=store_address))
    if rebuild:
        rebuilt = store.rebuild_index()
        echo(f"Index rebuilt: {pluralize(rebuilt.runs, 'run')}{_unreadable(rebuilt.skipped)}.", err=True)
    if score_id is not None:
        if run_id is None or html is not None:
            raise click.UsageError("--score goes with the id of a run.")
        _show_scored_run(store, run_id, score_id, as_json)
    elif html is not None:
        _write_html(store, run_id, html)
    elif grid:
        _show_grid(store, run_id, as_json)
    elif run_id is None:
        _show_newest(store, last, failures, as_json)
    elif run_id.startswith(PREFIX):
        _show_score(store, run_id, failures, as_json)
    elif (batch_id := _find_batch(store, run_id)) is not None:
        _show_batch(store, batch_id, failures, as_json, pass_at_k)
    else:
        _show_run(store, run_id, as_json)


def _show_newest(store: RunStore, last: int, failures: bool, as_json: bool) -> None:
    entries = store.last(last)
    summaries = _summaries(store, store.newest_batches(last), entries)
    _warn(entries.skipped, "Rebuild the index with `salvo report --rebuild`.")
    _show(summaries, failures, as_json)
    if not summaries:
        echo(f"No runs are stored in {store.address}. Make some with `salvo run`.", err=True)
        raise SystemExit(ExitCode.NOTHING)


def _show_batch(store: RunStore, batch_id: str, failures: bool, as_json: bool, pass_at_k: bool) -> None:
    entries = store.load_entries(batch_id)
    batch = store.with_lost_attempts(store.load_batch(batch_id), entries)
    summary = summarise(batch, entries, labels=stored_evidence(store, batch))
    _warn(entries.skipped, _damaged(store))
    if failures or as_json:
        _show([summary], failures, as_json)
    else:
        scorings = list(ScoreStore(store).of_batch(batch_id))
        notes = [*terminal.cache_note([(batch, entries)]), *score_report.batch_note(scorings)]
        table = terminal.batch_table(summary, colour=True, pass_at_k=pass_at_k)
        echo("\n".join([*table, *([""] if notes else []), *notes]))


def _show_score(store: RunStore, text: str, failures: bool, as_json: bool) -> None:
    scores = ScoreStore(store)
    scoring = scores.load(scores.find(text))
    entries = scores.load_entries(scoring.score_id)
    batch = store.load_batch(scoring.batch_id)
    summary = summarise(scoring.as_batch(batch), entries)
    _warn(entries.skipped, f"Look for damaged files in {store.storage.describe('scores')}.")
    if failures or as_json:
        _show([summary], failures, as_json)
    else:
        echo("\n".join(score_report.table(scoring, summary, store.batch_entries(batch), entries)))


def _show_scored_run(store: RunStore, run_id: str, score_id: str, as_json: bool) -> None:
    scores = ScoreStore(store)
    _print_run(scores.load_run(scores.find(score_id), store.find_run(run_id)), as_json)


def _write_html(store: RunStore, batch_id: str | None, path: Path) -> None:
    exported = html.export(store, _whole_batch(store, batch_id or LATEST, "--html"))
    _warn(exported.unreadable, _damaged(store), "in the file")
    if str(path) == "-":
        echo_document(exported.html)
        return
    write_document(path, exported.html.encode())
    echo(f"{path}: {printable(exported.summary.scenario_id)}, {terminal.verdict(exported.summary)}")


def _show_grid(store: RunStore, batch_id: str | None, as_json: bool) -> None:
    batch = store.load_batch(_whole_batch(store, batch_id or LATEST, "--grid"))
    summaries, skipped = suite_summaries(store, batch)
    _warn(skipped, "Rebuild the index with `salvo report --rebuild`.")
    if as_json:
        echo_json(export.as_json(export.ExportContent(summaries), with_results=False))
    else:
        for item in build_grids(summaries):
            echo("\n".join(grid_lines(item, colour=True)))


def _show_run(store: RunStore, run_id: str, as_json: bool) -> None:
    _print_run(store.load_run(store.find_run(run_id)), as_json)


def _print_run(result: AgentRunResult, as_json: bool) -> None:
    if as_json:
        echo_json(json_codec.dumps(result, indent=2))
    else:
        echo("\n".join(terminal.run_in_full(result, colour=True)))


def _show(summaries: Sequence[BatchSummary], failures: bool, as_json: bool) -> None:
    if as_json:
        selected = [summary for summary in summaries if summary.failures] if failures else summaries
        echo_json(export.as_json(export.ExportContent(selected), with_results=False))
    elif summaries:
        lines = terminal.list_failures if failures else terminal.list_batches
        echo("\n".join(lines(summaries, colour=True)))


def _summaries(store: RunStore, batch_ids: Sequence[str], entries: Entries) -> list[BatchSummary]:
    """Return the summaries of all batches that can be read."""
    summaries = []
    for batch_id in batch_ids:
        try:
            batch = store.with_lost_attempts(store.load_batch(batch_id), entries)
            summaries.append(summarise(batch, entries, labels=required_evidence(store, batch)))
        except (StoreError, TapeError) as error:
            echo(f"Left out: {error}", err=True)
    return summaries


def _find_batch(store: RunStore, text: str) -> str | None:
    """Return the id of a batch, or None if the text must be the id of a run."""
    if steps_before_latest(text) is not None:
        return store.find_batch(text)
    try:
        return store.find_batch(text)
    except UnknownIdError:
        return None


def _whole_batch(store: RunStore, text: str, option: str) -> str:
    """Return the id of a batch, for an option that shows no single run."""
    try:
        return store.find_batch(text)
    except UnknownIdError:
        try:
            run_id = store.find_run(text)
        except (UnknownIdError, AmbiguousIdError):
            run_id = None
        if run_id is None:
            raise
        batch_id, _ = split_run_id(run_id)
        raise UnknownIdError(
            f"{run_id} is the id of a run, and {option} shows a whole batch.",
            hint=f"Its batch is {batch_id}: `salvo report {batch_id} {option}`.",
        ) from None


def _warn(skipped: int, advice: str, where: str = "below") -> None:
    if skipped:
        echo(f"Some runs may be missing {where}{_unreadable(skipped)}. {advice}", err=True)


def _damaged(store: RunStore) -> str:
    return f"Look for damaged files in {store.storage.describe('runs')}."


def _unreadable(skipped: int) -> str:
    return f", {skipped} could not be read" if skipped else ""
