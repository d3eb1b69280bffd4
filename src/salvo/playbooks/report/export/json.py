"""The report as JSON: {"byop_report": …, "signature": …}, as `byop schema report` describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.text.unicode_escape import printable_json
from salvo.playbooks.report.compare import agreement
from salvo.playbooks.report.report import Report
from salvo.playbooks.review.section import ReviewSection


def render(report: Report, review: ReviewSection | None = None) -> str:
    """Return the report as JSON, not signed; the same report and review always give the same bytes.

    Invisible characters are escaped here, so that what is printed is what was signed.
    """
    return printable_json(json_codec.dumps(_file(report, review), indent=2).decode()) + "\n"


def render_all(reports: Sequence[Report], names: Sequence[str] = ()) -> str:
    """Return the reports of several evaluators of the same text, and where they agree."""
    document = {"byop_reports": [_file(report) for report in reports], "agreement": agreement(reports, names)}
    return printable_json(json_codec.dumps(document, indent=2).decode()) + "\n"


def _file(report: Report, review: ReviewSection | None = None) -> dict[str, Any]:
    reviewed = {} if review is None else {"review": asdict(review)}
    return {"byop_report": report.document(), **reviewed, "signature": None}
