"""/api/about and /api/examples."""

from inline_snapshot import snapshot

from tests.support.web import Client


async def test_one_click_on_an_example_makes_a_report(api: Client) -> None:
    statuses = {}
    for example in await api.get("/api/examples"):
        asked = {name: example[name] for name in ("source_document", "prompt", "subject")}
        report = (await api.report(example["ai_output"], **asked))["report"]
        statuses[example["id"]] = report["summary"]["overall_status"]
    assert statuses == snapshot({"careless": "ALERT", "careful": "STABLE", "compliance_answer": "ALERT"})
