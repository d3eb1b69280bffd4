"""A comparison of two reports as lines of text."""

from dataclasses import replace

from inline_snapshot import snapshot

from salvo.playbooks.enums import Result
from salvo.playbooks.report import terminal
from salvo.playbooks.report.compare import compare
from tests.support.playbooks import a_report

HERE = a_report()


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
    assert "\n".join(terminal.comparison(compare(HERE, other), width=80)) == snapshot("""\
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
          Not put down to the text, which is the same: the same evaluator judged
             it differently.
  only in A: assumption_disclosure
  only in B: my_own
  not compared (derived from the other results): run_variance,
     drift_over_time_support
  Consistency 1.00 → 1.00 (+0.00)

Evidence
  certainty_language
    − “The clause is fully compliant with the law.”
    + “An\\x1b[31mother.”\
""")
