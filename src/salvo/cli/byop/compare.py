"""`byop compare`: two reports side by side."""

from __future__ import annotations

import click


@click.command
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(before: str, after: str, as_json: bool) -> None:
    """Compare two reports: what changed, and whether the text or the judge changed.

    The comparison covers statuses, checks, consistency and evidence. A and B are ids of stored reports, prefixes of
    them, `latest`, or files of reports.
    """
    from salvo.cli.byop import compare_command

    compare_command.compare(before, after, as_json)
