"""`byop judge`: judge a stored text again."""

from __future__ import annotations

from typing import Any

import click


@click.command
@click.argument("evaluation_id", metavar="ID")
@click.option("--times", type=click.IntRange(min=1, max=100), default=5, show_default=True, help="How many times.")
@click.option("--base-url", help="The address of a server that is compatible with the evaluator's provider.")
@click.option("--key-variable", metavar="NAME", help="The environment variable that contains the key for --base-url.")
@click.option(
    "-j", "--concurrency", type=click.IntRange(min=1), default=16, show_default=True, help="Calls at the same time."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout; everything else goes to stderr.")
def judge(**options: Any) -> None:
    """Judge a stored text again, to measure how consistent the judge is.

    The text, playbook, evaluator and number of votes stay the same. Each repetition is stored as an evaluation under
    the subject "judging of ID", so it does not affect drift.
    """
    from salvo.cli.byop import judge_command

    judge_command.judge(**options)
