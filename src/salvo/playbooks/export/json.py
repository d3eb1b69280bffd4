"""The report as JSON: {"byop_report": …, "signature": …}, as `byop schema report` describes it."""

from __future__ import annotations

from salvo.engine import jsontext
from salvo.playbooks.report import ReportFile


def render(file: ReportFile) -> str:
    """The same report is the same text, to the byte."""
    return jsontext.dumps(file, indent=2).decode() + "\n"
