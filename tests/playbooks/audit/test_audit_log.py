"""The chain: whatever is changed in it, it shows where and what."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.text_hashing import without_texts
from tests.support.playbooks import CERTAIN, a_report, masked


def chain(*contents: dict[str, Any]) -> list[AuditEntry]:
    entries: list[AuditEntry] = []
    for content in contents:
        entries.append(audit_log.seal(content, entries[-1] if entries else None))
    return entries


def some_entries() -> list[AuditEntry]:
    hashed = a_report().integrity.report_hash
    return chain(
        audit_log.evaluation(a_report(), [], at="2026-11-15T12:00:01", stored=a_report()),
        audit_log.content(audit_log.EXPORT, "id-0001", hashed, at="2026-11-15T12:00:02", format="html"),
        audit_log.content(audit_log.BASELINE_SET, "id-0001", hashed, at="2026-11-15T12:00:03", subject="default"),
        audit_log.content(audit_log.DELETION, "id-0001", hashed, at="2026-11-15T12:00:04"),
    )


def test_an_evaluation_has_the_ten_fields_of_the_specification_and_no_text() -> None:
    run = {
        "check_id": "certainty_language",
        "run": 1,
        "result": "fail",
        "valid": True,
        "sha256": sha256(b"vote"),
        "exchanges_sha256": sha256(b"exchanges"),
    }
    report = a_report()
    content = audit_log.evaluation(report, [run], at="2026-11-15T12:00:01", stored=report)
    assert CERTAIN not in str(content)
    assert json.loads(masked(json.dumps(content))) == snapshot(
        {
            "action": "evaluation",
            "at": "2026-11-15T12:00:01",
            "playbook_id": "a_playbook",
            "playbook_version": "1.0.0",
            "playbook_logic_hash": "sha256:…",
            "runner_name": "salvo-byop",
            "runner_version": "0.1.0",
            "timestamp": "2026-11-15T12:00:00+00:00",
            "model_fingerprint": {
                "evaluator": {
                    "declared_model_name": "claude-sonnet-4-6",
                    "declared_model_version": "claude-sonnet-4-6-x",
                    "provider": "anthropic",
                    "routing_or_mode": "unknown",
                    "temperature": 0.0,
                    "system_prompt_id": "p1",
                    "other_runtime_metadata": {},
                },
                "producer": {
                    "declared_model_name": "unknown",
                    "declared_model_version": "unknown",
                    "provider": "unknown",
                    "routing_or_mode": "unknown",
                    "temperature": "unknown",
                    "system_prompt_id": "unknown",
                    "other_runtime_metadata": {},
                },
            },
            "inputs_fingerprint": "sha256:…",
            "raw_runs": [
                {
                    "check_id": "certainty_language",
                    "run": 1,
                    "result": "fail",
                    "valid": True,
                    "sha256": "sha256:…",
                    "exchanges_sha256": "sha256:…",
                }
            ],
            "byop_report": {
                "report_id": "id-0001",
                "report_hash": "sha256:…",
                "overall_status": "ALERT",
            },
        }
    )


def test_a_report_stored_without_texts_is_in_the_chain_with_both_hashes() -> None:
    report = a_report()
    stored = without_texts(report)
    content = audit_log.evaluation(report, [], at="2026-11-15T12:00:01", stored=stored)
    assert content["byop_report"] == {
        "report_id": "id-0001",
        "report_hash": report.integrity.report_hash,
        "overall_status": "ALERT",
        "stored_without_texts": stored.integrity.report_hash,
    }


def test_an_entry_can_be_hashed_again_by_anyone() -> None:
    first, second = chain({"action": "deletion", "at": "now", "ä": "\ud800"}, {"action": "export"})
    assert masked(first.text) == snapshot(
        '{"action":"deletion","at":"now","entry_format":3,"previous_hash":"sha256:…","sequence":1,"ä":"\\\\ud800"}'
    )
    assert first.hash == sha256(first.text.encode())
    assert second.content["previous_hash"] == first.hash


def test_a_chain_that_nobody_touched_holds() -> None:
    assert audit_log.check([]) is None
    assert audit_log.check(some_entries()) is None


def test_each_way_to_alter_the_chain_is_named() -> None:
    one, two, three, four = some_entries()
    other = replace(two, text=two.text.replace("html", "json"))
    resealed = audit_log.seal({**two.content, "format": "json"}, one)
    found = {
        "an entry edited": audit_log.check([one, other, three, four]),
        "an entry edited and hashed again": audit_log.check([one, resealed, three, four]),
        "an entry removed": audit_log.check([one, three, four]),
        "two entries removed": audit_log.check([one, four]),
        "the first removed": audit_log.check([two, three, four]),
        "removed and numbered anew": audit_log.check([one, replace(three, sequence=2)]),
        "not JSON any more": audit_log.check([one, replace(two, text="gone")]),
        "another start": audit_log.check([audit_log.seal({**one.content}, replace(one, sequence=0)), two]),
        "a hash edited": audit_log.check([one, replace(two, hash=one.hash), three, four]),
    }
    assert found == snapshot(
        {
            "an entry edited": "Entry 2 of the audit log was altered (export of id-0001, 2026-11-15T12:00:02): it no longer matches its hash.",
            "an entry edited and hashed again": "Entry 2 of the audit log was replaced (export of id-0001, 2026-11-15T12:00:02): entry 3 follows a different entry.",
            "an entry removed": "The audit log has a gap: entry 2 was removed.",
            "two entries removed": "The audit log has a gap: entries 2 to 3 were removed.",
            "the first removed": "The audit log has a gap: entry 1 was removed.",
            "removed and numbered anew": "Entry 2 of the audit log was moved: its own number is 3.",
            "not JSON any more": "Entry 2 of the audit log was altered: it no longer matches its hash.",
            "another start": "The start of the audit log is missing: entry 1 follows a different entry.",
            "a hash edited": "Entry 2 of the audit log was altered (export of id-0001, 2026-11-15T12:00:02): it no longer matches its hash.",
        }
    )


def test_a_tail_that_was_cut_off_cannot_be_seen_from_inside() -> None:
    assert audit_log.check(some_entries()[:2]) is None


@given(st.data())
def test_no_single_character_can_be_changed_unseen(data: st.DataObject) -> None:
    entries = some_entries()
    place = data.draw(st.integers(0, len(entries) - 1))
    text = entries[place].text
    at = data.draw(st.integers(0, len(text) - 1))
    character = data.draw(st.characters().filter(lambda drawn: drawn != text[at]))
    entries[place] = replace(entries[place], text=text[:at] + character + text[at + 1 :])
    broken = audit_log.check(entries)
    assert broken is not None
    assert broken.startswith(f"Entry {place + 1} of the audit log was altered")


@pytest.mark.parametrize("text", ["[]", "{", "", '{"byop_report": 1}'])
def test_an_entry_that_is_none_says_nothing(text: str) -> None:
    entry = AuditEntry(1, text, "sha256:1")
    assert (entry.action, entry.at, entry.report_id) == ("", "", "")
