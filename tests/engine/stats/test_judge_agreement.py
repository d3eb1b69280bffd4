"""How well a judge agrees with people, people with each other, and whether it fell over time."""

import pytest

from salvo.engine.stats.judge_agreement import (
    JudgedCell,
    JudgeQuality,
    ReviewerAgreement,
    agreement_drop,
    agreement_drops,
    judge_quality,
    reviewer_agreement,
)


class TestAJudge:
    def test_is_measured_over_all_items_and_not_over_the_labelled_ones(self) -> None:
        # Every failed item was labelled, and one in ten of the passed ones.
        quality = judge_quality([JudgedCell(True, 100, 10, 9), JudgedCell(False, 10, 10, 2)])
        assert quality.labels == 20
        both, judge_only, people_only, neither = 90, 10, 2, 8
        assert quality.agreement is not None
        assert quality.agreement.value == pytest.approx((both + neither) / 110)
        assert quality.pass_precision is not None
        assert quality.pass_precision.value == pytest.approx(both / (both + judge_only))
        assert quality.pass_recall is not None
        assert quality.pass_recall.value == pytest.approx(both / (both + people_only))
        assert quality.fail_precision is not None
        assert quality.fail_precision.value == pytest.approx(neither / (neither + people_only))
        assert quality.fail_recall is not None
        assert quality.fail_recall.value == pytest.approx(neither / (neither + judge_only))
        chance = (100 * 92 + 10 * 18) / 110**2
        assert quality.kappa is not None
        assert quality.kappa.value == pytest.approx((98 / 110 - chance) / (1 - chance))

    def test_has_no_interval_that_says_too_much_if_nobody_disagreed(self) -> None:
        quality = judge_quality([JudgedCell(True, 100, 20, 20), JudgedCell(False, 50, 20, 0)])
        assert quality.agreement is not None
        assert quality.agreement.value == 1
        assert 0.85 < quality.agreement.interval.low < 0.95

    def test_that_was_checked_completely_has_no_uncertainty(self) -> None:
        quality = judge_quality([JudgedCell(True, 10, 10, 9), JudgedCell(False, 5, 5, 0)])
        assert quality.agreement is not None
        assert [quality.agreement.value, *quality.agreement.interval] == pytest.approx([14 / 15] * 3)

    def test_is_unknown_while_a_kind_of_verdict_has_no_label(self) -> None:
        quality = judge_quality([JudgedCell(True, 100, 20, 20), JudgedCell(False, 50, 0, 0)])
        assert quality == JudgeQuality(20, None, None, None, None, None, None)

    def test_that_only_passes_has_no_precision_of_failures_and_no_kappa_if_all_agree(self) -> None:
        quality = judge_quality([JudgedCell(True, 20, 20, 20)])
        assert quality.fail_precision is None
        assert quality.kappa is None


class TestReviewers:
    def test_agree_with_each_other_beyond_chance(self) -> None:
        pairs = [(True, True)] * 15 + [(False, False)] * 4 + [(True, False)] * 2
        measured = reviewer_agreement(pairs)
        assert (measured.items, measured.agreed) == (21, 19)
        assert measured.kappa is not None
        assert measured.kappa.value == pytest.approx(0.7407, abs=1e-4)
        assert measured.kappa.interval.low < 0.4

    def test_who_share_no_item_are_not_compared(self) -> None:
        assert reviewer_agreement([]) == ReviewerAgreement(0, 0, None, None)


class TestADropInAgreement:
    def test_is_found_after_a_full_block_of_labels(self) -> None:
        labels = [True] * 40 + [True, False] * 10
        drop = agreement_drop(labels)
        assert drop is not None
        assert (drop.before, drop.agreed_before, drop.block, drop.agreed) == (40, 40, 20, 10)
        assert drop.p <= drop.level < 0.05
        assert agreement_drop(labels[:-1]) is None

    def test_is_not_what_a_rise_or_a_steady_rate_is(self) -> None:
        assert agreement_drop([True, False] * 10 + [True] * 60) is None
        assert agreement_drop(([True] * 9 + [False]) * 10) is None

    def test_is_looked_for_within_verdicts(self) -> None:
        """A judge that is right about 95 % of passes and 50 % of failures did not change if more failures are drawn."""
        passes = [(True, True)] * 19 + [(True, False)]
        failures = [(False, True), (False, False)] * 10
        assert agreement_drops(passes * 3 + failures * 3) == {}
        assert agreement_drops([(False, True)] * 40 + failures).keys() == {False}
