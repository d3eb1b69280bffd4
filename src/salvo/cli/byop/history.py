"""`byop history`: what was evaluated."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from salvo.playbooks.store.records import HistoryRow


@click.command
@click.option("--subject", help="Only the evaluations of this subject.")
@click.option(
    "--status",
    type=click.Choice(["alert", "review", "observe", "stable"], case_sensitive=False),
    help="Only the reports of this status.",
)
@click.option("--mode", type=click.Choice(["full", "screening"]), help="Only the evaluations in this mode.")
@click.option("--search", default="", help="Only those with this in their id, subject, evaluator, status or playbook.")
@click.option("--limit", type=click.IntRange(1, 1_000_000), default=20, show_default=True, help="How many to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def history(subject: str | None, status: str | None, mode: str | None, search: str, limit: int, as_json: bool) -> None:
    """List stored evaluations, the newest first.

    They are in the database that DATABASE_URL names, or in byop_runs.db in the current folder. Times are UTC.
    """
    from salvo.cli.byop.database import open_for_listing
    from salvo.engine.jsonio import json_codec
    from salvo.errors import NothingFoundError
    from salvo.playbooks.enums import Mode, Status
    from salvo.playbooks.store.records import RUN_HINT

    with open_for_listing() as store:
        rows = store.history(
            subject,
            status=Status(status.upper()) if status else None,
            mode=Mode(mode) if mode else None,
            search=search,
            limit=limit,
        )
    if not rows:
        narrowed = " that fits" if subject is not None or status or mode or search else ""
        raise NothingFoundError(f"No evaluation{narrowed} is stored in {store.place}.", hint=RUN_HINT)
    if as_json:
        click.echo(json_codec.dumps([asdict(row) for row in rows], indent=2))
    else:
        click.echo("\n".join(_table(rows)))


def _table(rows: Sequence[HistoryRow]) -> list[str]:
    from salvo.engine.text.terminal import table

    header = ("ID", "WHEN", "SUBJECT", "PLAYBOOK", "MODE", "EVALUATOR", "CONSISTENCY", "STATUS", "")
    return table(header, [*map(_cells, rows)])


def _cells(row: HistoryRow) -> tuple[str, ...]:
    from salvo.engine.text.formatting import truncate
    from salvo.engine.text.unicode_escape import printable

    return (
        row.id,
        row.created_at[:19] + "Z",
        truncate(printable(row.subject), 30),
        truncate(printable(f"{row.playbook_id} {row.playbook_version}"), 40),
        row.mode,
        truncate(printable(row.evaluator), 30),
        "" if row.consistency is None else f"{row.consistency:.2f}",
        row.status or row.state,
        ", ".join(_marks(row)),
    )


def _marks(row: HistoryRow) -> list[str]:
    marks = {"incomplete": row.incomplete, "baseline": row.baseline, "hashes only": not row.stored_in_full}
    return [word for word, holds in marks.items() if holds]
