"""The report as one HTML file: no script, no request to anyone, readable on a screen and on paper.

Text from the AI output, the evaluator or the playbook is hostile: the templates escape it, and the policy in the head
allows only the one stylesheet, by its hash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from salvo.engine.text.formatting import NamedValue
from salvo.engine.text.html.templates import print_margins, render_page, stylesheet
from salvo.playbooks.enums import DISCLAIMERS, Result, ShownStatus
from salvo.playbooks.evaluate.inputs import NAMES, Inputs
from salvo.playbooks.report import check_labels, identity_labels, labels, verdict_reasons
from salvo.playbooks.report.export import annotated_text
from salvo.playbooks.report.report import CheckResult, Report
from salvo.playbooks.review import wording
from salvo.playbooks.review.build_section import deciding_report, shown_result
from salvo.playbooks.review.section import ReviewSection

PACKAGE = "salvo.playbooks.report.export"
_QUOTES = 20
"""Quotes of a list that are visible at once."""

_SIGNS = {
    ShownStatus.ALERT: "▲",
    ShownStatus.REVIEW: "◆",
    ShownStatus.OBSERVE: "●",
    ShownStatus.STABLE: "■",
    ShownStatus.INCOMPLETE: "…",
    Result.PASS: "✓",
    Result.FAIL: "✗",
    Result.INDETERMINATE: "?",
}


_TEMPLATE_NAMES = {
    "labels": labels,
    "check_labels": check_labels,
    "review_labels": wording,
    "check_title": verdict_reasons.check_title,
    "anchor": annotated_text.anchor,
    "signs": _SIGNS,
    "most_quotes": _QUOTES,
}
"""What the template knows for every report."""


def render(
    report: Report,
    inputs: Inputs | None = None,
    *,
    signed_by: str | None = None,
    review: ReviewSection | None = None,
) -> str:
    """Return the page. With the inputs, the frozen text is at its end, and each quote links to its place in it.

    `signed_by` is the public key that the file will be signed with.
    """
    deciding = deciding_report(report, review)
    status = labels.status(deciding)
    title = identity_labels.title(report)
    texts = inputs.texts if inputs else {}
    same_text = inputs is not None and inputs.fingerprint == report.integrity.inputs_fingerprint
    positions = annotated_text.positions(report) if same_text else ()
    return render_page(
        PACKAGE,
        "report.html",
        **_TEMPLATE_NAMES,
        title=f"{shown_result(report, review)} – {title} – {report.report_id}",
        style=_style() + print_margins(" ".join(DISCLAIMERS), header=title),
        document_title=title,
        identity=identity_labels.identity(report),
        verdict=verdict_reasons.verdict_reasons(deciding),
        next_steps=verdict_reasons.next_steps(report),
        columns=_columns(report),
        cells=lambda check: [_CELLS[name](check) for name in _columns(report)],
        report=report,
        deciding=deciding,
        review=review,
        summary=report.summary,
        status=status,
        signature_rows=_signature_rows(signed_by),
        same_text=same_text,
        text_lines=annotated_text.lines(inputs.ai_output, positions) if inputs else None,
        other_texts=[(NAMES[name], text) for name, text in texts.items() if text is not None and name != "ai_output"],
    )


@cache
def _style() -> str:
    return stylesheet(PACKAGE, "report.css")


_CELLS: Mapping[str, Callable[[CheckResult], str]] = {
    "Confidence": check_labels.confidence,
    "Agreement": check_labels.votes,
}
"""The columns of the table of checks that mean something for some reports only."""


def _columns(report: Report) -> list[str]:
    checks = report.check_results
    means_something = {
        "Confidence": any(
            check_labels.confidence(check) not in (check_labels.NONE, check_labels.NOT_CALIBRATED) for check in checks
        ),
        "Agreement": any(map(check_labels.shows_votes, checks)),
    }
    return [name for name in _CELLS if means_something[name]]


def _signature_rows(public_key: str | None) -> list[NamedValue]:
    if public_key is None:
        return []
    return [
        NamedValue("Algorithm", "ed25519"),
        NamedValue("Public key", public_key, code=True),
        NamedValue("Signature", labels.SIGNED_AT_END),
    ]
