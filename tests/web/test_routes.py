"""The rest of the API: history, comparison, baselines, playbooks, evaluators, estimates, examples."""

import json

import aiohttp
import pytest
from inline_snapshot import snapshot

from tests.support.web import CAREFUL, CARELESS, GPT, Client


async def test_the_history_is_paged_filtered_and_searched(api: Client) -> None:
    ids = [(await api.report(mode="screening", subject=subject))["report"]["report_id"] for subject in "aab"]
    page = await api.get("/api/history?limit=2")
    assert ([row["id"] for row in page["rows"]], page["more"]) == ([ids[2], ids[1]], True)
    rest = await api.get("/api/history?limit=2&offset=2")
    assert ([row["id"] for row in rest["rows"]], rest["more"]) == ([ids[0]], False)
    assert len((await api.get("/api/history?subject=a"))["rows"]) == 2
    assert len((await api.get("/api/history?search=ALERT"))["rows"]) == 3
    assert (await api.get("/api/history?search=nowhere"))["rows"] == []
    assert len((await api.get("/api/history?status=ALERT&mode=screening"))["rows"]) == 3
    assert (await api.get("/api/history?status=STABLE"))["rows"] == []
    assert (await api.get("/api/history?mode=full"))["rows"] == []
    assert await api.get("/api/subjects") == [{"name": "b", "reports": 1}, {"name": "a", "reports": 2}]
    assert [point["id"] for point in await api.get("/api/timeline?subject=a")] == ids[:2]


async def test_two_reports_are_compared_under_the_disclaimers(api: Client) -> None:
    first, second = [(await api.report(text))["report"]["report_id"] for text in (CAREFUL, CARELESS)]
    found = (await api.ask("POST", "/api/compare", {"a": first, "b": "latest"})).json()
    assert (found["a"]["report_id"], found["b"]["report_id"]) == (first, second)
    assert len(found["disclaimers"]) == 3
    assert any(check["worse"] for check in found["comparison"]["changed_checks"])


async def test_a_baseline_is_saved_listed_and_cleared(api: Client) -> None:
    report = (await api.report())["report"]["report_id"]
    screening = (await api.report(mode="screening"))["report"]["report_id"]
    assert (await api.ask("POST", "/api/baselines", {"report_id": report})).status == 204
    refused = await api.ask("POST", "/api/baselines", {"report_id": screening})
    assert (refused.status, refused.code) == (400, "bad_usage")
    assert [each["evaluation_id"] for each in await api.get("/api/baselines")] == [report]
    assert (await api.ask("DELETE", f"/api/baselines/{report}")).status == 204
    assert await api.get("/api/baselines") == []


async def test_a_deleted_report_is_gone_and_the_audit_log_says_so(api: Client) -> None:
    kept, gone = [(await api.report())["report"]["report_id"] for _ in range(2)]
    assert (await api.ask("DELETE", f"/api/reports/{gone}")).status == 204
    assert (await api.ask("GET", f"/api/reports/{gone}")).status == 404
    assert (await api.get(f"/api/reports/{kept}/verify"))["altered"] == 0


@pytest.mark.parametrize("form, start", [("json", b"{"), ("html", b"<!doctype html>"), ("md", b">")])
async def test_every_export_is_a_file_with_the_disclaimers(api: Client, form: str, start: bytes) -> None:
    report = (await api.report())["report"]["report_id"]
    exported = await api.ask("GET", f"/api/reports/{report}/export?format={form}")
    assert exported.headers["Content-Disposition"].endswith(f'.{form}"')
    assert exported.body.lower().lstrip().startswith(start)
    assert b"not legal advice" in exported.body


async def test_the_library_is_listed_and_shown(api: Client) -> None:
    [listed] = await api.get("/api/playbooks")
    shown = await api.get(f"/api/playbooks/{listed['id']}")
    assert (listed["checks"], listed["judged"], listed["min_runs"]) == (6, 4, 3)
    assert (shown["listed"], shown["document"]["metadata"]["id"]) == (listed, listed["id"])


async def test_a_playbook_is_validated_with_the_place_of_each_finding(api: Client) -> None:
    document = (await api.get("/api/playbooks/ai_plugin_observability_v1"))["document"]
    found = (await api.ask("POST", "/api/playbooks/validate", {"playbook": document})).json()
    assert (found["valid"], found["playbook"]["logic_hash"][:7]) == (True, "sha256:")
    document["checks"][0]["severity"] = "hihg"
    found = (await api.ask("POST", "/api/playbooks/validate", {"playbook": document})).json()
    assert (found["valid"], found["playbook"]) == (False, None)
    assert found["findings"][0] == snapshot(
        {
            "path": "$.checks[0].severity",
            "level": "error",
            "message": 'must be one of high, medium; did you mean "high"?',
        }
    )
    found = (await api.ask("POST", "/api/playbooks/validate", {"playbook": '{"a": 1, "a": 2'})).json()
    assert (found["valid"], found["findings"][0]["path"]) == (False, "$")


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


async def test_one_click_on_an_example_makes_a_report(api: Client) -> None:
    statuses = {}
    for example in await api.get("/api/examples"):
        asked = {name: example[name] for name in ("source_document", "prompt", "subject")}
        report = (await api.report(example["ai_output"], **asked))["report"]
        statuses[example["id"]] = report["summary"]["overall_status"]
    assert statuses == snapshot({"careless": "ALERT", "careful": "STABLE", "compliance_answer": "ALERT"})


async def test_whoever_watches_the_batches_is_told_at_once_that_it_does(api: Client) -> None:
    async with aiohttp.ClientSession() as session, session.get(f"{api.url}/api/batches/events") as response:
        assert (response.status, response.content_type) == (200, "text/event-stream")
        assert await response.content.readline() == b"event: watching\n"
        name, _, data = (await response.content.readline()).decode().partition(": ")
        assert (name, list(json.loads(data))) == ("data", ["place"])
