"""`byop compare`: two reports side by side."""

import json
from typing import Any

from inline_snapshot import snapshot

from tests.support.byop_project import TEXT, ByopProject, ScriptedJudge, ScriptedVote, masked
from tests.support.provider import LoopbackProvider

WORSE: dict[str, ScriptedVote] = {"certainty_language": "fail"}


def evaluate(project: ByopProject, *arguments: str, votes: dict[str, ScriptedVote] | None = None) -> dict[str, Any]:
    with LoopbackProvider(ScriptedJudge(votes)) as provider:
        project.reach(provider)
        return project.evaluate("output.md", *arguments)


def test_two_reports_side_by_side(project: ByopProject) -> None:
    first = evaluate(project)
    project.write("output.md", f"{TEXT}\nA new paragraph.")
    second = evaluate(project, "-o", "second.json", votes=WORSE)
    shown = project.byop("compare", first["report_id"], "second.json")
    assert (shown.exit_code, masked(shown.stdout)) == snapshot(
        (
            0,
            """\
This is an observability report, not legal advice.
Pass ≠ safe. Fail ≠ wrong. Indeterminate is expected.
Report describes behavior under this playbook and inputs.

A  ID  TIME  STABLE  consistency 1.00
   anthropic/claude-sonnet-4-6  subject default
B  ID  TIME  ALERT  consistency 1.00
   anthropic/claude-sonnet-4-6  subject default

The evaluator is the same and the text is different, so a difference comes from the text or from the
   evaluator's variation.

Checks
  worse   high    certainty_language: pass → fail
          Put down to the text: the evaluator is the same, and the votes were unanimous both times.
  same result: assumption_disclosure, escalation_signal, unchecked_areas_disclosure
  not compared (derived from the other results): run_variance, drift_over_time_support
  Consistency 1.00 → 1.00 (+0.00)
""",
        )
    )
    document = json.loads(project.byop("compare", first["report_id"], "latest", "--json").stdout)
    assert document["after"]["report_id"] == second["report_id"]
    assert [each["check_id"] for each in document["changed_checks"]] == ["certainty_language"]
    itself = project.byop("compare", "latest", "latest")
    assert "worse" not in itself.stdout
    assert "Evidence" not in itself.stdout


def test_what_has_no_report_cannot_be_compared(project: ByopProject) -> None:
    project.write("no-report.json", "{}")
    refused = project.byop("compare", "no-report.json", "no-report.json")
    assert (refused.exit_code, "is not a BYOP report" in refused.stderr) == (2, True)
    unknown = project.byop("compare", "zzz", "zzz")
    assert unknown.exit_code == 2
