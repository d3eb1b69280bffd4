"""`salvo run`: run scenarios N times each, score and store them."""

from __future__ import annotations

from typing import Any

import click

from salvo.cli.output_options import result_options
from salvo.cli.param_types import DOLLARS, FILE_PATH, INNER_SHARE, RUNS_AT_ONCE, SECONDS, SHARE
from salvo.cli.salvo.allow_env_option import allow_env_option
from salvo.cli.salvo.baseline_options import baseline_options
from salvo.cli.salvo.call_limit_options import call_limit_options
from salvo.cli.salvo.judges_option import judges_option
from salvo.cli.salvo.prices_option import prices_option
from salvo.cli.salvo.store_option import store_option


@click.command
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=FILE_PATH)
@click.option("-n", "--runs", type=click.IntRange(min=1), help="How often to run each scenario.")
@click.option("--record", is_flag=True, help="Record every run, so that it can be replayed.")
@click.option("--model", help="Another model than the scenario's.")
@click.option(
    "--adapter", help="Another adapter than the scenario's; with --resume: the one that the batch was started with."
)
@click.option("--seed", type=int, help="Another seed than the scenario's: run i gets seed + i.")
@click.option("--timeout", type=SECONDS, help="Another time limit of a run than the scenario's, in seconds.")
@click.option("--threshold", type=SHARE, help="The weighted score from which a run passes.")
@click.option("--min-pass-rate", type=SHARE, help="The share of runs that must pass.")
@click.option(
    "--confidence",
    type=INNER_SHARE,
    help="Pass or fail only if the runs show it with this confidence, such as 0.95; otherwise inconclusive.",
)
@click.option(
    "--one-sided",
    is_flag=True,
    help="The confidence is that of each bound, not of the interval: fewer runs are needed.",
)
@click.option("--until-sure", is_flag=True, help="Run in rounds until the confidence is reached; needs --max-runs.")
@click.option("--max-runs", type=click.IntRange(min=1), help="With --until-sure: no more runs than this.")
@baseline_options
@click.option(
    "-k",
    "keywords",
    metavar="EXPRESSION",
    help="Only scenarios whose names match: parts of names with and, or, not and parentheses.",
)
@click.option(
    "-m", "tags", metavar="EXPRESSION", help="Only scenarios whose tags match: tags with and, or, not and parentheses."
)
@click.option("--lf", "--last-failed", "last_failed", is_flag=True, help="Only scenarios that did not pass last time.")
@click.option("--ff", "--failed-first", "failed_first", is_flag=True, help="All, those that did not pass first.")
@click.option("--co", "--collect-only", "collect_only", is_flag=True, help="Only list the scenarios; run nothing.")
@click.option("-x", "--exitfirst", is_flag=True, help="Start no more runs after the first failure or error.")
@click.option(
    "-j",
    "--concurrency",
    type=RUNS_AT_ONCE,
    default="10",
    show_default=True,
    help="Runs at once; auto: as many as the providers accept.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Make the runs in N processes on this machine, for agents that burn CPU. -j is for all of them together.",
)
@click.option(
    "--on",
    "cluster",
    metavar="ADDRESS",
    help="Make the runs on a cluster: ray for the one that this machine belongs to, or ray://HOST:10001. "
    "-j is for all workers together. [default: 50 for each]",
)
@judges_option
@call_limit_options("the timeout, at most 120")
@click.option(
    "--cache",
    is_flag=True,
    help="For development: use replies of earlier runs again. Such runs are marked, and are no new evidence.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be run, where calls would go and what it would cost.")
@click.option("--max-cost", type=DOLLARS, help="Dollars after which no more runs are started; of all shards together.")
@click.option(
    "--resume",
    metavar="BATCH",
    help="Only make the missing runs of an earlier batch; latest: of all batches of the newest command.",
)
@store_option
@click.option(
    "--shard",
    metavar="K/N",
    help="Only make the K-th of N equal parts of the runs; `salvo merge` joins the stores of all parts, "
    "unless they have one (--store).",
)
@click.option(
    "--batch",
    "batch_name",
    metavar="NAME",
    help="Make the missing runs of the batch of this name, on any machine. [default with --shard: the commit and the "
    "files' content]",
)
@result_options
@prices_option
@allow_env_option
@click.option("--redact", "patterns", multiple=True, metavar="REGEX", help="Also redact what this matches.")
@click.option(
    "--record-max-bytes", type=click.IntRange(min=0), help="Keep only the hash of larger requests. [default: 256 kB]"
)
@click.option("--record-hashes", is_flag=True, help="Record hashes instead of content; such runs cannot be replayed.")
def run(**options: Any) -> None:
    """Run scenarios N times and report how reliable the agent is.

    Each PATH is a scenario file, a folder of them, or FILE::NAME for one scenario of a file; without one, scenarios/ or
    the current folder. Of more than 10 scenarios, only the first 10 that did not pass get a table.

    Exits 0 when every scenario passes, 1 when one fails or is significantly worse than its baseline, 2 on bad usage or
    an invalid file, 3 when something could not be judged, or runs that were skipped or wait for their judges leave the
    verdict open, 4 when the runs cannot show it with the required confidence, 5 when no scenario was selected, and 130
    when interrupted (finished runs are saved; --resume continues).
    """
    from salvo.cli.salvo import run_command  # takes several times as long as everything that --help needs

    run_command.run(**options)
