"""A database that cannot be used says why, in a sentence, and shows no password."""

import sqlite3
from pathlib import Path

import psycopg
import pytest
from inline_snapshot import snapshot
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from salvo.errors import StoreError, UnknownIdError
from salvo.playbooks.store import database
from salvo.playbooks.store.errors import store_error
from salvo.playbooks.store.location import database_url
from salvo.playbooks.store.store import EvaluationStore
from tests.support.clock import HeldClock
from tests.support.playbooks import some_inputs
from tests.support.postgres import Postgres
from tests.support.stored_evaluations import begin_evaluation, finish_evaluation


def refused(url: str) -> str:
    with pytest.raises(StoreError) as refusal:
        EvaluationStore.open(url, HeldClock())
    return str(refusal.value)


def test_the_database_is_a_file_in_the_current_folder_or_what_is_named(tmp_path: Path) -> None:
    odd = tmp_path / "100% mine?"
    odd.mkdir()
    with EvaluationStore.open(database_url({}, odd), HeldClock()) as store:
        assert store.place == str(odd / "byop_runs.db")
    assert (odd / "byop_runs.db").is_file()
    assert database_url({"DATABASE_URL": "postgresql://h/db"}, odd) == "postgresql://h/db"
    assert database_url({"DATABASE_URL": " "}, odd) == database_url({}, odd)


def test_a_relative_path_stays_where_it_was_when_the_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with EvaluationStore.open("sqlite:///runs.db", HeldClock()) as store:
        monkeypatch.chdir(tmp_path / "elsewhere")
        finish_evaluation(store)
        assert store.place == str(tmp_path / "runs.db")
    assert [file.name for file in (tmp_path / "elsewhere").iterdir()] == []


def test_a_file_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(UnknownIdError, match=r"No evaluation is stored in .*runs\.db yet"):
        EvaluationStore.open(f"sqlite:///{tmp_path / 'runs.db'}", HeldClock(), make=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url, said",
    [
        (
            "nonsense:pass-word",
            snapshot(
                "DATABASE_URL is not the address of a database. It looks like sqlite:///byop_runs.db or postgresql+psycopg://user:password@host/name."
            ),
        ),
        (
            "postgresql://user:pass-word@host:port/db",
            snapshot(
                "DATABASE_URL is not the address of a database. It looks like sqlite:///byop_runs.db or postgresql+psycopg://user:password@host/name."
            ),
        ),
        (
            "mysql://user:pass-word@host/db",
            snapshot(
                "DATABASE_URL names a database of type mysql, which Salvo does not support. Use sqlite:///… or postgresql+psycopg://…."
            ),
        ),
        (
            "sqlite://",
            snapshot(
                "DATABASE_URL names a database in memory, which would be lost when the command ends. Name a file: sqlite:///byop_runs.db. To store nothing, use --no-store."
            ),
        ),
        (
            "sqlite:///:memory:",
            snapshot(
                "DATABASE_URL names a database in memory, which would be lost when the command ends. Name a file: sqlite:///byop_runs.db. To store nothing, use --no-store."
            ),
        ),
    ],
)
def test_an_address_that_cannot_be_used_says_so(url: str, said: str) -> None:
    found = refused(url)
    assert found == said
    assert "pass-word" not in found


def test_a_file_that_is_no_database_says_so(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("These are notes, and no database at all. " * 100)
    assert refused(f"sqlite:///{file}").replace(str(tmp_path), "") == snapshot(
        "/notes.txt is not a SQLite file. Move it away, or name another file in DATABASE_URL."
    )
    assert file.read_text().startswith("These are notes")


def test_a_folder_that_does_not_exist_says_so(tmp_path: Path) -> None:
    assert refused(f"sqlite:///{tmp_path / 'nowhere' / 'runs.db'}").replace(str(tmp_path), "") == snapshot(
        "/nowhere/runs.db cannot be opened. Its folder must exist and be writable. DATABASE_URL can name another file."
    )


def test_a_locked_database_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "TIMEOUT", 0)
    with EvaluationStore.open(f"sqlite:///{tmp_path / 'runs.db'}", HeldClock()) as store:
        other = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as refusal:
            begin_evaluation(store)
        assert str(refusal.value).replace(str(tmp_path), "") == snapshot(
            "/runs.db is locked by another process. Wait until it has finished, and try again."
        )
        assert store.history().rows == []
        other.execute("ROLLBACK")
        other.close()
        begin_evaluation(store)


def test_a_fresh_database_that_somebody_else_reads_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "TIMEOUT", 0)
    other = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
    other.execute("CREATE TABLE theirs (id INTEGER)")
    other.execute("BEGIN")
    other.execute("SELECT * FROM theirs").fetchall()
    assert "is locked by another process" in refused(f"sqlite:///{tmp_path / 'runs.db'}")
    other.execute("COMMIT")
    other.close()
    EvaluationStore.open(f"sqlite:///{tmp_path / 'runs.db'}", HeldClock()).close()


def test_a_fault_of_ours_is_not_dressed_as_one_of_the_database(tmp_path: Path) -> None:
    with EvaluationStore.open(f"sqlite:///{tmp_path / 'runs.db'}", HeldClock()) as store:
        begin_evaluation(store)
        with pytest.raises(IntegrityError) as bug:
            begin_evaluation(store)
    assert "fully compliant" not in str(bug.value)


def unreachable(said: str, kind: type[psycopg.Error] = psycopg.OperationalError) -> str:
    fault = OperationalError("SELECT 1", {"text": "secret text"}, kind(said))
    return str(store_error(fault, "The database runs at host"))


def test_what_a_server_says_becomes_a_sentence() -> None:
    assert {
        "a wrong password, before there is a code": unreachable('password authentication failed for user "she"'),
        "a wrong password": unreachable("FATAL", psycopg.errors.InvalidPassword),
        "a full disk": unreachable("could not extend file", psycopg.errors.DiskFull),
        "too many": unreachable("sorry", psycopg.errors.TooManyConnections),
        "shut down": unreachable("terminating connection", psycopg.errors.AdminShutdown),
        "something else": unreachable("something odd.\nand more"),
        "a code of its own": unreachable("something odd", psycopg.errors.OutOfMemory),
        "no free connection": str(store_error(PoolTimeout(), "The database runs at host")),
    } == snapshot(
        {
            "a wrong password, before there is a code": "The database runs at host does not accept the user or the password. Check DATABASE_URL.",
            "a wrong password": "The database runs at host does not accept the user or the password. Check DATABASE_URL.",
            "a full disk": "The database runs at host cannot be written: the disk is full. Free some space. What was stored before is not affected.",
            "too many": "The database runs at host accepts no more connections. Wait, or raise max_connections on the server.",
            "shut down": "The database runs at host was shut down. Start the server, and try again.",
            "something else": "The database runs at host cannot be used: something odd. Check DATABASE_URL.",
            "a code of its own": "The database runs at host cannot be used: something odd. Check DATABASE_URL.",
            "no free connection": "The database runs at host has no free connection. Try again when fewer evaluations run.",
        }
    )


def test_a_read_only_database_can_be_read_and_says_so_when_written(tmp_path: Path) -> None:
    file = tmp_path / "runs.db"
    with EvaluationStore.open(f"sqlite:///{file}", HeldClock()) as store:
        finish_evaluation(store)
    with EvaluationStore.open(f"sqlite:///file:{file}?mode=ro&uri=true", HeldClock()) as store:
        assert [row.id for row in store.history().rows] == ["id-0001"]
        assert store.load("id-0001").report is not None
        with pytest.raises(StoreError) as refusal:
            begin_evaluation(store, "id-0002")
    assert str(refusal.value).replace(str(tmp_path), "") == snapshot(
        "file:/runs.db is read-only. Change the permissions of the file and its folder, or name another file in DATABASE_URL."
    )


def test_a_full_disk_says_so_and_keeps_what_was_stored(tmp_path: Path) -> None:
    with EvaluationStore.open(f"sqlite:///{tmp_path / 'runs.db'}", HeldClock()) as store:
        finish_evaluation(store)
        with store._database.reading() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError) as refusal:
            begin_evaluation(store, "id-0002", inputs=some_inputs("x" * 1_000_000))
        assert str(refusal.value).replace(str(tmp_path), "") == snapshot(
            "/runs.db cannot be written: the disk is full. Free some space. What was stored before is not affected."
        )
        assert store.load("id-0001").report is not None


def test_a_server_that_is_away_says_so(tmp_path: Path) -> None:
    said = refused(f"postgresql://user:pass-word@/runs?host={tmp_path}")
    assert said.replace(str(tmp_path), "") == snapshot(
        "The database runs at the local server cannot be reached. Is the server running, and is DATABASE_URL right?"
    )
    assert "pass-word" not in refused("postgresql://user:pass-word@127.0.0.1:1/runs")


def test_a_database_that_the_server_does_not_have_says_so(postgresql: Postgres) -> None:
    url = make_url(postgresql.url()).set(database="nowhere")
    assert refused(url.render_as_string()) == snapshot(
        "The database nowhere at the local server does not exist. Create it with createdb."
    )


def test_every_spelling_of_a_postgresql_address_uses_our_driver(postgresql: Postgres) -> None:
    address = postgresql.url().partition("://")[2]
    for start in ("postgresql", "postgres", "postgresql+asyncpg", "postgresql+psycopg2"):
        with EvaluationStore.open(f"{start}://{address}", HeldClock()) as store:
            assert store.history().rows == []


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "find_spec", lambda _: None)
    assert refused("postgresql://user:pass-word@host/runs") == snapshot(
        "DATABASE_URL names a PostgreSQL database, but its driver is not installed. "
        "In the folder of Salvo's source, run pip install '.[postgresql]'."
    )


def test_a_user_who_may_only_read_is_told_so(postgresql: Postgres) -> None:
    url = make_url(postgresql.url())
    with EvaluationStore.open(url.render_as_string(), HeldClock()) as store:
        finish_evaluation(store)
        with store._database.writing() as connection:
            connection.exec_driver_sql("CREATE ROLE reader LOGIN")
            connection.exec_driver_sql("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    with EvaluationStore.open(url.set(username="reader").render_as_string(), HeldClock()) as store:
        assert [row.id for row in store.history().rows] == ["id-0001"]
        with pytest.raises(StoreError, match="no permission"):
            begin_evaluation(store, "id-0002")


def test_a_connection_that_the_server_cut_is_made_again(postgresql: Postgres) -> None:
    with EvaluationStore.open(postgresql.url(), HeldClock()) as store:
        begin_evaluation(store)
        with store._database.reading() as connection:
            mine = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        with EvaluationStore.open(postgresql.url(), HeldClock()) as other, other._database.reading() as connection:
            connection.exec_driver_sql(f"SELECT pg_terminate_backend({mine})")
        assert [row.id for row in store.history().rows] == ["id-0001"]
