"""`salvo compare`: is B better or worse than A, or can these runs not tell?"""

from __future__ import annotations

from typing import Any

import click

from salvo.cli.param_types import DOLLARS


@click.command
@click.argument("what", nargs=-1, metavar="[BATCH_A BATCH_B | PATH]")
@click.option("--a", "model_a", metavar="MODEL", help="The newest stored batches of this model are side A.")
@click.option("--b", "model_b", metavar="MODEL", help="The newest stored batches of this model are side B.")
@click.option(
    "--all", "all_scenarios", is_flag=True, help="With two batches: all scenarios of the two commands they belong to."
)
@click.option("--run", "do_run", is_flag=True, help="With --a and --b: run what is missing or has changed.")
@click.option("-n", "--runs", type=click.IntRange(min=1), help="With --run: how often to run each scenario.")
@click.option("-j", "--concurrency", type=click.IntRange(min=1), default=10, show_default=True, help="Runs at once.")
@click.option("--record", is_flag=True, help="With --run: record every run, so that it can be replayed.")
@click.option("--max-cost", type=DOLLARS, help="With --run: dollars after which no more runs are started.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a pull request.")
def compare(**options: Any) -> None:
    """Compare two models, or two batches: what is better, what is worse, and what these runs cannot tell.

    Either --a MODEL --b MODEL, over the scenarios that both were run on (or those at PATH); or two batches, such as
    before and after a change of a prompt. An id may be any unique prefix, or latest.

    The exact test of each scenario is corrected for the number of scenarios. Errors are counted, but are part of no
    rate. Exits 1 when B is significantly worse, 3 when a side has no completed run to compare, and 0 otherwise.
    """
    from salvo.cli.salvo import compare_command

    compare_command.compare(**options)
