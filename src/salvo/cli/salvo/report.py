"""`salvo report`: show stored runs."""

from __future__ import annotations

from pathlib import Path

import click


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
@click.option("--rebuild", is_flag=True, help="Rebuild the index from the run files first.")
def report(run_id: str | None, last: int, failures: bool, as_json: bool, html: Path | None, rebuild: bool) -> None:
    """Show stored results: the newest batches, one batch, or one run.

    Without RUN_ID, the newest batches are listed. RUN_ID is the id of a run, which is shown in full, or of a batch,
    whose table is shown. Any unique prefix of an id is enough, and `latest` is the newest batch.

    With --html, RUN_ID is the id of a batch, or else the newest batch is written: its verdict and what the runs show,
    the failed runs with all their steps, and a passing one for comparison. The file loads nothing from elsewhere.
    """
    if html and (failures or as_json):
        raise click.UsageError("--html writes a whole batch: leave out --failures and --json.")
    from salvo.cli.salvo import report_command

    report_command.report(run_id, last, failures, as_json, html, rebuild)
