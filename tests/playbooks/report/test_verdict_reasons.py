"""The reasons of a verdict in words, without ids of checks."""

from dataclasses import replace

from inline_snapshot import snapshot

from salvo.playbooks.enums import Result, Status
from salvo.playbooks.report.report import CheckResult, Report
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
            "Shows signs of degradation compared with its baseline (medium severity)",
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


def test_a_reason_leads_to_its_check() -> None:
    report = everything()
    for reason in verdict_reasons(report):
        if reason.check is not None:
            assert report.check_results[reason.check - 1].result is not Result.PASS
