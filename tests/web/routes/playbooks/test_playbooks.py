"""/api/playbooks."""

import asyncio

import pytest
from inline_snapshot import snapshot

from salvo.engine.runtime import safe_regex
from tests.support.web import Client


async def test_the_library_is_listed_and_shown(api: Client) -> None:
    [listed] = await api.get("/api/playbooks")
    shown = await api.get(f"/api/playbooks/{listed['id']}")
    assert (listed["checks"], listed["judged"], listed["min_runs"]) == (6, 4, 3)
    assert (shown["listed"], shown["document"]["metadata"]["id"]) == (listed, listed["id"])


async def test_a_pattern_that_takes_long_to_compile_delays_no_other_request(
    api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_regex, "TIMEOUT", 1.0)  # compiling this pattern takes about two seconds
    document = (await api.get("/api/playbooks/ai_plugin_observability_v1"))["document"]
    document["checks"][0]["detection_method"]["patterns"] = ["(?i)" + "[\x00-\U0010ffff]" * 399]
    validating = asyncio.create_task(api.ask("POST", "/api/playbooks/validate", {"playbook": document}))
    await api.get("/api/playbooks")
    assert not validating.done()
    [finding] = [finding for finding in (await validating).json()["findings"] if finding["level"] == "error"]
    assert finding["path"] == "$.checks[0].detection_method.patterns[0]"
    assert "compiling it did not finish" in finding["message"]


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
            "place": "Check 1, severity",
        }
    )
    found = (await api.ask("POST", "/api/playbooks/validate", {"playbook": '{"a": 1, "a": 2'})).json()
    assert (found["valid"], found["findings"][0]["path"]) == (False, "$")
