"""/api/reports and /api/compare."""

import pytest

from tests.support.web import CAREFUL, CARELESS, Client


async def test_two_reports_are_compared_under_the_disclaimers(api: Client) -> None:
    first, second = [(await api.report(text))["report"]["report_id"] for text in (CAREFUL, CARELESS)]
    found = (await api.ask("POST", "/api/compare", {"a": first, "b": "latest"})).json()
    assert (found["a"]["report_id"], found["b"]["report_id"]) == (first, second)
    assert len(found["disclaimers"]) == 3
    assert any(check["worse"] for check in found["comparison"]["changed_checks"])


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
