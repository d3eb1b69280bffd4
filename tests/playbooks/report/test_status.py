"""From check results to one status: every combination has a rule, and the gravest one wins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.playbooks.enums import Mode, Result, Severity, Status
from salvo.playbooks.playbook.definition import Variance
from salvo.playbooks.report.status import StatusOutcome, overall

HIGH, MEDIUM = Severity.HIGH, Severity.MEDIUM
P, F, U = Result.PASS, Result.FAIL, Result.INDETERMINATE  # undecided

outcomes = st.lists(
    st.builds(StatusOutcome, st.just("check"), st.sampled_from(Severity), st.sampled_from(Result), st.booleans()),
    max_size=8,
)
scores = st.none() | st.floats(0, 1)
modes = st.sampled_from(Mode)


def status(*found: tuple[Severity, Result], consistency: float | None = 1.0, mode: Mode = Mode.FULL) -> Status:
    named = [StatusOutcome(f"check_{number}", *each) for number, each in enumerate(found)]
    return overall(named, consistency, Variance(), mode)[0]


@pytest.mark.parametrize(
    "found, expected",
    [
        ([(HIGH, F), (MEDIUM, P)], Status.ALERT),
        ([(HIGH, F), (HIGH, U), (MEDIUM, F), (MEDIUM, F)], Status.ALERT),
        ([(HIGH, U), (MEDIUM, P)], Status.REVIEW),
        ([(HIGH, P), (MEDIUM, F), (MEDIUM, F)], Status.REVIEW),
        ([(HIGH, P), (MEDIUM, F), (MEDIUM, P)], Status.OBSERVE),
        ([(HIGH, P), (MEDIUM, U)], Status.OBSERVE),
        ([(HIGH, P), (MEDIUM, P)], Status.STABLE),
        ([], Status.STABLE),
    ],
)
def test_overall_status_by_results(found: list[tuple[Severity, Result]], expected: Status) -> None:
    assert status(*found) is expected


@pytest.mark.parametrize(
    "consistency, expected",
    [
        (0.69, Status.REVIEW),
        (0.70, Status.OBSERVE),
        (0.84, Status.OBSERVE),
        (0.85, Status.STABLE),
        (None, Status.STABLE),
    ],
)
def test_overall_status_by_consistency(consistency: float | None, expected: Status) -> None:
    assert status((HIGH, P), consistency=consistency) is expected


def test_a_screening_is_never_stable() -> None:
    assert status((HIGH, P), consistency=None, mode=Mode.SCREENING) is Status.OBSERVE


def test_a_drift_check_without_a_baseline_is_neutral() -> None:
    drift = StatusOutcome("drift_over_time_support", MEDIUM, U, neutral=True)
    assert overall([drift], 1.0, Variance(), Mode.FULL)[0] is Status.STABLE


def test_thresholds_come_from_the_playbook() -> None:
    assert overall([], 0.6, Variance(ok=0.6, warn=0.5), Mode.FULL)[0] is Status.STABLE


@given(outcomes, scores, modes)
def test_no_combination_of_results_is_without_a_rule(
    found: list[StatusOutcome], score: float | None, mode: Mode
) -> None:
    status, reasons = overall(found, score, Variance(), mode)
    assert status in Status
    assert reasons
    assert all(reason.endswith(".") for reason in reasons)


@given(outcomes, scores, modes, st.data())
def test_a_check_that_gets_worse_never_betters_the_status(
    found: list[StatusOutcome], score: float | None, mode: Mode, data: st.DataObject
) -> None:
    worse = [
        StatusOutcome(each.check_id, each.severity, data.draw(st.sampled_from(_at_least(each.result))), each.neutral)
        for each in found
    ]
    order = list(Status)
    before, after = (overall(each, score, Variance(), mode)[0] for each in (found, worse))
    assert order.index(after) <= order.index(before)


def _at_least(result: Result) -> list[Result]:
    return [P, U, F][[P, U, F].index(result) :]


def test_status_reasons_say_which_rule_fired() -> None:
    found = [StatusOutcome("certainty_language", HIGH, F), StatusOutcome("assumption_disclosure", HIGH, U)]
    assert overall(found, 1.0, Variance(), Mode.FULL) == (
        Status.ALERT,
        ("certainty_language (high severity) failed.",),
    )
