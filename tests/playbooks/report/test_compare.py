"""Two reports side by side, and several judges of one text."""

from dataclasses import replace
from typing import Any

import pytest
from inline_snapshot import snapshot

from salvo.playbooks.enums import Mode, Result
from salvo.playbooks.evaluate.inputs import Inputs, SourceFile
from salvo.playbooks.report.compare import agreement, compare
from salvo.playbooks.report.report import REPORT_HASH_METHOD, Fingerprints, Report
from tests.support.playbooks import TEXT, a_playbook, a_report, some_inputs

HERE = a_report()


def by_another_judge(report: Report) -> Report:
    judge = replace(report.model_fingerprints.evaluator, declared_model_version="claude-sonnet-4-6-y")
    return replace(report, model_fingerprints=Fingerprints(judge, report.model_fingerprints.producer))


@pytest.mark.parametrize(
    "after, told",
    [
        (HERE, "a difference is evaluator instability."),
        (by_another_judge(HERE), "a difference is attributed to the evaluator."),
        (
            a_report(inputs=some_inputs("Another text.")),
            "a difference comes from the text or from the evaluator's variation.",
        ),
        (by_another_judge(a_report(inputs=some_inputs("Another text."))), "cannot be determined."),
    ],
)
def test_a_difference_is_put_down_to_what_changed(after: Report, told: str) -> None:
    assert compare(HERE, after).attribution.endswith(told)


def test_a_text_that_an_earlier_version_fingerprinted_by_another_rule_is_recognised_by_its_bytes() -> None:
    inputs = {text: some_inputs(f"{TEXT} {text}") for text in ("\ud800", "\\ud800")}
    earlier = {text: a_report(inputs=replace(current, text_escape=1)) for text, current in inputs.items()}
    new = {text: _of_this_version(a_report(inputs=current)) for text, current in inputs.items()}
    same = {(before, after): compare(earlier[before], new[after]).same_text for before in earlier for after in new}
    assert same == {(before, after): before == after for before, after in same}


def test_the_same_file_is_another_text_if_another_version_extracts_it_differently() -> None:
    file = {"ai_output": SourceFile("sha256:1")}
    before, after = (
        _of_this_version(a_report(inputs=Inputs.from_texts(text, files=file))) for text in (TEXT, f"{TEXT} A footnote.")
    )
    assert before.integrity.raw_inputs == after.integrity.raw_inputs
    assert not compare(before, after).same_text


def _of_this_version(report: Report) -> Report:
    """Return the report with the mark by which it is told from those of earlier versions."""
    return replace(report, integrity=replace(report.integrity, report_hash_method=REPORT_HASH_METHOD))


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
            "id-0002 is incomplete: checks without enough votes are not compared.",
            "The subjects differ: “default” and “DPA”.",
        )
    )
    assert (found.same_playbook, found.consistency_delta) == (False, None)


def test_a_judge_that_could_not_judge_is_no_party_to_an_agreement() -> None:
    assumptions, certainty, *derived = HERE.check_results
    cut = replace(assumptions, result=Result.INDETERMINATE, incomplete=True)
    other = replace(HERE, evaluator="rules", check_results=(cut, certainty, *derived))
    assert [(row.check_id, row.agree) for row in agreement([HERE, other])] == [
        ("assumption_disclosure", None),
        ("certainty_language", True),
    ]


def with_other_result(report: Report, *, unanimous: bool = True, **changes: Any) -> Report:
    """Return the report with a pass of `certainty_language`, and the votes that led to it."""
    assumptions, certainty, *derived = report.check_results
    runs = tuple(
        replace(run, result=Result.PASS if unanimous or run.run != 1 else Result.FAIL) for run in certainty.raw_runs
    )
    changed = replace(certainty, result=Result.PASS, raw_runs=runs, **changes)
    return replace(report, check_results=(assumptions, changed, *derived))


ELSEWHERE = a_report(inputs=some_inputs("Another text."))


def by_rules(report: Report) -> Report:
    judge = replace(report.model_fingerprints.evaluator, declared_model_name="rules", provider=None)
    return replace(report, model_fingerprints=Fingerprints(judge, report.model_fingerprints.producer))


def by_patterns(report: Report) -> Report:
    assumptions, certainty, *derived = report.check_results
    return replace(report, check_results=(assumptions, replace(certainty, decided_by="patterns"), *derived))


@pytest.mark.parametrize(
    "before, after, from_text, reason",
    [
        (HERE, with_other_result(HERE), False, "Not put down to the text, which is the same: the same evaluator"),
        (
            HERE,
            with_other_result(by_another_judge(HERE)),
            False,
            "the text, which is the same: the evaluator is differ",
        ),
        (
            HERE,
            with_other_result(ELSEWHERE),
            True,
            "the evaluator is the same, and the votes were unanimous both times.",
        ),
        (
            HERE,
            with_other_result(ELSEWHERE, unanimous=False),
            None,
            "variation: the evaluator is the same, but the votes in B were",
        ),
        (HERE, with_other_result(by_another_judge(ELSEWHERE)), None, "the text and the evaluator are both different."),
        (by_rules(HERE), with_other_result(by_rules(ELSEWHERE)), True, "the evaluator is the same and does not vary."),
        (
            by_patterns(HERE),
            with_other_result(ELSEWHERE, decided_by="patterns"),
            True,
            "patterns decided it both times",
        ),
        (
            replace(HERE, integrity=replace(HERE.integrity, playbook_logic_hash="sha256:other")),
            with_other_result(ELSEWHERE),
            None,
            "the playbook is different, too",
        ),
    ],
)
def test_each_changed_check_says_why_it_is_put_down_to_the_text_or_not(
    before: Report, after: Report, from_text: bool | None, reason: str
) -> None:
    compared = compare(before, after)
    assert [check.check_id for check in compared.changed_checks] == ["certainty_language"]
    [cause] = compared.causes
    assert (cause.check_id, cause.from_text) == ("certainty_language", from_text)
    assert reason in cause.reason
