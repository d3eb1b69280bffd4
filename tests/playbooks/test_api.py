"""Playbooks from Python, as the document has it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from salvo import playbooks
from salvo.errors import StoreError
from salvo.playbooks import run_playbook
from salvo.playbooks.playbook import library
from salvo.playbooks.report.report_document import json_schema
from salvo.playbooks.store.store import EvaluationStore
from tests.support.byop_project import GPT, TEXT, ScriptedJudge, results
from tests.support.clock import HeldClock
from tests.support.playbook import document
from tests.support.provider import LoopbackProvider

STARTER = "ai_plugin_observability_v1"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_the_documents_own_usage(tmp_path: Path) -> None:
    """Load the playbook, run it, write the report, print the status: line by line what the document does."""
    (tmp_path / "playbook.json").write_text(json.dumps(dict(library.load(STARTER).document)))
    playbook = json.loads((tmp_path / "playbook.json").read_text())
    report = run_playbook(playbook, TEXT, mode="full")
    (tmp_path / "byop_report.json").write_text(json.dumps(report, indent=2))
    printed = [
        f"Overall status: {report['summary']['overall_status']}",
        f"Consistency: {report['variance_summary']['consistency_score']:.2f}",
        *(f"{r['check_id']}: {r['result']}" for r in report["check_results"]),
    ]
    assert printed[:3] == ["Overall status: ALERT", "Consistency: 1.00", "assumption_disclosure: pass"]
    jsonschema.validate({"byop_report": report, "signature": None}, json_schema())


def test_a_playbook_is_a_document_a_file_an_id_or_one_that_was_read(tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    file.write_text(json.dumps(document()))
    reports = [run_playbook(given, TEXT, evaluator="rules") for given in (document(), str(file), file)]
    assert {report["playbook_id"] for report in reports} == {"lease_review"}
    assert len({report["integrity"]["playbook_logic_hash"] for report in reports}) == 1
    read = run_playbook(library.load(STARTER), TEXT)
    assert results(read) == results(run_playbook(STARTER, TEXT))


def test_it_works_inside_a_running_event_loop() -> None:
    async def notebook() -> dict[str, Any]:
        return run_playbook(STARTER, TEXT, "The source.", "screening")

    report = asyncio.run(notebook())
    assert (report["execution_mode"], report["evaluator"]) == ("screening", "rules")


def test_everything_the_command_takes_can_be_said(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'mine.db'}"
    with LoopbackProvider(ScriptedJudge(certainty_language="fail")) as provider:

        def again(text: str) -> dict[str, Any]:
            return run_playbook(
                STARTER,
                text,
                prompt="Review it.",
                system_instructions="You are a lawyer.",
                evaluator="gpt-5.4-mini",
                runs=4,
                subject="DPA",
                producer="acme/lawbot",
                base_url=provider.openai_url,
                api_key="sk-mine",
                database=database,
            )

        first, second = again(TEXT), again(TEXT + " More.")
    assert (first["evaluator"], first["subject"], first["variance_summary"]["num_runs"]) == (GPT, "DPA", 4)
    assert len(provider.requests) == 32
    assert {asked.key for asked in provider.requests} == {"sk-mine"}
    assert "You are a lawyer." in provider.requests[0].last_user
    assert second["drift_summary"]["baseline_id"] == first["report_id"]
    with EvaluationStore.open(database, HeldClock()) as store:
        assert [row.id for row in store.history().rows] == [second["report_id"], first["report_id"]]
    assert b"sk-mine" not in (tmp_path / "mine.db").read_bytes()


def test_without_a_database_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report = run_playbook(STARTER, TEXT)
    assert list(tmp_path.iterdir()) == []
    assert report["drift_summary"]["notes"] == ["Nothing is stored, so there is no baseline to compare with."]


def test_a_key_that_is_set_chooses_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
        monkeypatch.setenv("OPENAI_BASE_URL", provider.openai_url)
        report = run_playbook(STARTER, TEXT, mode="screening")
    assert report["evaluator"] == GPT
    assert {asked.key for asked in provider.requests} == {"sk-from-the-environment"}


def test_a_database_that_fails_is_an_error_that_can_be_caught(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        run_playbook(STARTER, TEXT, database=f"sqlite:///{tmp_path / 'nowhere' / 'x.db'}")


def test_the_package_has_one_public_name() -> None:
    assert playbooks.__all__ == ["run_playbook"]
    with pytest.raises(AttributeError, match="no attribute 'run'"):
        getattr(playbooks, "run")  # noqa: B009 - mypy knows that it is not there
