"""More runs or more votes: only what the judgings show."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.stats.judge_advice import judge_share_interval, majority_chances, more_runs_or_votes


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.integers(1, 9))
def test_the_chances_of_a_majority_are_those_over_all_choices_of_votes(votes: list[bool], count: int) -> None:
    count = min(count, len(votes))
    choices = [sum(chosen) for chosen in combinations(votes, count)]
    passing = sum(2 * passes > count for passes in choices) / len(choices)
    failing = sum(2 * passes < count for passes in choices) / len(choices)
    assert majority_chances(sum(votes), len(votes), count) == pytest.approx((passing, failing))


def test_the_standard_error_is_that_of_majority_verdicts() -> None:
    """For the mean of all votes it would be about two thirds of that."""
    chance = np.random.default_rng(52)
    quality = chance.choice([0.2, 0.9], size=(2_000, 25))  # the chance that the judge passes each of 25 transcripts
    spread = (chance.binomial(3, quality) >= 2).mean(axis=1).std()
    votes = chance.random((25 * 40, 9)) < chance.choice([0.2, 0.9], size=(25 * 40, 1))
    errors = [more_runs_or_votes(rows.tolist(), 3, None, None) for rows in np.split(votes, 40)]
    assert np.mean([advice.error for advice in errors if advice]) == pytest.approx(spread, rel=0.05)


def test_a_noisy_judge_of_a_good_but_dear_agent_deserves_votes_and_a_steady_one_runs() -> None:
    chance = np.random.default_rng(53)
    noisy = (chance.random((40, 9)) < 0.8).tolist()
    advice = more_runs_or_votes(noisy, 3, run_cost=0.2, vote_cost=0.002)
    assert advice is not None
    assert advice.better == "votes"
    assert advice.pass_rate_with_votes is not None
    assert advice.error_with_votes is not None
    assert advice.pass_rate < advice.pass_rate_with_votes, "the judge's mistakes are outvoted more often"
    assert advice.error_with_votes < advice.error
    steady = [[passed] * 9 for passed in (chance.random(40) < 0.7).tolist()]
    advice = more_runs_or_votes(steady, 3, run_cost=0.01, vote_cost=0.002)
    assert advice is not None
    assert advice.better == "runs"
    assert advice.error_with_votes == advice.error
    assert advice.error_with_runs == pytest.approx(advice.error / math.sqrt(0.02 / 0.016))


def test_without_prices_only_votes_that_do_nothing_can_be_advised_against() -> None:
    steady = [[passed] * 9 for passed in (True, True, False, True, False)]
    for prices in ((None, 0.01), (0.1, None), (0.0, 0.0)):
        advice = more_runs_or_votes(steady, 3, *prices)
        assert advice is not None
        assert (advice.better, advice.error_with_runs) == ("runs", None)


def test_too_few_votes_or_transcripts_show_nothing() -> None:
    assert more_runs_or_votes([[True, False, True]], 3, 0.1, 0.01) is None
    few = more_runs_or_votes([[True, False, True], [True, True, True]], 3, 0.1, 0.01)
    assert few is not None
    assert (few.better, few.error_with_votes) == (None, None)
    same = more_runs_or_votes([[True] * 9, [True] * 9], 3, 0.1, 0.01)
    assert same is not None
    assert (same.better, same.error) == (None, 0.0)
    assert judge_share_interval([(3, 3), (3, 3)]) is None
    assert judge_share_interval([]) is None


def test_a_judge_that_never_contradicted_itself_may_still_do_so() -> None:
    interval = judge_share_interval([(3, 3)] * 6 + [(0, 3)] * 4)
    assert interval is not None
    assert interval.low == 0
    assert 0.3 < interval.high < 0.9, "ten transcripts do not show more"
