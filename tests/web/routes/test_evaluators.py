"""/api/evaluators and /api/estimate."""

import pytest
from inline_snapshot import snapshot

from tests.support.web import CARELESS, GPT, Client

CREDENTIAL = "AKIA0123456789ABCDEF"


@pytest.fixture
def api(shared_api: Client) -> Client:
    return shared_api


async def test_the_evaluators_say_where_a_text_would_go(api: Client) -> None:
    found = await api.get("/api/evaluators")
    assert (found["rules"]["name"], found["rules"]["needs_key"]) == ("rules", False)
    assert {provider["name"]: provider["host"] for provider in found["providers"]} == {
        "anthropic": "api.anthropic.com",
        "openai": "api.openai.com",
    }
    sonnet = found["providers"][0]["models"][0]
    assert (sonnet["name"], sonnet["takes_temperature"]) == ("anthropic/claude-sonnet-4-6", True)


async def test_an_estimate_tells_place_tokens_and_money_or_that_they_are_unknown(api: Client) -> None:
    async def estimated(evaluator: str) -> str:
        asked = {"ai_output": CARELESS, "evaluator": evaluator}
        return str((await api.ask("POST", "/api/estimate", asked)).json()["sentence"])

    said = [await estimated(evaluator) for evaluator in ("rules", "claude-sonnet-4-6", GPT, "openai/mine")]
    assert said == snapshot(
        [
            "Nothing leaves this machine.",
            "The text is sent to api.anthropic.com: 12 questions with about 85 tokens of text each; about $0.07.",
            "The text is sent to api.openai.com: 12 questions with about 85 tokens of text each; about $0.02.",
            "The text is sent to api.openai.com: 12 questions with about 85 tokens of text each; the price is unknown.",
        ]
    )


async def test_an_estimate_warns_of_a_pasted_credential_without_its_value(api: Client) -> None:
    texts = {"ai_output": CARELESS, "source_document": f"\n\nOne.\nThe key: {CREDENTIAL}", "prompt": "Review it."}
    for evaluator in ("rules", GPT):
        reply = await api.ask("POST", "/api/estimate", {**texts, "evaluator": evaluator})
        [warning] = reply.json()["warnings"]
        assert warning == snapshot(
            "The source document may contain an AWS access key at line 4, column 10. "
            "Texts are not redacted: remove it if it is real."
        )
    clean = await api.ask("POST", "/api/estimate", {"ai_output": CARELESS})
    assert clean.json()["warnings"] == []
