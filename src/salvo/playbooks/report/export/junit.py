"""The report as JUnit XML: a test case for each check.

A check that could not be judged because votes are missing is an error; a check that was judged as indeterminate is
skipped. Neither is a failure. Whether the evaluation as a whole failed depends on its status.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from salvo.engine.text.unicode_escape import visible
from salvo.playbooks.enums import Result
from salvo.playbooks.report import labels
from salvo.playbooks.report.report import CheckResult, Report

_QUOTES = 50


def render(report: Report) -> str:
    name = visible(report.playbook_id)
    root = ET.Element("testsuites", name="byop")
    suite = ET.SubElement(
        root, "testsuite", name=name, id=visible(report.report_id), timestamp=visible(report.timestamp)
    )
    properties = ET.SubElement(suite, "properties")
    for key, value in (
        ("status", report.summary.overall_status),
        *(("reason", reason) for reason in report.summary.status_reasons),
        *((row.name.lower(), row.value) for row in labels.header(report)),
        *(("disclaimer", line) for line in labels.disclaimers(report)),
    ):
        ET.SubElement(properties, "property", name=key, value=visible(value))
    tags = [_add_case(suite, name, check) for check in report.check_results]
    for element in (root, suite):
        element.set("tests", str(len(tags)))
        for total, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            element.set(total, str(tags.count(tag)))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _add_case(suite: ET.Element, name: str, check: CheckResult) -> str | None:
    """Add a test case, and return its tag if the check did not pass."""
    case = ET.SubElement(suite, "testcase", classname=name, name=visible(check.check_id))
    tag = _tag(check)
    if tag is not None:
        outcome = ET.SubElement(
            case, tag, message=visible(f"{check.result.upper()} ({check.severity}): {check.question}")
        )
        outcome.text = visible("\n".join(_lines(check)))
    return tag


def _tag(check: CheckResult) -> str | None:
    if check.result is Result.PASS:
        return None
    if check.result is Result.FAIL:
        return "failure"
    return "error" if check.incomplete else "skipped"


def _lines(check: CheckResult) -> Sequence[str]:
    quotes = [f"{labels.where_quoted(quote)}: “{quote.span}”" for quote in check.evidence_citations[:_QUOTES]]
    more = labels.more_passages(check.evidence_citations, _QUOTES)
    note = labels.visible_note(check.notes)
    return [*labels.check_notices(check), *filter(None, (note, *quotes, more))]
