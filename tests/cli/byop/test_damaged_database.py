"""A database with damaged values: every command says which evaluation is damaged, and none ends with a traceback."""

import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import Integer

from salvo.cli.exit_codes import ExitCode
from salvo.playbooks.accounts.users import Role
from salvo.playbooks.documents.matrix import DocumentBatch, UnreadDocument
from salvo.playbooks.report.report import DocumentIdentity
from salvo.playbooks.store.store import EvaluationStore
from salvo.playbooks.store.tables import metadata
from tests.support.clock import HeldClock
from tests.support.playbooks import a_playbook, a_vote
from tests.support.reviews import override
from tests.support.stored_evaluations import NAMES, Byop, begin_evaluation, finish_evaluation
from tests.support.web import CARELESS

DAMAGED, INTACT, STOPPED = NAMES
SAVED = a_playbook().id
ABOUT_EVALUATIONS = {"byop_evaluations": "id", "byop_votes": "evaluation_id", "byop_baselines": "evaluation_id"}
"""The column with the id of the evaluation, by the table."""
BINARY = b"\x00\xff"
JSON_COLUMNS = [
    ("byop_evaluations", "request"),
    ("byop_evaluations", "inputs"),
    ("byop_evaluations", "report"),
    ("byop_evaluations", "outcomes"),
    ("byop_playbooks", "document"),
    ("byop_votes", "vote"),
    ("byop_votes", "exchanges"),
    ("byop_audit", "entry"),
]
COMMANDS = (
    "history",
    "history --json",
    f"show {DAMAGED}",
    f"compare {DAMAGED} {INTACT}",
    f"verify {DAMAGED}",
    "verify --all",
    "drift",
    "audit",
    "audit --json",
    "baseline list",
    "batch",
    "batch latest",
    "playbooks",
    "playbooks --json",
    f"playbooks show {SAVED}",
    "review",
    f"review {DAMAGED}",
    f"share {DAMAGED} --list",
    "user list",
    "user list --json",
    "user role Ada reader",
    f"replay {DAMAGED}",
    f"run --resume {STOPPED}",
    f"baseline set {DAMAGED}",
    f"delete {DAMAGED} --yes",
)
READING = (f"show {DAMAGED}", f"verify {DAMAGED}", f"replay {DAMAGED}", "drift --json")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two reports, an interrupted evaluation, and at least one row of everything else that people make."""
    file = tmp_path_factory.mktemp("original") / "byop_runs.db"
    with EvaluationStore.open(f"sqlite:///{file}", HeldClock()) as store:
        store.batches.create(DocumentBatch("batch-0001", "2026-11-18T08:00:00.000+00:00", "Leases", "leases", 2))
        store.batches.add_unread("batch-0001", UnreadDocument("lease.pdf", "It is encrypted."))
        finish_evaluation(store, DAMAGED, group="batch-0001", document_identity=DocumentIdentity("Lease"))
        finish_evaluation(store, INTACT)
        begin_evaluation(store, STOPPED, evaluator="rules")
        store.save_votes(STOPPED, [a_vote()])
        store.interrupt(STOPPED)
        store.set_baseline(DAMAGED)
        store.reviews.add(DAMAGED, override())
        store.saved_playbooks.save(a_playbook(), saved_by="Dana", note="First.", based_on=None)
        store.accounts.users.add("Ada", Role.REVIEWER, "a hash")
        shared = store.share_links.create(DAMAGED, note="For counsel.", user="Ada")
        store.share_links.open(shared.token)
    return file


@pytest.fixture
def database(original: Path, folder: Path) -> Iterator[sqlite3.Connection]:
    shutil.copy(original, folder / "byop_runs.db")
    with closing(sqlite3.connect(folder / "byop_runs.db", isolation_level=None)) as connection:
        yield connection


def restore(database: sqlite3.Connection, original: Path) -> None:
    with closing(sqlite3.connect(original)) as source:
        source.backup(database)


def where(table: str) -> str:
    key = ABOUT_EVALUATIONS.get(table)
    return f" WHERE {key} = '{DAMAGED}'" if key else ""


def damage(database: sqlite3.Connection, table: str, column: str, value: Any) -> None:
    database.execute(f"UPDATE OR IGNORE {table} SET {column} = ?{where(table)}", (value,))  # noqa: S608 - our own tables


def tracebacks(run: Byop, commands: Iterable[str], situation: str) -> list[str]:
    failures = []
    for command in commands:
        try:
            result = run(*command.split())
        except Exception as error:  # noqa: BLE001 - whatever it is, a user would see it
            failures.append(f"{situation}: byop {command}: {type(error).__name__}: {error}")
        else:
            assert "Traceback" not in result.output
    return failures


@pytest.mark.parametrize(
    "column, value, problem",
    [
        ("subject", BINARY, "subject is binary data"),
        ("consistency", "high", "consistency is a text"),
        ("consistency", float("inf"), "consistency is a number that is not finite"),
        ("runs", "three", "runs is a text"),
        ("status", "bogus", "'bogus' is not a valid Status"),
        ("mode", "bogus", "'bogus' is not a valid Mode"),
        ("state", "bogus", "'bogus' is not a valid State"),
        ("created_at", BINARY, "created_at is binary data"),
    ],
)
def test_a_damaged_evaluation_is_named_and_hides_no_other(
    run: Byop, database: sqlite3.Connection, column: str, value: Any, problem: str
) -> None:
    damage(database, "byop_evaluations", column, value)
    shown = run("history", "--json")
    assert shown.exit_code == 0
    assert [row["id"] for row in json.loads(shown.stdout)] == [STOPPED, INTACT]
    assert f"The stored evaluation {DAMAGED} is damaged: {problem}." in shown.stderr
    assert f"`byop verify {DAMAGED}` says what was altered." in shown.stderr
    assert f"byop_evaluations.{column} is" in run("verify", DAMAGED).stdout


def test_text_that_is_not_utf_8_is_damage_like_any_other(run: Byop, database: sqlite3.Connection) -> None:
    database.execute(f"UPDATE byop_evaluations SET evaluator = CAST(x'ff41' AS TEXT){where('byop_evaluations')}")  # noqa: S608 - our own tables
    shown = run("history")
    assert (shown.exit_code, shown.stdout.count("01k9")) == (0, 2)
    assert f"{DAMAGED} is damaged: evaluator is binary data" in shown.stderr
    assert run("verify", DAMAGED).exit_code == 1


def test_a_history_of_damaged_evaluations_only_is_an_error(run: Byop, database: sqlite3.Connection) -> None:
    database.execute("UPDATE byop_evaluations SET mode = 'bogus'")
    shown = run("history")
    assert (shown.exit_code, shown.stdout) == (ExitCode.NOT_JUDGED, "")
    assert shown.stderr.count("is damaged: 'bogus' is not a valid Mode") == 3
    assert "No other evaluation can be listed." in shown.stderr


@pytest.mark.parametrize(
    "table, column, value, command",
    [
        ("byop_evaluations", "report", '{"summary": 7}', f"show {DAMAGED}"),
        ("byop_evaluations", "report", '{"check_results": 7}', f"show {DAMAGED}"),
        ("byop_evaluations", "report", "{", f"compare {INTACT} {DAMAGED}"),
        ("byop_evaluations", "inputs", "[]", f"show {DAMAGED}"),
        ("byop_evaluations", "request", BINARY, f"show {DAMAGED}"),
        ("byop_evaluations", "outcomes", "[]", "drift"),
        ("byop_evaluations", "outcomes", '{"a": "maybe"}', "drift"),
        ("byop_votes", "vote", "{}", f"replay {DAMAGED}"),
        ("byop_votes", "exchanges", BINARY, f"replay {DAMAGED}"),
        ("byop_playbooks", "document", BINARY, f"show {DAMAGED}"),
    ],
)
def test_a_command_that_needs_what_is_damaged_names_the_evaluation(
    run: Byop, database: sqlite3.Connection, table: str, column: str, value: Any, command: str
) -> None:
    damage(database, table, column, value)
    result = run(*command.split())
    assert result.exit_code == ExitCode.NOT_JUDGED
    assert f"The stored evaluation {DAMAGED} is damaged: " in result.stderr
    assert run("verify", DAMAGED).exit_code == 1
    assert run("history").exit_code == 0


@pytest.mark.parametrize(
    "table, column, value, command, message",
    [
        ("byop_users", "role", "bogus", "user list", "user Ada is damaged: 'bogus' is not a valid Role"),
        ("byop_users", "name", BINARY, "user list --json", "user b'\\x00\\xff' is damaged: name is binary data"),
        ("byop_users", "role", "bogus", f"share {DAMAGED} --list", "share link id-"),
        ("byop_share_links", "note", BINARY, f"share {DAMAGED} --list", "note is binary data"),
        ("byop_batches", "planned", "many", "batch", "batch of documents batch-0001 is damaged: planned is a text"),
        ("byop_batches", "unread", "[7]", "batch latest", "batch of documents batch-0001 is damaged"),
        ("byop_playbook_versions", "note", BINARY, "playbooks", f"version 1 of the playbook {SAVED} is damaged"),
    ],
)
def test_a_damaged_row_of_another_table_is_named(
    run: Byop, database: sqlite3.Connection, table: str, column: str, value: Any, command: str, message: str
) -> None:
    damage(database, table, column, value)
    result = run(*command.split())
    assert result.exit_code == ExitCode.NOT_JUDGED
    assert message in result.stderr
    assert "`byop verify --all` says what was altered." in result.stderr


def test_a_damaged_evaluation_can_be_deleted(run: Byop, database: sqlite3.Connection) -> None:
    for column in ("state", "subject", "report_hash", "report"):
        damage(database, "byop_evaluations", column, BINARY)
    assert run("delete", DAMAGED, "--yes").exit_code == 0
    assert DAMAGED not in run("history").output


def test_a_new_report_is_stored_although_the_one_to_compare_with_is_damaged(
    run: Byop, database: sqlite3.Connection, folder: Path
) -> None:
    text = folder / "text.md"
    text.write_text(CARELESS)
    command = ("run", str(text), "--evaluator", "rules", "--subject", "contract")
    run(*command)
    assert run("baseline", "set", "latest").exit_code == 0
    database.execute("UPDATE byop_evaluations SET report = '{}' WHERE evaluator = 'rules' AND state = 'done'")
    run(*command)
    [note] = json.loads(run("show", "latest", "--json").stdout)["byop_report"]["drift_summary"]["notes"]
    assert note.startswith("The report to compare with cannot be read, so it was compared with nothing. The stored")


COLUMNS = [
    (table.name, column.name)
    for table in metadata.sorted_tables
    for column in table.c
    # SQLite itself refuses anything but a number in the one column of a key that is a number.
    if list(table.primary_key) != [column] or not isinstance(column.type, Integer)
]


@pytest.mark.load
@pytest.mark.parametrize("table", sorted({table for table, _ in COLUMNS}))
@pytest.mark.parametrize("value", [BINARY, "bogus", "[]", '{"check_results": 7}'])
def test_no_damaged_value_ends_a_command_with_a_traceback(
    run: Byop, database: sqlite3.Connection, original: Path, value: Any, table: str
) -> None:
    failures = []
    for column in [column for its_table, column in COLUMNS if its_table == table]:
        restore(database, original)
        damage(database, table, column, value)
        failures += tracebacks(run, COMMANDS, f"{table}.{column}")
    assert not failures, "\n".join(failures)


def mutated(document: Any, random: Random) -> Any:
    """Return the document with another value somewhere in it."""
    if isinstance(document, dict | list) and document and random.random() < 0.85:
        places = list(document) if isinstance(document, dict) else list(range(len(document)))
        place = random.choice(places)
        changed = document.copy()
        changed[place] = mutated(document[place], random)
        return changed
    return random.choice([None, True, -1, 2**80, 0.5, "", "bogus", "\ud800", [], [[]], {}, {"x": None}])


@pytest.mark.parametrize("rounds", [1, pytest.param(60, marks=pytest.mark.load)])
def test_no_damaged_json_ends_a_command_with_a_traceback(
    run: Byop, database: sqlite3.Connection, original: Path, rounds: int
) -> None:
    random = Random(14)
    failures = []
    for number in range(rounds):
        for table, column in JSON_COLUMNS:
            restore(database, original)
            rows = database.execute(f"SELECT rowid, {column} FROM {table}{where(table)}").fetchall()  # noqa: S608 - our own tables
            row, text = random.choice(rows)
            changed = json.dumps(mutated(json.loads(text), random))
            database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (changed, row))  # noqa: S608 - our own tables
            failures += tracebacks(run, READING, f"round {number}: {table}.{column} = {changed[:200]}")
    assert not failures, "\n".join(failures)
