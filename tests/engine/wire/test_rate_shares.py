from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.wire.rate_shares import RateState, equal_shares

RATES = st.floats(0.1, 1000)
STATES = st.builds(RateState, st.just("openai"), st.sampled_from(["a", "b"]), RATES, st.floats(-10, 100))


def test_the_shares_of_two_workers_are_equal_and_the_newest_cut_counts() -> None:
    one = [RateState("openai", "gpt", 10.0, 5.0), RateState("anthropic", "claude", 3.0, 1.0)]
    two = [RateState("openai", "gpt", 20.0, 0.5)]
    assert equal_shares([one, two]) == [
        RateState("openai", "gpt", 15.0, 0.5),
        RateState("anthropic", "claude", 3.0, 1.0),
    ]


@given(st.lists(RATES, min_size=1, max_size=10))
def test_sharing_changes_nothing_in_all(rates: list[float]) -> None:
    (share,) = equal_shares([[RateState("openai", "gpt", rate, 0.0)] for rate in rates])
    assert abs(share.times(len(rates)).rate - sum(rates)) < 1e-6


@given(STATES)
def test_a_state_is_the_same_after_it_was_sent(state: RateState) -> None:
    assert RateState.from_plain(state.as_plain()) == state
