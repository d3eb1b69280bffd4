"""`byop purge`: erase the evaluations that are older than they are to be kept."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import timedelta

import click

from salvo.cli.byop.database import open_store
from salvo.cli.output import confirm, echo
from salvo.engine.runtime.clock import SystemClock
from salvo.engine.text.formatting import pluralize
from salvo.errors import UsageError
from salvo.playbooks.store.retention import OldEvaluation

_MOST_DAYS = 36_500


@click.command
@click.option(
    "--older-than",
    "days",
    metavar="DAYS",
    type=click.IntRange(1, _MOST_DAYS),
    required=True,
    help="Erase what was started more than so many days ago.",
)
@click.option("--keep-baselines", is_flag=True, help="Keep the reports that later ones are compared with.")
@click.option("--by", metavar="NAME", help="Who asks for it; by default the operating system's user name.")
@click.option("--dry-run", is_flag=True, help="List what would be erased, and erase nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation, as in a scheduled job.")
def purge(days: int, keep_baselines: bool, by: str | None, dry_run: bool, yes: bool) -> None:
    """Erase the evaluations that are older than a number of days.

    Their texts, votes, reports and reviews are erased, and batches of documents of which no evaluation is left. The
    audit log stays whole: it contains hashes, verdicts and names but no texts, and records each erasure with who asked
    for it, when, and this rule. What still runs or waits is kept. A baseline that is erased is cleared.
    """
    before = SystemClock().now() - timedelta(days=days)
    with open_store() as store:
        old = store.started_before(before)
        expired = [one for one in old if not one.is_open and not (keep_baselines and one.is_baseline)]
        if dry_run:
            _list(expired)
            return
        if expired and not yes:
            _confirm(expired, days)
        for one in expired:
            store.delete(one.id, by=by, reason=f"older than {pluralize(days, 'day')}")
        batches = store.batches.delete_empty(before)
    if expired or batches:
        emptied = f" and {pluralize(batches, 'batch', 'batches')}" if batches else ""
        echo(f"Erased {pluralize(len(expired), 'evaluation')}{emptied}. The audit log records it.")
    else:
        echo(f"There is nothing to erase that is older than {pluralize(days, 'day')}.")
    unfinished = sum(one.is_open for one in old)
    if unfinished:
        echo(f"Kept, because they run or wait: {pluralize(unfinished, 'evaluation')}.", err=True)


def _list(expired: Sequence[OldEvaluation]) -> None:
    for one in expired:
        echo(f"{one.id}  {one.created_at[:10]}  {one.subject}{'  baseline' if one.is_baseline else ''}")
    echo(f"Would be erased: {pluralize(len(expired), 'evaluation')}.", err=True)


def _confirm(expired: Sequence[OldEvaluation], days: int) -> None:
    baselines = sum(one.is_baseline for one in expired)
    among = f", {pluralize(baselines, 'baseline')} among them" if baselines else ""
    what = f"{pluralize(len(expired), 'evaluation')} older than {pluralize(days, 'day')}{among}"
    if not sys.stdin.isatty():
        raise UsageError(f"Erasing {what} needs a confirmation, and there is no terminal.", hint="Pass --yes.")
    confirm(f"Erase {what}? This cannot be undone.")
