"""A batch's summary: its numbers agree with each other, and nothing is dropped in silence."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salvo.scenarios.analysis.confidence_gate import is_unsettled
from salvo.scenarios.analysis.summary import (
    AssertionSummary,
    BatchSummary,
    BatchVerdict,
    FailureGroup,
    Group,
    failure_groups,
    summarise,
)
from salvo.scenarios.result import Batch, Cause, Outcome, RunMetrics, SkippedRun
from salvo.scenarios.store.index import IndexEntry, Judged, index_entry
from tests.support.runs import batch, book_flight, judged, result

ENTRIES = st.lists(
    st.builds(
        IndexEntry,
        run_id=st.just("01k9batch-0001"),
        batch_id=st.sampled_from(["01k9batch", "01k9batch", "another"]),
        scenario_id=st.just("s"),
        number=st.integers(1, 12),
        provider=st.just("p"),
        model=st.just("m"),
        timestamp=st.just(""),
        outcome=st.sampled_from(Outcome),
        cause=st.none() | st.sampled_from(Cause),
        score=st.none() | st.floats(0, 1),
        latency=st.floats(0, 100),
        cost=st.none() | st.floats(0, 10),
        judge_cost=st.none() | st.floats(0, 10),
        assertions=st.lists(
            st.builds(Judged, st.sampled_from("ab"), st.just("t"), st.none() | st.booleans(), st.booleans())
        ),
        error=st.sampled_from([None, "down", "no key"]),
    ),
    max_size=20,
)


NOT_RUN = SkippedRun(Outcome.NOT_RUN, Cause.BUDGET, "the budget is spent")
CUT = SkippedRun(Outcome.INTERRUPTED, Cause.INTERRUPTED, "Ctrl-C was pressed")


@settings(max_examples=60)
@given(
    entries=ENTRIES,
    runs=st.integers(1, 15),
    min_pass_rate=st.floats(0, 1),
    unmade=st.dictionaries(st.integers(1, 12), st.sampled_from([NOT_RUN, CUT])),
)
def test_the_numbers_agree_with_each_other(
    entries: list[IndexEntry], runs: int, min_pass_rate: float, unmade: dict[int, SkippedRun]
) -> None:
    of = summarise(batch(runs=runs, min_pass_rate=min_pass_rate), entries, unmade)
    without_verdict = of.errors + of.not_run + of.interrupted + of.pending + of.missing
    assert of.passed + of.failed + without_verdict == of.runs >= runs
    assert of.completed == of.passed + of.failed
    assert len(of.failures) == of.failed >= sum(of.stopped.values())
    assert sum(group.count for group in of.error_groups) == of.errors
    assert sum(group.count for group in of.not_made) == of.not_run + of.interrupted
    assert all(row.passed <= row.judged for row in of.assertions)
    if of.pass_rate is None:
        verdict = BatchVerdict.OPEN if of.pending else BatchVerdict.ERROR
        assert (of.completed, of.verdict, of.latency, of.pass_hat) == (0, verdict, None, {})
    else:
        assert of.interval.low <= of.pass_rate <= of.interval.high
        assert (
            of.without_result
            or of.pending
            or of.verdict is (BatchVerdict.PASSED if of.pass_rate >= min_pass_rate else BatchVerdict.FAILED)
        )
        assert of.pass_hat.get(1, of.pass_rate) == of.pass_rate
        assert list(of.pass_hat.values()) == sorted(of.pass_hat.values(), reverse=True)
        assert list(of.pass_at.values()) == sorted(of.pass_at.values())
        assert 2 * max(of.pass_hat, default=0) <= of.completed
        assert of.latency
        assert of.latency.p50 <= of.latency.p95 <= of.latency.max
    for cost in (of.cost, of.judge_cost):
        assert (cost.total is None) == (cost.unknown > 0)
        assert cost.total in (None, cost.at_least)
        assert cost.average in (None, cost.average_at_least)


def test_the_documents_batch() -> None:
    made, results = book_flight()
    of = summarise(made, [index_entry(run) for run in results])
    assert (of.passed, of.completed, of.pass_rate) == (8, 10, 0.8)
    assert of.average_score == pytest.approx(0.84)
    assert of.pass_hat == {1: 0.8, 3: pytest.approx(56 / 120), 5: pytest.approx(56 / 252)}
    assert of.assertions[1] == AssertionSummary("confirmation_id", "jmespath", False, 8, 10, 0)
    assert [failure.run_id for failure in of.failures] == ["01k9batch-0003", "01k9batch-0007"]
    assert of.failures[1].assertions == ["confirmation_id", "latency_limit"]
    assert of.verdict is BatchVerdict.FAILED


def counted(passed: int, runs: int, cached: int = 0, **settings: Any) -> BatchSummary:
    """The summary of so many runs; the last ones, all of which pass, were answered from a cache."""
    outcomes = [Outcome.PASSED if number <= passed else Outcome.FAILED for number in range(1, runs + 1)]
    results = [result(number, outcome) for number, outcome in enumerate(outcomes, 1)]
    results += [result(number, from_cache=True) for number in range(runs + 1, runs + cached + 1)]
    return summarise(batch(runs=runs + cached, **settings), [index_entry(run) for run in results])


def test_pass_hat_k_has_an_interval_and_goes_up_to_half_of_the_runs() -> None:
    of = counted(199, 200)
    assert max(of.pass_hat) == max(of.pass_at) == 100
    assert of.pass_hat[100] == pytest.approx(0.5)
    low, high = of.interval
    assert of.pass_hat_intervals[100] == pytest.approx((low**100, high**100))
    assert of.pass_at_intervals[3] == pytest.approx((1 - (1 - low) ** 3, 1 - (1 - high) ** 3))


def test_runs_from_a_cache_are_no_evidence() -> None:
    of = counted(9, 10, cached=30, min_pass_rate=0.9)
    assert (of.completed, of.independent, of.interval) == (40, 10, counted(9, 10).interval)
    assert of.verdict is BatchVerdict.PASSED, "39 of 40 were observed"
    gated = counted(10, 10, cached=30, min_pass_rate=0.9, confidence=0.95)
    assert gated.verdict is BatchVerdict.INCONCLUSIVE, "10 of 10 show no more than 69 %"
    assert not is_unsettled(batch(runs=36, max_runs=200, min_pass_rate=0.9, confidence=0.95), ALL_PASS)
    cached = [replace(entry, from_cache=True) for entry in ALL_PASS]
    assert is_unsettled(batch(runs=36, max_runs=200, min_pass_rate=0.9, confidence=0.95), cached)


ALL_PASS = [index_entry(result(number)) for number in range(1, 61)]


def test_runs_that_did_the_same_are_counted_and_mentioned() -> None:
    outputs = ["a", "a", "b", "c", "c", "c"]
    runs = [result(number, final_output=output) for number, output in enumerate(outputs, 1)]
    of = summarise(batch(runs=6), [index_entry(run) for run in runs])
    assert (of.identical, of.independent) == (5, 6)


@pytest.mark.parametrize(
    "passes, runs, minimum, verdict",
    [
        (7, 10, 0.7, "passed"),
        (6, 10, 0.7, "failed"),
        (1, 3, 1 / 3, "passed"),
        (0, 1, 0.0, "passed"),
        (10, 10, 1.0, "passed"),
    ],
)
def test_the_verdict_is_exact_at_the_least_pass_rate(passes: int, runs: int, minimum: float, verdict: str) -> None:
    outcomes = [Outcome.PASSED] * passes + [Outcome.FAILED] * (runs - passes)
    entries = [index_entry(result(number, outcome)) for number, outcome in enumerate(outcomes, 1)]
    assert summarise(batch(runs=runs, min_pass_rate=minimum), entries).verdict == verdict


def test_errors_are_not_failures_and_are_grouped_by_cause_and_message() -> None:
    down: dict[str, Any] = {"outcome": Outcome.ERROR, "cause": Cause.PROVIDER, "error": "overloaded"}
    runs = [
        result(1),
        result(2, **down),
        result(3, Outcome.ERROR, cause=Cause.JUDGE, error="no votes"),
        result(4, **down),
    ]
    of = summarise(batch(runs=4), [index_entry(run) for run in runs])
    assert (of.pass_rate, of.verdict, of.errors, of.failures) == (1.0, "passed", 3, [])
    assert of.error_groups == [
        Group(Outcome.ERROR, Cause.PROVIDER, "overloaded", 2, ["01k9batch-0002", "01k9batch-0004"]),
        Group(Outcome.ERROR, Cause.JUDGE, "no votes", 1, ["01k9batch-0003"]),
    ]


def test_failures_are_grouped_by_what_they_failed_by_the_largest_group_first() -> None:
    wrong = [judged("cheapest", False), judged("quick", True)]
    runs = [
        result(1),
        result(2, Outcome.FAILED, cause=Cause.TIMEOUT),
        *(result(number, Outcome.FAILED, eval_results=wrong) for number in (3, 4)),
    ]
    of = summarise(batch(runs=4), [index_entry(run) for run in runs])
    assert failure_groups(of.failures) == [
        FailureGroup(Cause.ASSERTION, ["cheapest"], 2, ["01k9batch-0003", "01k9batch-0004"]),
        FailureGroup(Cause.TIMEOUT, [], 1, ["01k9batch-0002"]),
    ]


def test_without_a_completed_run_the_scenario_is_an_error() -> None:
    of = summarise(batch(runs=2), [index_entry(result(1, Outcome.ERROR, cause=Cause.PROVIDER))])
    assert (of.verdict, of.pass_rate, of.missing) == ("error", None, 1)


def test_a_cost_that_is_not_known_is_never_zero() -> None:
    unknown = RunMetrics(latency=1.0, cost=None)
    runs = [result(1), result(2, metrics=unknown), result(3, Outcome.NOT_RUN, metrics=unknown)]
    of = summarise(batch(runs=3), [index_entry(run) for run in runs])
    assert (of.cost.total, of.cost.average, of.cost.unknown) == (None, None, 1)
    assert of.cost.at_least == 0.032
    assert of.cost.average_at_least == 0.016


def test_a_run_that_was_stopped_has_no_assertions_but_a_cause() -> None:
    runs = [
        result(1, Outcome.FAILED, cause=Cause.TIMEOUT),
        result(2, eval_results=[judged("a", True), judged("a", False), judged("b", None)]),
    ]
    of = summarise(batch(runs=2), [index_entry(run) for run in runs])
    assert of.stopped == {Cause.TIMEOUT: 1}
    assert [(row.label, row.passed, row.judged, row.unjudged) for row in of.assertions] == [
        ("a", 1, 1, 0),
        ("a", 0, 1, 0),
        ("b", 0, 0, 1),
    ]


def test_runs_that_were_never_started_are_counted_with_their_reason() -> None:
    made: Batch = batch(runs=5)
    of = summarise(made, [index_entry(result(1))], {1: CUT, 3: NOT_RUN, 4: NOT_RUN, 5: CUT})
    assert (of.not_run, of.interrupted, of.missing) == (2, 1, 1)
    assert (of.cost.total, of.cost.at_least, of.cost.unknown) == (None, 0.032, 1), "what was cut short cost something"
    assert of.not_made == [
        Group(Outcome.NOT_RUN, Cause.BUDGET, "the budget is spent", 2, ["01k9batch-0003", "01k9batch-0004"]),
        Group(Outcome.INTERRUPTED, Cause.INTERRUPTED, "Ctrl-C was pressed", 1, ["01k9batch-0005"]),
    ]


@pytest.mark.parametrize(
    "passes, fails, runs, minimum, verdict",
    [
        (1, 0, 2, 1.0, "open"),
        (1, 0, 2, 0.5, "passed"),
        (0, 1, 2, 1.0, "failed"),
        (0, 1, 10, 0.5, "open"),
        (0, 6, 10, 0.5, "failed"),
        (0, 5, 10, 0.5, "open"),
        (0, 0, 2, 0.5, "error"),
    ],
)
def test_the_verdict_is_open_while_runs_not_made_could_decide_it(
    passes: int, fails: int, runs: int, minimum: float, verdict: str
) -> None:
    outcomes = [Outcome.PASSED] * passes + [Outcome.FAILED] * fails
    entries = [index_entry(result(number, outcome)) for number, outcome in enumerate(outcomes, 1)]
    assert summarise(batch(runs=runs, min_pass_rate=minimum), entries).verdict == verdict
