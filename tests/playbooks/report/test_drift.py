"""A report compared with its baseline: the sentences are true for every kind of drift."""

from dataclasses import replace

import pytest

from salvo.playbooks.enums import Mode, Result, Severity
from salvo.playbooks.playbook.definition import Variance
from salvo.playbooks.report import advice, drift
from salvo.playbooks.report.builder import snapshot
from salvo.playbooks.report.drift import Snapshot
from salvo.playbooks.report.labels import DRIFTS
from tests.support.playbooks import a_report

BEFORE = snapshot(a_report())


def compared(now: Snapshot) -> drift.Drift:
    return drift.compare(now, BEFORE, saved=True, thresholds=Variance())


def with_checks(**changes: object) -> Snapshot:
    first, *rest = BEFORE.checks
    return replace(BEFORE, checks=(replace(first, **changes), *rest))  # type: ignore[arg-type]  # fields of CheckResult


def by_another_evaluator(report: Snapshot) -> Snapshot:
    judge = replace(report.fingerprints.evaluator, declared_model_version="another")
    return replace(report, fingerprints=replace(report.fingerprints, evaluator=judge))


def test_one_medium_check_that_got_worse_is_no_material_degradation() -> None:
    before = with_checks(severity=Severity.MEDIUM, result=Result.PASS)
    now = with_checks(severity=Severity.MEDIUM, result=Result.FAIL)
    found = drift.compare(now, before, saved=True, thresholds=Variance())
    assert [check.worse for check in found.summary.changed_checks] == [True]
    assert (found.result, found.summary.kind) == (Result.PASS, "none")
    assert "nothing" not in DRIFTS["none"].lower()


def test_a_check_that_could_not_be_judged_leaves_drift_undetermined_with_the_same_text_and_evaluator() -> None:
    found = compared(with_checks(incomplete=True, result=Result.INDETERMINATE))
    assert (found.result, found.summary.kind) == (Result.INDETERMINATE, "undetermined")
    assert found.notes.endswith("but assumption_disclosure could not be judged.")
    assert "or a check could not be judged" in DRIFTS["undetermined"]
    assert not any("previous evaluator" in step for step in steps(found))


def test_two_changes_are_told_apart_with_the_previous_evaluator() -> None:
    found = compared(by_another_evaluator(replace(BEFORE, inputs_fingerprint="sha256:other")))
    assert found.summary.kind == "undetermined"
    assert steps(found)[-1] == "Evaluate the new text with the previous evaluator to tell the two changes apart."


@pytest.mark.parametrize("kind", ["none", "output", "judge", "evaluator_instability", "undetermined", "not_compared"])
def test_every_kind_of_drift_has_a_sentence(kind: str) -> None:
    assert DRIFTS[kind].endswith(".")


def steps(found: drift.Drift) -> tuple[str, ...]:
    return advice.next_steps((), found.summary, Mode.FULL, incomplete=False)
