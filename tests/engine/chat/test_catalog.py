"""From a name to a model, and what is known about it."""

from datetime import date

import pytest

from salvo.engine.chat import catalog
from salvo.engine.chat.model import WiredModel
from salvo.errors import UsageError
from tests.support.wires import ScriptedWire


@pytest.mark.parametrize(
    "name, full",
    [
        ("anthropic/claude-sonnet-4-6", "anthropic/claude-sonnet-4-6"),
        ("claude-sonnet-4-6", "anthropic/claude-sonnet-4-6"),
        ("gpt-5.4-mini", "openai/gpt-5.4-mini"),
        ("o3", "openai/o3"),
        ("openai/meta-llama/Llama-3.1-8B", "openai/meta-llama/Llama-3.1-8B"),
        ("openai/claude-sonnet-4-6", "openai/claude-sonnet-4-6"),
    ],
)
def test_a_name_is_provider_and_model_or_a_bare_name_of_a_known_family(name: str, full: str) -> None:
    wire = ScriptedWire(lambda request: pytest.fail("nothing is sent to find a model"))
    assert WiredModel(name, wire).name == full


@pytest.mark.parametrize("name", ["llama-3", "meta-llama/Llama-3", "", "/", "openai/", "mistral/large"])
def test_a_name_that_could_be_anyones_is_a_usage_error_that_says_how_to_write_it(name: str) -> None:
    with pytest.raises(UsageError, match="is not known") as error:
        catalog.find(name)
    assert "provider/model" in error.value.hint


@pytest.mark.parametrize(
    "name, takes_temperature",
    [
        ("claude-sonnet-4-6", True),
        ("claude-haiku-4-5-20251001", True),
        ("claude-opus-4-6", True),
        ("claude-opus-4-7", False),
        ("claude-opus-4-8-20260601", False),
        ("claude-sonnet-5", False),
        ("claude-sonnet-5-5", False),
        ("claude-fable-5-2", False),
        ("claude-mythos-5", False),
        ("gpt-4o", True),
        ("gpt-4.1-mini", True),
        ("gpt-5.4-mini-2026-03-17", False),
        ("gpt-6-sol", False),
        ("gpt-6.1-terra", False),
        ("o4-mini", False),
    ],
)
def test_what_a_model_accepts_is_known_by_its_longest_matching_name(name: str, takes_temperature: bool) -> None:
    provider, model = catalog.find(name)
    facts = provider.facts(model)
    assert facts.is_known
    assert ("temperature" not in facts.refuses) is takes_temperature


def test_a_longer_name_of_another_version_is_not_covered() -> None:
    openai = catalog.providers()["openai"]
    assert openai.facts("gpt-5").ends == date(2026, 12, 11)
    assert openai.facts("gpt-5.5").ends is None
    assert not openai.facts("gpt-7").is_known


def test_every_current_model_is_of_its_provider_and_none_has_ended() -> None:
    for provider in catalog.providers().values():
        for model in provider.current:
            assert catalog.find(model)[0] is provider
            assert provider.facts(model).ends is None


def test_where_requests_go_comes_from_the_environment() -> None:
    anthropic = catalog.providers()["anthropic"]
    default = catalog.endpoint(anthropic, {"ANTHROPIC_API_KEY": " sk-ant-1\n"})
    assert (default.base_url, default.key) == ("https://api.anthropic.com", "sk-ant-1")
    assert default.key_variable == "ANTHROPIC_API_KEY", "at the provider's own address a key is needed"
    local = catalog.endpoint(anthropic, {"ANTHROPIC_API_KEY": "sk-ant-1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"})
    assert (local.base_url, local.key, local.key_variable) == ("http://127.0.0.1:1", "sk-ant-1", "")


def test_a_key_of_the_environment_never_goes_to_an_address_from_elsewhere() -> None:
    openai = catalog.providers()["openai"]
    environ = {"OPENAI_API_KEY": "sk-mine"}
    assert catalog.endpoint(openai, environ, base_url="https://collector.example").key is None
    assert catalog.endpoint(openai, environ, base_url="https://gateway.example", key="sk-its").key == "sk-its"
    assert catalog.endpoint(openai, environ, key="sk-other").key == "sk-other"


@pytest.mark.parametrize(
    "name, address, base_url",
    [
        ("openai", "http://h:1", "http://h:1/v1"),
        ("openai", "http://h:1/v1/", "http://h:1/v1"),
        ("openai", "http://h:1/v1/v1", "http://h:1/v1"),
        ("openai", "https://h/v1/chat/completions", "https://h/v1"),
        ("openai", "https://h/chat/completions", "https://h"),
        ("openai", "https://h/api/v3", "https://h/api/v3"),
        ("openai", "https://h/proxy/v1", "https://h/proxy/v1"),
        ("anthropic", "http://h:1/v1", "http://h:1"),
        ("anthropic", "http://h:1/v1/v1/", "http://h:1"),
        ("anthropic", "https://h/v1/messages", "https://h"),
        ("anthropic", "https://h/proxy", "https://h/proxy"),
    ],
)
def test_a_base_url_may_have_v1_or_not_or_be_the_whole_address(name: str, address: str, base_url: str) -> None:
    provider = catalog.providers()[name]
    assert catalog.endpoint(provider, {}, base_url=address).base_url == base_url
    assert catalog.endpoint(provider, {provider.base_url_variable: address}).base_url == base_url


def test_the_providers_own_address_needs_a_key_however_it_is_written() -> None:
    for provider in catalog.providers().values():
        for end in ("", "/", "/v1"):
            address = provider.base_url.removesuffix("/v1") + end
            assert catalog.endpoint(provider, {}, base_url=address).key_variable == provider.key_variable
