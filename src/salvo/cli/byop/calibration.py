"""`byop calibration`: how well evaluators agree with reviewers."""

from __future__ import annotations

from collections.abc import Iterator

import click

from salvo.cli.byop.database import open_for_listing
from salvo.cli.output import echo, echo_json
from salvo.engine.jsonio import json_codec
from salvo.engine.stats.wording import quality_rows
from salvo.engine.text.terminal import Paint, table
from salvo.engine.text.unicode_escape import printable
from salvo.errors import NothingFoundError
from salvo.playbooks.calibration import wording
from salvo.playbooks.calibration.analysis import CheckCalibration, calibrations

_HEADER = ("", "REPORTS", "DRAWN", "PASS", "FAIL", "UNCLEAR")


@click.command
@click.option("--playbook", metavar="ID", help="Only this playbook.")
@click.option("--check", "check_id", metavar="ID", help="Only this check.")
@click.option("--evaluator", metavar="NAME", help="Only this evaluator.")
@click.option("--subject", help="Only reports of this subject.")
@click.option("--blind", is_flag=True, help="Only decisions that were made without seeing the evaluator's result.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def calibration(
    playbook: str | None,
    check_id: str | None,
    evaluator: str | None,
    subject: str | None,
    blind: bool,
    as_json: bool,
) -> None:
    """Show how well evaluators agree with reviewers, and pass rates corrected by reviews.

    For each playbook, check and evaluator with a review: agreement, precision, recall and Cohen's kappa with their
    intervals, where the evaluator errs, and the pass rate of all reports corrected by what reviewers decided. The
    correction needs reviews of reports that were drawn at random: those to review next are named. Review them with
    `byop review REPORT --blind`.
    """
    with open_for_listing() as store:
        labels = store.labels(check_id=check_id)
        if subject is not None:
            labels = [label for label in labels if label.subject == subject]
        rows = [
            row
            for row in calibrations(store.judged_checks(subject=subject), labels, only_blind=blind)
            if (playbook is None or row.playbook_id == playbook) and (evaluator is None or row.evaluator == evaluator)
        ]
        place = store.place
    if as_json:
        echo_json(json_codec.dumps({"byop_calibration": 1, "checks": rows}, indent=2))
        return
    if not rows:
        raise NothingFoundError(
            f"No matching check was reviewed in {place}.", hint="Review a report with: byop review REPORT"
        )
    echo("\n\n".join("\n".join(_lines(row)) for row in rows))


def _lines(row: CheckCalibration) -> Iterator[str]:
    paint = Paint(True)
    playbook = f"{row.playbook_id} {row.playbook_version}"
    yield paint(printable(f"{row.check_id}, {playbook}, {row.evaluator}"), bold=True)
    yield wording.reviewed(row)
    counts = [
        (f"texts {wording.KINDS[item.verdict]}", item.reports, item.drawn, item.passed, item.failed, item.unclear)
        for item in row.counts
    ]
    yield from table(_HEADER, [tuple(map(str, cells)) for cells in counts], paint)
    yield f"pass rate by the evaluator      {wording.judged_rate(row)}"
    yield f"pass rate corrected by reviews  {wording.corrected_rate(row)}"
    yield from (f"{item.name:<31} {item.value}" for item in quality_rows(row.quality))
    for verdict, reports in (("passed", row.wrongly_passed), ("failed", row.wrongly_failed)):
        if reports:
            more = f" and {len(reports) - 3} more" if len(reports) > 3 else ""
            yield f"{verdict} wrongly: {', '.join(reports[:3])}{more}"
    yield from (f"Notice: {notice}" for notice in wording.notices(row))
    yield from wording.reviewer_sentences(row)
    if row.review_next:
        yield f"Review next, blind: {', '.join(row.review_next)}"
