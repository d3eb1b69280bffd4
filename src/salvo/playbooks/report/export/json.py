"""The report as JSON: {"byop_report": …, "signature": …}, as `byop schema report` describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.playbooks.report.compare import agreement
from salvo.playbooks.report.report import ReportFile


def render(file: ReportFile) -> str:
    """The same report is the same text, to the byte."""
    return _written(file)


def render_all(files: Sequence[ReportFile]) -> str:
    """The reports of several evaluators on the same text, and where they agree."""
    agreed = agreement([file.byop_report for file in files])
    return _written({"byop_reports": list(files), "agreement": agreed})


def _written(value: Any) -> str:
    return json_codec.dumps(value, indent=2).decode() + "\n"
