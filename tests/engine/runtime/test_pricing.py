"""Prices as genai-prices itself computes them, over all models of both providers."""

import datetime as dt

import pytest
from genai_prices import Usage as TheirUsage
from genai_prices import calc_price
from genai_prices.data_snapshot import get_snapshot
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.chat.base import Usage
from salvo.engine.runtime.pricing import Rates, UnitPrices, find_prices, usage_cost
from tests.support.price_table import FILE, price_table

NOW = dt.datetime(2026, 11, 15, 12, tzinfo=dt.UTC)
# Not all go by their own id: fine-tuned models are found by the id that their owner has.
MODELS = [
    (provider.id, model)
    for provider in get_snapshot().providers
    if provider.id in ("anthropic", "openai")
    for model in provider.models
    if model.is_match(model.id)
]
UNPRICED = {model.id for _, model in MODELS if model.get_prices(NOW).input_mtok is None}
INPUT_ONLY = {model.id for _, model in MODELS if model.get_prices(NOW).output_mtok is None} - UNPRICED

tokens = st.integers(0, 5_000) | st.sampled_from([99_999, 100_000, 100_001, 200_000, 200_001, 272_000, 272_001])
usages = st.builds(Usage, tokens, tokens, tokens, tokens)
days = st.datetimes(dt.datetime(2025, 1, 1), dt.datetime(2027, 1, 1), timezones=st.just(dt.UTC))  # noqa: DTZ001


def their_cost(provider: str, model: str, usage: Usage, when: dt.datetime) -> float:
    """Their input tokens include the cached ones; ours do not."""
    theirs = TheirUsage(
        input_tokens=usage.input + usage.cache_read + usage.cache_write,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        output_tokens=usage.output,
    )
    return float(calc_price(theirs, model, provider_id=provider, genai_request_timestamp=when).total_price)


@given(
    st.sampled_from([(provider, model.id) for provider, model in MODELS if model.id not in UNPRICED | INPUT_ONLY]),
    usages,
    days,
)
def test_a_call_costs_what_the_price_table_itself_computes(
    name: tuple[str, str], usage: Usage, when: dt.datetime
) -> None:
    assert usage_cost(usage, find_prices(*name, when)) == pytest.approx(
        their_cost(*name, usage, when), rel=1e-9, abs=1e-15
    )


@pytest.mark.parametrize("provider, model", [(provider, model.id) for provider, model in MODELS])
def test_every_model_has_a_price_if_it_charges_for_input_tokens(provider: str, model: str) -> None:
    assert (find_prices(provider, model, NOW) is None) == (model in UNPRICED)


def test_a_longer_prompt_reaches_a_dearer_tier_for_the_whole_call() -> None:
    prices = find_prices("openai", "gpt-5.5", NOW)
    assert prices is not None
    assert [rates.above for rates in prices.tiers] == [0, 272_000]
    at_the_edge, beyond = (
        Usage(input=200_000, output=10, cache_read=72_000),
        Usage(input=200_001, output=10, cache_read=72_000),
    )
    assert prices.cost(at_the_edge) == prices.tiers[0].cost(at_the_edge)
    assert prices.cost(beyond) == prices.tiers[1].cost(beyond)
    assert (prices.cost(beyond) or 0) > 1.5 * (prices.cost(at_the_edge) or 0) > 0


@pytest.mark.parametrize("model", sorted(INPUT_ONLY & {model.id for provider, model in MODELS if provider == "openai"}))
def test_a_model_without_a_price_for_output_has_a_cost_only_while_it_has_no_output(model: str) -> None:
    prices = find_prices("openai", model, NOW)
    assert (usage_cost(Usage(input=1_000_000), prices) or 0) > 0
    assert usage_cost(Usage(input=1, output=1), prices) is None


@given(
    st.sampled_from([(provider, model.id) for provider, model in MODELS]),
    st.sampled_from(["", "-20260101", "-2026-01-01", "-20269999", "-latest", ":ft", "x"]),
    st.booleans(),
)
def test_models_are_matched_as_the_price_table_itself_matches_them(
    name: tuple[str, str], suffix: str, upper: bool
) -> None:
    provider, model = name[0], (name[1].upper() if upper else name[1]) + suffix
    try:
        info = get_snapshot().find_provider_model(model, None, provider, None)[1]
    except LookupError:
        assert find_prices(provider, model, NOW) is None
    else:
        assert find_prices(provider, model, NOW) == find_prices(provider, info.id, NOW) or not info.is_match(info.id)


def test_the_bundled_table_is_that_of_the_locked_version() -> None:
    assert FILE.read_text() == price_table(), "run `make prices`"


@pytest.mark.parametrize(
    "provider, model", [("anthropic", "claude-nonesuch"), ("nobody", "gpt-5.5"), ("openai", ""), ("openai", "tts-1")]
)
def test_a_model_that_the_table_does_not_have_has_no_price(provider: str, model: str) -> None:
    assert find_prices(provider, model, NOW) is None


def test_unknown_is_none_and_nothing_is_zero() -> None:
    prices = find_prices("anthropic", "claude-sonnet-4-6", NOW)
    assert usage_cost(Usage(), prices) == 0.0
    assert usage_cost(None, prices) is None
    assert usage_cost(Usage(input=1), None) is None
    assert usage_cost(None, None) is None


def test_four_buckets_are_charged_at_four_rates() -> None:
    prices = UnitPrices((Rates(input=1.0, output=10.0, cache_read=100.0, cache_write=1000.0),))
    assert prices.cost(Usage(input=4, output=3, cache_read=2, cache_write=1)) == pytest.approx(1234e-6)
