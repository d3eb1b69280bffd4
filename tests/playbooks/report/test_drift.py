"""A report compared with its baseline: the sentences are true for every kind of drift."""

import math
from dataclasses import replace
from itertools import product

import pytest

from salvo.playbooks.enums import Mode, Result, Severity
from salvo.playbooks.playbook.definition import Variance
from salvo.playbooks.report import advice, drift
from salvo.playbooks.report.builder import snapshot
from salvo.playbooks.report.drift import Snapshot
from salvo.playbooks.report.labels import DRIFTS, drift_kind
from salvo.playbooks.report.report import RawRun
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


def test_an_incomplete_report_is_compared_with_nothing() -> None:
    incomplete = with_checks(incomplete=True, result=Result.INDETERMINATE)
    for now, before in ((incomplete, BEFORE), (BEFORE, incomplete)):
        found = drift.compare(now, before, saved=True, thresholds=Variance())
        assert (found.result, found.summary.kind, found.neutral) == (Result.INDETERMINATE, "not_compared", True)
        assert (found.summary.same_text, found.summary.same_judge) == (None, None)
        assert not any("previous evaluator" in step for step in steps(found))


def test_a_report_of_an_earlier_version_that_left_it_open_does_not_claim_that_both_changed() -> None:
    compared_then = replace(compared(BEFORE).summary, kind="undetermined")
    assert "both changed" not in drift_kind(compared_then)
    assert "both changed" in drift_kind(replace(compared_then, same_text=False, same_judge=False))


def test_a_trivial_edit_is_rarely_called_output_drift_when_votes_are_right_19_times_in_20() -> None:
    """Exact over all votes on one high check, which passes in truth."""

    def voted(votes: tuple[bool, ...]) -> tuple[float, Snapshot]:
        results = [Result.PASS if right else Result.FAIL for right in votes]
        chance = math.prod(0.95 if right else 0.05 for right in votes)
        result = Result.PASS if sum(votes) >= 2 else Result.FAIL
        runs = tuple(RawRun(run, vote, True, 0.9, (), "", "") for run, vote in enumerate(results, start=1))
        snapshot = with_checks(result=result, raw_runs=runs, severity=Severity.HIGH, decided_by="evaluator")
        return chance, replace(snapshot, inputs_fingerprint=str(votes))

    def chance_of(kind: str) -> float:
        sides = list(map(voted, product((True, False), repeat=3)))
        return math.fsum(
            before_chance * now_chance
            for before_chance, before in sides
            for now_chance, now in sides
            if before is not now and drift.compare(now, before, saved=True, thresholds=Variance()).summary.kind == kind
        )

    assert chance_of("output") < 0.001
    assert 0.005 < chance_of("output_or_evaluator") < 0.01


def test_two_changes_are_told_apart_with_the_previous_evaluator() -> None:
    found = compared(by_another_evaluator(replace(BEFORE, inputs_fingerprint="sha256:other")))
    assert found.summary.kind == "undetermined"
    assert steps(found)[-1] == "Evaluate the new text with the previous evaluator to tell the two changes apart."


@pytest.mark.parametrize(
    "kind", ["none", "output", "output_or_evaluator", "judge", "evaluator_instability", "undetermined", "not_compared"]
)
def test_every_kind_of_drift_has_a_sentence(kind: str) -> None:
    assert DRIFTS[kind].endswith(".")


def steps(found: drift.Drift) -> tuple[str, ...]:
    return advice.next_steps((), found.summary, Mode.FULL, incomplete=False, named_subject=True)
