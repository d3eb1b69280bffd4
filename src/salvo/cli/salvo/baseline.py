"""`salvo baseline`: a file to commit, which later runs are compared with."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.output import echo, echo_json
from salvo.cli.param_types import FILE_PATH
from salvo.cli.salvo.store_option import store_option
from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.errors import UsageError
from salvo.scenarios.analysis.baseline import NAME, VERSION
from salvo.scenarios.analysis.baseline import bless as write_baseline
from salvo.scenarios.analysis.batch_stats import measure
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import open_store
from salvo.scenarios.store.run_entries import RunEntries


@click.group
def baseline() -> None:
    """Keep a batch as the baseline that later runs are compared with."""


@baseline.command(short_help="Write the results of batches into a baseline.")
@click.argument("batches", nargs=-1, required=True, metavar="BATCH...")
@click.option("-o", "--output", type=FILE_PATH, help="The file. [default: .salvo/baseline.json]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def bless(batches: tuple[str, ...], output: Path | None, as_json: bool, store_address: str | None) -> None:
    """Write the results of batches into a baseline: a small file to review and commit.

    BATCH is any unique prefix of a batch's id; latest means every batch of the newest command, latest~1 of the command
    before. The file has counts, costs and fingerprints for each scenario, and no texts. Other scenarios in
    the file are not changed.

    Compare later runs with it: salvo run --against-baseline
    """
    project = Project.find(store_address=store_address)
    store = open_store(project)
    selected = [batch for text in batches for batch in store.find_batches(text)]
    stats = [measure(batch, RunEntries(store.read_entries(batch.batch_id))) for batch in selected]
    for item in stats:
        if not item.completed:
            lack = "no completed run but those answered from a cache" if item.cached else "no completed run"
            raise UsageError(
                f"The batch {item.batch_id} ({item.scenario_id}) has {lack}, so it cannot be a baseline.",
                hint=f"Look at it: salvo report {item.batch_id}",
            )
    path = output or project.store / NAME
    all_stats = write_baseline(path, stats)
    if as_json:
        scenarios = [item.scenario_id for item in stats]
        document = {"salvo_baseline": VERSION, "file": str(path), "blessed": scenarios}
        echo_json(json_codec.dumps(document, indent=2))
        return
    for item in stats:
        errors = f", {pluralize(item.errors, 'error')} left out" if item.errors else ""
        echo(
            f"{printable(item.scenario_id)}: {item.passed} of {item.completed} runs passed, "
            f"{printable(item.full_model)}{errors}"
        )
    file = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    scenarios_in_file = pluralize(len(all_stats), "scenario")
    echo(f"{file} has {scenarios_in_file}. Commit it, and compare with: salvo run --against-baseline")
