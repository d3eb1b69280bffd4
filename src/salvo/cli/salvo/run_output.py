"""What `salvo run` and `salvo merge` print and write in the end, and their exit code."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.errors import UsageError
from salvo.records import record
from salvo.scenarios.analysis.suite import SuiteVerdict, suite_verdict
from salvo.scenarios.analysis.summary import BatchSummary, summarise
from salvo.scenarios.labels.lookup import required_evidence
from salvo.scenarios.report import terminal
from salvo.scenarios.report.closing import closing_summary, overall, worth_a_table
from salvo.scenarios.report.formats import checked_suffix
from salvo.scenarios.result import Batch, Cause, Outcome
from salvo.scenarios.run.runner import ScenarioRuns
from salvo.scenarios.shards import Shard
from salvo.scenarios.store.run_entries import RunEntries
from salvo.scenarios.store.store import RunStore

if TYPE_CHECKING:
    from salvo.cli.salvo.run_baseline import Baseline, BaselineComparison


@record
class RunOutput:
    """What the command prints and writes in the end."""

    outputs: tuple[Path, ...]
    as_json: bool
    quiet: bool
    verbose: bool
    pass_at_k: bool


_OUTCOMES = {Outcome.PASSED: "passed", Outcome.FAILED: "failed", Outcome.ERROR: "could not be judged"}


def check_outputs(outputs: tuple[Path, ...]) -> None:
    """Refuse a file that cannot be written before money is spent."""
    for output in outputs:
        checked_suffix(output)
        if not os.access(output.absolute().parent, os.W_OK):
            raise UsageError(
                f"{output} cannot be written: its folder does not exist or is not writable.",
                hint="Nothing was run, and nothing was spent.",
            )


def _grids(summaries: list[BatchSummary]) -> tuple[set[str], list[list[str]]]:
    """Return the grids of the suites as lines, and the ids of the batches in them."""
    if not any(summary.suite for summary in summaries):
        return set(), []
    from salvo.scenarios.report.grid import suite_lines  # most files have neither cases nor a matrix

    return suite_lines(summaries, colour=True)


def show_stored(
    store: RunStore, batches: list[Batch], baseline: Baseline | None, commits: int, output: RunOutput
) -> tuple[list[BatchSummary], BaselineComparison | None]:
    """Show batches that were made before, as `show` does. Return what they came to."""
    work = [ScenarioRuns(batch, None, earlier=RunEntries(store.batch_entries(batch))) for batch in batches]
    if baseline is not None:
        baseline.check(work)
    summaries = [summarise(item.batch, item.entries, labels=required_evidence(store, item.batch)) for item in work]
    compared = None if baseline is None else baseline.compare(store, work, commits)
    show(store, work, summaries, compared, output)
    return summaries, compared


def show(
    store: RunStore,
    work: list[ScenarioRuns],
    summaries: list[BatchSummary],
    compared: BaselineComparison | None,
    output: RunOutput,
    shard: Shard | None = None,
    shared_name: str | None = None,
) -> None:
    """Print tables and totals or JSON, and write the files. Of a resumed batch, the earlier runs are included.

    `shared_name` is the name of a shard's batch, if all shards may have its store.
    """
    if not output.as_json:
        if shard is None:
            _print_tables(work, summaries, compared, output)
        else:
            _print_shard(shard, work, output, shared_name)
    if output.as_json or output.outputs:
        from salvo.scenarios.report import export  # most runs write no files

        # Full results are read from the store only now: there may be very many.
        results = [result for summary in summaries for result in store.load_runs(summary.batch_id)]
        report = None if compared is None else compared.report
        content = export.ExportContent(summaries, results, report, {item.batch.batch_id: item.batch for item in work})
        if output.as_json:
            echo_json(export.as_json(content))
        for file in output.outputs:
            export.write(file, content)


def _print_tables(
    work: list[ScenarioRuns],
    summaries: list[BatchSummary],
    compared: BaselineComparison | None,
    output: RunOutput,
) -> None:
    in_grids, grids = (set(), []) if output.quiet else _grids(summaries)
    single = [summary for summary in summaries if summary.batch_id not in in_grids]
    tables = [] if output.quiet else worth_a_table(single, verbose=output.verbose)
    sections = [terminal.batch_table(summary, colour=True, pass_at_k=output.pass_at_k) for summary in tables]
    sections += grids
    cached = terminal.cache_note([(item.batch, item.entries) for item in work])
    if cached:
        sections.append(cached)
    if compared is not None:
        sections.append(compared.lines())
    verdict = _verdict(summaries, compared)
    if output.quiet or len(summaries) > 1:
        batch_ids = {summary.batch_id for summary in tables}
        sections.append(closing_summary(summaries, verdict, tables=batch_ids, in_grids=in_grids, colour=True))
    else:  # the table of the only scenario says the rest
        sections.append(list(overall(summaries, verdict, colour=True)))
    sections = [lines for lines in sections if lines]
    echo("\n\n".join("\n".join(lines) for lines in sections))


def _print_shard(shard: Shard, work: list[ScenarioRuns], output: RunOutput, shared_name: str | None) -> None:
    """Print how many runs of a shard are stored. Only all shards together have a verdict."""
    counts = Counter(entry.outcome for item in work for entry in item.entries)
    outcomes = [f", {counts[outcome]} {word}" for outcome, word in _OUTCOMES.items() if counts[outcome]]
    total = pluralize(sum(item.batch.runs for item in work), "run")
    echo(f"Shard {shard}: {counts.total()} of {total} stored{''.join(outcomes)}.")
    for reason, count in Counter(run.reason for item in work for run in item.skipped.values()).items():
        echo(f"{pluralize(count, 'run')} not made: {reason}. Call the same command again to make them.")
    if not output.quiet:
        echo("The verdict is that of all shards: salvo merge STORE...")
        if shared_name is not None:
            name = printable(shlex.quote(shared_name))
            echo(f"If all shards have this store, the same command with --batch {name} and without --shard gives it.")


def _verdict(summaries: list[BatchSummary], compared: BaselineComparison | None) -> SuiteVerdict:
    """Return the verdict of the command: that of its scenarios, and that of the comparison with a baseline."""
    verdict = suite_verdict(summaries)
    if compared is None or verdict is SuiteVerdict.FAILED:
        return verdict
    if compared.is_worse:
        return SuiteVerdict.FAILED
    return SuiteVerdict.NOT_JUDGED if compared.is_unjudged else verdict


_EXIT_CODES = {
    SuiteVerdict.FAILED: ExitCode.FAILED,
    SuiteVerdict.NOT_JUDGED: ExitCode.NOT_JUDGED,
    SuiteVerdict.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
    SuiteVerdict.PASSED: ExitCode.OK,
}


def batch_exit_code(summaries: list[BatchSummary], compared: BaselineComparison | None = None) -> ExitCode:
    return _EXIT_CODES[_verdict(summaries, compared)]


def run_exit_code(
    work: list[ScenarioRuns], summaries: list[BatchSummary], compared: BaselineComparison | None, shard: Shard | None
) -> ExitCode:
    """Return the exit code of the verdict; of a shard whether it has stored its runs, whatever they show."""
    if shard is None:
        return batch_exit_code(summaries, compared)
    is_missing = any(item.skipped for item in work)
    is_unstored = any(entry.cause is Cause.STORE for item in work for entry in item.finished)
    return ExitCode.NOT_JUDGED if is_missing or is_unstored else ExitCode.OK
