"""Migrations make exactly the tables that the code knows, and are loaded only where they are needed."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, inspect, text

from salvo.errors import StoreError
from salvo.playbooks.store import location, tables
from salvo.playbooks.store.database import Database
from salvo.playbooks.store.store import EvaluationStore
from tests.support.clock import HeldClock
from tests.support.postgres import Postgres
from tests.support.stored_evaluations import finish_evaluation

MIGRATIONS = Path(tables.__file__).parent / "migrations"


@contextmanager
def engine(url: str) -> Iterator[Engine]:
    made = create_engine(url)
    yield made
    made.dispose()


def test_the_newest_migration_is_the_one_that_the_code_knows() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_heads() == [location.REVISION]


def test_migrations_make_the_tables_of_the_code(
    kind: str, empty_url: str, request: pytest.FixtureRequest, tmp_path: Path, clock: HeldClock
) -> None:
    if kind == "sqlite":
        directly = f"sqlite:///{tmp_path / 'directly.db'}"
    else:
        server: Postgres = request.getfixturevalue("postgresql")
        directly = server.url()
    EvaluationStore.open(empty_url, clock).close()
    with engine(directly) as other:
        tables.metadata.create_all(other)
    assert _shape(empty_url) == {**_shape(directly), location.VERSION_TABLE: _shape(empty_url)[location.VERSION_TABLE]}


def _shape(url: str) -> dict[str, Any]:
    with engine(url) as opened:
        found = inspect(opened)
        return {
            name: (
                [{**column, "type": repr(column["type"])} for column in found.get_columns(name)],
                found.get_pk_constraint(name),
                found.get_foreign_keys(name),
                sorted(map(_index, found.get_indexes(name)), key=lambda index: str(index["name"])),
                found.get_unique_constraints(name),
            )
            for name in found.get_table_names()
        }


def _index(index: Any) -> dict[str, Any]:
    """SQLAlchemy returns the condition of a partial index as an object without equality."""
    return {**index, "dialect_options": {key: str(value) for key, value in index.get("dialect_options", {}).items()}}


def test_only_what_the_database_needs_is_loaded(kind: str, url: str) -> None:
    unneeded = {"alembic", "mako", "pydantic", *(["sqlalchemy.dialects.postgresql"] if kind == "sqlite" else [])}
    code = (
        "import sys\n"
        "from salvo.engine.runtime.clock import SystemClock\n"
        "from salvo.playbooks.store.store import EvaluationStore\n"
        f"EvaluationStore.open({url!r}, SystemClock()).close()\n"
        f"print(sorted({unneeded!r} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_opening_again_changes_nothing(url: str, clock: HeldClock) -> None:
    with EvaluationStore.open(url, clock) as store:
        finish_evaluation(store)
    with EvaluationStore.open(url, clock) as store:
        assert [row.id for row in store.history().rows] == ["id-0001"]


def test_a_database_of_a_newer_version_is_left_alone(url: str, clock: HeldClock) -> None:
    with engine(url) as opened, opened.begin() as connection:
        connection.execute(text("UPDATE byop_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="was made by a newer version of Salvo") as refused:
        EvaluationStore.open(url, clock)
    assert "Upgrade Salvo" in refused.value.hint
    with engine(url) as opened, opened.begin() as connection:
        assert connection.scalar(text("SELECT version_num FROM byop_version")) == "9999"


def test_tables_of_others_in_the_same_database_are_left_alone(empty_url: str, clock: HeldClock) -> None:
    with engine(empty_url) as opened, opened.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num TEXT)"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('theirs')"))
        connection.execute(text("CREATE TABLE votes (id INTEGER)"))
    with EvaluationStore.open(empty_url, clock) as store:
        finish_evaluation(store)
    with engine(empty_url) as opened, opened.begin() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "theirs"
        assert connection.scalar(text("SELECT count(*) FROM votes")) == 0


def test_a_migration_that_fails_leaves_nothing_behind(
    empty_url: str, clock: HeldClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    class StoppedError(Exception):
        pass

    def stop(*_: object) -> None:
        raise StoppedError

    with monkeypatch.context() as broken:
        broken.setattr("alembic.op.create_index", stop)
        with pytest.raises(StoppedError):
            EvaluationStore.open(empty_url, clock)
    with engine(empty_url) as opened:
        assert inspect(opened).get_table_names() == []
    EvaluationStore.open(empty_url, clock).close()


def test_sqlite_has_a_log_foreign_keys_and_no_remains(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'runs.db'}")
    database.bring_up_to_date()
    with database.reading() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "secure_delete", "busy_timeout", "synchronous")
        }
    database.close()
    assert found == {
        "journal_mode": "wal",
        "foreign_keys": 1,
        "secure_delete": 1,
        "busy_timeout": 30_000,
        "synchronous": 2,
    }
