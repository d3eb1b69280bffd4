"""Two reports side by side, and several judges of one text."""

from dataclasses import replace

import pytest
from inline_snapshot import snapshot

from salvo.playbooks.enums import Mode, Result, Status
from salvo.playbooks.report import comparison_text, timeline
from salvo.playbooks.report.compare import agreement, compare
from salvo.playbooks.report.report import Fingerprints, Report
from salvo.playbooks.store.records import TimelinePoint
from tests.support.playbooks import a_playbook, a_report, some_inputs

HERE = a_report()


def by_another_judge(report: Report) -> Report:
    judge = replace(report.model_fingerprints.evaluator, declared_model_version="claude-sonnet-4-6-y")
    return replace(report, model_fingerprints=Fingerprints(judge, report.model_fingerprints.producer))


@pytest.mark.parametrize(
    "after, told",
    [
        (HERE, "a difference is evaluator instability."),
        (by_another_judge(HERE), "a difference is attributed to the evaluator."),
        (a_report(inputs=some_inputs("Another text.")), "a difference is attributed to the text."),
        (by_another_judge(a_report(inputs=some_inputs("Another text."))), "cannot be determined."),
    ],
)
def test_a_difference_is_put_down_to_what_changed(after: Report, told: str) -> None:
    assert compare(HERE, after).attribution.endswith(told)


def test_what_keeps_two_reports_from_being_comparable_is_said() -> None:
    other = a_report(
        playbook=a_playbook(version="2.0.0"),
        report_id="id-0002",
        execution_mode=Mode.SCREENING,
        incomplete=True,
        subject="DPA",
        consistency=None,
    )
    found = compare(HERE, other)
    assert found.cautions == snapshot(
        (
            "The two reports were made with different playbooks or different versions of a playbook.",
            "id-0002 is a screening, which is not comparable over time.",
            "id-0002 is incomplete.",
            "The subjects differ: “default” and “DPA”.",
        )
    )
    assert (found.same_playbook, found.consistency_delta) == (False, None)


def test_what_changed_as_lines_of_text() -> None:
    assumptions, certainty, *derived = HERE.check_results
    [quote] = certainty.evidence_citations
    other = replace(
        HERE,
        report_id="id-0002",
        check_results=(
            replace(certainty, result=Result.PASS, evidence_citations=(replace(quote, span="An\x1b[31mother."),)),
            replace(assumptions, check_id="my_own"),
            *derived,
        ),
    )
    assert "\n".join(comparison_text.lines(compare(HERE, other), width=80)) == snapshot("""\
This is an observability report, not legal advice.
Pass ≠ safe. Fail ≠ wrong. Indeterminate is expected.
Report describes behavior under this playbook and inputs.

A  id-0001  2026-11-15T12:00:00+00:00  ALERT  consistency 1.00
   anthropic/claude-sonnet-4-6  subject default
B  id-0002  2026-11-15T12:00:00+00:00  ALERT  consistency 1.00
   anthropic/claude-sonnet-4-6  subject default

The text and the evaluator are the same, so a difference is evaluator
   instability.

Checks
  better  high    certainty_language: fail → pass
  only in A: assumption_disclosure
  only in B: my_own
  Consistency 1.00 → 1.00 (+0.00)

Evidence
  certainty_language
    − “The clause is fully compliant with the law.”
    + “An\\x1b[31mother.”\
""")


def test_a_judge_that_could_not_judge_is_no_party_to_an_agreement() -> None:
    assumptions, certainty, *derived = HERE.check_results
    cut = replace(assumptions, result=Result.INDETERMINATE, incomplete=True)
    other = replace(HERE, evaluator="rules", check_results=(cut, certainty, *derived))
    assert [(row.check_id, row.agree) for row in agreement([HERE, other])] == [
        ("assumption_disclosure", None),
        ("certainty_language", True),
    ]


def test_a_timeline_marks_what_is_special() -> None:
    points = [
        TimelinePoint(
            id=name,
            created_at="2026-11-15T12:00:00.000+00:00",
            mode=mode,
            evaluator="ru\x1bles",
            status=Status.REVIEW,
            consistency=consistency,
            incomplete=incomplete,
            baseline=baseline,
            inputs_fingerprint=fingerprint,
            playbook_hash="p",
            outcomes=outcomes,
        )
        for name, mode, consistency, incomplete, baseline, fingerprint, outcomes in (
            ("a", Mode.FULL, 1.0, False, True, "x", {"one": Result.PASS, "two": Result.FAIL}),
            ("b", Mode.SCREENING, None, True, False, "x", {"two": Result.INDETERMINATE}),
            ("c", Mode.FULL, 0.5, False, False, "y", {"two": Result.PASS, "three": Result.PASS}),
        )
    ]
    assert "\n".join(timeline.lines("s", points)) == snapshot("""\
REPORT  TIME                 STATUS  CONSISTENCY  TEXT     EVALUATOR  1  2  3
a       2026-11-15T12:00:00  REVIEW  1.00                  ru\\x1bles  P  F  –  baseline
b       2026-11-15T12:00:00  REVIEW  unknown      same     ru\\x1bles  –  ?  –  screening, incomplete
c       2026-11-15T12:00:00  REVIEW  0.50         changed  ru\\x1bles  –  P  P

P pass, F fail, ? indeterminate, – not in that playbook. 1 one; 2 two; 3 three.
TEXT shows whether the text is the same as in the row above, EVALUATOR who judged it.\
""")
