"""`salvo judge`: judge stored transcripts again, to separate the variation of the judge from the agent's."""

from __future__ import annotations

import click

from salvo.cli.param_types import DOLLARS


@click.command
@click.argument("batch", default="latest")
@click.option(
    "--times", type=click.IntRange(min=1, max=1000), default=3, show_default=True, help="Judgings of each transcript."
)
@click.option("-j", "--concurrency", type=click.IntRange(min=1), default=10, show_default=True, help="Calls at once.")
@click.option("--max-cost", type=DOLLARS, help="Dollars after which no more judgings are started.")
@click.option("--stored", is_flag=True, help="Show what is stored, without any call.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def judge(batch: str, times: int, concurrency: int, max_cost: float | None, stored: bool, as_json: bool) -> None:
    """Judge stored transcripts again, without running the agent: does the agent vary, or the judge?

    BATCH is any unique prefix of a batch's id, or latest. The judges of the scenario as it was run are asked --times
    times about each transcript. Judgings are stored with the runs and are not repeated, so a higher --times adds to
    them. No stored run is changed.

    Exits 0, 3 when judgings are missing or gave no verdict, and 130 when interrupted.
    """
    from salvo.cli.salvo import judge_command

    judge_command.judge(batch, times, concurrency, max_cost, stored, as_json)
