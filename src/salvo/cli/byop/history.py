"""`byop history`: the stored evaluations."""

from __future__ import annotations

from dataclasses import asdict

import click

from salvo.cli.byop.database import open_for_listing
from salvo.cli.output import echo, echo_json
from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import truncate
from salvo.engine.text.terminal import table
from salvo.engine.text.unicode_escape import printable
from salvo.errors import NothingFoundError, StoreError
from salvo.playbooks.enums import Mode, ShownStatus, shown_status
from salvo.playbooks.report.labels import listed_consistency
from salvo.playbooks.store.history import HistoryFilters, HistorySort
from salvo.playbooks.store.records import RUN_HINT, HistoryRow


@click.command
@click.option("--subject", help="Only evaluations of this subject.")
@click.option(
    "--status",
    type=click.Choice(["alert", "review", "observe", "stable", "incomplete"], case_sensitive=False),
    help="Only reports with this status.",
)
@click.option("--mode", type=click.Choice(["full", "screening"]), help="Only evaluations in this mode.")
@click.option(
    "--search", default="", help="Only those with this in their id, title, subject, evaluator, status or playbook."
)
@click.option(
    "--in-texts",
    is_flag=True,
    help="Search the stored texts, too: they must have all words of --search, whole or in part.",
)
@click.option(
    "--sort",
    type=click.Choice([str(sort) for sort in HistorySort]),
    default=str(HistorySort.DATE),
    show_default=True,
    help="The newest, the most severe, or the first by name at the top.",
)
@click.option("--limit", type=click.IntRange(1, 1_000_000), default=20, show_default=True, help="How many to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def history(
    subject: str | None,
    status: str | None,
    mode: str | None,
    search: str,
    in_texts: bool,
    sort: str,
    limit: int,
    as_json: bool,
) -> None:
    """List stored evaluations, newest first.

    They are read from the database in DATABASE_URL, or from byop_runs.db in the current folder. Times are in UTC.
    """
    filters = HistoryFilters(
        subject,
        ShownStatus(status.upper()) if status else None,
        Mode(mode) if mode else None,
        search,
        in_texts=in_texts,
    )
    with open_for_listing() as store:
        evaluations = store.history(
            filters,
            sort=HistorySort(sort),
            descending=sort in (HistorySort.DATE, HistorySort.STATUS),
            limit=limit,
        )
    for evaluation in evaluations.damaged:
        echo(f"Warning: {evaluation.message}", err=True)
    rows = evaluations.rows
    if not rows and evaluations.damaged:
        raise StoreError("No other evaluation can be listed.", hint="Restore the database from a backup.")
    if not rows:
        matching = "matching " if subject is not None or status or mode or search else ""
        raise NothingFoundError(f"No {matching}evaluation is stored in {store.place}.", hint=RUN_HINT)
    if as_json:
        echo_json(json_codec.dumps([asdict(row) for row in rows], indent=2))
    else:
        header = ("ID", "WHEN", "SUBJECT", "PLAYBOOK", "MODE", "EVALUATOR", "CONSISTENCY", "STATUS", "", "DOCUMENT")
        # Evaluations of earlier versions, and of pasted texts, have no title.
        columns = len(header) if any(row.title for row in rows) else len(header) - 1
        echo("\n".join(table(header[:columns], [_cells(row)[:columns] for row in rows])))
        if evaluations.total > len(rows):
            echo(f"{len(rows)} of {evaluations.total}. --limit shows more.", err=True)


def _cells(row: HistoryRow) -> tuple[str, ...]:
    flags = {"baseline": row.baseline, "hashes only": not row.stored_in_full}
    return (
        row.id,
        row.created_at[:19] + "Z",
        truncate(printable(row.subject), 30),
        truncate(printable(f"{row.playbook_id} {row.playbook_version}"), 40),
        row.mode,
        truncate(printable(row.evaluator), 30),
        listed_consistency(row.consistency, row.evaluator),
        shown_status(row.status, incomplete=row.incomplete) if row.status else row.state,
        ", ".join(flag for flag, applies in flags.items() if applies),
        truncate(printable(row.title or ""), 40),
    )
