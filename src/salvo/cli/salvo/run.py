"""`salvo run`: scenarios, N times each, scored and stored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.param_types import DOLLARS, INNER_SHARE, SHARE

if TYPE_CHECKING:
    from salvo.cli.salvo.run_session import RunSession
    from salvo.scenarios.analysis.batch_stats import BatchStats
    from salvo.scenarios.report.comparison import ComparisonReport
    from salvo.scenarios.result import Batch
    from salvo.scenarios.spec.project import Project
    from salvo.scenarios.store.store import RunStore

DEFAULT_BASELINE = "-"
"""What --against-baseline without a file says."""


@click.command
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("-n", "--runs", type=click.IntRange(min=1), help="How often to run each scenario.")
@click.option("--record", is_flag=True, help="Record every run, so that it can be replayed.")
@click.option("--model", help="Another model than the scenario's.")
@click.option("--adapter", help="Another adapter than the scenario's.")
@click.option("--threshold", type=SHARE, help="The weighted score from which a run passes.")
@click.option("--min-pass-rate", type=SHARE, help="The share of runs that must pass.")
@click.option(
    "--confidence",
    type=INNER_SHARE,
    help="Pass or fail only where the runs show it with this confidence, such as 0.95; else inconclusive.",
)
@click.option("--until-sure", is_flag=True, help="Run in rounds until that is shown; needs --max-runs.")
@click.option("--max-runs", type=click.IntRange(min=1), help="With --until-sure: no more runs than this.")
@click.option(
    "--against-baseline",
    "baseline",
    is_flag=False,
    flag_value=DEFAULT_BASELINE,
    metavar="[FILE]",
    help="Compare with a baseline afterwards. [default: .salvo/baseline.json]",
)
@click.option("-k", "keyword", help="Only scenarios whose name contains this.")
@click.option("-x", "--exitfirst", is_flag=True, help="Start no more runs after the first failure.")
@click.option("-j", "--concurrency", type=click.IntRange(min=1), default=10, show_default=True, help="Runs at once.")
@click.option("--max-cost", type=DOLLARS, help="Dollars after which no more runs are started.")
@click.option(
    "--resume",
    metavar="BATCH",
    help="Do the missing runs of an earlier batch, and only those; latest: of all batches of the newest command.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Also write a file: .json, .jsonl, .xml (JUnit) or .md.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout; everything else goes to stderr.")
@click.option("--redact", "patterns", multiple=True, metavar="REGEX", help="Also redact what this matches.")
@click.option(
    "--record-max-bytes", type=click.IntRange(min=0), help="Keep only the hash of larger requests. [default: 256 kB]"
)
@click.option("--record-hashes", is_flag=True, help="Record hashes instead of content; such runs cannot be replayed.")
def run(
    path: Path | None,
    runs: int | None,
    record: bool,
    model: str | None,
    adapter: str | None,
    threshold: float | None,
    min_pass_rate: float | None,
    confidence: float | None,
    until_sure: bool,
    max_runs: int | None,
    baseline: str | None,
    keyword: str | None,
    exitfirst: bool,
    concurrency: int,
    max_cost: float | None,
    resume: str | None,
    outputs: tuple[Path, ...],
    as_json: bool,
    patterns: tuple[str, ...],
    record_max_bytes: int | None,
    record_hashes: bool,
) -> None:
    """Run scenarios N times, and say how far they can be relied on.

    PATH is a scenario file or a folder of them; without one, scenarios/ or the current folder. Exits 0 when every
    scenario passes, 1 when one fails or is significantly worse than its baseline, 2 on bad usage or an invalid file, 3
    when something could not be judged or runs that were not made leave it open, 4 when the runs cannot show it with the
    confidence asked for, and 130 when interrupted (what had finished is saved; --resume goes on).
    """
    import asyncio
    import gc

    gc.disable()  # until the work begins: loading modules makes no garbage, and looking for it takes a tenth longer
    from salvo.cli.salvo.run_session import RunSession, collect_work, recording_options, resume_work
    from salvo.scenarios.spec.project import Project
    from salvo.scenarios.workspace import ScenarioOverrides, Workspace

    _check(outputs)
    _check_until_sure(runs, until_sure=until_sure, max_runs=max_runs)
    project = Project.find(Path.cwd())
    blessed = None if baseline is None else _baseline(project, baseline)
    if resume is not None:
        _refuse_beside_resume(path, runs, model, adapter, threshold, min_pass_rate, confidence, max_runs, keyword)
        workshop, work, batches = resume_work(project, resume)
        recording = recording_options(batches[0].settings)
    else:
        asked = {
            "overrides": ScenarioOverrides(runs, model, adapter, threshold, min_pass_rate, confidence).values,
            "record": record or record_hashes,
            "record_hashes": record_hashes,
            "record_max_bytes": record_max_bytes,
            "redact": list(patterns),
            "max_runs": max_runs,
            "at_once": concurrency,
        }
        workshop = Workspace(project, patterns=patterns)
        recording = recording_options(asked)
        work = collect_work(workshop, path, keyword, asked)
        batches = [prepared.batch for prepared, _ in work]
    _check_baseline(blessed, batches)
    running = RunSession(workshop, work, batches, resumed=resume is not None)
    code = asyncio.run(running.execute(recording, concurrency, max_cost, exitfirst))
    compared = None if blessed is None else _compared(workshop.store(), blessed, batches, running)
    _show(running, compared, outputs, as_json=as_json)
    raise SystemExit(code if code is ExitCode.INTERRUPTED else _exit_code(running, compared))


def _check(outputs: tuple[Path, ...]) -> None:
    """A file that cannot be written is said before money is spent."""
    if outputs:
        import os

        from salvo.errors import UsageError
        from salvo.scenarios.report import files

        for output in outputs:
            files.check(output)
            if not os.access(output.absolute().parent, os.W_OK):
                raise UsageError(
                    f"{output} cannot be written: there is no folder for it, or none that may be written to.",
                    hint="Nothing was run, and nothing was spent.",
                )


def _refuse_beside_resume(*options: object) -> None:
    if any(option is not None for option in options):
        raise click.UsageError("--resume goes on with a batch as it was begun: it takes no PATH and no other scenario.")


def _check_until_sure(runs: int | None, *, until_sure: bool, max_runs: int | None) -> None:
    if until_sure != (max_runs is not None):
        raise click.UsageError("--until-sure and --max-runs go together: until it is shown, but at most so many runs.")
    if until_sure and runs is not None:
        raise click.UsageError("--until-sure makes as many runs as are needed, at most --max-runs: it takes no --runs.")


def _baseline(project: Project, named: str) -> list[BatchStats]:
    """Read before money is spent."""
    from salvo.errors import UsageError
    from salvo.scenarios.analysis.baseline import NAME, read

    path = project.store / NAME if named == DEFAULT_BASELINE else Path(named)
    if path.is_dir() or path.suffix in (".yaml", ".yml"):
        raise UsageError(
            f"{path} is no baseline.", hint="Scenarios come before it: salvo run PATH --against-baseline [FILE]"
        )
    return read(path)


def _check_baseline(blessed: list[BatchStats] | None, batches: list[Batch]) -> None:
    from salvo.errors import UsageError

    if blessed is not None and not {of.scenario_id for of in blessed} & {batch.scenario_id for batch in batches}:
        raise UsageError(
            f"The baseline holds none of these scenarios: {', '.join(batch.scenario_id for batch in batches)}.",
            hint="Bless a batch of them: salvo baseline bless BATCH. Nothing was run, and nothing was spent.",
        )


def _compared(
    store: RunStore, blessed: list[BatchStats], batches: list[Batch], running: RunSession
) -> ComparisonReport:
    from salvo.scenarios.analysis.comparison_inputs import against, measured_of

    known = {of.scenario_id for of in blessed}
    notes = [
        f"{batch.scenario_id} is not in the baseline. Add it: salvo baseline bless {batch.batch_id}"
        for batch in batches
        if batch.scenario_id not in known
    ]
    made = [(batch, running.entries_of(batch)) for batch in batches]
    now = [(measured_of(batch, entries), entries) for batch, entries in made]
    return against(store, blessed, now, notes)


def _show(running: RunSession, compared: ComparisonReport | None, outputs: tuple[Path, ...], *, as_json: bool) -> None:
    """The table, and the files. All runs of each batch: a resumed one's earlier runs too."""
    if as_json:
        from salvo.scenarios.report import comparison, files

        more = {} if compared is None else {"comparison": comparison.document(compared)}
        click.echo(files.as_json(running.summaries, running.results, **more))
    else:
        from salvo.scenarios.report import terminal

        click.echo("\n\n".join("\n".join(terminal.batch_table(summary, colour=True)) for summary in running.summaries))
        if sum(summary.unmade > 0 for summary in running.summaries) > 1:
            click.echo("\nAll of them go on with: salvo run --resume latest")
        if compared is not None:
            from salvo.scenarios.report import comparison

            click.echo("\nAgainst the baseline (A):\n" + "\n".join(comparison.lines(compared, colour=True)))
    if outputs:
        from salvo.scenarios.report import files

        for output in outputs:
            files.write(output, running.summaries, running.results, compared)


def _exit_code(running: RunSession, compared: ComparisonReport | None) -> ExitCode:
    from salvo.cli.salvo.exit_status import batch_exit_code

    if compared is not None and compared.comparison.worse:
        return ExitCode.FAILED
    return batch_exit_code(running.summaries)
