"""The commands on what is stored, as a person types them."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from inline_snapshot import snapshot

from salvo.cli.byop import byop
from salvo.engine.jsonio import json_codec
from salvo.playbooks.audit import signing
from salvo.playbooks.enums import Mode
from salvo.playbooks.report.report import ReportFile
from salvo.playbooks.store.store import EvaluationStore
from tests.support.clock import HeldClock
from tests.support.playbooks import a_report, a_vote, masked
from tests.support.stored import begun, finished

NAMES = ("01k9aaaaaaaaaaaa", "01k9bbbbbbbbbbbb", "01k9cccccccccccc")
Byop = Callable[..., Result]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    return tmp_path


@pytest.fixture
def run() -> Byop:
    return lambda *arguments, **more: CliRunner().invoke(byop, arguments, catch_exceptions=False, **more)


@pytest.fixture
def store(folder: Path) -> Iterator[EvaluationStore]:
    with EvaluationStore.open(f"sqlite:///{folder / 'byop_runs.db'}", HeldClock()) as opened:
        yield opened


@pytest.fixture
def three(store: EvaluationStore) -> EvaluationStore:
    """A finished one, one that was interrupted, and a screening of which only hashes were kept."""
    finished(store, NAMES[0], subject="DPA \x1b[31mreview")
    begun(store, NAMES[1], evaluator="rules")
    store.save_votes(NAMES[1], [a_vote()])
    store.interrupt(NAMES[1])
    finished(store, NAMES[2], mode=Mode.SCREENING, stored_in_full=False)
    return store


def test_history_is_a_table_the_newest_first(run: Byop, three: EvaluationStore) -> None:
    three.set_baseline(NAMES[0])
    shown = run("history")
    assert shown.exit_code == 0
    assert shown.stdout == snapshot("""\
ID                WHEN                  SUBJECT             PLAYBOOK          MODE       EVALUATOR                    CONSISTENCY  STATUS
01k9cccccccccccc  2026-11-15T12:00:00Z  default             a_playbook 1.0.0  screening  anthropic/claude-sonnet-4-6  1.00         ALERT        hashes only
01k9bbbbbbbbbbbb  2026-11-15T12:00:00Z  default             a_playbook 1.0.0  full       rules                                     interrupted
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
Begin with `byop run FILE`, FILE being what an AI wrote.
""")
    assert list(folder.iterdir()) == []
    assert [run(*command).exit_code for command in (["audit"], ["baseline", "list"], ["verify", "latest"])] == [5, 5, 2]
    assert list(folder.iterdir()) == []


def test_a_search_that_finds_nothing_says_so(run: Byop, three: EvaluationStore) -> None:
    shown = run("history", "--subject", "another")
    assert shown.exit_code == 5
    assert "No matching evaluation is stored in" in shown.stderr


def test_a_baseline_is_set_listed_and_cleared(run: Byop, three: EvaluationStore) -> None:
    assert run("baseline", "list").exit_code == 5
    assert run("baseline", "set", "01k9a").stdout == snapshot(
        "01k9aaaaaaaaaaaa is now a baseline. Later reports of its playbook and subject are compared with it.\n"
    )
    assert re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "<time>", run("baseline", "list").stdout) == snapshot("""\
ID                SAVED                 EVALUATED             SUBJECT             PLAYBOOK          CONSISTENCY  STATUS
01k9aaaaaaaaaaaa  <time>  <time>  DPA \\x1b[31mreview  a_playbook 1.0.0  1.00         ALERT
""")
    [row] = json.loads(run("baseline", "list", "--json").stdout)
    assert row["evaluation_id"] == NAMES[0]
    assert run("baseline", "clear", "01k9a").stdout == snapshot("01k9aaaaaaaaaaaa is no longer a baseline.\n")
    cleared = run("baseline", "clear", "01k9a")
    assert (cleared.exit_code, cleared.stderr) == (
        2,
        snapshot("""\
Error: The report 01k9aaaaaaaaaaaa is not saved as a baseline.
`byop baseline list` shows those.
"""),
    )


def test_a_screening_is_refused_as_a_baseline(run: Byop, three: EvaluationStore) -> None:
    refused = run("baseline", "set", "latest")
    assert refused.exit_code == 2
    assert refused.stderr == snapshot("""\
Error: The report 01k9cccccccccccc is a screening: Non-auditable quick check (not comparable over time).
Run a full evaluation, and save that as the baseline.
""")


def test_the_audit_log_is_shown_whole_as_json_and_by_its_head(run: Byop, three: EvaluationStore) -> None:
    three.set_baseline(NAMES[0])
    three.record_export(NAMES[0], "html", b"")
    log = three.audit_log()
    assert masked(run("audit").stdout) == snapshot("""\
NUMBER  WHEN                  ACTION        REPORT            DETAILS             HASH
1       2026-11-15T12:00:00Z  evaluation    01k9aaaaaaaaaaaa  ALERT               sha256:…
2       2026-11-15T12:00:00Z  evaluation    01k9cccccccccccc  ALERT               sha256:…
3       2026-11-15T12:00:00Z  baseline_set  01k9aaaaaaaaaaaa  DPA \\x1b[31mreview  sha256:…
4       2026-11-15T12:00:00Z  export        01k9aaaaaaaaaaaa  html                sha256:…
""")
    assert run("audit", "--head").stdout == f"{log[-1].hash}\n"
    shown = json.loads(run("audit", "--json").stdout)
    assert [entry["hash"] for entry in shown] == [entry.hash for entry in log]
    assert shown[0]["raw_runs"][0]["check_id"] == "assumption_disclosure"


def test_an_empty_audit_log_says_so(run: Byop, store: EvaluationStore) -> None:
    assert run("audit").exit_code == 5


def test_what_holds_is_verified_with_0(run: Byop, three: EvaluationStore) -> None:
    shown = run("verify", "01k9a")
    assert shown.exit_code == 0
    assert masked(shown.stdout) == snapshot("""\
holds    playbook   The playbook is the one that was used: sha256:….
holds    inputs     The texts are those that were evaluated: sha256:….
holds    report     The report is as it was stored: sha256:….
holds    votes      All 6 votes and the calls behind them are as they were stored.
holds    history    The history lists what the report says.
holds    evidence   All 9 located quotes stand in the text where the report says.
holds    audit log  The audit log is whole: 2 entries, each with the hash of the one before.

Nothing was altered.
""")
    assert run("verify", NAMES[1]).exit_code == 0
    assert run("verify", "latest").exit_code == 0


def test_what_was_altered_is_named_with_1(run: Byop, three: EvaluationStore, folder: Path) -> None:
    with sqlite3.connect(folder / "byop_runs.db") as other:
        other.execute("UPDATE byop_evaluations SET report = replace(report, 'ALERT', 'STABLE') WHERE id LIKE '01k9a%'")
    other.close()
    shown = run("verify", "01k9a")
    assert shown.exit_code == 1
    assert "summary.overall_status is STABLE, the audit log says ALERT" in shown.stdout
    assert shown.stdout.endswith("\n2 parts were altered.\n")
    found = json.loads(run("verify", "01k9a", "--json").stdout)
    assert found["altered"] == 2
    assert [part["part"] for part in found["findings"] if part["standing"] == "altered"] == ["report", "history"]


def test_an_unknown_id_and_a_file_that_is_no_report_end_with_2(run: Byop, three: EvaluationStore, folder: Path) -> None:
    (folder / "notes.txt").write_text("notes")
    assert run("verify", "nowhere").exit_code == 2
    refused = run("verify", "notes.txt")
    assert (refused.exit_code, refused.stderr) == (
        2,
        snapshot("Error: notes.txt is not JSON: Expecting value: line 1 column 1 (char 0).\n"),
    )
    assert run("verify", "01k9").exit_code == 2
    assert run("verify", "01k9a", "--public-key", "x").exit_code == 2


def test_a_signed_file_is_verified_without_the_database(run: Byop, folder: Path) -> None:
    made = run("keys", "new")
    public = made.stdout.strip()
    assert made.stderr.replace(str(folder), "") == snapshot(
        "The key is in /settings/salvo/byop-signing-key.pem. Keep it secret, and give others the public key:\n"
    )
    assert run("keys", "show").stdout.strip() == public
    key = signing.read_key(folder / "settings/salvo/byop-signing-key.pem")
    (folder / "report.json").write_bytes(json_codec.dumps(ReportFile(a_report(), key.sign(a_report()))))
    shown = run("verify", "report.json", "--public-key", public)
    assert shown.exit_code == 0
    assert masked(shown.stdout).replace(public, "KEY") == snapshot("""\
holds    report     The report has the hash that it names: sha256:….
holds    signature  The report was signed by the key that you named: KEY.
unknown  database   The database here does not know this report.

Nothing was altered, as far as this can be checked.
""")
    other = run("keys", "new", "other.pem").stdout.strip()
    assert run("verify", "report.json", "--public-key", other).exit_code == 1
    (folder / "other.pub").write_text(other)
    assert run("verify", "report.json", "--public-key", "other.pub").exit_code == 1
    assert not (folder / "byop_runs.db").exists()


def test_a_file_is_compared_with_the_database_where_that_knows_it(
    run: Byop, store: EvaluationStore, folder: Path
) -> None:
    report = finished(store)
    (folder / "report.json").write_bytes(json_codec.dumps(ReportFile(report)))
    shown = run("verify", "report.json")
    assert (shown.exit_code, "The audit log has this report" in shown.stdout) == (0, True)
    (folder / "byop_runs.db").write_bytes(b"no database " * 100)
    (folder / "byop_runs.db-wal").unlink(missing_ok=True)
    shown = run("verify", "report.json")
    assert (shown.exit_code, "The database could not be asked." in shown.stdout) == (0, True)


def test_a_kept_head_is_looked_for(run: Byop, three: EvaluationStore) -> None:
    head = run("audit", "--head").stdout.strip()
    assert run("verify", "--head", head).exit_code == 0
    assert run("verify", "01k9a", "--head", head).exit_code == 0
    assert run("verify").exit_code == 0
    with three._database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM byop_audit WHERE sequence = 2")
    assert run("verify").exit_code == 0
    cut = run("verify", "--head", head)
    assert cut.exit_code == 1
    assert "was cut off or made anew" in cut.stdout


def test_keys_are_never_overwritten(run: Byop, folder: Path) -> None:
    assert run("keys", "new", "key.pem").exit_code == 0
    refused = run("keys", "new", "key.pem")
    assert (refused.exit_code, refused.stderr) == (
        2,
        snapshot("""\
Error: key.pem is there already, and a key is never overwritten.
Name another file, or move that one away.
"""),
    )


def test_a_deletion_must_be_confirmed(run: Byop, three: EvaluationStore, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = run("delete", "01k9a")
    assert (refused.exit_code, refused.stderr) == (
        2,
        snapshot("""\
Error: Deleting 01k9aaaaaaaaaaaa (DPA \\x1b[31mreview, 2026-11-15T12:00:00Z, ALERT) needs a confirmation, and there is no terminal.
Pass --yes.
"""),
    )
    with monkeypatch.context() as terminal:
        terminal.setattr(click.testing._NamedTextIOWrapper, "isatty", lambda _: True, raising=False)
        kept = run("delete", "01k9a", input="n\n")
        assert kept.exit_code == 1
        assert "This cannot be undone" in kept.stdout
        assert len(three.history()) == 3
        assert run("delete", "01k9a", input="y\n").exit_code == 0
    assert run("delete", "latest", "--yes").stdout == snapshot(
        "01k9cccccccccccc was deleted. The audit log records it.\n"
    )
    assert [row.id for row in three.history()] == [NAMES[1]]
    assert run("verify", NAMES[0]).stdout.startswith("unknown")


def test_a_damaged_evaluation_can_be_deleted(run: Byop, three: EvaluationStore) -> None:
    with three._database.writing() as connection:
        connection.exec_driver_sql("UPDATE byop_evaluations SET report = '{'")
    assert run("delete", NAMES[0], "--yes").exit_code == 0
