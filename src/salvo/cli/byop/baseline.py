"""`byop baseline`: the reports that later ones are compared with."""

from __future__ import annotations

import click


@click.group
def baseline() -> None:
    """Choose the reports that later ones are compared with.

    A report is compared with the newest saved baseline of the same playbook and subject. If none was saved, it is
    compared with the newest earlier full report.
    """


@baseline.command(name="set")
@click.argument("report_id", metavar="ID")
def set_(report_id: str) -> None:
    """Save a full, complete report as a baseline.

    ID is a report's id, a prefix of it, or `latest`.
    """
    from salvo.cli.byop import baseline_command

    baseline_command.set_baseline(report_id)


@baseline.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """List the saved baselines, newest first."""
    from salvo.cli.byop import baseline_command

    baseline_command.list_baselines(as_json)


@baseline.command
@click.argument("report_id", metavar="ID")
def clear(report_id: str) -> None:
    """Stop comparing with a report. The report itself stays.

    ID is a report's id, a prefix of it, or `latest`.
    """
    from salvo.cli.byop import baseline_command

    baseline_command.clear_baseline(report_id)
