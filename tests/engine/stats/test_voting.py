"""What votes add up to, over every way in which up to five can fall."""

from collections import Counter
from itertools import combinations, permutations, product

import pytest

from salvo.engine.stats.voting import agreement, consistency, majority

CHOICES = ("pass", "fail", "indeterminate", None)
EVERY_VOTE = [votes for count in range(6) for votes in product(CHOICES, repeat=count)]


def test_the_majority_is_what_more_than_half_of_all_votes_asked_for_agree_on() -> None:
    for votes in EVERY_VOTE:
        winners = [choice for choice in CHOICES[:-1] if votes.count(choice) > len(votes) / 2]
        assert majority(votes) == (winners[0] if winners else None), votes


def test_the_order_of_votes_never_matters() -> None:
    for votes in product(CHOICES, repeat=4):
        results = {(majority(order), consistency(order), agreement(order)) for order in permutations(votes)}
        assert len(results) == 1, votes


@pytest.mark.parametrize(
    "votes", [(), (None,), ("a", "b"), ("a", "a", "b", "b"), ("a", None), ("a", "a", None, None), ("a", "b", "c")]
)
def test_a_tie_or_too_few_votes_decide_nothing(votes: tuple[str | None, ...]) -> None:
    assert majority(votes) is None


def test_a_choice_that_is_false_is_a_choice() -> None:
    assert majority([False, False, True]) is False
    assert consistency([0, 0, 0]) == 1.0


def test_consistency_is_1_for_all_one_half_for_a_majority_and_0_for_none_of_those_who_voted() -> None:
    for votes in EVERY_VOTE:
        cast = Counter(vote for vote in votes if vote is not None)
        if cast.total() <= len(votes) / 2:
            expected = None
        elif len(cast) == 1:
            expected = 1.0
        else:
            expected = 0.5 if max(cast.values()) > cast.total() / 2 else 0.0
        assert consistency(votes) == expected, votes


@pytest.mark.parametrize(
    "votes, expected",
    [
        (("pass", "pass", "pass"), 1.0),
        (("pass", "pass", "fail"), 0.5),
        (("pass", "fail", "indeterminate"), 0.0),
        (("pass", "pass", None), 1.0),
        (("pass", "fail", None), 0.0),
        (("pass", None, None), None),
        ((), None),
    ],
)
def test_consistency_of_three_votes_is_as_the_documents_have_it(
    votes: tuple[str | None, ...], expected: float | None
) -> None:
    assert consistency(votes) == expected


def test_agreement_is_the_share_of_pairs_that_agree() -> None:
    for votes in EVERY_VOTE:
        pairs = list(combinations([vote for vote in votes if vote is not None], 2))
        expected = sum(one == other for one, other in pairs) / len(pairs) if pairs else None
        assert agreement(votes) == expected, votes
