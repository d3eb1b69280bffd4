"""The report as JUnit XML: a test case for each check.

It agrees with the exit code of `byop run`: there is a failure where that is 1 and an error where it is 3, and neither
where it is 0. So a failed check is a failure only if the evaluation failed, and the evaluation has a case of its own,
because a status can fail although no check did. What is not a failure but did not pass is skipped, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from salvo.engine.text.unicode_escape import visible
from salvo.playbooks.enums import Result, Status
from salvo.playbooks.report import check_labels, labels
from salvo.playbooks.report.report import CheckResult, Report
from salvo.playbooks.review.build_section import deciding_report
from salvo.playbooks.review.section import ReviewSection

_QUOTES = 50
EVALUATION = "evaluation"
"""The name of the test case for the report as a whole."""


def render(report: Report, fail_on: Status = Status.REVIEW, review: ReviewSection | None = None) -> str:
    """Return the report; a status that reaches `fail_on` is a failure.

    If the review decides, results and status are the reviewed ones. Both results are always in the output of a case.
    """
    report = deciding_report(report, review)
    failed = not report.incomplete and report.summary.overall_status.reaches(fail_on)
    name = visible(report.playbook_id)
    root = ET.Element("testsuites", name="byop")
    suite = ET.SubElement(
        root, "testsuite", name=name, id=visible(report.report_id), timestamp=visible(report.timestamp)
    )
    properties = ET.SubElement(suite, "properties")
    for key, value in (
        ("status", labels.status(report)),
        *(("reason", reason) for reason in labels.status_reasons(report)),
        *((row.name.lower(), row.value) for row in labels.header(report)),
        *(("disclaimer", line) for line in labels.disclaimers(report)),
        *(("review", line) for line in _review_lines(review)),
    ):
        ET.SubElement(properties, "property", name=key, value=visible(value))
    tags = [_add_evaluation(suite, name, report, failed=failed)]
    tags += [_add_check(suite, name, check, failed=failed) for check in report.check_results]
    for case, check in zip(suite.iter("testcase"), (None, *report.check_results), strict=True):
        if review is not None and check is not None and (lines := review.check_lines(check.check_id)):
            ET.SubElement(case, "system-out").text = visible("\n".join(lines))
    for element in (root, suite):
        element.set("tests", str(len(tags)))
        for total, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            element.set(total, str(tags.count(tag)))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _review_lines(review: ReviewSection | None) -> list[str]:
    return [] if review is None else [review.headline, *(signed.sentence for signed in review.sign_offs)]


def _add_evaluation(suite: ET.Element, name: str, report: Report, *, failed: bool) -> str | None:
    tag = "error" if report.incomplete else "failure" if failed else None
    message = f"{labels.status(report)}: {labels.status_meaning(report)}"
    return _add_case(suite, name, EVALUATION, tag, message, labels.status_reasons(report))


def _add_check(suite: ET.Element, name: str, check: CheckResult, *, failed: bool) -> str | None:
    message = f"{check.result.upper()} ({check.severity}): {check.question}"
    return _add_case(suite, name, check.check_id, _tag(check, failed=failed), message, _lines(check))


def _add_case(
    suite: ET.Element, name: str, case_name: str, tag: str | None, message: str, lines: Sequence[str]
) -> str | None:
    """Add a test case, and return its tag: None if it passed."""
    case = ET.SubElement(suite, "testcase", classname=name, name=visible(case_name))
    if tag is not None:
        outcome = ET.SubElement(case, tag, message=visible(message))
        outcome.text = visible("\n".join(lines))
    return tag


def _tag(check: CheckResult, *, failed: bool) -> str | None:
    if check.result is Result.PASS:
        return None
    if check.result is Result.FAIL:
        return "failure" if failed else "skipped"
    return "error" if check.incomplete else "skipped"


def _lines(check: CheckResult) -> Sequence[str]:
    quotes = [f"{check_labels.where_quoted(quote)}: “{quote.span}”" for quote in check.evidence_citations[:_QUOTES]]
    more = check_labels.more_passages(check.evidence_citations, _QUOTES)
    note = check_labels.visible_note(check.notes)
    return [*check_labels.check_notices(check), *filter(None, (note, *quotes, more))]
