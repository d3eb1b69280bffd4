"""The report as JSON: {"byop_report": …, "signature": …}, as `byop schema report` describes it."""

from __future__ import annotations

from collections.abc import Sequence

from salvo.engine.jsonio import json_codec
from salvo.playbooks.report.compare import agreement
from salvo.playbooks.report.report import ReportFile


def render(file: ReportFile) -> str:
    """Return the report as JSON; the same report always gives the same bytes."""
    return json_codec.dumps(file, indent=2).decode() + "\n"


def render_all(files: Sequence[ReportFile]) -> str:
    """Return the reports of several evaluators of the same text, and where they agree."""
    agreed = agreement([file.byop_report for file in files])
    return json_codec.dumps({"byop_reports": list(files), "agreement": agreed}, indent=2).decode() + "\n"
