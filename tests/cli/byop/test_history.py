"""`byop history`, on a real database."""

import json
from pathlib import Path

from inline_snapshot import snapshot

from salvo.playbooks.store.store import EvaluationStore
from tests.support.stored_evaluations import NAMES, Byop


def test_history_is_a_table_the_newest_first(run: Byop, three: EvaluationStore) -> None:
    three.set_baseline(NAMES[0])
    shown = run("history")
    assert shown.exit_code == 0
    assert shown.stdout == snapshot("""\
ID                WHEN                  SUBJECT             PLAYBOOK          MODE       EVALUATOR                    CONSISTENCY  STATUS
01k9cccccccccccc  2026-11-15T12:00:00Z  default             a_playbook 1.0.0  screening  anthropic/claude-sonnet-4-6  –            ALERT        hashes only
01k9bbbbbbbbbbbb  2026-11-15T12:00:00Z  default             a_playbook 1.0.0  full       rules                        –            interrupted
01k9aaaaaaaaaaaa  2026-11-15T12:00:00Z  DPA \\x1b[31mreview  a_playbook 1.0.0  full       anthropic/claude-sonnet-4-6  1.00         ALERT        baseline
""")


def test_history_can_be_narrowed_and_read_by_programs(run: Byop, three: EvaluationStore) -> None:
    assert [row["id"] for row in json.loads(run("history", "--json").stdout)] == list(reversed(NAMES))
    assert [row["id"] for row in json.loads(run("history", "--json", "--limit", "1").stdout)] == [NAMES[2]]
    assert [row["id"] for row in json.loads(run("history", "--json", "--search", "rules").stdout)] == [NAMES[1]]
    assert [row["id"] for row in json.loads(run("history", "--json", "--mode", "screening").stdout)] == [NAMES[2]]
    alerts = run("history", "--json", "--status", "alert", "--mode", "full")
    assert [row["id"] for row in json.loads(alerts.stdout)] == [NAMES[0]]
    assert "No matching evaluation is stored" in run("history", "--status", "STABLE").stderr
    [row] = json.loads(run("history", "--json", "--subject", "DPA \x1b[31mreview").stdout)
    assert row == snapshot(
        {
            "id": "01k9aaaaaaaaaaaa",
            "created_at": "2026-11-15T12:00:00.000+00:00",
            "finished_at": "2026-11-15T12:00:00.000+00:00",
            "state": "done",
            "subject": "DPA \x1b[31mreview",
            "title": None,
            "mode": "full",
            "runs": 3,
            "evaluator": "anthropic/claude-sonnet-4-6",
            "playbook_id": "a_playbook",
            "playbook_version": "1.0.0",
            "playbook_hash": "sha256:0736cc78e20d99632e999a86fdcd81786f026c1290e3956f14b4d6f27fd8a731",
            "status": "ALERT",
            "consistency": 1.0,
            "incomplete": False,
            "stored_in_full": True,
            "baseline": False,
            "group": None,
        }
    )


def test_an_empty_history_says_how_to_begin_and_makes_no_file(run: Byop, folder: Path) -> None:
    shown = run("history")
    assert (shown.exit_code, shown.stdout) == (5, "")
    assert shown.stderr.replace(str(folder), "") == snapshot("""\
Error: No evaluation is stored in /byop_runs.db yet.
Start with `byop run FILE`, where FILE has the AI output.
""")
    assert list(folder.iterdir()) == []
    assert [run(*command).exit_code for command in (["audit"], ["baseline", "list"], ["verify", "latest"])] == [5, 5, 2]
    assert list(folder.iterdir()) == []


def test_a_search_that_finds_nothing_says_so(run: Byop, three: EvaluationStore) -> None:
    shown = run("history", "--subject", "another")
    assert shown.exit_code == 5
    assert "No matching evaluation is stored in" in shown.stderr
