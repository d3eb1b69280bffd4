from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.rates.rate_shares import RateState, equal_shares

RATES = st.floats(0.1, 1000)
STATES = st.builds(RateState, st.just("openai"), st.sampled_from(["a", "b"]), RATES, st.floats(-10, 100))


def test_the_shares_of_two_workers_are_equal() -> None:
    one = [RateState("openai", "gpt", 10.0, 5.0), RateState("anthropic", "claude", 3.0, 4.0)]
    two = [RateState("openai", "gpt", 20.0, 2.0)]
    assert equal_shares([one, two]) == [
        RateState("openai", "gpt", 15.0, 2.0),
        RateState("anthropic", "claude", 3.0, 4.0),
    ]


def test_a_cut_of_one_worker_is_a_cut_of_all() -> None:
    workers = [[RateState("openai", "gpt", rate, age)] for rate, age in [(10.0, 30.0), (8.0, -0.5), (10.0, 20.0)]]
    assert equal_shares(workers) == [RateState("openai", "gpt", 8.0, -0.5)]


@given(st.lists(RATES, min_size=1, max_size=10))
def test_sharing_without_a_cut_changes_nothing_in_all(rates: list[float]) -> None:
    (share,) = equal_shares([[RateState("openai", "gpt", rate, 3.0)] for rate in rates])
    assert abs(share.times(len(rates)).rate - sum(rates)) < 1e-6


@given(STATES)
def test_a_state_is_the_same_after_it_was_sent(state: RateState) -> None:
    assert RateState.from_plain(state.as_plain()) == state
