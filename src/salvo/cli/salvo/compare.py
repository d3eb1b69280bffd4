"""`salvo compare`: is B better or worse than A, or can these runs not tell?"""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_document, echo_json
from salvo.cli.param_types import DOLLARS, NUMBER_AT_ONCE
from salvo.cli.salvo.allow_env_option import allow_env_option
from salvo.cli.salvo.prices_option import prices_option
from salvo.cli.salvo.store_option import store_option
from salvo.engine.jsonio import json_codec
from salvo.scenarios.analysis.compare import ComparisonVerdict
from salvo.scenarios.analysis.comparison_inputs import compare_batches, find_pairs
from salvo.scenarios.analysis.scored_sides import ScoredSides
from salvo.scenarios.report import comparison
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import open_store
from salvo.scenarios.store.score_store import PREFIX


@click.command
@click.argument("what", nargs=-1, metavar="[BATCH_A BATCH_B | PATH]")
@click.option("--a", "model_a", metavar="MODEL", help="The newest stored batches of this model are side A.")
@click.option("--b", "model_b", metavar="MODEL", help="The newest stored batches of this model are side B.")
@click.option(
    "--all", "all_scenarios", is_flag=True, help="With two batches: all scenarios of the two commands they belong to."
)
@click.option(
    "--paired",
    is_flag=True,
    help="Compare runs with the same seed pair by pair (McNemar's test), where seeds couple the sides.",
)
@click.option("--run", "do_run", is_flag=True, help="With --a and --b: run what is missing or has changed.")
@click.option("-n", "--runs", type=click.IntRange(min=1), help="With --run: how often to run each scenario.")
@click.option("-j", "--concurrency", type=NUMBER_AT_ONCE, default=10, show_default=True, help="Runs at once.")
@click.option("--record", is_flag=True, help="With --run: record every run, so that it can be replayed.")
@click.option("--max-cost", type=DOLLARS, help="With --run: dollars after which no more runs are started.")
@prices_option
@allow_env_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a pull request.")
@store_option
def compare(
    what: tuple[str, ...],
    model_a: str | None,
    model_b: str | None,
    all_scenarios: bool,
    paired: bool,
    do_run: bool,
    runs: int | None,
    concurrency: int,
    record: bool,
    max_cost: float | None,
    price_file: Path | None,
    allow_env: tuple[str, ...],
    as_json: bool,
    markdown: bool,
    store_address: str | None,
) -> None:
    """Compare two models, or two batches: what is better, what is worse, and what these runs cannot tell.

    Either --a MODEL --b MODEL, over the scenarios that both were run on (or those at PATH); or two batches, such as
    before and after a change of a prompt. An id may be any unique prefix, latest, or latest~1 for the one before; with
    --all, these are the newest command and the one before. Scores of `salvo score` are compared
    in place of batches by their ids, if they are of different runs.

    The exact test of each scenario is corrected for the number of scenarios. Errors are counted and compared, but are
    part of no rate. Exits 1 when B is significantly worse, 3 when a side has no completed run to compare or when errors
    could hide that B is worse, and 0 otherwise.
    """
    project = Project.find(store_address=store_address)
    store = open_store(project)
    if model_a is None and model_b is None:
        if len(what) != 2:
            raise click.UsageError("Name two batches, or two models with --a and --b.")
        if do_run:
            raise click.UsageError("--run runs models: name them with --a and --b.")
        if all_scenarios and any(text.startswith(PREFIX) for text in what):
            raise click.UsageError("--all is for batches: a score has one scenario.")
        pairs, notes = find_pairs(store, *what, all_scenarios=all_scenarios)
    else:
        if model_a is None or model_b is None or len(what) > 1 or all_scenarios:
            raise click.UsageError("Two models are compared with --a MODEL --b MODEL, and at most one PATH.")
        from salvo.cli.salvo import compare_models  # two batches by their ids need neither scenarios nor a runner

        models, path = (model_a, model_b), Path(what[0]) if what else None
        if do_run:
            pairs, notes = compare_models.run_missing(
                project,
                models,
                path,
                runs=runs,
                record=record,
                concurrency=concurrency,
                max_cost=max_cost,
                allow_env=frozenset(allow_env),
                price_file=price_file,
            )
        else:
            pairs, notes = compare_models.find_stored(store, project, models, path)
    report = compare_batches(store, pairs, notes, ScoredSides(store).list_entries, paired=paired)
    if as_json:
        echo_json(json_codec.dumps(comparison.document(report), indent=2))
    elif markdown:
        echo_document(comparison.markdown(report))
    else:
        echo("\n".join(comparison.lines(report, colour=True)))
    if report.comparison.worse:
        raise SystemExit(ExitCode.FAILED)
    is_judged = report.comparison.verdict is not ComparisonVerdict.NOT_JUDGED
    raise SystemExit(ExitCode.OK if is_judged else ExitCode.NOT_JUDGED)
