"""`salvo replay`: run a recorded run again without any call."""

from __future__ import annotations

from pathlib import Path

import click


@click.command
@click.argument("run_id", default="latest")
@click.option("--re-eval", is_flag=True, help="Evaluate again with the current scenario file, at no cost.")
@click.option("--scenario", type=click.Path(path_type=Path), help="With --re-eval: another scenario file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def replay(run_id: str, re_eval: bool, scenario: Path | None, as_json: bool) -> None:
    """Replay a recorded run: the same agent code, no network, no tool executed, no key.

    A program (adapter: command) is started again and gets the recorded answers of its models; its tools are its own.

    RUN_ID is any unique prefix of a run's id, or latest; with --re-eval also of a batch's id. Exits 0 when the replay
    is identical and 1 when it diverges. With --re-eval the exit code is that of the verdict, as with salvo run.
    """
    from salvo.cli.salvo import replay_command

    replay_command.replay(run_id, re_eval, scenario, as_json)
