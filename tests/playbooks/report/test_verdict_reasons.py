"""The reasons of a verdict in words, without ids of checks."""

from dataclasses import replace

import pytest
from inline_snapshot import snapshot

from salvo.playbooks.enums import Result, Status
from salvo.playbooks.report.report import CheckResult, DriftKind, Report
from salvo.playbooks.report.verdict_reasons import next_steps, verdict_reasons
from tests.playbooks.report.export.examples import everything, of_status


def texts(report: Report) -> list[str]:
    return [reason.text for reason in verdict_reasons(report)]


def changed(report: Report, **changes: object) -> Report:
    """The report with another first check."""
    first, *others = report.check_results
    altered: CheckResult = replace(first, **changes)  # type: ignore[arg-type]  # fields of a check
    return replace(report, check_results=(altered, *others))


def test_what_failed_is_unstable_hidden_or_open_is_said_in_words() -> None:
    assert texts(everything()) == snapshot(
        [
            "Uses certainty that it does not justify: 2 passages (high severity)",
            "Shows signs of degradation compared with its baseline: the text is different (medium severity)",
            "The evaluator is not stable: its consistency is 0.80. Its runs disagree on: certainty language: 2 of 3 runs said fail, 1 said pass..",
            "In 1 place the text addresses its evaluator, or hides something from its reader: see “Findings in the text”.",
            "Votes are missing for 1 check.",
            "Evaluator returned unparseable response.",
            "Not decided: whether it says when a person must review it (medium severity)",
            "Not decided: whether it says what was not checked (medium severity)",
        ]
    )


def test_no_reason_names_the_id_of_a_check() -> None:
    for status in Status:
        report = of_status(status)
        ids = [check.check_id for check in report.check_results if "_" in check.check_id]
        said = " ".join([*texts(report), *next_steps(report)])
        assert [check_id for check_id in ids if check_id in said] == []


def test_a_check_of_another_playbook_is_described_by_its_question() -> None:
    failed = changed(everything(), check_id="own", question="Is it short?", result=Result.FAIL, evidence_citations=())
    assert "Failed: Is it short? (high severity)" in texts(failed)
    undecided = changed(everything(), check_id="own", question="Is it short?", result=Result.INDETERMINATE)
    assert "Not decided: Is it short? (high severity)" in texts(undecided)


@pytest.mark.parametrize(
    "kind, saved, reason",
    [
        ("output", True, "its baseline: the text is different"),
        ("output_or_evaluator", True, "its baseline: the text is different, but not all votes agreed"),
        ("judge", False, "the newest earlier report: the text is the same, and the evaluator is different"),
        ("evaluator_instability", False, "the newest earlier report: put down to the evaluator, not to the text"),
    ],
)
def test_degradation_is_put_down_to_the_text_only_where_the_text_caused_it(
    kind: DriftKind, saved: bool, reason: str
) -> None:
    """And a baseline that nobody saved is not called one."""
    report = everything()
    report = replace(report, drift_summary=replace(report.drift_summary, kind=kind, baseline_saved=saved))
    assert f"Shows signs of degradation compared with {reason} (medium severity)" in texts(report)


def test_the_reason_about_hidden_text_leads_to_the_findings() -> None:
    about_findings = [reason.text for reason in verdict_reasons(everything()) if reason.about_findings]
    assert [text.startswith("In 1 place the text addresses its evaluator") for text in about_findings] == [True]
    assert not any(reason.about_findings for reason in verdict_reasons(of_status(Status.STABLE)))


def test_a_reason_leads_to_its_check() -> None:
    report = everything()
    for reason in verdict_reasons(report):
        if reason.check is not None:
            assert report.check_results[reason.check - 1].result is not Result.PASS
