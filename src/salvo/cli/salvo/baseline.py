"""`salvo baseline`: a file to commit, which later runs are compared with."""

from __future__ import annotations

from pathlib import Path

import click


@click.group
def baseline() -> None:
    """Keep a batch as the baseline that later runs are compared with."""


@baseline.command(short_help="Write the results of batches into a baseline.")
@click.argument("batches", nargs=-1, required=True, metavar="BATCH...")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file. [default: .salvo/baseline.json]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def bless(batches: tuple[str, ...], output: Path | None, as_json: bool) -> None:
    """Write the results of batches into a baseline: a small file to review and commit.

    BATCH is any unique prefix of a batch's id; latest means every batch of the newest command. The file has counts,
    costs and fingerprints for each scenario, and no texts. Other scenarios in the file are not changed.

    Compare later runs with it: salvo run --against-baseline
    """
    from salvo.cli.salvo import baseline_command

    baseline_command.bless(batches, output, as_json=as_json)
