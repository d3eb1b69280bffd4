"""Files for other programs: JSON and JSON lines."""

import json
import os
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from salvo.errors import StoreError, UsageError
from salvo.scenarios.report import export
from salvo.scenarios.report.export import ExportContent
from salvo.scenarios.report.formats import checked_suffix
from tests.support.runs import run_of_every_outcome


def test_json_has_every_batch_with_its_results(tmp_path: Path) -> None:
    export.write(tmp_path / "out" / "x.json", ExportContent(*run_of_every_outcome()))
    document = json.loads((tmp_path / "out" / "x.json").read_bytes())
    assert document["salvo_report"] == export.VERSION
    [of] = document["batches"]
    assert [run["number"] for run in of["results"]] == [1, 2, 3, 4, 5]
    del of["results"]
    assert of == snapshot(
        {
            "batch_id": "01k9batch",
            "scenario_id": "book_flight",
            "suite": "",
            "parameters": {},
            "provider": "openai",
            "model": "gpt-4o",
            "created_at": "2026-11-15T12:00:00+00:00",
            "source": "",
            "verdict": "open",
            "runs": 6,
            "completed": 2,
            "passed": 1,
            "failed": 1,
            "errors": 1,
            "not_run": 1,
            "interrupted": 1,
            "pending": 0,
            "missing": 1,
            "pass_rate": 0.5,
            "independent": 2,
            "independent_passed": 1,
            "interval": [0.012579117093425041, 0.9874208829065749],
            "min_pass_rate": 0.5,
            "average_score": 0.8,
            "pass_hat": {"1": 0.5},
            "pass_hat_intervals": {"1": [0.012579117093425041, 0.9874208829065749]},
            "pass_at": {"1": 0.5},
            "pass_at_intervals": {"1": [0.012579117093425074, 0.9874208829065749]},
            "identical": 0,
            "assertions": [
                {
                    "label": "tool_sequence",
                    "type": "tool_sequence",
                    "required": True,
                    "passed": 1,
                    "judged": 1,
                    "unjudged": 0,
                    "tolerated": 0,
                },
                {
                    "label": "confirmation_id",
                    "type": "jmespath",
                    "required": False,
                    "passed": 0,
                    "judged": 1,
                    "unjudged": 0,
                    "tolerated": 0,
                },
                {
                    "label": "polite",
                    "type": "llm_judge",
                    "required": False,
                    "passed": 0,
                    "judged": 0,
                    "unjudged": 2,
                    "tolerated": 0,
                },
            ],
            "cost": {"total": 0.128, "at_least": 0.128, "average": 0.032, "average_at_least": 0.032, "unknown": 0},
            "judge_cost": {
                "total": 0.0004,
                "at_least": 0.0004,
                "average": 0.0002,
                "average_at_least": 0.0002,
                "unknown": 0,
            },
            "user_cost": {"total": 0, "at_least": 0, "average": 0.0, "average_at_least": 0.0, "unknown": 0},
            "cache_saving": None,
            "turns": None,
            "simulator_errors": 0,
            "pass_rate_bounds": None,
            "latency": {"average": 8.2, "p50": 8.2, "p95": 8.2, "max": 8.2},
            "failures": [
                {
                    "run_id": "01k9batch-0002",
                    "number": 2,
                    "cause": "assertion",
                    "assertions": ["confirmation_id"],
                    "score": 0.6,
                    "error": None,
                    "recorded": True,
                }
            ],
            "stopped": {},
            "error_groups": [
                {
                    "outcome": "error",
                    "cause": "judge",
                    "message": "No votes & no <verdict>.\x00\x1b\ud83d\ufffe",
                    "count": 1,
                    "run_ids": ["01k9batch-0003"],
                }
            ],
            "evidence": None,
            "labels": None,
            "labels_required": False,
            "not_made": [
                {"outcome": "not_run", "cause": "budget", "message": "", "count": 1, "run_ids": ["01k9batch-0004"]},
                {
                    "outcome": "interrupted",
                    "cause": None,
                    "message": "Ctrl-C",
                    "count": 1,
                    "run_ids": ["01k9batch-0005"],
                },
            ],
            "lost": None,
            "batch_judges": False,
            "code": {"commit": None, "dirty": None, "agent": None},
        }
    )


def test_json_lines_are_a_batch_and_then_its_runs(tmp_path: Path) -> None:
    export.write(tmp_path / "x.JSONL", ExportContent(*run_of_every_outcome()))
    lines = [json.loads(line) for line in (tmp_path / "x.JSONL").read_text().splitlines()]
    assert [(line["salvo_report"], line["kind"]) for line in lines] == [(1, "batch"), *[(1, "run")] * 5]
    assert lines[1]["run_id"] == "01k9batch-0001"


def test_summaries_alone_have_no_results() -> None:
    summaries, _ = run_of_every_outcome()
    assert "results" not in json.loads(export.as_json(ExportContent(summaries), with_results=False))["batches"][0]


def test_a_suffix_that_is_not_known_lists_those_that_are(tmp_path: Path) -> None:
    for path in (tmp_path / "x.htm", tmp_path / "x"):
        with pytest.raises(UsageError, match=r"Use one of \.json, \.jsonl, \.xml"):
            checked_suffix(path)
        with pytest.raises(UsageError):
            export.write(path, ExportContent([]))
    assert list(tmp_path.iterdir()) == []
    assert checked_suffix(tmp_path / "x.XML") == ".xml"


def test_a_document_replaces_the_one_before_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tmp_path / "real.json"
    link = tmp_path / "link.json"
    link.symlink_to(real)
    export.write(link, ExportContent([]))
    assert link.is_symlink()
    assert json.loads(real.read_bytes()) == {"salvo_report": 1, "batches": []}
    monkeypatch.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(StoreError, match=r"real\.json cannot be written"):
        export.write(link, ExportContent(*run_of_every_outcome()))
    assert json.loads(real.read_bytes()) == {"salvo_report": 1, "batches": []}


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        export.write(tmp_path / "file" / "x.json", ExportContent([]))
