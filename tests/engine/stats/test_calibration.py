"""A judged pass rate, corrected by labels that were drawn at random within the judge's verdicts."""

from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.stats.calibration import (
    Stratum,
    allocate,
    calibrated_rate,
    labels_for_width,
    needed_labels,
    rate_verdict,
    with_run_sampling,
)
from salvo.engine.stats.pass_rates import Interval, wilson


@st.composite
def strata(draw: st.DrawFn, min_labelled: int = 0) -> Stratum:
    size = draw(st.integers(max(1, min_labelled), 200))
    labelled = draw(st.integers(min_labelled, size))
    passed = draw(st.integers(0, labelled))
    return Stratum(size, labelled, passed, draw(st.integers(0, labelled - passed)))


def calibrated(strata: list[Stratum]) -> list[float | None]:
    """Return the rate and its bounds, rounded."""
    result = calibrated_rate(strata)
    assert result is not None
    return [None if value is None else round(value, 4) for value in (result.rate, *result.interval)]


class TestTheCorrectedRate:
    def test_weighs_each_stratum_by_its_size(self) -> None:
        rate = 0.8 * 19 / 20 + 0.15 / 5 + 0.05 * 2 / 5
        assert calibrated([Stratum(80, 20, 19), Stratum(15, 5, 1), Stratum(5, 5, 2)]) == [
            round(rate, 4),
            0.6853,
            0.8727,
        ]

    def test_is_wilsons_interval_for_a_sample_of_a_large_stratum(self) -> None:
        assert calibrated([Stratum(10**9, 40, 36)])[1:] == [round(bound, 4) for bound in wilson(36, 40)]

    def test_is_exact_if_everything_is_labelled(self) -> None:
        assert calibrated([Stratum(7, 7, 6), Stratum(3, 3, 1)]) == [0.7, 0.7, 0.7]

    def test_is_unknown_as_far_as_a_stratum_has_no_labels(self) -> None:
        assert calibrated([Stratum(60, 60, 60), Stratum(40)]) == [None, 0.6, 1.0]
        assert calibrated([Stratum(60), Stratum(40)]) == [None, 0.0, 1.0]

    def test_allows_both_answers_for_labels_that_are_unclear(self) -> None:
        assert calibrated([Stratum(10, 10, 6, unclear=2)]) == [0.75, 0.6, 0.8]

    def test_is_not_defined_without_items(self) -> None:
        assert calibrated_rate([]) is None

    @given(st.lists(strata(), min_size=1, max_size=3))
    def test_lies_within_what_the_labels_leave_possible(self, strata: list[Stratum]) -> None:
        result = calibrated_rate(strata)
        assert result is not None
        total = sum(stratum.size for stratum in strata)
        lowest = sum(stratum.passed for stratum in strata) / total
        highest = 1 - sum(stratum.failed for stratum in strata) / total
        low, high = result.interval
        assert lowest - 1e-9 <= low <= high <= highest + 1e-9
        if result.rate is not None:
            assert low - 1e-9 <= result.rate <= high + 1e-9

    @given(st.lists(strata(min_labelled=1), min_size=1, max_size=3), st.integers(1, 500))
    def test_of_the_agent_is_less_certain_than_that_of_its_runs(self, strata: list[Stratum], runs: int) -> None:
        result = calibrated_rate(strata)
        assert result is not None
        wider = with_run_sampling(result, runs, 0.95).interval
        widest = with_run_sampling(result, runs, 0.95, "sequential").interval
        assert widest.low - 1e-9 <= wider.low <= result.interval.low + 1e-9
        assert widest.high + 1e-9 >= wider.high >= result.interval.high - 1e-9


class TestTheVerdict:
    def test_needs_a_bound_on_one_side_of_the_required_rate(self) -> None:
        assert rate_verdict(Interval(0.8, 0.9), 0.8) == "pass"
        assert rate_verdict(Interval(0.7, 0.8), 0.8) == "inconclusive"
        assert rate_verdict(Interval(0.7, 0.79), 0.8) == "fail"


class TestFurtherLabels:
    def test_go_to_every_stratum_first_and_then_to_where_they_tell_most(self) -> None:
        assert allocate({"passed": Stratum(80), "failed": Stratum(15), "split": Stratum(2)}, 5) == {
            "passed": 2,
            "failed": 2,
            "split": 1,
        }
        assert allocate({"passed": Stratum(80), "failed": Stratum(15), "split": Stratum(2)}, 40) == {
            "passed": 32,
            "failed": 6,
            "split": 2,
        }

    def test_are_never_more_than_there_are_items(self) -> None:
        assert allocate({"passed": Stratum(3, 1, 1), "failed": Stratum(2)}, 100) == {"passed": 2, "failed": 2}

    def test_are_counted_until_they_settle_the_verdict(self) -> None:
        counts = {"passed": Stratum(80, 30, 30), "failed": Stratum(20, 5, 0)}
        needed = needed_labels(counts, {}, 0.75)
        assert needed is not None
        assert needed.verdict == "pass"
        assert sum(needed.labels.values()) > 0
        later = [
            stratum._replace(
                labelled=stratum.labelled + needed.labels[name],
                passed=stratum.passed + needed.labels[name] * (name == "passed"),
            )
            for name, stratum in counts.items()
        ]
        settled = calibrated_rate(later)
        assert settled is not None
        assert settled.interval.low >= 0.75

    def test_are_counted_until_the_interval_is_narrow_enough(self) -> None:
        counts = {"passed": Stratum(80, 30, 30), "failed": Stratum(20, 0)}
        needed = labels_for_width(counts, {"failed": 0.0}, 0.1)
        assert needed is not None
        assert needed["failed"] > 0

        def width_after(failed: int) -> float:
            passed = Stratum(80, 30 + needed["passed"], 30 + needed["passed"])
            result = calibrated_rate([passed, Stratum(20, failed, 0)])
            assert result is not None
            return result.interval.high - result.interval.low

        assert width_after(needed["failed"]) <= 0.1 < width_after(needed["failed"] - 1)

    def test_cannot_narrow_the_interval_of_labels_that_are_unclear(self) -> None:
        assert labels_for_width({"failed": Stratum(4, 4, 0, unclear=2)}, {}, 0.2) is None

    @given(st.lists(strata(), min_size=1, max_size=3), st.floats(0.05, 0.95))
    def test_settle_it_in_the_end_unless_some_are_unclear(self, strata: list[Stratum], min_pass_rate: float) -> None:
        counts = dict(enumerate(strata))
        needed = needed_labels(counts, dict.fromkeys(counts, 1.0), min_pass_rate)
        open_items = sum(stratum.size - stratum.labelled for stratum in strata)
        if open_items and not any(stratum.unclear for stratum in strata):
            assert needed is not None
        if needed is not None:
            assert 0 < sum(needed.labels.values()) <= open_items

    def test_cannot_settle_what_the_number_of_runs_leaves_open(self) -> None:
        counts = {"passed": Stratum(10, 4, 4)}
        assert needed_labels(counts, {}, 0.9) is not None
        assert needed_labels(counts, {}, 0.9, runs=10) is None
