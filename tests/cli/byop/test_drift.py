"""Drift in its kinds, and what is shown of it: the judge's, the output's, both, and instability of the evaluator."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.support.byop_project import CLAUDE, GPT, TEXT, ByopProject, ScriptedJudge, ScriptedVote, check, masked
from tests.support.provider import Fault, LoopbackProvider, Say

WORSE: dict[str, ScriptedVote] = {"certainty_language": "fail"}


def evaluate(
    project: ByopProject, *arguments: str, votes: Mapping[str, ScriptedVote | Sequence[ScriptedVote]] | None = None
) -> dict[str, Any]:
    with LoopbackProvider(ScriptedJudge(votes)) as provider:
        project.reach(provider)
        return project.evaluate("output.md", *(() if "--subject" in arguments else ("--subject", "DPA")), *arguments)


@pytest.mark.parametrize(
    "another_text, another_judge, kind, result, said",
    [
        (False, False, "evaluator_instability", "fail", "so this is evaluator instability."),
        (False, True, "judge", "fail", "so this is judge drift."),
        (True, False, "output", "fail", "so this is output drift."),
        (True, True, "undetermined", "indeterminate", "so the cause of any difference cannot be determined."),
    ],
)
@pytest.mark.parametrize("saved", [True, False])
def test_drift_is_put_down_to_what_changed(
    project: ByopProject, another_text: bool, another_judge: bool, kind: str, result: str, said: str, saved: bool
) -> None:
    first = evaluate(project, "--evaluator", CLAUDE, *(["--save-baseline"] if saved else []))
    if another_text:
        project.write("output.md", f"{TEXT}\nA new paragraph.")
    report = evaluate(project, "--evaluator", GPT if another_judge else CLAUDE, votes=WORSE)
    drift = report["drift_summary"]
    assert (drift["kind"], drift["baseline_id"], drift["baseline_saved"]) == (kind, first["report_id"], saved)
    assert (drift["same_text"], drift["same_judge"]) == (not another_text, not another_judge)
    [changed] = drift["changed_checks"]
    assert (changed["check_id"], changed["before"], changed["now"], changed["worse"]) == (
        "certainty_language",
        "pass",
        "fail",
        True,
    )
    derived = check(report, "drift_over_time_support")
    assert derived["result"] == result
    assert derived["notes"].endswith(said)
    assert derived["notes"].startswith(
        f"Compared with {'the saved baseline' if saved else 'the newest earlier report'}"
    )


def test_nothing_that_got_better_is_drift(project: ByopProject) -> None:
    evaluate(project, votes=WORSE)
    report = evaluate(project)
    assert (report["drift_summary"]["kind"], check(report, "drift_over_time_support")["result"]) == ("none", "pass")
    assert [each["worse"] for each in report["drift_summary"]["changed_checks"]] == [False]
    assert report["summary"]["overall_status"] == "STABLE"


def test_another_model_behind_the_same_name_is_another_judge_and_a_changed_backend_is_noted(
    project: ByopProject,
) -> None:
    def told(**terms: Any) -> dict[str, ScriptedVote]:
        return {name: Say(json.dumps(_PASS), **terms) for name in _JUDGED}

    with_backend = ("--evaluator", GPT)
    evaluate(project, *with_backend, votes=told(model="gpt-5.4-mini-1", fingerprint="fp_1"))
    noted = evaluate(project, *with_backend, votes=told(model="gpt-5.4-mini-1", fingerprint="fp_2"))
    assert noted["drift_summary"]["same_judge"] is True
    assert any("system fingerprint changed" in note for note in noted["drift_summary"]["notes"])
    other = evaluate(project, *with_backend, votes=told(model="gpt-5.4-mini-2", fingerprint="fp_2"))
    assert other["drift_summary"]["same_judge"] is False


_JUDGED = ("assumption_disclosure", "certainty_language", "escalation_signal", "unchecked_areas_disclosure")


_PASS = {"result": "pass", "confidence": 1.0, "evidence_citations": [], "notes": "It is there."}


def test_without_a_subject_drift_is_neutral_whatever_was_evaluated_before(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        project.evaluate("output.md", "--save-baseline")
    project.write("output.md", f"{TEXT}\nA tax memo, say.")
    with LoopbackProvider(ScriptedJudge(escalation_signal="fail", unchecked_areas_disclosure="fail")) as provider:
        project.reach(provider)
        report = project.evaluate("output.md")
    derived = check(report, "drift_over_time_support")
    assert (report["drift_summary"]["kind"], derived["result"]) == ("not_compared", "indeterminate")
    assert derived["notes"].startswith("No subject was named")
    assert not any("drift" in reason for reason in report["summary"]["status_reasons"])


def test_a_fall_of_consistency_is_put_down_to_the_evaluator_never_to_the_text(project: ByopProject) -> None:
    evaluate(project)
    project.write("output.md", f"{TEXT}\nA new paragraph.")
    report = evaluate(project, votes={"certainty_language": ["pass", "fail", "pass"]})
    assert (report["drift_summary"]["kind"], report["drift_summary"]["same_text"]) == ("evaluator_instability", False)
    assert check(report, "drift_over_time_support")["notes"].endswith(
        "The consistency fell by 0.17, from 1.00 to 0.83. That fall is put down to the evaluator, not to the text."
    )


@pytest.mark.parametrize(
    "before, now, kind",
    [
        (["pass"], ["fail"], "output"),
        (["pass"], ["fail", "fail", "pass"], "output_or_evaluator"),
        (["pass", "pass", "fail"], ["fail"], "output_or_evaluator"),
    ],
)
def test_output_drift_needs_votes_that_were_unanimous_on_both_sides(
    project: ByopProject, before: list[str], now: list[str], kind: str
) -> None:
    evaluate(project, votes={"certainty_language": before})
    project.write("output.md", f"{TEXT}\nA new paragraph.")
    report = evaluate(project, votes={"certainty_language": now})
    assert (report["drift_summary"]["kind"], check(report, "drift_over_time_support")["result"]) == (kind, "fail")
    shown = project.byop("show", "latest").stdout
    assert ("Output drift" in shown) is (kind == "output")
    assert ("The output or the evaluator's variation" in shown) is (kind != "output")


def test_an_incomplete_report_is_not_compared_and_no_baseline(project: ByopProject) -> None:
    first = evaluate(project)
    cut = evaluate(project, votes={"certainty_language": Fault.context_too_long()})
    assert cut["incomplete"] is True
    drift = cut["drift_summary"]
    assert (drift["kind"], drift["same_text"], drift["same_judge"], drift["changed_checks"]) == (
        "not_compared",
        None,
        None,
        [],
    )
    assert check(cut, "drift_over_time_support")["result"] == "indeterminate"
    assert "both changed" not in project.byop("show", "latest").stdout
    assert evaluate(project)["drift_summary"]["baseline_id"] == first["report_id"]


def test_evaluators_of_one_command_are_not_each_others_past(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        named = ("--subject", "DPA", "--evaluator", CLAUDE, "--evaluator", "rules", "--evaluator", GPT)
        first, second = (
            json.loads(project.byop("run", "output.md", "--json", *named, "-j", "1").stdout)["byop_reports"]
            for _ in range(2)
        )
    assert {each["byop_report"]["drift_summary"]["baseline_id"] for each in first} == {None}
    newest = max(each["byop_report"]["report_id"] for each in first)
    assert {each["byop_report"]["drift_summary"]["baseline_id"] for each in second} == {newest}


def test_a_subject_over_time_as_a_table(project: ByopProject) -> None:
    evaluate(project, "--subject", "DPA", "--save-baseline")
    evaluate(project, "--subject", "DPA", "--mode", "screening")
    project.write("output.md", f"{TEXT}\nA new paragraph.")
    evaluate(project, "--subject", "DPA", "--evaluator", GPT, votes=WORSE)
    evaluate(project, "--subject", "something else")
    shown = project.byop("drift", "--subject", "DPA")
    assert masked(shown.stdout) == snapshot("""\
REPORT            TIME                 STATUS   CONSISTENCY  TEXT     EVALUATOR                    1  2  3  4  5  6
ID  TIME  STABLE   1.00                  anthropic/claude-sonnet-4-6  P  P  P  P  P  ?  baseline
ID  TIME  OBSERVE  –            same     anthropic/claude-sonnet-4-6  P  P  P  P  ?  ?  screening
ID  TIME  ALERT    1.00         changed  openai/gpt-5.4-mini          P  F  P  P  P  ?

P pass, F fail, ? indeterminate, – not in that playbook. 1 assumption_disclosure; 2 certainty_language; 3 escalation_signal; 4 unchecked_areas_disclosure; 5 run_variance; 6 drift_over_time_support.
TEXT shows whether the text is the same as in the row above, EVALUATOR who judged it.
""")
    points = json.loads(project.byop("drift", "--subject", "DPA", "--json").stdout)
    assert [point["status"] for point in points] == ["STABLE", "OBSERVE", "ALERT"]
    assert points[2]["outcomes"]["certainty_language"] == "fail"
    nothing = project.byop("drift", "--subject", "DPX; exit")
    assert nothing.stdout == snapshot("""\
There is no report on the subject “DPX; exit” yet.
Create one: byop run FILE --subject 'DPX; exit'
""")
