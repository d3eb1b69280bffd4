"""/api/saved-playbooks."""

from typing import Any

from tests.support.playbook import changed, document
from tests.support.web import Client

PATH = "/api/saved-playbooks"


async def save(api: Client, playbook: Any, based_on: int | None = None) -> Any:
    reply = await api.ask("POST", PATH, {"playbook": playbook, "saved_by": "Dana", "based_on": based_on})
    assert reply.status == 201, reply
    return reply.json()


async def test_a_saved_playbook_is_listed_shown_exported_and_used_by_its_id(api: Client) -> None:
    saved = (await save(api, document()))["listed"]
    assert (saved["id"], saved["saved"]["number"], saved["saved"]["saved_by"]) == ("lease_review", 1, "Dana")
    assert [listed["id"] for listed in await api.get("/api/playbooks")] == [
        "ai_plugin_observability_v1",
        "lease_review",
    ]
    assert (await api.get("/api/playbooks/lease_review"))["document"] == document()
    assert (await api.get(f"/api/playbooks/{saved['logic_hash']}"))["listed"] == saved
    exported = await api.ask("GET", f"{PATH}/lease_review/versions/1/export")
    assert exported.json() == document()
    assert exported.headers["content-disposition"] == 'attachment; filename="lease_review-1.json"'
    report = (await api.report(playbook_id="lease_review"))["report"]
    assert report["integrity"]["playbook_logic_hash"] == saved["logic_hash"]
    assert len(await api.get("/api/playbooks")) == 2


async def test_an_evaluation_can_use_an_earlier_version(api: Client) -> None:
    first = (await save(api, document()))["listed"]
    await save(api, changed("metadata.version", "2.1"), based_on=1)
    report = (await api.report(playbook_id="lease_review", playbook_number=1))["report"]
    assert report["integrity"]["playbook_logic_hash"] == first["logic_hash"]
    reply = await api.ask("POST", "/api/evaluations", {"ai_output": "x", "playbook_id": "nothing"})
    assert (reply.status, reply.code) == (400, "bad_usage")


async def test_versions_are_listed_and_compared_in_words(api: Client) -> None:
    await save(api, document())
    after = changed("checks.0.severity", "medium")
    after["metadata"]["version"] = "2.1"
    await save(api, after, based_on=1)
    listed = await api.get(f"{PATH}/lease_review")
    assert [version["number"] for version in listed["versions"]] == [2, 1]
    diff = await api.get(f"{PATH}/lease_review/diff?before=1&after=2")
    assert [(change["check_id"], change["place"], change["after"]) for change in diff["changes"]] == [
        ("names_the_law", "Severity", "medium"),
        (None, "Version", "2.1"),
    ]
    assert (await api.ask("GET", f"{PATH}/lease_review/diff?before=1&after=9")).status == 404
    assert (await api.ask("GET", f"{PATH}/nothing")).status == 404


async def test_what_cannot_be_saved_is_refused_with_its_reason(api: Client) -> None:
    await save(api, document())
    invalid = {"playbook": changed("checks.0.severity", "low"), "saved_by": "Dana", "based_on": 1}
    assert (await api.ask("POST", PATH, invalid)).code == "invalid_playbook"
    for too_late in (None, 2):
        body = {"playbook": changed("metadata.version", "2.1"), "saved_by": "Kim", "based_on": too_late}
        assert (await api.ask("POST", PATH, body)).code == "playbook_changed"
    same = {"playbook": document(), "saved_by": "Kim", "based_on": 1}
    assert (await api.ask("POST", PATH, same)).code == "invalid_input"
    assert (await api.ask("POST", PATH, {"playbook": document(), "saved_by": "  "})).status == 422


async def test_what_keeps_a_playbook_from_being_saved_is_a_finding_at_its_field(api: Client) -> None:
    await save(api, document())
    body = {"playbook": changed("checks.0.severity", "medium"), "to_save": True}
    found = (await api.ask("POST", "/api/playbooks/validate", body)).json()
    assert (found["valid"], found["newest_number"]) == (False, 1)
    assert found["findings"][0] == {
        "path": "$.metadata.version",
        "level": "error",
        "message": "2.0 is saved already with other content: give this one another version",
        "place": "Version",
    }


async def test_a_playbook_is_taken_off_the_list_and_put_back(api: Client) -> None:
    await save(api, document())
    assert (await api.ask("POST", f"{PATH}/lease_review/withdraw", {"by": "Kim"})).status == 204
    assert len(await api.get("/api/playbooks")) == 1
    assert [listed["id"] for listed in await api.get(f"{PATH}?withdrawn=true")] == ["lease_review"]
    assert (await api.ask("POST", f"{PATH}/lease_review/restore", {"by": "Kim"})).status == 204
    assert [listed["id"] for listed in await api.get(PATH)] == ["lease_review"]
    assert (await api.ask("POST", f"{PATH}/nothing/withdraw", {"by": "Kim"})).status == 404
