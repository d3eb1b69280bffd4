"""`salvo collect`: fetch the votes of judges that were asked through a provider's batch API."""

from __future__ import annotations

from typing import Any

import click

from salvo.cli.salvo.allow_env_option import allow_env_option
from salvo.cli.salvo.baseline_options import baseline_options
from salvo.cli.salvo.output_option import result_options
from salvo.cli.salvo.prices_option import prices_option
from salvo.cli.salvo.store_option import store_option
from salvo.cli.wait_options import wait_options


@click.command
@click.argument("batch_id", metavar="[BATCH]", required=False)
@wait_options
@baseline_options
@result_options
@prices_option
@allow_env_option
@store_option
def collect(**options: Any) -> None:
    """Fetch the votes that a command with `--judges batch` asked for, and give the verdict.

    BATCH is any unique prefix of a batch's id, or latest; all batches of its command are collected, and what
    `salvo judge` asked about it. It may also be the id of a scoring of `salvo score`. Without it, everything whose
    judges are pending is collected. Votes are asked for once: an answer that failed, expired, was cancelled or cannot
    be read is no vote. Calling it again is free, and continues after a crash.

    Exits as `salvo run` does: 0 when every scenario passes, 1 when one fails or is significantly worse than its
    baseline, 2 on bad usage, 3 when something could not be judged or is still pending, 4 when the runs cannot show it
    with the required confidence.
    """
    from salvo.cli.salvo import collect_command  # takes several times as long as everything that --help needs

    collect_command.collect(**options)
