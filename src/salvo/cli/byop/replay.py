"""`byop replay`: run an evaluation again from its recorded calls."""

from __future__ import annotations

import click


@click.command
@click.argument("evaluation_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def replay(evaluation_id: str, as_json: bool) -> None:
    """Run an evaluation again from its recorded calls.

    It needs no network and no key, and compares the new report with the stored one. ID is a report's id, a prefix of
    it, or `latest`. Exits 0 if the report is reproduced apart from times and ids, and 1 if it is not.
    """
    from salvo.cli.byop import replay_command

    replay_command.replay(evaluation_id, as_json)
