"""/api/playbook-trials."""

from collections.abc import Callable

from tests.support.playbook import document
from tests.support.provider import LoopbackProvider
from tests.support.web import GPT, KEY, Client, Judging, WebServer, client

PATH = "/api/playbook-trials"


async def test_a_playbook_is_tried_on_a_text_and_nothing_is_stored(api: Client) -> None:
    body = {"playbook": document(), "ai_output": "The outcome is guaranteed."}
    tried = (await api.ask("POST", PATH, body)).json()
    results = {check["check_id"]: check for check in tried["checks"]}
    assert (results["no_guarantee"]["result"], results["no_guarantee"]["quotes"]) == ("fail", ["guaranteed"])
    assert results["names_the_law"]["is_judged"] is False
    assert (await api.get("/api/history"))["total"] == 0
    assert len(await api.get("/api/playbooks")) == 1


async def test_examples_are_judged_by_their_check_and_compared_with_what_was_expected(api: Client) -> None:
    playbook = document()
    playbook["checks"][1]["labelled_examples"] = [
        {"text": "It will certainly be upheld.", "expected": "fail"},
        {"text": "It may be upheld.", "expected": "fail"},
    ]
    playbook["checks"][0]["labelled_examples"] = [{"text": "German law applies.", "expected": "pass"}]
    tried = (await api.ask("POST", f"{PATH}/examples", {"playbook": playbook})).json()
    assert [(row["check_id"], row["number"], row["agrees"]) for row in tried["examples"]] == [
        ("names_the_law", 1, None),
        ("no_guarantee", 1, True),
        ("no_guarantee", 2, False),
    ]
    assert tried["summary"] == "1 of 2 judged examples as expected. The evaluator did not judge 1 example."


async def test_a_model_is_called_once_per_check_with_the_key_of_the_request(
    serve: Callable[..., WebServer],
) -> None:
    judging = Judging(quote="guaranteed")
    with LoopbackProvider(judging) as provider:
        async with client(serve(base_urls=(provider.openai_url,))) as api:
            body = {
                "playbook": document(),
                "ai_output": "The outcome is guaranteed.",
                "evaluator": GPT,
                "base_url": provider.openai_url,
            }
            tried = (await api.ask("POST", PATH, body, x_api_key=KEY)).json()
            assert len(judging.requests) == 1
            assert [check["is_judged"] for check in tried["checks"]] == [True, True]
            without_key = await api.ask("POST", PATH, {**body, "base_url": None})
            assert without_key.code == "missing_key"


async def test_a_playbook_with_errors_cannot_be_tried(api: Client) -> None:
    reply = await api.ask("POST", PATH, {"playbook": {}, "ai_output": "x"})
    assert reply.code == "invalid_playbook"
