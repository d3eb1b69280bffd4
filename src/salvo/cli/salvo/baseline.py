"""`salvo baseline`: what is to hold from now on, in a file to commit."""

from __future__ import annotations

from pathlib import Path

import click


@click.group
def baseline() -> None:
    """Keep a batch as what later runs are compared with."""


@baseline.command(short_help="Write what batches came to into a baseline.")
@click.argument("batches", nargs=-1, required=True, metavar="BATCH...")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file. [default: .salvo/baseline.json]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def bless(batches: tuple[str, ...], output: Path | None, as_json: bool) -> None:
    """Write what batches came to into a baseline: a small file to review and commit.

    BATCH is any unique prefix of a batch's id; latest means every batch of the newest command. The file has counts,
    costs and fingerprints by scenario, and no texts. Other scenarios that it holds stay as they are.

    Compare later runs with it: salvo run --against-baseline
    """
    from salvo.errors import UsageError
    from salvo.scenarios.analysis.baseline import NAME, VERSION, bless
    from salvo.scenarios.analysis.comparison_inputs import measured_of, named
    from salvo.scenarios.spec.project import Project
    from salvo.scenarios.store.store import RunStore

    project = Project.find(Path.cwd())
    store = RunStore(project.store)
    found = [batch for text in batches for batch in named(store, text)]
    measured = [measured_of(batch, store.load_entries(batch.batch_id)) for batch in found]
    for of in measured:
        if not of.completed:
            raise UsageError(
                f"The batch {of.batch_id} ({of.scenario_id}) has no completed run, so it is no baseline.",
                hint=f"Look at it: salvo report {of.batch_id}",
            )
    path = output or project.store / NAME
    every = bless(path, measured)
    if as_json:
        from salvo.engine.jsonio import json_codec

        document = {"salvo_baseline": VERSION, "file": str(path), "blessed": [of.scenario_id for of in measured]}
        click.echo(json_codec.dumps(document, indent=2))
        return
    from salvo.engine.text.formatting import pluralize
    from salvo.engine.text.unicode_escape import printable

    for of in measured:
        left_out = f", {pluralize(of.errors, 'error')} left out" if of.errors else ""
        click.echo(
            f"{printable(of.scenario_id)}: {of.passed} of {of.completed} runs passed, "
            f"{printable(of.full_model)}{left_out}"
        )
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    click.echo(
        f"{shown} holds {pluralize(len(every), 'scenario')}. Commit it, and compare with: salvo run --against-baseline"
    )
