"""A database with damaged values: every command says which evaluation is damaged, and none ends with a traceback."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from salvo.playbooks.store.store import EvaluationStore
from salvo.playbooks.store.tables import metadata
from tests.support.clock import HeldClock
from tests.support.playbooks import a_vote
from tests.support.stored_evaluations import NAMES, Byop, begin_evaluation, finish_evaluation

DAMAGED, INTACT, STOPPED = NAMES
COLUMNS = [(table.name, column.name) for table in metadata.sorted_tables for column in table.c]
VALUES: dict[str, Any] = {
    "binary data": b"\x00\xff",
    "a word": "bogus",
    "a JSON array": "[]",
    "a JSON object": '{"check_results": 7, "ballot": [], "metadata": {}}',
}
COMMANDS = (
    "history",
    "history --json",
    f"show {DAMAGED}",
    f"show {DAMAGED} --json",
    f"compare {DAMAGED} {INTACT}",
    f"verify {DAMAGED}",
    "verify --all",
    "verify",
    "drift",
    "drift --json",
    "audit",
    "audit --json",
    "baseline list",
    f"baseline set {DAMAGED}",
    f"replay {DAMAGED}",
    f"run --resume {STOPPED}",
    f"delete {DAMAGED} --yes",
)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two reports, of which one is a baseline, and an interrupted evaluation."""
    file = tmp_path_factory.mktemp("original") / "byop_runs.db"
    with EvaluationStore.open(f"sqlite:///{file}", HeldClock()) as store:
        finish_evaluation(store, DAMAGED)
        finish_evaluation(store, INTACT)
        begin_evaluation(store, STOPPED, evaluator="rules")
        store.save_votes(STOPPED, [a_vote()])
        store.interrupt(STOPPED)
        store.set_baseline(DAMAGED)
    return file


@pytest.fixture
def database(original: Path, folder: Path) -> Iterator[sqlite3.Connection]:
    shutil.copy(original, folder / "byop_runs.db")
    with closing(sqlite3.connect(folder / "byop_runs.db", isolation_level=None)) as connection:
        yield connection


def damage(database: sqlite3.Connection, table: str, column: str, value: Any, evaluation: str = DAMAGED) -> None:
    key = {"byop_evaluations": "id", "byop_votes": "evaluation_id", "byop_baselines": "evaluation_id"}.get(table)
    where = f" WHERE {key} = '{evaluation}'" if key else ""
    database.execute(f"UPDATE OR IGNORE {table} SET {column} = ?{where}", (value,))  # noqa: S608 - names of our own tables


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("table", list(metadata.tables))
def test_no_damaged_value_ends_a_command_with_a_traceback(
    run: Byop, database: sqlite3.Connection, original: Path, folder: Path, table: str, value: str
) -> None:
    failures = []
    for column in [column for name, column in COLUMNS if name == table]:
        with closing(sqlite3.connect(original)) as source:
            source.backup(database)
        damage(database, table, column, VALUES[value])
        for command in COMMANDS:
            try:
                result = run(*command.split())
            except Exception as error:  # noqa: BLE001 - whatever it is, a user would see it
                failures.append(f"{table}.{column}: byop {command}: {type(error).__name__}: {error}")
            else:
                assert "Traceback" not in result.output
    assert not failures, "\n".join(failures)
