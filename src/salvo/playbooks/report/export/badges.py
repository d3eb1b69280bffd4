"""What only a page about a playbook has: its results as badges, and how consistent they are."""

from __future__ import annotations

from salvo.engine.text.html import blocks
from salvo.engine.text.html.markup import Markup
from salvo.playbooks.enums import Result, Status
from salvo.playbooks.report.report import VarianceSummary

_SIGNS = {
    Status.ALERT: "▲",
    Status.REVIEW: "◆",
    Status.OBSERVE: "●",
    Status.STABLE: "■",
    Result.PASS: "✓",
    Result.FAIL: "✗",
    Result.INDETERMINATE: "?",
}


def badge(of: Status | Result) -> Markup:
    return blocks.badge(of, _SIGNS[of])


def consistency(of: VarianceSummary, score: float) -> Markup:
    """Where the score stands between 0 and 1, with the two thresholds."""
    tone = Result.PASS if score >= of.threshold_ok else Result.FAIL if score < of.threshold_warn else Status.OBSERVE
    label = f"Consistency {score:.2f}; thresholds {of.threshold_warn:.2f} and {of.threshold_ok:.2f}"
    return blocks.scale(label, score, [(at, f"{at:.2f}") for at in (of.threshold_warn, of.threshold_ok)], tone)
