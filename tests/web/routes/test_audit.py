"""/api/audit-log, /api/verify and /api/signing-key."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from salvo.playbooks.audit import signing
from salvo.playbooks.audit.report_file import parse_json
from salvo.playbooks.audit.verification import verify_file
from tests.support.web import Client, WebServer, client


async def test_the_log_says_who_did_what_when_to_which_evaluation(api: Client) -> None:
    report = (await api.report())["report"]["report_id"]
    step = {"action": "accept", "actor": "Ada Brown", "check_id": "certainty_language"}
    await api.ask("POST", f"/api/reports/{report}/review", step)
    await api.ask("GET", f"/api/reports/{report}/export?format=md")
    page = await api.get("/api/audit-log")
    assert [row["description"]["title"] for row in page["rows"]] == [
        "Report exported",
        "Review: result accepted",
        "Evaluation finished",
        "Evaluation started",
    ]
    review = page["rows"][1]
    assert (review["description"]["who"], review["evaluation_id"], review["stored"]) == ("Ada Brown", report, True)
    assert review["description"]["details"] == "certainty language, FAIL"
    assert {row["problem"] for row in page["rows"]} == {""}
    assert page["sentence"].endswith("0 of 4 are signed.")
    first = await api.get("/api/audit-log?limit=1")
    assert first["sentence"].endswith("0 of 1 are signed. The entries on other pages were not checked.")


async def test_the_log_is_filtered_by_action_text_and_evaluation_and_paged(api: Client) -> None:
    first, second = [(await api.report())["report"]["report_id"] for _ in range(2)]
    step = {"action": "comment", "actor": 'Zoë "Z" 100%', "reason": "Is it?"}
    await api.ask("POST", f"/api/reports/{first}/review", step)

    async def numbers(query: str) -> list[int]:
        return [row["number"] for row in (await api.get(f"/api/audit-log?{query}"))["rows"]]

    assert await numbers("action=review") == [5]
    assert await numbers("search=zoë") == [5]
    assert await numbers('search="z"%20100%25') == [5]
    assert await numbers(f"evaluation={second}") == [4, 3]
    assert await numbers(f"evaluation={first}&action=evaluation") == [2]
    assert await numbers("limit=2&offset=2") == [3, 2]
    assert (await api.get("/api/audit-log?limit=2&action=created"))["total"] == 2
    assert await numbers("search=nobody") == []


async def test_an_erased_evaluation_stays_in_the_log_with_who_erased_it(api: Client) -> None:
    report = (await api.report())["report"]["report_id"]
    await api.ask("DELETE", f"/api/reports/{report}")
    page = await api.get(f"/api/audit-log?evaluation={report}")
    assert page["rows"][0]["description"]["title"] == "Evaluation erased"
    assert page["rows"][0]["description"]["who"]
    assert {row["stored"] for row in page["rows"]} == {False}


async def test_an_altered_and_a_removed_entry_are_named(api: Client, database: Path) -> None:
    for _ in range(2):
        await api.report()
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE byop_audit SET entry = replace(entry, 'rules', 'other') WHERE sequence = 4")
        connection.execute("DELETE FROM byop_audit WHERE sequence = 2")
    page = await api.get("/api/audit-log")
    problems = {row["number"]: row["problem"] for row in page["rows"]}
    assert "Entry 4 of the audit log was altered" in problems[4]
    assert problems[3] == "Entry 2, which comes before this one, was removed from the audit log."
    assert problems[1] == ""
    assert page["sentence"].startswith("2 of the 3 entries on this page do not hold.")


async def test_everything_that_is_stored_is_verified(api: Client, database: Path) -> None:
    report = (await api.report())["report"]["report_id"]
    whole = await api.get("/api/verify")
    assert (whole["failed"], whole["conclusion"].startswith("Consistent with the audit log.")) == (0, True)
    one = await api.get(f"/api/reports/{report}/verify")
    assert one["conclusion"] == whole["conclusion"]
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE byop_evaluations SET status = 'STABLE'")
    whole = await api.get("/api/verify")
    assert whole["failed"] > 0
    assert whole["conclusion"].endswith("failed the verification.")
    assert any("status" in finding["message"] for finding in whole["findings"] if finding["standing"] == "altered")


async def test_a_server_with_a_key_signs_files_and_the_log_and_keeps_the_key(
    serve: Callable[..., WebServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = signing.new_key(tmp_path / "key.pem")
    monkeypatch.setenv("BYOP_SIGNING_KEY", str(tmp_path / "key.pem"))
    async with client(serve()) as api:
        assert await api.get("/api/signing-key") == {"public_key": key.public, "problem": ""}
        report = (await api.report())["report"]["report_id"]
        reply = await api.ask("GET", f"/api/reports/{report}/export?format=json&signed=true")
        findings = verify_file.json_file(parse_json(reply.body, "report"), public_key=key.public)
        assert {finding.standing for finding in findings} == {"holds"}
        page = await api.get("/api/audit-log")
        assert page["rows"][0]["signature"] == {"public_keys": [key.public], "problem": ""}
        assert "all of them are signed" in page["sentence"]


async def test_without_a_key_nothing_is_signed_and_the_answer_says_so(api: Client) -> None:
    report = (await api.report())["report"]["report_id"]
    detail = await api.get("/api/signing-key")
    assert (detail["public_key"], "no signing key" in detail["problem"]) == (None, True)
    refused = await api.ask("GET", f"/api/reports/{report}/export?format=html&signed=true")
    assert refused.status == 409


async def test_a_key_that_others_can_read_signs_nothing_and_its_place_is_not_told(
    serve: Callable[..., WebServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signing.new_key(tmp_path / "key.pem")
    (tmp_path / "key.pem").chmod(0o644)
    monkeypatch.setenv("BYOP_SIGNING_KEY", str(tmp_path / "key.pem"))
    async with client(serve()) as api:
        detail = await api.get("/api/signing-key")
    assert detail["public_key"] is None
    assert str(tmp_path) not in detail["problem"]
